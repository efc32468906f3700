"""A class so light that its weight is lost in the sums of a leaf."""

import numpy as np

from weald import RandomForestClassifier


def test_its_share_is_not_lost():
    forest = RandomForestClassifier(1, bootstrap=False, random_state=0)
    forest.fit(np.zeros((4, 1)), [0, 0, 1, 2], sample_weight=[1, 1, 1e-17, 1])
    np.testing.assert_allclose(forest.predict_proba([[0.0]]), [[2 / 3, 1e-17 / 3, 1 / 3]])

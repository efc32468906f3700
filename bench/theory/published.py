"""Figures of Masegosa, Lorenzen, Igel and Seldin (2020).

"Second Order PAC-Bayesian Bounds for the Weighted Majority Vote", NeurIPS. Means and standard
deviations over some of the fifty repetitions whose results their code repository keeps
(github.com/StephanLorenzen/MajorityVoteBounds, forests of 100 trees, full bagging): nine with equal
weights, the last five to eight of those with minimised ones.
"""

from __future__ import annotations

Figure = tuple[float, float]  # mean, standard deviation

# By set and by what `bench.theory.experiment.measure` calls it.
MASEGOSA: dict[str, dict[str, Figure]] = {
    "mushroom": {
        "gibbs": (0.00021, 0.00007),
        "tandem": (0.00001, 0.00001),
        "vote": (0.00000, 0.00000),
        "FO": (0.00812, 0.00041),
        "TND": (0.03544, 0.00040),
        "C1": (0.01659, 0.00082),
        "vote, FO minimised": (0.00000, 0.00000),
        "FO, FO minimised": (0.00682, 0.00005),
        "vote, TND minimised": (0.00000, 0.00000),
        "TND, TND minimised": (0.03521, 0.00032),
    },
    "adult": {
        "gibbs": (0.20844, 0.00054),
        "tandem": (0.12127, 0.00037),
        "vote": (0.16910, 0.00324),
        "FO": (0.45150, 0.00111),
        "TND": (0.57839, 0.00151),
        "C1": (0.57222, 0.00129),
        "vote, FO minimised": (0.19594, 0.01431),
        "FO, FO minimised": (0.44028, 0.00176),
        "vote, TND minimised": (0.16941, 0.00377),
        "TND, TND minimised": (0.57126, 0.00078),
    },
    "splice": {
        "gibbs": (0.17517, 0.00402),
        "tandem": (0.04914, 0.00211),
        "vote": (0.02992, 0.01235),
        "FO": (0.45262, 0.00901),
        "TND": (0.43366, 0.01217),
        "C1": (0.55350, 0.01008),
        "vote, FO minimised": (0.10026, 0.03390),
        "FO, FO minimised": (0.33360, 0.01447),
        "vote, TND minimised": (0.02677, 0.00373),
        "TND, TND minimised": (0.39938, 0.00672),
    },
    "letter": {
        "gibbs": (0.18678, 0.00115),
        "tandem": (0.09040, 0.00082),
        "vote": (0.03475, 0.00287),
        "FO": (0.41576, 0.00235),
        "TND": (0.46819, 0.00366),
        "vote, FO minimised": (0.14506, 0.04424),
        "FO, FO minimised": (0.38921, 0.00560),
        "vote, TND minimised": (0.03563, 0.00290),
        "TND, TND minimised": (0.45335, 0.00448),
    },
    "satimage": {
        "gibbs": (0.16607, 0.00158),
        "tandem": (0.08036, 0.00120),
        "vote": (0.08254, 0.00617),
        "FO": (0.40273, 0.00346),
        "TND": (0.50792, 0.00617),
        "vote, FO minimised": (0.14190, 0.02412),
        "FO, FO minimised": (0.37027, 0.01341),
        "vote, TND minimised": (0.08217, 0.00601),
        "TND, TND minimised": (0.48821, 0.00622),
    },
    "zipcode": {
        "gibbs": (0.15692, 0.00152),
        "tandem": (0.06931, 0.00121),
        "vote": (0.03805, 0.00525),
        "FO": (0.37141, 0.00320),
        "TND": (0.42171, 0.00535),
        "vote, FO minimised": (0.13831, 0.03348),
        "FO, FO minimised": (0.33954, 0.00795),
        "vote, TND minimised": (0.03979, 0.00474),
        "TND, TND minimised": (0.40633, 0.00681),
    },
    "connect4": {
        "gibbs": (0.29981, 0.00090),
        "tandem": (0.15524, 0.00068),
        "vote": (0.17177, 0.00257),
        "FO": (0.62697, 0.00183),
        "TND": (0.69243, 0.00287),
        "vote, FO minimised": (0.27426, 0.02400),
        "FO, FO minimised": (0.60154, 0.00817),
        "vote, TND minimised": (0.17221, 0.00197),
        "TND, TND minimised": (0.68355, 0.00300),
    },
}

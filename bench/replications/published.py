"""Figures from the literature, in per cent."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BreimanRow:
    """One line of the forests paper, with later re-runs and the bagging paper where it has the set.

    Parameters
    ----------
    chosen, single : float
        Error of the forest with F chosen by out-of-bag error, and with F = 1.
    tree : float
        Error of the forest's single trees.
    rerun : tuple of float or None
        Range of modern re-runs of the forest.
    bagged : float or None
        Error of 50 bagged trees (Breiman 1996).
    checked : bool
        Whether the forest's figures were read in the paper, or are quoted at second hand.
    """

    chosen: float
    single: float
    tree: float
    rerun: tuple[float, float] | None = None
    bagged: float | None = None
    checked: bool = False


# Breiman 2001, Random Forests, Machine Learning 45, table 2; Breiman 1996, Bagging predictors.
BREIMAN = {
    "glass": BreimanRow(20.6, 21.2, 36.9, (21.2, 22.5), 23.6, checked=True),
    "breast_cancer_w": BreimanRow(2.9, 2.7, 6.3, (2.6, 3.2), 3.7, checked=True),
    "pima_diabetes": BreimanRow(24.2, 24.3, 33.1, (23.6, 23.6), 23.9, checked=True),
    "sonar": BreimanRow(15.9, 18.0, 31.7, (17.2, 17.9), checked=True),
    "vowel": BreimanRow(3.4, 3.3, 30.4),
    "ionosphere": BreimanRow(7.1, 7.5, 12.7, (6.4, 6.4), 7.9, checked=True),
    "german_numeric": BreimanRow(24.4, 26.2, 33.3),
    "ecoli": BreimanRow(12.8, 13.0, 24.5),
    "votes": BreimanRow(4.1, 4.6, 7.4),
    "letter": BreimanRow(3.5, 4.7, 19.8, (4.2, 4.2), checked=True),
    "satimage": BreimanRow(8.6, 10.5, 17.2, (9.1, 9.1), checked=True),
    "zipcode": BreimanRow(6.3, 7.8, 20.6),
    "waveform": BreimanRow(17.2, 17.3, 34.0, bagged=19.3),
    "twonorm": BreimanRow(3.9, 3.9, 24.7),
    "threenorm": BreimanRow(17.5, 17.5, 38.4),
    "ringnorm": BreimanRow(4.9, 4.9, 25.7),
}

# Louppe 2014, Understanding Random Forests, chapter 8: test accuracy, 250 trees, 50 runs.
LOUPPE = {
    "pima_diabetes": {"RF": 75.62, "ET": 75.38, "P-DT": 75.67, "RS-ET": 74.63, "RP-ET": 75.82},
    "ionosphere": {"RF": 92.20, "ET": 93.22, "P-DT": 92.09, "RS-ET": 93.22, "RP-ET": 92.68},
    "sonar": {"RF": 79.53, "ET": 82.76, "P-DT": 75.15, "RS-ET": 82.19, "RP-ET": 81.92},
    "vowel": {"RF": 91.51, "ET": 93.95, "P-DT": 84.17, "RS-ET": 93.60, "RP-ET": 93.09},
    "waveform21": {"RF": 85.23, "ET": 85.77, "P-DT": 84.68, "RS-ET": 85.38, "RP-ET": 85.56},
    "satimage": {"RF": 90.67, "ET": 91.22, "P-DT": 89.66, "RS-ET": 91.28, "RP-ET": 91.20},
    "twonorm": {"RF": 97.22, "ET": 97.50, "P-DT": 97.26, "RS-ET": 97.33, "RP-ET": 97.28},
    "ringnorm": {"RF": 97.48, "ET": 98.07, "P-DT": 96.42, "RS-ET": 98.31, "RP-ET": 98.30},
    "letter": {"RF": 95.27, "ET": 96.29, "P-DT": 92.57, "RS-ET": 96.03, "RP-ET": 95.99},
}

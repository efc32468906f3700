"""Quality on the data of the speed rows: five seeds of ours and of scikit-learn's."""

from __future__ import annotations

from typing import Any

from bench.data import noisy_classes
from bench.replications.figures import figure, spread
from bench.replications.library import OURS, PEER, Library
from bench.replications.part import Part, Result, say
from bench.report import aligned
from bench.tasks.common import auc_and_log_loss

MODELS: dict[str, tuple[str, dict[str, Any]]] = {
    "random forest, 100 trees": ("RandomForestClassifier", {}),
    "extra-trees, 100 trees": ("ExtraTreesClassifier", {}),
    "bagging, 20 trees": ("BaggingClassifier", {"n_estimators": 20}),
}


def measure(library: Library, quick: bool) -> Result:
    """AUC and log loss of every model and seed."""
    data = noisy_classes(10_000 if quick else 100_000)
    result: Result = {}
    for title, (name, settings) in MODELS.items():
        judged = [
            auc_and_log_loss(library(name, random_state=seed, **settings).fit(data.X, data.y), data)
            for seed in range(2 if quick else 5)
        ]
        result[title] = {key: [one[key] for one in judged] for key in judged[0]}
        say(f"{title}: AUC {_cell(result[title]['AUC'])}")
    return result


TEXT = """\
The two noisy classes of the speed rows (100,000 training and 20,000 test rows, 28 columns) with
five seeds of the method: mean and standard deviation over seeds. *Gap* is ours minus theirs in
standard deviations of one seed. Log loss clips shares at 0.1 %.
"""


def _cell(values: list[float]) -> str:
    return f"{figure(values).mean:.4f} ({spread(values):.4f})"


def section(results: dict[str, Result]) -> str:
    """One line per model and measure."""
    ours, peer = results[OURS], results.get(PEER, {})
    lines = []
    for title, measures in ours.items():
        for key, values in measures.items():
            line = [title, key, _cell(values)]
            if title in peer:
                theirs = peer[title][key]
                noise = (0.5 * (spread(values) ** 2 + spread(theirs) ** 2)) ** 0.5
                gap = figure(values).mean - figure(theirs).mean
                better = gap > 0 if key == "AUC" else gap < 0
                fine = better or abs(gap) <= 2.0 * noise
                line += [_cell(theirs), f"{gap / max(noise, 1e-12):+.1f}", "yes" if fine else "no"]
            else:
                line += ["", "", ""]
            lines.append(line)
    head = ["model", "measure", "weald", "scikit-learn", "gap", "equal or better"]
    return "\n".join([TEXT, aligned(head, lines)])


PART = Part("seeds", "Quality at 100,000 x 28 over five seeds", measure, section)

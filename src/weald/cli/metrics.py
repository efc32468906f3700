"""What models are judged by: a metric's name, words, and which way is better."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weald.cli.errors import UserError
from weald.dataset.errors import suggestion

if TYPE_CHECKING:
    from weald.crossfit.risks import Risk

__all__ = ["METRICS", "Metric", "find_metric", "main_metrics", "metric_of_fit"]


@dataclass(frozen=True)
class Metric:
    """A metric.

    Attributes
    ----------
    name : str
        As in ``--metric``.
    risk : str
        The loss of weald or scorer of scikit-learn behind it.
    higher : bool
        More is better.
    task : str or None
        The only task for which there is such a metric.
    """

    name: str
    risk: str
    higher: bool = False
    task: str | None = None

    @property
    def words(self) -> str:
        """The name in a heading."""
        return self.name.replace("-", " ").replace("_", " ")

    def make(self, y: Any, w: Any, classes: Any) -> Risk:
        """What computes it; a risk, which is less the better."""
        from weald.crossfit.risks import make_risk

        risk = self.risk
        if risk == "roc_auc" and classes is not None and len(classes) > 2:
            risk = "roc_auc_ovr"
        return make_risk(risk, y, w, classes)

    def score(self, risk: float) -> float:
        """The metric's own number."""
        return -risk if self.higher else risk


_CLASSES, _NUMBERS = "classification", "regression"
METRICS = {
    one.name: one
    for one in (
        Metric("log-loss", "log_loss", task=_CLASSES),
        Metric("accuracy", "accuracy", higher=True, task=_CLASSES),
        Metric("balanced-accuracy", "balanced_accuracy", higher=True, task=_CLASSES),
        Metric("auc", "roc_auc", higher=True, task=_CLASSES),
        Metric("f1", "f1_macro", higher=True, task=_CLASSES),
        Metric("rmse", "neg_root_mean_squared_error", task=_NUMBERS),
        Metric("mae", "neg_mean_absolute_error", task=_NUMBERS),
        Metric("r2", "r2", higher=True, task=_NUMBERS),
        Metric("poisson", "neg_mean_poisson_deviance", task=_NUMBERS),
    )
}


def main_metrics(task: str) -> tuple[Metric, Metric]:
    """What models are judged by, and what is told beside, if nothing is asked for."""
    if task == _CLASSES:
        return METRICS["log-loss"], METRICS["accuracy"]
    return METRICS["rmse"], METRICS["r2"]


def metric_of_fit(facts: Mapping[str, Any]) -> Metric:
    """The metric by which a model was chosen, from what its file says."""
    name, higher = facts["metric"], bool(facts["higher_is_better"])
    return METRICS.get(name) or Metric(name, name if higher else f"neg_{name}", higher=higher)


def find_metric(name: str | None, task: str) -> Metric:
    """A metric by the name of the table, or of a scorer of scikit-learn."""
    if name is None:
        return main_metrics(task)[0]
    metric = METRICS.get(name.replace("_", "-"))
    if metric is None:
        from sklearn.metrics import get_scorer_names

        if name not in get_scorer_names():
            fitting = [one.name for one in METRICS.values() if one.task == task]
            raise UserError(
                f"--metric {name!r} is unknown: use one of {', '.join(fitting)}, or a scorer of "
                f"scikit-learn.{suggestion(name, fitting)}"
            )
        return Metric(name.removeprefix("neg_"), name, higher=not name.startswith("neg_"))
    if metric.task != task:
        fitting = [one.name for one in METRICS.values() if one.task == task]
        raise UserError(
            f"--metric {name} is for {metric.task}, but this is a {task}: use one of "
            f"{', '.join(fitting)}."
        )
    return metric

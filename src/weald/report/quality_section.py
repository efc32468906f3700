"""The section of a report that shows how good the predictions of rows not seen are."""

from __future__ import annotations

from html import escape

import numpy as np

from weald.report.charts import Axis, Chart, Series, words
from weald.report.facts import ReportFacts
from weald.report.html_parts import charts_html, table_html
from weald.report.quality import ClassQuality, NumberQuality

__all__ = ["quality_html"]


def quality_html(facts: ReportFacts) -> str:
    """Calibration, curves and confusion of classes; residuals of numbers."""
    quality = facts.quality
    intro = f"<p>{escape(facts.honest.words)}</p>"
    if isinstance(quality, ClassQuality):
        return intro + _class_charts(quality) + _confusion(quality)
    return intro + _number_charts(quality)


def _class_charts(quality: ClassQuality) -> str:
    line = np.array([0.0, 1.0])
    calibration = quality.calibration
    charts = [
        Chart(
            "Calibration",
            Axis("predicted probability", 0.0, 1.0),
            Axis("observed share", 0.0, 1.0),
            [
                Series("diagonal", line, line, "perfect"),
                Series(
                    "points",
                    calibration.predicted,
                    calibration.observed,
                    "rows in groups, 95 % interval",
                    calibration.low,
                    calibration.high,
                ),
            ],
            note=f"Of {calibration.what}. Mean distance of prediction and share: "
            f"{words(calibration.gap, 2)}.",
        )
    ]
    if quality.curves:
        charts += [
            Chart(
                "ROC",
                Axis("false positive rate", 0.0, 1.0),
                Axis("true positive rate", 0.0, 1.0),
                [
                    *(
                        Series(
                            "line",
                            one.false_positive,
                            one.true_positive,
                            f"{one.name} (area {words(one.area, 3)})",
                        )
                        for one in quality.curves
                    ),
                    Series("diagonal", line, line, "by chance"),
                ],
            ),
            Chart(
                "Precision and recall",
                Axis("recall", 0.0, 1.0),
                Axis("precision", 0.0, 1.0),
                [
                    Series(
                        "line",
                        one.recall,
                        one.precision,
                        f"{one.name} (average {words(one.average_precision, 3)})",
                    )
                    for one in quality.curves
                ],
                note=""
                if len(quality.curves) > 1
                else f"Of the class {quality.curves[0].name}: average precision "
                f"{words(quality.curves[0].average_precision, 3)}.",
            ),
        ]
    return charts_html(charts)


def _confusion(quality: ClassQuality) -> str:
    total = np.maximum(quality.confusion.sum(axis=1, keepdims=True), 1)
    shares = quality.confusion / total
    rows = [
        (
            escape(name),
            *(
                f'<span class="cell" style="--share:{share:.3f}">{words(count)}'
                f"<small>{share:.0%}</small></span>"
                for count, share in zip(counts, row, strict=True)
            ),
        )
        for name, counts, row in zip(quality.names, quality.confusion, shares, strict=True)
    ]
    heads = ("True class", *(f"said {name}" for name in quality.names))
    return (
        "<h3>Confusion matrix</h3><p>Rows of each true class, by the class that was predicted; "
        "per cent of the true class.</p>" + table_html(heads, rows, "Confusion matrix", "matrix")
    )


def _number_charts(quality: NumberQuality) -> str:
    low = float(min(quality.predicted.min(), quality.truth.min()))
    high = float(max(quality.predicted.max(), quality.truth.max()))
    line = np.array([low, high])
    residual = quality.truth - quality.predicted
    n = len(residual)
    return charts_html(
        [
            Chart(
                "Predicted and true",
                Axis("predicted"),
                Axis("true"),
                [
                    Series("points", quality.predicted, quality.truth, f"{n} rows"),
                    Series("diagonal", line, line, "perfect"),
                ],
            ),
            Chart(
                "Residuals",
                Axis("predicted"),
                Axis("true less predicted"),
                [
                    Series("points", quality.predicted, residual, f"{n} rows"),
                    Series(
                        "diagonal",
                        np.array([quality.predicted.min(), quality.predicted.max()]),
                        np.zeros(2),
                        "no error",
                    ),
                ],
            ),
            Chart(
                "Distribution of residuals",
                Axis("true less predicted"),
                Axis("rows", low=0.0),
                [Series("bars", quality.edges, quality.count)],
            ),
        ]
    )

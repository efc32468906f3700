"""From facts to one HTML page that needs nothing but itself."""

from __future__ import annotations

import json
import math
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

import numpy as np

import weald
from weald.report.charts import words
from weald.report.facts import Panel, ReportFacts
from weald.report.sections import SECTIONS

__all__ = ["page_of"]


def page_of(facts: ReportFacts) -> str:
    """The whole page as text."""
    parts = [(title, anchor, make(facts)) for title, anchor, make in SECTIONS]
    parts = [part for part in parts if part[2]]
    body = "".join(
        f'<section id="{anchor}" aria-labelledby="{anchor}-h">'
        f'<h2 id="{anchor}-h">{escape(title)}</h2>{html}</section>'
        for title, anchor, html in parts
    )
    contents = "".join(
        f'<li><a href="#{anchor}">{escape(title)}</a></li>' for title, anchor, _ in parts
    )
    data = None if facts.panel is None else _panel_data(facts, facts.panel)
    return Template(_file("page.html")).substitute(
        title=escape(facts.title),
        style=_file("page.css"),
        contents=contents,
        body=body,
        version=escape(weald.__version__),
        data=_json(data),
        predict=_file("predict.js"),
        script=_file("page.js"),
    )


def _file(name: str) -> str:
    return files("weald.report").joinpath(name).read_text(encoding="utf-8")


def _json(data: Any) -> str:
    """JSON that no text of the data can end: a page's script ends at the first `</`."""
    text = json.dumps(data, allow_nan=False, ensure_ascii=True, separators=(",", ":"))
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


def _panel_data(facts: ReportFacts, panel: Panel) -> dict[str, Any]:
    rows, classes = facts.rows, facts.rows.classes
    columns = [
        {
            "name": name,
            "missing": bool(missing),
            "labels": None if labels is None else [str(label) for label in labels.tolist()],
            "levels": [str(label) for label in panel.levels[j]] if j in panel.levels else None,
            "newcomer": int(panel.newcomers[j]) if j in panel.newcomers else None,
        }
        for j, (name, missing, labels) in enumerate(
            zip(rows.names, np.isnan(rows.X).any(axis=0), panel.categories, strict=True)
        )
    ]

    def truth(i: int) -> str:
        return words(rows.y[i]) if classes is None else classes[rows.y[i]]

    return {
        "trees": panel.trees.data,
        "complete": panel.trees.complete,
        "columns": columns,
        "order": panel.order.tolist(),
        "classes": None if classes is None else list(classes),
        "adds": panel.adds,
        "rows": [[None if math.isnan(x) else float(x) for x in row] for row in panel.rows],
        "rowNames": [
            f"row {i + 1}, where the target is {truth(i)}" for i in panel.numbers.tolist()
        ],
    }

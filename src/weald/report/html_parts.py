"""Pieces of HTML that several sections of a report are made of."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from weald.report.charts import Chart

__all__ = ["charts_html", "table_html"]


def table_html(
    heads: Sequence[str], rows: Iterable[Sequence[str]], label: str, kind: str = "facts"
) -> str:
    """A table in a scroller of its own; cells are HTML, the first of a row names it."""
    head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
    body = "".join(
        f'<tr><th scope="row">{row[0]}</th>'
        + "".join(f"<td>{cell}</td>" for cell in row[1:])
        + "</tr>"
        for row in rows
    )
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(label)}">'
        f'<table class="{kind}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>'
    )


def charts_html(charts: Iterable[Chart]) -> str:
    """Charts side by side, as many as there is room for."""
    return f'<div class="charts">{"".join(chart.html() for chart in charts)}</div>'

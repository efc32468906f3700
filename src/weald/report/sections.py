"""The sections of a report as HTML. Whatever comes from the data is escaped."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from weald.report.charts import Axis, Chart, Series, bar, interval_bar, sparkline, words
from weald.report.facts import ReportFacts
from weald.report.html_parts import charts_html, table_html
from weald.report.quality import Figure
from weald.report.quality_section import quality_html

__all__ = ["SECTIONS"]

_COLUMNS = 200  # of the data, shown
_IMPORTANCES = 25


def _error(figure: Figure) -> str:
    return f" ± {words(figure.std_error, 2)}" if figure.std_error is not None else ""


# --- the sections --------------------------------------------------------------------------------


def _summary(facts: ReportFacts) -> str:
    tiles = "".join(
        f'<div class="tile"><dt>{escape(one.name)}</dt><dd>{words(one.value)}'
        f"<small>{_error(one)}</small></dd></div>"
        for one in facts.quality.figures
    )
    plain = "; ".join(
        f"{one.name} {words(one.plain)}" for one in facts.quality.figures if one.plain is not None
    )
    found = len(facts.data.warnings)
    warned = (
        f'<p class="warned"><a href="#data">{found} {"thing" if found == 1 else "things"} to look '
        "at in the data.</a></p>"
        if found
        else ""
    )
    return (
        f'<p class="lead">{escape(facts.method)}, {words(facts.data.n_rows)} rows, '
        f"{words(facts.data.n_columns)} columns.</p>"
        f'<dl class="tiles">{tiles}</dl>'
        f"<p>{escape(facts.honest.words)} Figures are given with one standard error. "
        f"The best guess without looking at any column has: {escape(plain)}.</p>{warned}"
        "<details><summary>Settings of the model</summary>"
        f"<pre>{escape(facts.model)}</pre></details>"
    )


def _data(facts: ReportFacts) -> str:
    data = facts.data
    warned = "".join(f"<li>{escape(one)}</li>" for one in data.warnings)
    warned = (
        f'<ul class="warnings">{warned}</ul>' if warned else "<p>Nothing looks wrong with them.</p>"
    )
    notes = "".join(f"<li>{escape(one)}</li>" for one in facts.notes)
    notes = f'<ul class="notes">{notes}</ul>' if notes else ""
    rows = [
        (
            escape(one.name),
            one.kind,
            sparkline(one.bars),
            f"{one.missing:.1%}",
            words(one.distinct),
            escape(one.summary),
        )
        for one in data.columns[:_COLUMNS]
    ]
    more = len(data.columns) - _COLUMNS
    left_out = f"<p>{more} more columns are not shown.</p>" if more > 0 else ""
    heads = ("Column", "Kind", "Values", "Missing", "Distinct", "Range, or most frequent")
    return (
        f"<p>Target: {escape(data.target)}</p>{warned}{notes}"
        + table_html(heads, rows, "Columns of the data")
        + left_out
    )


def _leaderboard(facts: ReportFacts) -> str:
    board = facts.leaderboard
    if not board:
        return ""
    ends = [
        one.score + side * 1.96 * (one.std_error or 0.0)
        for one in board
        for side in (-1, 1)
        if np.isfinite(one.score)
    ]
    low, high = min(ends, default=0.0), max(ends, default=1.0)
    rows = [
        (
            escape(one.method) + (" *" if one.cut else ""),
            interval_bar(one.score, one.std_error, low, high) if np.isfinite(one.score) else "",
            words(one.score) + (f" ± {words(one.std_error, 2)}" if one.std_error else ""),
            f"{words(one.seconds, 3)} s" if one.seconds is not None else "–",
        )
        for one in board
    ]
    heads = ("Method", "95 % interval", "Score ± standard error", "Time")
    cut = "<p>* Cut short by the time limit: its fits have fewer members than asked for.</p>"
    return (
        "<p>Methods that were compared, as they were ranked. Where intervals overlap widely the "
        "order may be chance.</p>"
        + table_html(heads, rows, "Leaderboard")
        + (cut if any(one.cut for one in board) else "")
    )


def _curves(facts: ReportFacts) -> str:
    if not facts.curves:
        return ""
    charts = []
    for honest in (True, False):
        for unit in dict.fromkeys(one.unit for one in facts.curves if one.honest == honest):
            group = [one for one in facts.curves if (one.honest, one.unit) == (honest, unit)]
            title = group[0].name if len(group) == 1 else unit
            charts.append(
                Chart(
                    title[:1].upper() + title[1:],
                    Axis("members"),
                    Axis(unit),
                    [Series("line", one.members, one.values, one.name) for one in group],
                    note="On rows that were not learned from."
                    if honest
                    else "As the fit noted it; not a measure of quality on new rows."
                    if not any("validation" in one.name for one in group)
                    else "As the fit noted it.",
                )
            )
    return charts_html(charts)


def _importance(facts: ReportFacts) -> str:
    found = facts.importance
    if found is None:
        return ""
    shown = slice(0, _IMPORTANCES)
    error = np.nan_to_num(found.std_error[shown])
    low = float(min(0.0, (found.mean[shown] - error).min(initial=0.0)))
    high = float(max((found.mean[shown] + error).max(initial=0.0), 1e-300))
    rows = [
        (
            escape(name),
            bar(float(mean), float(std), low, high),
            f"{words(float(mean), 3)} ± {words(float(std), 2)}",
        )
        for name, mean, std in zip(
            found.names[shown], found.mean[shown], found.std_error[shown], strict=True
        )
    ]
    more = len(found.names) - _IMPORTANCES
    left_out = f"<p>{more} more columns matter less.</p>" if more > 0 else ""
    heads = ("Column", "Importance", "Mean ± standard error")
    return (
        f"<p>{escape(found.words)}</p>"
        + table_html(heads, rows, "Importance of columns")
        + left_out
    )


def _dependence(facts: ReportFacts) -> str:
    charts = []
    for one in facts.dependence:
        kind = "points" if one.labels is not None else "line"
        single = len(one.lines) == 1
        y_name = one.lines[0] if single else "share of the class"
        charts.append(
            Chart(
                one.name,
                Axis(one.name, names=one.labels),
                Axis(y_name),
                [
                    Series(
                        kind,
                        one.values,
                        one.mean[:, k],
                        name,
                        one.low[:, k] if single else None,
                        one.high[:, k] if single else None,
                    )
                    for k, name in enumerate(one.lines)
                ],
            )
        )
    if not charts:
        return ""
    return (
        "<p>The mean prediction of some rows if a column had another value, the others as they "
        "are. Where one line is drawn, 8 of 10 rows lie in the band or between the whiskers. "
        "Columns that move together are pulled apart here, so read it with care.</p>"
        + charts_html(charts)
    )


def _proofs(facts: ReportFacts) -> str:
    proofs, charts, sentences = facts.proofs, [], []
    if proofs.certificate is not None:
        found = proofs.certificate
        rounds = np.arange(1, len(found.error) + 1)
        sentences.append(str(found))
        charts.append(
            Chart(
                "Certificate",
                Axis("rounds"),
                Axis("error, and bounds on it", low=0.0),
                [
                    Series("line", rounds, found.error, "error on these rows"),
                    Series(
                        "line", rounds, np.minimum(found.product, 1.5), "product of normalizers"
                    ),
                    Series(
                        "line",
                        rounds,
                        np.minimum(found.exponential_bound, 1.5),
                        "bound by the edges",
                    ),
                ],
            )
        )
    if proofs.margins is not None:
        margins = proofs.margins
        sentences.append(str(margins))
        values = np.sort(margins.values)
        share = np.arange(1, len(values) + 1) / len(values)
        some = np.unique(np.linspace(0, len(values) - 1, 200).round().astype(int))
        charts.append(
            Chart(
                "Margins",
                Axis("margin", low=-1.0, high=1.0),
                Axis("share of rows up to it", low=0.0, high=1.0),
                [Series("line", values[some], share[some], "rows")],
                note="Rows left of 0 are wrong. These are rows the model may have learned from.",
            )
        )
    text = "".join(f"<p>{escape(one)}</p>" for one in (*sentences, *proofs.words))
    return text + (charts_html(charts) if charts else "")


_ANSWER = """
<div class="whatif">
<p><label for="row">Start from</label> <select id="row"></select></p>
<div id="answer" class="answer" role="status" aria-live="polite"></div>
<form id="inputs" class="inputs" aria-label="Values of the row"></form>
</div>"""

_VIEWER = """
<p class="controls">
<span id="memberControl"><label for="member" id="memberName">Tree</label>
<input id="member" type="number" min="1" step="1" value="1"> <span id="memberOf"></span></span>
<span id="partControl" hidden><label for="part">Tree of the round</label>
<select id="part"></select></span>
<button type="button" id="follow">Follow the row</button>
<button type="button" id="fold">Fold up</button>
</p>
<p class="note">Nodes the row passes are marked ●. Keys: arrows move, right and left open and close,
Home and End jump, Enter opens or closes.</p>
<div class="viewer">
<div class="scroll treebox"><ul id="tree" role="tree" aria-label="Nodes of the tree"></ul></div>
<div id="node" class="nodefacts" role="status" aria-live="polite"></div>
</div>"""


def _what_if(facts: ReportFacts) -> str:
    if facts.panel is None:
        return f"<p>{escape(facts.panel_words)}</p>"
    if not facts.panel.trees.complete:
        return (
            f"<p>{escape(facts.panel_words)}</p>"
            '<p><label for="row">The row whose path is shown below</label> '
            '<select id="row"></select></p>'
        )
    return (
        "<p>Change values and see what the model says. It is worked out here, in the page, to the "
        "digits that Python gives. An empty field is a missing value.</p>" + _ANSWER
    )


def _trees(facts: ReportFacts) -> str:
    if facts.panel is None or facts.panel.trees.shown == 0:
        return ""
    adds = (
        "<p>Each tree adds to the prediction before the link: the numbers are such additions, "
        "before the weight of the round.</p>"
        if facts.panel.adds
        else ""
    )
    return adds + _VIEWER


# Heading, anchor, and what makes the section; those that make nothing are left out.
SECTIONS: tuple[tuple[str, str, Any], ...] = (
    ("Summary", "summary", _summary),
    ("Data", "data", _data),
    ("Leaderboard", "leaderboard", _leaderboard),
    ("Quality on rows not seen", "quality", quality_html),
    ("Course of the fit", "curves", _curves),
    ("Importance of columns", "importance", _importance),
    ("Dependence on columns", "dependence", _dependence),
    ("What theory proves", "proofs", _proofs),
    ("What if", "what-if", _what_if),
    ("Trees", "trees", _trees),
)

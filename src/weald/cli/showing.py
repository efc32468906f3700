"""The outcome of a fit, for people and for programs."""

from __future__ import annotations

import json
import math
from typing import Any

from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from weald.cli.training import Outcome, importances

TOP = 10  # importances shown to people; programs get all of them
BAR = 24  # characters of the longest importance bar


def as_json(outcome: Outcome, parameters: dict[str, Any], rules: str | None) -> str:
    """Everything known about the fit as one JSON object."""
    table, model = outcome.table, outcome.model
    numeric, categorical = _kinds(outcome)
    content = {
        "data": table.source,
        "target": table.target,
        "weight": table.weight_name,
        "task": outcome.task,
        "rows": table.n_rows,
        "columns": table.names,
        "numeric_columns": numeric,
        "categorical_columns": categorical,
        "parameters": parameters,
        "classes": [str(label) for label in model.classes_.tolist()]
        if outcome.task == "classification"
        else None,
        "cross_validation": {
            score.name: {
                "mean": _finite(score.mean),
                "sd": _finite(score.sd),
                "folds": [_finite(x) for x in score.folds],
            }
            for score in outcome.scores
        },
        "tree": {
            "depth": int(model.get_depth()),
            "leaves": int(model.get_n_leaves()),
            "ccp_alpha": _finite(_alpha(model)),
        },
        "importances": {name: _finite(share) for name, share in importances(outcome)},
        "rules": rules,
        "notes": list(outcome.notes),
    }
    return json.dumps(content, indent=2, allow_nan=False)


def show(outcome: Outcome, rules: str | None) -> None:
    """Print the summary: data, scores, tree, importances, rules."""
    console = Console(highlight=False)
    facts = Grid.grid(padding=(0, 2))
    facts.add_column(style="bold")
    facts.add_column()
    for title, text in _facts(outcome):
        facts.add_row(title, Text(text))
    console.print(facts)
    for note in outcome.notes:
        console.print(Text(f"note: {note}", style="yellow"))
    if outcome.scores:
        console.print()
        console.print(_score_grid(outcome))
    ranked = [(name, share) for name, share in importances(outcome) if share > 0][:TOP]
    if ranked:
        console.print()
        console.print(_importance_grid(ranked))
    if rules is not None:
        console.print()
        # Plain and unwrapped: rules are indented text, and may hold brackets.
        console.out(rules, end="", highlight=False)


def _facts(outcome: Outcome) -> list[tuple[str, str]]:
    table, model = outcome.table, outcome.model
    numeric, categorical = _kinds(outcome)
    kinds = [f"{len(numeric)} numeric"] * bool(numeric)
    kinds += [f"{len(categorical)} categorical"] * bool(categorical)
    target = f"{table.target} ({outcome.task}"
    if outcome.task == "classification":
        target += f", {len(model.classes_)} classes"
    facts = [
        ("data", table.source),
        ("rows", f"{table.n_rows:,}"),
        ("columns", f"{len(table.names)} ({', '.join(kinds)})"),
        ("target", target + ")"),
    ]
    if table.weight_name is not None:
        facts.append(("weights", table.weight_name))
    tree = f"depth {model.get_depth()}, {_counted(int(model.get_n_leaves()), 'leaf', 'leaves')}"
    alpha = _alpha(model)
    if alpha > 0:
        tree += f", pruned with alpha {alpha:.4g}"
    facts.append(("tree", tree))
    return facts


def _score_grid(outcome: Outcome) -> Grid:
    n_folds = len(outcome.scores[0].folds)
    grid = Grid(title=f"{n_folds}-fold cross-validation", title_justify="left", box=None)
    grid.add_column("score", style="bold")
    for title in ("mean", "+- sd", "each fold"):
        grid.add_column(title, justify="left" if title == "each fold" else "right")
    for score in outcome.scores:
        each = "  ".join(_short(x) for x in score.folds)
        grid.add_row(score.name, _short(score.mean), _short(score.sd), each)
    return grid


def _importance_grid(ranked: list[tuple[str, float]]) -> Grid:
    grid = Grid(title="importance", title_justify="left", box=None, show_header=False)
    grid.add_column(style="bold")
    grid.add_column(justify="right")
    grid.add_column(style="green")
    longest = ranked[0][1]
    for name, share in ranked:
        bar = "#" * max(1, round(BAR * share / longest))
        grid.add_row(Text(name), f"{share:.3f}", bar)
    return grid


def _kinds(outcome: Outcome) -> tuple[list[str], list[str]]:
    """Names of the numeric and of the categorical columns."""
    numeric: list[str] = []
    categorical: list[str] = []
    for name, labels in zip(outcome.table.names, outcome.model.categories_, strict=True):
        (numeric if labels is None else categorical).append(name)
    return numeric, categorical


def _alpha(model: Any) -> float:
    return float(model.ccp_alpha_)


def _counted(n: int, one: str, many: str) -> str:
    return f"{n:,} {one if n == 1 else many}"


def _short(x: float) -> str:
    return f"{x:.4g}" if abs(x) >= 10 else f"{x:.3f}"


def _finite(x: float) -> float | None:
    """JSON has no NaN and no infinity."""
    return x if math.isfinite(x) else None

"""Commands and options of `weald`."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from enum import StrEnum
from itertools import count
from typing import Annotated, cast

import typer

from weald.cli.errors import UserError

# Only light imports here: `weald --help` should not wait for scikit-learn or a data frame
# library. The commands import what they need.

app = typer.Typer(
    name="weald",
    help="Ensemble learning on tables.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


class TaskChoice(StrEnum):
    """What to learn."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


def _show_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"weald {version('weald')}")
        raise typer.Exit


@app.callback()
def top(
    version: Annotated[
        bool,
        typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version."),
    ] = False,
) -> None:
    """Ensemble learning on tables."""


@app.command()
def fit(
    data: Annotated[
        str,
        typer.Option(
            help="iris, wine, digits, breast_cancer or diabetes; or a .csv, .csv.gz or "
            ".parquet file."
        ),
    ],
    target: Annotated[
        str | None, typer.Option(help="Column to predict; needed with a file.")
    ] = None,
    weight: Annotated[str | None, typer.Option(help="Column of row weights.")] = None,
    drop: Annotated[
        list[str] | None, typer.Option(help="Column to leave out; may be repeated.")
    ] = None,
    task: Annotated[
        TaskChoice,
        typer.Option(
            metavar="TASK",
            help="classification, regression, or auto: decide from the target's values.",
        ),
    ] = TaskChoice.auto,
    max_depth: Annotated[int | None, typer.Option(help="Most tests on any path.")] = None,
    min_samples_leaf: Annotated[
        str | None, typer.Option(help="Fewest rows in a leaf, or a share of them such as 0.01.")
    ] = None,
    max_leaf_nodes: Annotated[int | None, typer.Option(help="Most leaves.")] = None,
    criterion: Annotated[
        str | None,
        typer.Option(
            help="gini, entropy, log_loss, misclassification; or squared_error, "
            "absolute_error, poisson."
        ),
    ] = None,
    max_bins: Annotated[
        int | None, typer.Option(help="Group numbers into this many bins; default: exact.")
    ] = None,
    ccp_alpha: Annotated[
        str | None, typer.Option(help="Pruning strength: a number, cv or cv_1se.")
    ] = None,
    cv: Annotated[int, typer.Option(help="Folds of the cross-validation; 0 for none.")] = 5,
    seed: Annotated[int, typer.Option(help="Seed of all random choices.")] = 0,
    n_jobs: Annotated[int | None, typer.Option(help="Threads.")] = None,
    rules: Annotated[bool, typer.Option(help="Print the tree's rules.")] = True,
    max_rules_depth: Annotated[int, typer.Option(help="Deepest level of rules printed.")] = 5,
    json: Annotated[bool, typer.Option("--json", help="Print JSON instead.")] = False,
    quiet: Annotated[bool, typer.Option("--quiet", "-q", help="No progress display.")] = False,
) -> None:
    """Train a decision tree, cross-validate it and print what it found."""
    with _telling_user_errors():
        parameters = {
            "max_depth": _at_least("--max-depth", max_depth, 1),
            "min_samples_leaf": _count_or_share("--min-samples-leaf", min_samples_leaf),
            "max_leaf_nodes": _at_least("--max-leaf-nodes", max_leaf_nodes, 2),
            "criterion": criterion,
            "max_bins": max_bins,
            "ccp_alpha": _alpha(ccp_alpha),
            "n_jobs": n_jobs,
        }
        _at_least("--cv", cv, 0)
        if not 0 <= seed < 2**32:
            raise UserError(f"--seed must be at least 0 and below 2**32, got {seed}.")
        _at_least("--max-rules-depth", max_rules_depth, 0)

        from weald.cli.loading import Task, guess_task, load
        from weald.cli.showing import as_json, show
        from weald.cli.training import train
        from weald.explain.rules import export_text

        table = load(data, target, weight, drop or [])
        chosen = guess_task(table.y) if task is TaskChoice.auto else cast(Task, task.value)
        with _progress(1 + cv, quiet) as step:
            outcome = train(table, chosen, parameters, cv, seed, step)
        text = None
        if rules:
            text = export_text(outcome.model, feature_names=table.names, max_depth=max_rules_depth)
        if json:
            typer.echo(as_json(outcome, parameters | {"cv": cv, "seed": seed}, text))
        else:
            show(outcome, text)


@contextmanager
def _telling_user_errors() -> Iterator[None]:
    """Turn a user's mistake into one sentence and exit code 2."""
    try:
        yield
    except UserError as error:
        typer.echo(f"weald: {error}", err=True)
        raise typer.Exit(2) from None


@contextmanager
def _progress(n_steps: int, quiet: bool) -> Iterator[Callable[[str], None]]:
    """A live bar on the error stream; nothing there unless it is a terminal."""
    from weald.fitting.progress import live_bar

    live = not quiet and sys.stderr.isatty()
    done = count(1)
    with live_bar(n_steps, 0, int(live), "training", transient=True) as bar:
        yield lambda step: bar.show(next(done))


def _at_least(option: str, value: int | None, least: int) -> int | None:
    if value is not None and value < least:
        raise UserError(f"{option} must be at least {least}, got {value}.")
    return value


def _count_or_share(option: str, text: str | None) -> int | float | None:
    if text is None:
        return None
    try:
        number = float(text)
    except ValueError:
        raise UserError(f"{option} must be a number, got {text!r}.") from None
    if number >= 1 and number.is_integer() and "." not in text:
        return int(number)
    if 0 < number < 1:
        return number
    raise UserError(f"{option} must be a whole number of rows or a share below 1, got {text}.")


def _alpha(text: str | None) -> float | str | None:
    if text is None or text in ("cv", "cv_1se"):
        return text
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 <= number < float("inf"):
        raise UserError(f"--ccp-alpha must be a number of at least 0, cv or cv_1se, got {text!r}.")
    return number

"""`weald fit`: from a file to a compared, saved and reported model."""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from weald.cli.errors import UserError, telling_errors
from weald.cli.options import Data, File, Json, Quiet, at_least, the_source

if TYPE_CHECKING:
    from weald.dataset import Source

# Only light imports here: `weald --help` should not wait for scikit-learn.


class TaskChoice(StrEnum):
    """What to learn."""

    auto = "auto"
    classification = "classification"
    regression = "regression"


_READING, _METHODS, _OUTPUT = "Reading", "Comparing", "Writing"


def fit(
    file: File = None,
    target: Annotated[
        str | None,
        typer.Option(
            "--target", "-t", metavar="COLUMN", help="Column to predict.", rich_help_panel=_READING
        ),
    ] = None,
    data: Data = None,
    task: Annotated[
        TaskChoice,
        typer.Option(
            metavar="TASK",
            help="classification, regression, or auto: text and a few repeated whole numbers are "
            "classes, other numbers are not.",
            rich_help_panel=_READING,
        ),
    ] = TaskChoice.auto,
    weight: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of row weights.",
            rich_help_panel=_READING,
        ),
    ] = None,
    group: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="Column of groups, whose rows stay together in a fold.",
            rich_help_panel=_READING,
        ),
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="Column to leave out; may be repeated.", rich_help_panel=_READING
        ),
    ] = None,
    keep: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN",
            help="Column to use even if it looks like an id; may be repeated.",
            rich_help_panel=_READING,
        ),
    ] = None,
    method: Annotated[
        list[str] | None,
        typer.Option(
            "--method",
            "-m",
            metavar="NAME",
            help="tree, bagging, forest, extra-trees, adaboost, boosting or super-learner; may be "
            "repeated. Default: all.",
            rich_help_panel=_METHODS,
        ),
    ] = None,
    metric: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="log-loss, accuracy, balanced-accuracy, auc, f1; rmse, mae, r2, poisson; or a "
            "scorer of scikit-learn. Default: log-loss or rmse.",
            rich_help_panel=_METHODS,
        ),
    ] = None,
    time: Annotated[
        float,
        typer.Option(
            metavar="SECONDS", help="Seconds for comparing and fitting.", rich_help_panel=_METHODS
        ),
    ] = 60.0,
    cv: Annotated[
        int, typer.Option(help="Folds of the cross-validation.", rich_help_panel=_METHODS)
    ] = 5,
    seed: Annotated[
        int, typer.Option(help="Seed of all random choices.", rich_help_panel=_METHODS)
    ] = 0,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="A parameter of all methods that have it, such as n_estimators=300, or of one: "
            "forest.max_depth=8; may be repeated.",
            rich_help_panel=_METHODS,
        ),
    ] = None,
    n_jobs: Annotated[
        int | None, typer.Option(help="Threads. Default: all cores.", rich_help_panel=_METHODS)
    ] = None,
    model: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Model file to write. Default: the name of FILE with .weald, in this folder.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    report: Annotated[
        str | None,
        typer.Option(
            metavar="PATH",
            help="Report to write. Default: the name of FILE with .html, in this folder.",
            rich_help_panel=_OUTPUT,
        ),
    ] = None,
    no_report: Annotated[
        bool, typer.Option("--no-report", help="Write no report.", rich_help_panel=_OUTPUT)
    ] = False,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Compare methods on a table, fit the best one, and write a model file and a report."""
    with telling_errors():
        _check(time, cv, seed, n_jobs, report, no_report)
        source = the_source(file, data)
        target = _target(source, target, data)
        from weald.cli.main_job import Options, run

        options = Options(
            target=target,
            task=None if task is TaskChoice.auto else cast(Any, task.value),
            weight=weight,
            group=group,
            drop=tuple(drop or ()),
            keep=tuple(keep or ()),
            methods=tuple(method or ()),
            metric=metric,
            seconds=time,
            n_folds=cv,
            seed=seed,
            settings=tuple(settings or ()),
            n_jobs=n_jobs,
            model=model,
            report=report,
            no_report=no_report,
        )
        run(source, options, json=json, quiet=quiet)


def _check(
    time: float, cv: int, seed: int, n_jobs: int | None, report: str | None, no_report: bool
) -> None:
    at_least("--cv", cv, 2)
    if not 0 < time < float("inf"):
        raise UserError(f"--time must be a number of seconds above 0, got {time}.")
    if not 0 <= seed < 2**32:
        raise UserError(f"--seed must be at least 0 and below 2**32, got {seed}.")
    if n_jobs is not None and n_jobs == 0:
        raise UserError("--n-jobs must be a number of threads, or -1 for all cores.")
    if report is not None and no_report:
        raise UserError("Give --report or --no-report, not both.")


def _target(source: Source, target: str | None, data: str | None) -> str:
    if target is not None:
        return target
    if data is not None:
        return source.names[-1]
    from weald.dataset.errors import named

    raise UserError(
        f"Say with --target which column to predict; the columns are: {named(source.names, 20)}."
    )

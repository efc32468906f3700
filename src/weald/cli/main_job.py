"""The steps of `weald fit`: read, compare, fit the best, save, report."""

from __future__ import annotations

import os
import sys
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from time import monotonic
from typing import Any

from weald.cli import model_file
from weald.cli.compare import Comparison, compare, fit_best, heard, prepare
from weald.cli.errors import OutOfTime, UserError
from weald.cli.methods import METHODS, Settings, chosen_methods, read_settings
from weald.cli.metrics import find_metric
from weald.cli.options import spare
from weald.cli.showing import (
    CUT_WORDS,
    marked,
    print_facts,
    print_grid,
    print_json,
    print_notes,
    print_words,
    short,
    working,
)
from weald.dataset import Source, Training, read_training, stem
from weald.dataset.training import Task
from weald.params.words import counted, listed
from weald.report import write_report

__all__ = ["Options", "run"]


@dataclass(frozen=True)
class Options:
    """What the user asked for, checked."""

    target: str
    task: Task | None
    weight: str | None
    group: str | None
    drop: tuple[str, ...]
    keep: tuple[str, ...]
    methods: tuple[str, ...]
    metric: str | None
    seconds: float
    n_folds: int
    seed: int
    settings: tuple[str, ...]
    n_jobs: int | None
    model: str | None
    report: str | None
    no_report: bool


def run(source: Source, options: Options, *, json: bool, quiet: bool) -> None:
    """Do the whole job, and tell about it."""
    began = monotonic()
    methods = chosen_methods(options.methods)
    model_path = _writable(options.model or f"{stem(source.name)}.weald", "--model")
    spare(model_path, "--model", source.path)
    report_path = None
    if not options.no_report:
        report_path = _writable(options.report or f"{stem(source.name)}.html", "--report")
        spare(report_path, "--report", source.path, model_path)
    training = read_training(
        source,
        options.target,
        weight=options.weight,
        group=options.group,
        drop=options.drop,
        keep=options.keep,
        task=options.task,
    )
    recipe = training.recipe
    metric = find_metric(options.metric, recipe.task)
    settings = read_settings(options.settings, methods, recipe.task)
    if options.n_jobs is not None:
        for one in settings.values():
            one["n_jobs"] = options.n_jobs
    task = prepare(training, options.n_folds, options.seed)
    loud = not (json or quiet)
    if loud:
        _show_data(training)
    notes: list[str] = []
    deadline = began + options.seconds
    with heard(notes):
        found = compare(
            task,
            methods,
            settings,
            metric,
            seed=options.seed,
            n_jobs=options.n_jobs,
            deadline=deadline,
            verbose=loud and sys.stderr.isatty(),
        )
        if loud:
            _show_leaderboard(found)
        with working(f"fitting {found.entries[0].method} to all rows", loud):
            model, method = _fitted(training, found, settings, options.seed, deadline, notes)
    seconds = monotonic() - began
    notes = [*task.notes, *notes]
    facts = _facts(training, found, notes, options, model_path, method)
    model_file.save_model(model, model_path, recipe, facts)
    if report_path is not None:
        try:
            # What is to be said was said, or stands in the page.
            with heard([]), working(f"writing {report_path}", loud):
                _write_report(report_path, model, training, facts)
        except KeyboardInterrupt:
            report_path = None
            notes.append(f"Stopped by Ctrl-C before the report was done; {model_path} is complete.")
    if json:
        told = {"notes": [*training.notes, *notes], "report": report_path, "seconds": seconds}
        facts.pop("row_keys")  # of use in the model file only
        print_json({**facts, "recipe": recipe.to_json(), **told})
    elif not quiet:
        _show_end(facts, notes, report_path, seconds)


def _fitted(
    training: Training,
    found: Comparison,
    settings: Settings,
    seed: int,
    deadline: float,
    notes: list[str],
) -> tuple[Any, str]:
    """The best method that can be fitted to all rows in the time that is left, and its name."""
    names = [one.method for one in found.entries]
    for k, name in enumerate(names):
        try:
            left = deadline - monotonic()
            model, cut = fit_best(training, METHODS[name], settings, seed, left)
        except OutOfTime:
            if k + 1 == len(names):
                raise
            notes.append(f"There was no time to fit {name} to all rows: {names[k + 1]} is taken.")
            continue
        if cut:
            notes.append(
                f"The fit of {name} to all rows was cut short as well: more --time may give a "
                "better model."
            )
        return model, name
    raise AssertionError("a comparison has entries")


def _writable(path: str, option: str) -> str:
    """The path of a file to write; better to know before the work than after."""
    file = Path(path)
    if not file.parent.is_dir():
        raise UserError(f"{option} {path}: there is no folder {file.parent}.")
    if file.is_dir():
        raise UserError(f"{option} {path} is a folder: name a file in it.")
    if not os.access(file if file.exists() else file.parent, os.W_OK):
        raise UserError(f"{option} {path} cannot be written: choose another folder.")
    return path


def _facts(
    training: Training,
    found: Comparison,
    notes: list[str],
    options: Options,
    path: str,
    method: str,
) -> dict[str, Any]:
    """What is worth knowing of a fit, as plain data."""
    recipe = training.recipe
    facts: dict[str, Any] = {
        "source": training.source,
        "rows": len(training),
        "reading": list(training.reading),
        "target": recipe.target,
        "task": recipe.task,
        "categories": training.categories,
        "method": method,
        "metric": found.metric.name,
        "higher_is_better": found.metric.higher,
        "beside": found.beside.name,
        "n_folds": found.n_folds,
        "seed": options.seed,
        "settings": list(options.settings),
        "leaderboard": [{**asdict(one), "folds": list(one.folds)} for one in found.entries],
        "without_score": found.missing,
        "interrupted": found.interrupted,
        "notes": [*training.notes, *notes],
        "row_keys": training.keys,
        "model": path,
        "fitted": datetime.now(UTC).isoformat(timespec="seconds"),
    }
    return facts


def _write_report(path: str, model: Any, training: Training, facts: dict[str, Any]) -> None:
    recipe, notes = training.recipe, list(facts["notes"])
    if training.reading:
        notes.insert(0, f"The file is read as {', '.join(training.reading)}.")
    notes += [f"{one.name} is left out: {one.reason}." for one in recipe.left_out]
    write_report(
        path,
        model,
        training.X,
        training.y,
        title=f"{stem(training.source)}: {recipe.target}",
        leaderboard=facts["leaderboard"],
        notes=notes,
        seed=facts["seed"],
    )


def _show_data(training: Training) -> None:
    recipe = training.recipe
    kinds = [rule.kind for rule in recipe.columns]
    parts = [
        f"{kinds.count(kind)} {words}"
        for kind, words in (("number", "numeric"), ("category", "categorical"), ("date", "date"))
        if kind in kinds
    ]
    facts = [
        ("data", f"{training.source}, {counted(len(training), 'row')}"),
        *([("read as", ", ".join(training.reading))] if training.reading else []),
        ("target", f"{recipe.target}, {_target_words(training)}"),
        ("columns", f"{len(kinds)} ({', '.join(parts)})"),
    ]
    if recipe.left_out:
        facts += [
            ("left out" if k == 0 else "", f"{one.name}: {one.reason}")
            for k, one in enumerate(recipe.left_out)
        ]
    if recipe.weight is not None:
        facts.append(("weights", recipe.weight))
    if recipe.group is not None:
        facts.append(("groups", recipe.group))
    print_facts(facts)
    print_notes(training.notes)


def _target_words(training: Training) -> str:
    import numpy as np

    y = training.y
    if training.recipe.task == "regression":
        return f"regression ({short(float(y.min()))} to {short(float(y.max()))})"
    classes, counts = np.unique(y, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:3]
    shares = ", ".join(f"{classes[k]} {counts[k] / len(y):.1%}" for k in order)
    more = f", +{len(classes) - 3} more" if len(classes) > 3 else ""
    return f"classification, {counted(len(classes), 'class', 'classes')} ({shares}{more})"


def _show_leaderboard(found: Comparison) -> None:
    way = "more" if found.metric.higher else "less"
    print_grid(
        ("method", found.metric.words, "std. error", found.beside.words, "seconds"),
        [
            (
                marked(one.method, one.cut),
                short(one.score),
                short(one.standard_error),
                short(one.beside),
                f"{one.seconds:.1f}",
            )
            for one in found.entries
        ],
        title=f"{found.n_folds}-fold cross-validation ({way} {found.metric.words} is better)",
        best=0,
    )
    print_words("")
    if any(one.cut for one in found.entries):
        print_words(CUT_WORDS)
    by_reason: dict[str, list[str]] = {}
    for name, reason in found.missing.items():
        by_reason.setdefault(reason, []).append(name)
    print_notes(
        f"{listed(names)} {'has' if len(names) == 1 else 'have'} no score: {reason}."
        for reason, names in by_reason.items()
    )


def _show_end(facts: dict[str, Any], notes: list[str], report: str | None, seconds: float) -> None:
    print_notes(notes)
    if facts["interrupted"]:
        print_notes(["Stopped by Ctrl-C; the methods that were done are kept."])
    print_facts(
        [
            ("best", f"{facts['method']}, fitted to all rows ({seconds:.0f} s in all)"),
            ("model", facts["model"]),
            *([] if report is None else [("report", report)]),
        ]
    )

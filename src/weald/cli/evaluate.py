"""`weald evaluate`: how good a model is on a file with known targets."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from weald.cli.errors import UserError, telling_errors
from weald.cli.options import Data, File, Json, Model, Quiet, the_source

if TYPE_CHECKING:
    from weald.cli.metrics import Metric
    from weald.cli.model_file import SavedModel
    from weald.dataset import Source


def evaluate(
    model: Model,
    file: File = None,
    data: Data = None,
    json: Json = False,
    quiet: Quiet = False,
) -> None:
    """Score a model on a table that holds the target."""
    with telling_errors():
        from weald.cli.model_file import load_model
        from weald.cli.showing import (
            print_facts,
            print_grid,
            print_json,
            print_notes,
            print_words,
            short,
        )
        from weald.params.words import counted

        saved = load_model(model)
        source = the_source(file, data)
        found = _scores(saved, source)
        if json:
            print_json({"model": model, "data": source.name, **found})
            return
        if quiet:
            return
        print_facts(
            [
                ("model", f"{model} ({saved.facts['method']}, target {saved.recipe.target})"),
                ("data", f"{source.name}, {counted(found['rows'], 'row')}"),
            ]
        )
        print_notes(found["notes"])
        before = found["cross_validated"]
        rows = [
            (
                name.replace("-", " ").replace("_", " "),
                short(one["score"]),
                short(one["standard_error"]),
                short(before.get(name, {}).get("score")),
                short(before.get(name, {}).get("standard_error")),
            )
            for name, one in found["scores"].items()
        ]
        print_grid(("metric", "score", "std. error", "cross-validated", "std. error"), rows)
        if before:
            print_words("", "cross-validated: the scores of the fit, on folds that were held out")


_PARTS = 10  # of the rows, between which metrics differ
_SAME_ROWS = 0.05  # share of the rows of the fit that is worth a word
_UNUSUAL = 3  # standard errors


def _scores(saved: SavedModel, source: Source) -> dict[str, Any]:
    """Every metric that can be computed.

    Standard errors are those of a mean over rows, of other metrics those between parts of the rows.
    """
    import numpy as np

    from weald.cli.metrics import METRICS, metric_of_fit
    from weald.crossfit.risk_table import risk_table
    from weald.dataset.errors import named

    said, y, weights, notes, seen = known_rows(saved, source)
    classes = getattr(saved.model, "classes_", None)
    codes: Any = y
    if classes is not None:
        codes = np.searchsorted(classes, y)
        known = np.isin(y, classes)
        if not known.all():
            new = named(sorted({str(label) for label in y[~known]}), 5)
            notes.append(
                f"{int((~known).sum()):,} rows have a class that the model has not seen ({new}); "
                "they are left out."
            )
            said, codes, weights = said[known], codes[known], weights[known]
        if not len(codes):
            raise UserError(
                f"No row of {source.name} has a class that the model knows: "
                f"{named(map(str, classes))}."
            )
    rows = np.arange(len(codes))
    scores: dict[str, Any] = {}
    metrics = {one.name: one for one in METRICS.values() if one.task == saved.recipe.task}
    of_fit = metric_of_fit(saved.facts)
    metrics.setdefault(of_fit.name, of_fit)
    for metric in metrics.values():
        for parts in (min(_PARTS, len(rows) // _PARTS), 1):
            try:
                risk = metric.make(codes, weights, classes)
                part = rows % max(parts, 1)
                means, errors, _ = risk_table(risk, [said], codes, weights, part, rows)
            except ValueError:  # such as the area under a curve of a single class
                continue
            score = metric.score(float(means[0]))
            if np.isfinite(score):
                scores[metric.name] = {"score": score, "standard_error": float(errors[0])}
                break
    before = _cross_validated(saved.facts)
    if seen < _SAME_ROWS and of_fit.name in scores:
        notes += _surprise(of_fit, scores[of_fit.name], before.get(of_fit.name, {}))
    return {
        "rows": len(codes),
        "scores": scores,
        "cross_validated": before,
        "share_of_rows_in_fit": seen,
        "notes": notes,
    }


def _cross_validated(facts: dict[str, Any]) -> dict[str, Any]:
    """The scores of the method on the folds of the fit."""
    for one in facts.get("leaderboard") or ():
        if one["method"] == facts["method"]:
            own = {"score": one["score"], "standard_error": one["standard_error"]}
            return {facts["metric"]: own, facts["beside"]: {"score": one["beside"]}}
    return {}


def _surprise(metric: Metric, now: dict[str, Any], before: dict[str, Any]) -> list[str]:
    """A sentence if the score is worse than the fit promised, by more than chance."""
    import math

    if before.get("score") is None or before.get("standard_error") is None:
        return []
    apart = (now["score"] - before["score"]) * (-1 if metric.higher else 1)
    error = math.hypot(now["standard_error"], before["standard_error"])
    if not (error > 0 and apart > _UNUSUAL * error):
        return []
    return [
        f"The {metric.words} is {apart / error:.0f} standard errors worse than when it was "
        "cross-validated: these rows are unlike those of the fit."
    ]


def known_rows(saved: SavedModel, source: Source) -> tuple[Any, Any, Any, list[str], float]:
    """What the model says of rows with a target.

    Predictions (n, K), targets, weights, notes, and the share of rows that were in the fit.
    """
    import numpy as np

    from weald.cli.predict import asked
    from weald.dataset.errors import left_out_words
    from weald.dataset.recipe import infinite_notes
    from weald.dataset.row_keys import Overlap, keys_of

    overlap = Overlap(saved.facts.get("row_keys", []))
    classes = getattr(saved.model, "classes_", None)
    said, targets, weights, infinite = [], [], [], []
    absent = weightless = 0
    for part, y, w, present in parts_with_target(saved, source):
        rows = present & (w > 0)
        answers = asked(saved, "predict" if classes is None else "predict_proba", part.X)
        infinite.append(part.infinite)
        overlap.add(keys_of(part.columns, y)[rows])
        said.append(np.asarray(answers, dtype=np.float64).reshape(len(rows), -1)[rows])
        targets.append(y[rows])
        weights.append(w[rows])
        absent += int((~present).sum())
        weightless += int((present & (w == 0)).sum())
    notes = infinite_notes(infinite)
    if saved.recipe.weight is not None and saved.recipe.weight not in source.names:
        notes.append(
            f"{source.name} has no column {saved.recipe.weight!r}, which held weights in the fit: "
            "all rows count alike."
        )
    if absent:
        notes.append(left_out_words(absent, f"without {saved.recipe.target}"))
    if weightless:
        notes.append(left_out_words(weightless, "of weight 0"))
    y = np.concatenate(targets)
    if not len(y):
        weighed = f" and a weight {saved.recipe.weight!r} above 0" if saved.recipe.weight else ""
        raise UserError(f"No row of {source.name} has a target {saved.recipe.target!r}{weighed}.")
    seen = overlap.share()
    if seen >= _SAME_ROWS:
        share = "The" if seen > 0.95 else f"About {seen:.0%} of the"
        notes.append(f"{share} rows of {source.name} were in the fit: the scores are too good.")
    return np.concatenate(said), y, np.concatenate(weights), notes, seen


def parts_with_target(saved: SavedModel, source: Source) -> Any:
    """Parts of a file, their targets, weights, and which rows have a target."""
    import numpy as np

    from weald.dataset.cells import finite
    from weald.dataset.training import read_weights

    recipe = saved.recipe
    weight = recipe.weight if recipe.weight in source.names else None
    others = (recipe.target,) if weight is None else (recipe.target, weight)
    for part in recipe.parts(source, others):
        y = _targets(saved, part.cells[recipe.target])
        if y.dtype.kind == "f":
            y, infinite = finite(y)
            if infinite:
                part.infinite[recipe.target] = infinite
        present = ~np.isnan(y) if y.dtype.kind == "f" else np.array([one is not None for one in y])
        w = np.ones(len(part)) if weight is None else read_weights(part.cells[weight], weight)
        yield part, y, w, present


def _targets(saved: SavedModel, cells: Any) -> Any:
    """The targets of a block, in the type of the model's classes."""
    import numpy as np

    from weald.dataset import DataError
    from weald.dataset.cells import NUMBER_BLANKS

    classes = getattr(saved.model, "classes_", None)
    if classes is not None and isinstance(classes.tolist()[0], str):
        return cells.coded().texts()
    blanks = NUMBER_BLANKS if classes is None else ()  # as in the fit
    numbers = cells.numbers(blanks)
    if numbers is None:
        bad = cells.not_number(blanks)
        shown = "" if bad is None else f", such as {bad[1]!r}"
        raise DataError(
            f"The target {saved.recipe.target!r} held numbers in fit, but holds text now{shown}."
        )
    return np.asarray(numbers)

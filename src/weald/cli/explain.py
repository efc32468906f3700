"""`weald explain`: rows in words."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from weald.cli.errors import UserError, telling_errors
from weald.cli.options import Data, File, Json, Model, the_source


def explain(
    model: Model,
    file: File = None,
    data: Data = None,
    row: Annotated[
        list[int] | None,
        typer.Option(help="Number of the row, 1 for the first; may be repeated. Default: 1."),
    ] = None,
    top: Annotated[int, typer.Option(help="Columns to name.")] = 5,
    json: Json = False,
) -> None:
    """Say why rows get their predictions: the path of a tree, or what each column changes."""
    with telling_errors():
        wanted = row or [1]
        if min(wanted) < 1:
            raise UserError("--row counts from 1, the first row below the header.")
        if top < 1:
            raise UserError("--top must be at least 1.")
        from weald.cli.model_file import load_model
        from weald.cli.predict import names_aside
        from weald.cli.showing import print_json, print_notes, print_words

        saved = load_model(model)
        X, places, notes = _rows(saved.recipe, the_source(file, data), wanted)
        found = []
        with names_aside():
            for number, place in zip(wanted, places, strict=True):
                found.append({"row": number, **_explained(saved, X, place, top)})
        if json:
            print_json(found)
        else:
            print_notes(notes)
            print_words(*(f"row {one['row']} {one['words']}" for one in found))


_COMPARED = 200  # rows of the file that a row is compared with


def _rows(recipe: Any, source: Any, wanted: list[int]) -> tuple[Any, list[int], list[str]]:
    """A table of some of the file's rows, where in it the wanted ones are, and notes."""
    import numpy as np

    from weald.dataset.frames import join_frames
    from weald.dataset.recipe import infinite_notes
    from weald.input.raw_table import take_rows

    parts: list[Any] = []
    places: dict[int, int] = {}
    done = kept = 0
    infinite = []
    for part in recipe.parts(source):
        n = len(part)
        infinite.append(part.infinite)
        here = {number - 1 - done for number in wanted if done < number <= done + n}
        few = set(range(0, n, max(1, n // _COMPARED))) if not parts else set()
        rows = sorted(here | few)
        if rows:
            parts.append(take_rows(part.X, np.array(rows)))
            places |= {done + one + 1: kept + k for k, one in enumerate(rows)}
            kept += len(rows)
        done += n
    beyond = [number for number in wanted if number > done]
    if beyond:
        raise UserError(f"--row {beyond[0]} is beyond the {done:,} rows of {source.name}.")
    return join_frames(parts), [places[number] for number in wanted], infinite_notes(infinite)


def _explained(saved: Any, X: Any, place: int, top: int) -> dict[str, Any]:
    """The explanation of one row, as data and in words."""
    import numpy as np

    from weald.explain import explain_path, row_effects
    from weald.input.raw_table import take_rows

    if hasattr(saved.model, "get_n_leaves"):
        path = explain_path(
            saved.model, take_rows(X, np.array([place])), feature_names=saved.recipe.features
        )[0]
        tests = [str(one) for one in path.conditions]
        return {"prediction": path.prediction, "tests": tests, "words": str(path)}
    effects = row_effects(saved.model, X, place, feature_names=saved.recipe.features)
    return {
        "prediction": effects.prediction,
        "value": effects.value,
        "usual": effects.usual,
        "effects": [
            {"column": one.feature, "value": one.value, "effect": one.effect}
            for one in effects.effects[:top]
        ],
        "words": effects.words(top),
    }

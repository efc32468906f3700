"""`weald theory`: what is proven, or exactly true, about a model on its data."""

from __future__ import annotations

from typing import Any

from weald.cli.errors import telling_errors
from weald.cli.options import Data, File, Json, Model, the_source

# What weald.theory has, in the order of the page; each says itself whether it applies.
NOTIONS = {
    "certificate": "Certificate of boosting",
    "margins": "Margins",
    "pac_bayes": "PAC-Bayes bounds of the vote",
    "generalization_bound": "Bound by complexity",
    "correlation": "Correlation of the members",
    "ambiguity": "Error of the members and of the ensemble",
}


def theory(model: Model, file: File = None, data: Data = None, json: Json = False) -> None:
    """Say what theory certifies about a model; FILE should be the one it was fitted to."""
    with telling_errors():
        from weald.cli.model_file import load_model
        from weald.cli.showing import print_json, print_notes, print_words

        saved = load_model(model)
        X, y, weights, notes = _training_rows(saved, the_source(file, data))
        found, not_said = {}, {}
        for name, title in NOTIONS.items():
            try:
                found[title] = _ask(name, saved.model, X, y, weights)
            except (ValueError, TypeError, AttributeError) as error:
                not_said[title] = " ".join(str(error).split())
        if json:
            print_json({"notes": notes, "says": found, "does_not_apply": not_said})
            return
        print_notes(notes)
        for title, words in found.items():
            print_words("", title.upper(), words)
        if not found:
            print_words("Nothing that weald.theory knows applies to this model:")
            print_words(*(f"{title}: {why}" for title, why in not_said.items()))
        elif not_said:
            print_words("", f"Does not apply: {', '.join(not_said).lower()} (--json says why).")


def _ask(name: str, model: Any, X: Any, y: Any, weights: Any) -> str:
    import warnings

    from weald import theory as notions

    given = {}
    if weights is not None:
        if name not in ("certificate", "ambiguity"):
            raise ValueError("It knows no row weights.")
        given["sample_weight"] = weights
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        result = getattr(notions, name)(model, X, y, **given)
    return str(result.summary())


def _training_rows(saved: Any, source: Any) -> tuple[Any, Any, Any, list[str]]:
    """The rows of a file that have a target, as one table."""
    import numpy as np

    from weald.cli.evaluate import parts_with_target
    from weald.dataset.frames import join_frames
    from weald.dataset.recipe import infinite_notes
    from weald.dataset.row_keys import Overlap, keys_of
    from weald.input.raw_table import take_rows

    overlap = Overlap(saved.facts.get("row_keys", []))
    parts, targets, weights, infinite = [], [], [], []
    for part, y, w, present in parts_with_target(saved, source):
        rows = np.flatnonzero(present & (w > 0))
        parts.append(take_rows(part.X, rows))
        infinite.append(part.infinite)
        overlap.add(keys_of(part.columns, y)[rows])
        targets.append(y[rows])
        weights.append(w[rows])
    y = np.concatenate(targets)
    notes = infinite_notes(infinite)
    if len(y) != saved.facts["rows"]:
        notes.append(
            f"The model was fitted to {saved.facts['rows']:,} rows and {source.name} has "
            f"{len(y):,}: certificates are about the rows of the fit."
        )
    elif overlap.share() < 0.95:
        notes.append(
            f"The rows of {source.name} are not those that the model was fitted to: certificates "
            "are about the rows of the fit."
        )
    classes = getattr(saved.model, "classes_", None)
    if classes is not None:
        y = y.astype(classes.dtype)
    given = None if saved.recipe.weight is None else np.concatenate(weights)
    return join_frames(parts), y, given, notes

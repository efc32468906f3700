"""`weald predict`: predictions for a file of any size."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from time import monotonic
from typing import TYPE_CHECKING, Annotated, Any

import typer

from weald.cli.errors import ModelError, UserError, telling_errors
from weald.cli.options import Data, File, Model, spare, the_source

if TYPE_CHECKING:
    from weald.cli.model_file import SavedModel
    from weald.dataset import Source


def predict(
    model: Model,
    file: File = None,
    data: Data = None,
    output: Annotated[
        str | None,
        typer.Option(
            "--output",
            "-o",
            metavar="PATH",
            help="File to write: .csv, .csv.gz, .jsonl or .parquet. Default: CSV on standard "
            "output.",
        ),
    ] = None,
    copy: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="Column of FILE to put beside the predictions; may be repeated."
        ),
    ] = None,
    proba: Annotated[
        bool, typer.Option(help="Write the probability of every class as well.")
    ] = True,
    json: Annotated[
        bool, typer.Option("--json", help="Lines of JSON on standard output instead of CSV.")
    ] = False,
    quiet: Annotated[
        bool, typer.Option("--quiet", "-q", help="Say nothing about the file written.")
    ] = False,
) -> None:
    """Predict the rows of a table, block by block, in the order of the file."""
    with telling_errors():
        if json and output is not None:
            raise UserError("--json is for standard output: with --output give a name in .jsonl.")
        from weald.cli.model_file import load_model
        from weald.cli.writing import open_writer
        from weald.dataset.recipe import infinite_notes

        saved = load_model(model)
        source = the_source(file, data)
        if output is not None:
            spare(output, "--output", source.path, model)
        began, n = monotonic(), 0
        infinite: list[dict[str, int]] = []
        with open_writer(output, lines=json) as writer:
            for columns in _blocks(saved, source, tuple(copy or ()), proba, infinite):
                writer.write(columns)
                n += len(next(iter(columns.values())))
        if quiet:
            return
        from weald.cli.showing import print_notes, print_words
        from weald.params.words import counted

        print_notes(infinite_notes(infinite), beside=output is None)
        if output is not None:
            seconds = monotonic() - began
            print_words(f"{counted(n, 'prediction')} in {output} ({seconds:.1f} s)")


def _blocks(
    saved: SavedModel,
    source: Source,
    copied: tuple[str, ...],
    proba: bool,
    infinite: list[dict[str, int]],
) -> Iterator[dict[str, Any]]:
    """What is written of every block: copied columns, predictions, probabilities.

    Infinite numbers of the blocks are noted in `infinite`.
    """
    import numpy as np

    from weald.dataset.ahead import read_ahead
    from weald.dataset.cells import Coded

    classes = getattr(saved.model, "classes_", None)
    made = {
        "prediction",
        *(f"probability_{label}" for label in (() if classes is None else classes)),
    }
    clash = [name for name in copied if name in made]
    if clash:
        raise UserError(
            f"--copy {clash[0]!r}: the predictions have a column of this name; rename that of "
            f"{source.name}."
        )
    for part in read_ahead(saved.recipe.parts(source, copied)):
        X = part.X
        infinite.append(part.infinite)
        columns: dict[str, Any] = {name: part.cells[name].coded() for name in copied}
        if classes is None:
            columns["prediction"] = np.asarray(asked(saved, "predict", X))
        else:
            shares = asked(saved, "predict_proba", X)
            if getattr(saved.model, "_costs", None) is None:
                codes = shares.argmax(axis=1).astype(np.int32)
            else:  # the cheapest class need not be the most likely one
                codes = np.searchsorted(classes, asked(saved, "predict", X)).astype(np.int32)
            labels = classes.tolist()
            text = isinstance(labels[0], str)
            columns["prediction"] = Coded(codes, labels) if text else classes[codes]
            if proba:
                columns |= {f"probability_{label}": shares[:, k] for k, label in enumerate(classes)}
        yield columns


def asked(saved: SavedModel, method: str, X: Any) -> Any:
    """Ask the model about a table; what it refuses is told in a sentence."""
    from weald.dataset.errors import first_line

    with names_aside():
        try:
            return getattr(saved.model, method)(X)
        except (ValueError, TypeError) as error:
            raise ModelError(first_line(error)) from error


@contextmanager
def names_aside() -> Iterator[None]:
    """No warnings about names of columns.

    A table has names or not by the libraries that are installed; the recipe keeps the order.
    """
    import warnings

    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*feature names.*", category=UserWarning)
        yield

"""The `weald` program: its commands, a file each."""

from __future__ import annotations

from typing import Annotated

import typer

from weald.cli.evaluate import evaluate
from weald.cli.explain import explain
from weald.cli.fit import fit
from weald.cli.inspect import inspect
from weald.cli.predict import predict
from weald.cli.theory import theory

app = typer.Typer(
    name="weald",
    help="Ensemble learning on tables.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
)
for command in (fit, predict, evaluate, inspect, explain, theory):
    app.command()(command)


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

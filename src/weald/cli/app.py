"""The `weald` program: its commands, a file each."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from weald.cli.errors import USAGE
from weald.cli.evaluate import evaluate
from weald.cli.explain import explain
from weald.cli.fit import fit
from weald.cli.inspect import inspect
from weald.cli.predict import predict
from weald.cli.theory import theory


class Program(TyperGroup):
    """The commands; a wrong option is told in a sentence, as every other mistake is."""

    def main(
        self,
        args: Any = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **more: Any,
    ) -> Any:
        """Run a command."""
        try:
            code = super().main(args, prog_name, complete_var, False, windows_expand_args, **more)
        except Exception as error:
            if not standalone_mode or not hasattr(error, "format_message"):
                raise  # to a program that called, or as it is a defect of weald
            words = error.format_message()
            if not words or "\n" in words:  # a bare `weald`, which has shown its help
                typer.echo(words, err=True)
                sys.exit(USAGE)
            context = getattr(error, "ctx", None)
            path = "weald" if context is None else " ".join(["weald", *_commands(context)])
            words = words if words.endswith((".", "?", "!")) else f"{words}."
            typer.echo(f"weald: {words} See {path} --help.", err=True)
            code = USAGE
        if not standalone_mode:
            return code
        sys.exit(code if isinstance(code, int) else 0)


def _commands(context: Any) -> list[str]:
    """The names of the commands that a context is about, without that of the program."""
    return [*_commands(context.parent), context.info_name] if context.parent else []


app = typer.Typer(
    cls=Program,
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

"""What is the user's to mend, and the exit code that says so."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

__all__ = ["ModelError", "OutOfTime", "UserError", "telling_errors"]

# Exit codes; docs/command-line.md has them too.
USAGE, DATA, MODEL, TIME, INTERRUPTED = 2, 3, 4, 5, 130

# The disk is full, or cannot be written to.


class UserError(Exception):
    """A mistake in the options, told in one sentence and without a traceback."""

    code = USAGE


class ModelError(UserError):
    """A model file that cannot be read, or does not fit the command."""

    code = MODEL


class OutOfTime(UserError):  # noqa: N818 (nothing is wrong but the time)
    """No method was done in time."""

    code = TIME


@contextmanager
def telling_errors() -> Iterator[None]:
    """Turn a user's mistake into one sentence on standard error and an exit code."""
    from weald.dataset.errors import DataError

    try:
        yield
    except UserError as error:
        _tell(str(error), error.code)
    except DataError as error:
        _tell(str(error), DATA)
    except KeyboardInterrupt:
        _tell("Stopped; nothing was written.", INTERRUPTED)
    except BrokenPipeError:  # nobody reads on, such as after `| head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:  # reading has errors of its own, so it is about writing
        where = f" {error.filename}" if error.filename else ""
        _tell(f"Cannot write{where}: {error.strerror or error}.", DATA)


def _tell(message: str, code: int) -> None:
    typer.echo(f"weald: {' '.join(message.split())}", err=True)
    raise typer.Exit(code) from None

"""Run commands in this process."""

import json

from typer.testing import CliRunner

from weald.cli import app

QUICK = ("--method", "tree", "--cv", "3", "--no-report")


def run(*args):
    return CliRunner().invoke(app, [str(one) for one in args])


def output(*args):
    """What a command prints, which must succeed and say nothing on standard error."""
    result = run(*args)
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    return result.stdout


def as_json(*args):
    return json.loads(output(*args, "--json"))


def error(code, *args, begun=False):
    """The one sentence of a command that fails; `begun`: after it has told about the data."""
    result = run(*args)
    assert result.exit_code == code, result.output
    assert begun or result.stdout == ""
    assert "Traceback" not in result.stderr
    assert len(result.stderr.splitlines()) == 1, result.stderr
    assert result.stderr.startswith("weald: ")
    return result.stderr.strip().removeprefix("weald: ")

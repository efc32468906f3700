"""The `weald` command."""

from weald.cli.app import app

__all__ = ["app", "main"]


def main() -> None:
    """Run the command line."""
    app()

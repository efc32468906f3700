"""What is raised for a model that cannot be saved, and for a file that is no valid model."""

from __future__ import annotations

from typing import Any

__all__ = ["ModelFileError", "require"]


class ModelFileError(ValueError):
    """A model cannot be stored as plain data, or a file does not hold a valid model."""


def require(condition: Any, part: str) -> None:
    """Refuse a file for the sake of a part."""
    if not condition:
        raise ModelFileError(f"Not a valid model file: {part} cannot be right.")

"""What is raised for a model that cannot be saved, and for a file that is no valid model."""

from __future__ import annotations

__all__ = ["ModelFileError"]


class ModelFileError(ValueError):
    """A model cannot be stored as plain data, or a file does not hold a valid model."""

"""Warnings that point at the user's own line."""

from __future__ import annotations

import os
import sys
import warnings
from pathlib import Path
from types import FrameType

__all__ = ["NearUniqueWarning", "SharedBinsWarning", "warn_user"]

_HOME = str(Path(__file__).parents[1]) + os.sep


class NearUniqueWarning(UserWarning):
    """A column has a different category in nearly every row."""


class SharedBinsWarning(UserWarning):
    """A column has more categories than bins."""


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called into weald, however deep in it the reason was found."""
    frame: FrameType | None = sys._getframe()
    depth = level = 1
    while frame is not None:
        if frame.f_code.co_filename.startswith(_HOME):
            level = depth + 1
        frame, depth = frame.f_back, depth + 1
    warnings.warn(message, category, stacklevel=level)

"""What every answer of the theory is: numbers, a reading in plain words, a table and a picture."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from weald.params.extras import axes_or_new, import_extra

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from pandas import DataFrame

__all__ = ["Result"]


@dataclass(frozen=True, eq=False)
class Result(ABC):
    """Numbers that theory gives for a fitted model and its data.

    A kind of result is a frozen dataclass of NumPy numbers that says how it reads
    (:meth:`summary`), what its table holds (:meth:`columns`), and which function of
    :mod:`weald.theory.plots` draws it (:meth:`_draw`).
    """

    @abstractmethod
    def summary(self) -> str:
        """What the numbers mean, in plain words; also which of them say nothing."""

    @abstractmethod
    def columns(self) -> Mapping[str, Any]:
        """The columns of the table, all of one length."""

    @abstractmethod
    def _draw(self, ax: Axes) -> None:
        """Draw the picture; plots are imported here, so that numbers need no matplotlib."""

    def to_frame(self) -> DataFrame:
        """The table as a pandas data frame."""
        return import_extra("pandas", "to_frame").DataFrame(dict(self.columns()))

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the result.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            A new figure by default.

        Returns
        -------
        matplotlib Axes
        """
        ax = axes_or_new(ax, "plot", (7, 4.5))
        self._draw(ax)
        return ax

    def __str__(self) -> str:
        return self.summary()

"""Charts as inline SVG, coloured by the style sheet of the page, in light and dark.

Every chart has axes with names, a description for those who cannot see it, and its numbers in a
table behind it. Lines differ in their dashes, not in colour alone.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np
import numpy.typing as npt

from weald.explain._view import number_words

__all__ = ["Axis", "Chart", "Series", "bar", "interval_bar", "sparkline", "words"]

WIDTH, HEIGHT = 380, 280
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 14, 10, 54
_TABLE_ROWS = 40  # of the numbers behind a chart


def words(number: Any, digits: int = 4) -> str:
    """A number for people: `digits` digits, thousands apart, a dash for none."""
    if number is None or not math.isfinite(number):
        return "–"
    if float(number) == int(number) and abs(number) < 1e15:
        return f"{int(number):,}".replace(",", "\u202f")
    return number_words(float(number), digits).replace("-", "−")


@dataclass(frozen=True)
class Axis:
    """Name and range of an axis; `names`: of places 0, 1, ... instead of numbers."""

    name: str
    low: float | None = None
    high: float | None = None
    names: tuple[str, ...] | None = None


@dataclass(frozen=True, eq=False)
class Series:
    """What a chart shows: a "line", "points", "bars", or a "diagonal" to compare with.

    `low` and `high` make a band around a line and whiskers at points; the edges of bars are x, of
    which there is one more than of y.
    """

    kind: str
    x: npt.NDArray[Any]
    y: npt.NDArray[Any]
    name: str = ""
    low: npt.NDArray[Any] | None = None
    high: npt.NDArray[Any] | None = None


@dataclass(frozen=True, eq=False)
class Chart:
    """A chart with its title, its two axes and its series."""

    title: str
    x: Axis
    y: Axis
    series: Sequence[Series]
    note: str = ""
    description: str = field(default="")

    def html(self) -> str:
        """The figure, as it stands in the page."""
        shown = [one for one in self.series if one.kind != "diagonal"]
        described = self.description or self._describe(shown)
        legend = ""
        if sum(bool(one.name) for one in self.series) > 1:
            keys = "".join(
                f"<li>{_key(one.kind, k)}{escape(one.name)}</li>"
                for k, one in enumerate(self.series)
                if one.name
            )
            legend = f'<ul class="legend">{keys}</ul>'
        note = f'<p class="note">{escape(self.note)}</p>' if self.note else ""
        return (
            f"<figure><figcaption>{escape(self.title)}</figcaption>"
            f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" '
            f'aria-label="{escape(described)}">{self._drawn()}</svg>{legend}{note}'
            f"{self._numbers(shown)}</figure>"
        )

    # --- drawing ---------------------------------------------------------------------------------

    def _drawn(self) -> str:
        x_low, x_high, x_ticks = _scale(self.x, [one.x for one in self.series])
        ys = [
            part for one in self.series for part in (one.y, one.low, one.high) if part is not None
        ]
        if any(one.kind == "bars" for one in self.series):
            ys.append(np.zeros(1))
        y_low, y_high, y_ticks = _scale(self.y, ys)
        place = _Place(x_low, x_high, y_low, y_high)
        parts = [_grid(place, self.x, self.y, x_ticks, y_ticks)]
        draw = {"line": _line, "points": _points, "bars": _bars, "diagonal": _diagonal}
        parts += [draw[one.kind](one, k, place) for k, one in enumerate(self.series)]
        return "".join(parts)

    # --- words and numbers -----------------------------------------------------------------------

    def _describe(self, shown: Sequence[Series]) -> str:
        parts = [f"{self.title}: {self.y.name} by {self.x.name}."]
        for one in shown:
            if len(one.y):
                name = f"{one.name}: " if one.name else ""
                parts.append(
                    f"{name}from {words(one.y[0])} to {words(one.y[-1])}, "
                    f"between {words(np.min(one.y))} and {words(np.max(one.y))}."
                )
        return " ".join(parts)

    def _numbers(self, shown: Sequence[Series]) -> str:
        tables = []
        for one in shown:
            if not len(one.y):
                continue
            some = np.unique(np.linspace(0, len(one.y) - 1, _TABLE_ROWS).round().astype(int))
            some = some if len(one.y) > _TABLE_ROWS else np.arange(len(one.y))
            heads = [self.x.name, self.y.name, *(["from", "to"] if one.low is not None else [])]
            rows = []
            for i in some:
                at = round(float(one.x[i])) if self.x.names else 0
                first = self.x.names[at] if self.x.names else words(one.x[i])
                cells = [first, words(one.y[i])]
                if one.low is not None and one.high is not None:
                    cells += [words(one.low[i]), words(one.high[i])]
                rows.append("".join(f"<td>{escape(cell)}</td>" for cell in cells))
            head = "".join(f'<th scope="col">{escape(name)}</th>' for name in heads)
            caption = f"<caption>{escape(one.name)}</caption>" if one.name else ""
            body = "".join(f"<tr>{row}</tr>" for row in rows)
            tables.append(
                f"<table>{caption}<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"
            )
        return (
            "<details><summary>Numbers</summary>"
            f'<div class="scroll" tabindex="0" role="region" aria-label="Numbers of '
            f'{escape(self.title)}">{"".join(tables)}</div></details>'
        )


@dataclass(frozen=True)
class _Place:
    """From numbers to places in the picture."""

    x_low: float
    x_high: float
    y_low: float
    y_high: float

    def x(self, value: Any) -> float:
        share = (float(value) - self.x_low) / (self.x_high - self.x_low)
        return round(_LEFT + share * (WIDTH - _LEFT - _RIGHT), 1)

    def y(self, value: Any) -> float:
        share = (float(value) - self.y_low) / (self.y_high - self.y_low)
        return round(HEIGHT - _BOTTOM - share * (HEIGHT - _TOP - _BOTTOM), 1)


def _scale(axis: Axis, parts: Sequence[Any]) -> tuple[float, float, list[float]]:
    """Range of an axis and its ticks."""
    if axis.names is not None:
        return -0.5, len(axis.names) - 0.5, [float(k) for k in range(len(axis.names))]
    numbers = np.concatenate([np.asarray(part, dtype=np.float64).ravel() for part in parts])
    numbers = numbers[np.isfinite(numbers)]
    low = axis.low if axis.low is not None else float(numbers.min(initial=math.inf))
    high = axis.high if axis.high is not None else float(numbers.max(initial=-math.inf))
    if not low <= high:
        low, high = 0.0, 1.0
    if high - low <= 1e-12 * max(abs(low), abs(high), 1e-300):
        pad = abs(low) / 10 or 1.0
        low, high = low - pad, high + pad
    step = tidy_step((high - low) / 5)
    ticks = np.arange(math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9) + 1) * step
    if axis.low is None:
        low -= 0.03 * (high - low)
    if axis.high is None:
        high += 0.03 * (high - low)
    return low, high, [float(tick) + 0.0 for tick in ticks]


def tidy_step(rough: float) -> float:
    """The least of 1, 2, 5 times a power of ten that is not below `rough`.

    Examples
    --------
    >>> tidy_step(0.13), tidy_step(21.0)
    (0.2, 50.0)
    """
    power = 10.0 ** math.floor(math.log10(rough))
    return float(next(f * power for f in (1, 2, 5, 10) if f * power >= rough * (1 - 1e-9)))


def _grid(
    place: _Place, x: Axis, y: Axis, x_ticks: Sequence[float], y_ticks: Sequence[float]
) -> str:
    bottom, right = HEIGHT - _BOTTOM, WIDTH - _RIGHT
    parts = []
    for tick in y_ticks:
        at = place.y(tick)
        parts.append(f'<line class="grid" x1="{_LEFT}" x2="{right}" y1="{at}" y2="{at}"/>')
        parts.append(f'<text x="{_LEFT - 6}" y="{at + 4}" text-anchor="end">{_tick(tick)}</text>')
    names = len(x_ticks) if x.names else 0
    lines = 2 if names > 4 else 1  # names of many categories take turns
    for k, tick in enumerate(x_ticks):
        at = place.x(tick)
        if x.names is None:
            parts.append(f'<line class="grid" x1="{at}" x2="{at}" y1="{_TOP}" y2="{bottom}"/>')
        name, line = _tick(tick), 0
        if x.names:
            name, line = escape(_short(x.names[k], 40 * lines // names)), k % lines
        parts.append(
            f'<text x="{at}" y="{bottom + 15 + 13 * line}" text-anchor="middle">{name}</text>'
        )
    parts.append(f'<line class="axis" x1="{_LEFT}" x2="{right}" y1="{bottom}" y2="{bottom}"/>')
    middle, height = (_LEFT + right) / 2, (_TOP + bottom) / 2
    parts.append(
        f'<text class="name" x="{middle}" y="{HEIGHT - 8}" text-anchor="middle">'
        f"{escape(_short(x.name, 44))}</text>"
        f'<text class="name" transform="translate(12 {height}) rotate(-90)" text-anchor="middle">'
        f"{escape(_short(y.name, 34))}</text>"
    )
    return "".join(parts)


def _short(text: str, most: int) -> str:
    return text if len(text) <= most else text[: most - 1] + "…"


def _tick(number: float) -> str:
    if number != 0 and (abs(number) >= 1e5 or abs(number) < 1e-3):
        return f"{number:.3g}".replace("e+0", "e").replace("e-0", "e-").replace("-", "−")
    return f"{round(number, 6):g}".replace("-", "−")


def _path(x: Sequence[float], y: Sequence[float]) -> str:
    return "M" + "L".join(f"{a} {b}" for a, b in zip(x, y, strict=True))


def _line(one: Series, k: int, place: _Place) -> str:
    x = [place.x(v) for v in one.x]
    band = ""
    if one.low is not None and one.high is not None and len(x):
        around = [*map(place.y, one.high), *map(place.y, one.low[::-1])]
        band = f'<path class="band c{k % 6}" d="{_path([*x, *x[::-1]], around)}Z"/>'
    if not len(x):
        return ""
    return f'{band}<path class="line c{k % 6}" d="{_path(x, [place.y(v) for v in one.y])}"/>'


def _points(one: Series, k: int, place: _Place) -> str:
    parts = []
    small = len(one.x) > 60
    for i, (x, y) in enumerate(zip(one.x, one.y, strict=True)):
        if one.low is not None and one.high is not None:
            low, high = place.y(one.low[i]), place.y(one.high[i])
            at = place.x(x)
            parts.append(
                f'<line class="whisker c{k % 6}" x1="{at}" x2="{at}" y1="{low}" y2="{high}"/>'
            )
        parts.append(_marker(place.x(x), place.y(y), 2 if small else 4, k))
    return "".join(parts)


def _marker(x: float, y: float, r: float, k: int) -> str:
    """A point whose shape tells its series, as its colour does."""
    if k % 4 == 0:
        return f'<circle class="point c{k % 6}" cx="{x}" cy="{y}" r="{r}"/>'
    around = {
        1: ((-r, -r), (r, -r), (r, r), (-r, r)),
        2: ((0, -1.3 * r), (1.2 * r, r), (-1.2 * r, r)),
        3: ((0, -1.4 * r), (1.4 * r, 0), (0, 1.4 * r), (-1.4 * r, 0)),
    }[k % 4]
    corners = " ".join(f"{x + dx:.1f},{y + dy:.1f}" for dx, dy in around)
    return f'<polygon class="point c{k % 6}" points="{corners}"/>'


def _bars(one: Series, k: int, place: _Place) -> str:
    parts, floor = [], place.y(0)
    for left, right, y in zip(one.x[:-1], one.x[1:], one.y, strict=True):
        a, b, top = place.x(left), place.x(right), place.y(y)
        parts.append(
            f'<rect class="bar c{k % 6}" x="{a + 0.5:.1f}" y="{top}" '
            f'width="{max(b - a - 1, 0.5):.1f}" height="{max(floor - top, 0):.1f}"/>'
        )
    return "".join(parts)


def _diagonal(one: Series, k: int, place: _Place) -> str:
    x, y = [place.x(v) for v in one.x], [place.y(v) for v in one.y]
    return f'<path class="diagonal" d="{_path(x, y)}"/>'


def _key(kind: str, k: int) -> str:
    """The sign of a series in the legend."""
    inside = {
        "line": f'<path class="line c{k % 6}" d="M1 6L23 6"/>',
        "points": _marker(12, 6, 4, k),
        "bars": f'<rect class="bar c{k % 6}" x="4" y="1" width="16" height="10"/>',
        "diagonal": '<path class="diagonal" d="M1 6L23 6"/>',
    }[kind]
    return f'<svg class="key" viewBox="0 0 24 12" aria-hidden="true">{inside}</svg>'


# --- small pictures in tables --------------------------------------------------------------------


def sparkline(count: npt.NDArray[Any]) -> str:
    """Bars of counts, for a cell of a table; the numbers stand beside it."""
    top = max(int(count.max(initial=0)), 1)
    width = 84 / max(len(count), 1)
    parts = "".join(
        f'<rect class="bar c0" x="{k * width + 0.5:.1f}" y="{24 - 22 * n / top:.1f}" '
        f'width="{max(width - 1, 0.5):.1f}" height="{22 * n / top:.1f}"/>'
        for k, n in enumerate(count)
    )
    return f'<svg class="spark" viewBox="0 0 84 24" aria-hidden="true">{parts}</svg>'


def bar(value: float, error: float, low: float, high: float) -> str:
    """A bar from 0 to a value with a whisker of one error on both sides, for a cell of a table."""
    span = (high - low) or 1.0

    def at(number: float) -> float:
        return round(3 + 194 * (min(max(number, low), high) - low) / span, 1)

    a, b = sorted((at(0.0), at(value)))
    whisker = ""
    if math.isfinite(error) and error > 0:
        whisker = (
            f'<line class="whisker ink" x1="{at(value - error)}" x2="{at(value + error)}" '
            'y1="8" y2="8"/>'
        )
    return (
        '<svg class="cellbar" viewBox="0 0 200 16" preserveAspectRatio="none" aria-hidden="true">'
        f'<rect class="bar c0" x="{a}" y="3" width="{max(b - a, 0.5):.1f}" height="10"/>'
        f"{whisker}</svg>"
    )


def interval_bar(value: float, error: float | None, low: float, high: float) -> str:
    """A point with its 95 % interval, for a cell of a table."""
    span = (high - low) or 1.0

    def at(number: float) -> float:
        return round(5 + 190 * (number - low) / span, 1)

    whisker = ""
    if error is not None and math.isfinite(error):
        ends = at(value - 1.96 * error), at(value + 1.96 * error)
        whisker = f'<line class="whisker c0" x1="{ends[0]}" x2="{ends[1]}" y1="8" y2="8"/>'
    return (
        '<svg class="cellbar" viewBox="0 0 200 16" aria-hidden="true">'
        f'{whisker}<circle class="point c0" cx="{at(value)}" cy="8" r="4"/></svg>'
    )

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The README's picture: upstream's wheels of one release next to ours, each box as wide as its download."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from xml.sax.saxutils import escape

from packaging.utils import parse_wheel_filename

from pjrtwheel.abis import name_python
from pjrtwheel.backend import Backend
from pjrtwheel.docs.measures import Measure
from pjrtwheel.errors import count
from pjrtwheel.sets.projects import BINDINGS

_ARCHITECTURE = "x86_64"
_WIDTH, _MARGIN, _PANEL = 880, 20, 400  # the picture, its edges, and each of its two halves
_TOP, _ROW, _BOX = 96, 52, 20  # where the rows begin, how far apart they are, how high a box is
_LEFTS = (_MARGIN, _WIDTH - _MARGIN - _PANEL)
_TITLES = ("Upstream: GPU kernels for each Python", "Here: one wheel for each accelerator")
_DESCRIPTION = (
    "Upstream's GPU wheels are a library, and kernels once for each Python. Here they are one wheel for all of them."
)
_OPEN = (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-labelledby="t d" '
    'font-family="system-ui, -apple-system, Segoe UI, Helvetica, Arial, sans-serif" font-size="13">'
)
_NARROWEST = 3.0  # a box that is thinner could not be seen
_LABELLED = 40.0  # a box from this width on has room for the name of its Python


@dataclass(frozen=True, slots=True)
class _Colours:
    page: str
    text: str
    quiet: str
    every: str
    one: str
    inside: str


_THEMES: Mapping[str, _Colours] = {
    "light": _Colours("#ffffff", "#1f2328", "#59636e", "#0969da", "#9a6700", "#ffffff"),
    "dark": _Colours("#0d1117", "#f0f6fc", "#9198a1", "#4493f8", "#d29922", "#0d1117"),
}


@dataclass(frozen=True, slots=True)
class _Row:
    """The wheels of one accelerator, or of the bindings, on one side; none if they are part of another wheel."""

    wheels: tuple[Measure, ...]
    inside: str = ""


def render_pictures(measures: Iterable[Measure], backends: Iterable[Backend]) -> dict[str, str]:
    """Return the pictures by their path in the repository: one for each theme, as an image cannot see the page's."""
    rows = list(_pair_rows([row for row in measures if row.tag.endswith(_ARCHITECTURE)], backends))
    return {f"docs/images/wheels-{theme}.svg": _draw(rows, colours) for theme, colours in _THEMES.items()}


def _pair_rows(measures: Sequence[Measure], backends: Iterable[Backend]) -> Iterator[tuple[_Row, _Row]]:
    """Yield upstream's row and ours, of the bindings and of each wheel of ours that has a library."""
    yield _Row(_pick(measures, {BINDINGS}, ours=False)), _Row(_pick(measures, {BINDINGS}, ours=True))
    for backend in backends:
        if not backend.prebuilt.bundled or not (mine := _pick(measures, {backend.distribution}, ours=True)):
            continue
        if backend.is_cpu:  # JAX publishes no wheel for it
            yield _Row((), f"XLA for the CPU is inside each {BINDINGS}"), _Row(mine)
            continue
        projects = {backend.prebuilt.project} | ({backend.kernels.project} if backend.kernels else set())
        yield _Row(_pick(measures, projects, ours=False)), _Row(mine)


def _pick(measures: Sequence[Measure], projects: set[str], *, ours: bool) -> tuple[Measure, ...]:
    rows = [row for row in measures if row.distribution in projects and row.locked == ours]
    return tuple(sorted(rows, key=lambda row: (row.distribution, row.wheel)))


def _draw(rows: Sequence[tuple[_Row, _Row]], colours: _Colours) -> str:
    version = parse_wheel_filename(rows[0][0].wheels[0].wheel)[1].public
    sides = [[pair[side] for pair in rows] for side in (0, 1)]
    sums = [_describe([wheel for row in side for wheel in row.wheels]) for side in sides]
    height = _TOP + _ROW * len(rows) + 36
    parts = [
        _OPEN.format(width=_WIDTH, height=height),
        f'<title id="t">JAX {version} for Linux on {_ARCHITECTURE}: upstream {sums[0]}, here {sums[1]}</title>',
        f'<desc id="d">{_DESCRIPTION}</desc>',
        f'<rect width="{_WIDTH}" height="{height}" rx="8" fill="{colours.page}"/>',
        *_draw_legend(version, colours),
    ]
    scale = _PANEL / max(_megabytes(row.wheels) for side in sides for row in side)
    for title, side, total, left in zip(_TITLES, sides, sums, _LEFTS, strict=True):
        parts.append(_text(left, 30, title, colours.text, 'font-size="16" font-weight="600"'))
        for index, row in enumerate(side):
            parts.extend(_draw_row(row, left, _TOP + _ROW * index, scale, colours))
        parts.append(_text(left, height - 18, f"together {total}", colours.text, 'font-weight="600"'))
    return "\n".join([*parts, "</svg>"]) + "\n"


def _draw_legend(version: str, colours: _Colours) -> Iterator[str]:
    legend = f"JAX {version}, Linux {_ARCHITECTURE}; each box is a wheel, as wide as its download"
    yield _text(_MARGIN, 56, legend, colours.quiet, "")
    for name, fill, left in (("for one Python", colours.one, 616), ("for all Pythons", colours.every, 742)):
        yield f'<rect x="{left - 16}" y="46" width="11" height="11" rx="2" fill="{fill}"/>'
        yield _text(left, 56, name, colours.quiet, "")


def _draw_row(row: _Row, left: float, top: float, scale: float, colours: _Colours) -> Iterator[str]:
    if not row.wheels:
        yield _text(left, top, row.inside, colours.quiet, "")
        return
    names = ", ".join(dict.fromkeys(measure.distribution for measure in row.wheels))
    yield _text(left, top, names, colours.text, "")
    yield _text(left + _PANEL, top, _describe(row.wheels), colours.quiet, 'text-anchor="end"')
    for measure in row.wheels:
        width = max(_NARROWEST, measure.size / 1e6 * scale)
        python = _name_python(measure.tag)
        fill = colours.one if python else colours.every
        yield (
            f'<rect x="{left:.1f}" y="{top + 7}" width="{width - 1:.1f}" height="{_BOX}" rx="2" fill="{fill}">'
            f"<title>{escape(measure.wheel)}: {_describe([measure])}</title></rect>"
        )
        if python and width >= _LABELLED:
            middle = 'text-anchor="middle" font-size="11"'
            yield _text(left + width / 2, top + 7 + _BOX - 6, python, colours.inside, middle)
        left += width


def _name_python(tag: str) -> str:
    """Return the Python that a wheel is for, such as `3.14t`; nothing if it is for all of them."""
    if tag.startswith("py3-") or "abi3" in tag:
        return ""
    return name_python(tag.split("-")[1])


def _describe(wheels: Sequence[Measure]) -> str:
    return f"{count(len(wheels), 'wheel')}, {_megabytes(wheels):.1f} MB"


def _megabytes(wheels: Iterable[Measure]) -> float:
    return sum(measure.size for measure in wheels) / 1e6


def _text(left: float, top: float, text: str, fill: str, attributes: str) -> str:
    return f'<text x="{left:.1f}" y="{top:.1f}" fill="{fill}" {attributes}>{escape(text)}</text>'

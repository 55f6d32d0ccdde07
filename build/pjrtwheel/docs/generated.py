# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is generated below `docs/`: the README's picture, and the table of releases in a page."""

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

import jinja2
from packaging.utils import parse_wheel_filename

from pjrtwheel.abis import name_python, python_order
from pjrtwheel.backend import Backend, load_backends
from pjrtwheel.docs.measures import Measure, pair_up, read_measures
from pjrtwheel.errors import UsageError, count
from pjrtwheel.release.known import list_releases, load_release
from pjrtwheel.release.model import Release
from pjrtwheel.sets import BINDINGS

RELEASES = "docs/user/wheels.md"
_BEGIN = "<!-- releases: begin, written by ./noxw update -->"
_END = "<!-- releases: end -->"


def render_generated(root: Path) -> dict[str, str]:
    """Return the text of each file that has something generated in it, by its path in the repository.

    Raises:
        UsageError: The page of releases lacks the marks of its table.
    """
    backends = list(load_backends(root).values())
    page = (root / RELEASES).read_text("utf-8")
    if not 0 <= page.find(_BEGIN) < page.find(_END):
        raise UsageError(f"{RELEASES} lacks its marks {_BEGIN} and {_END}")
    before, after = page.partition(_BEGIN)[0], page.partition(_END)[2]
    releases = [load_release(root, version) for version in reversed(list_releases(root))]
    return {
        RELEASES: "\n".join([before + _BEGIN, render_releases(releases, backends), _END + after]),
        "docs/images/wheels.svg": render_picture(read_measures(root), backends),
    }


def render_releases(releases: Sequence[Release], backends: Iterable[Backend]) -> str:
    """Return a Markdown table with a column for each release and a row for `jaxlib` and each plugin wheel."""
    rows = [
        ["", *(release.version for release in releases)],
        ["---"] * (1 + len(releases)),
        ["`jaxlib`", *(_describe_bindings(release) for release in releases)],
        *([f"`{b.distribution}`", *(_describe_plugin(release, b) for release in releases)] for b in backends),
    ]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in rows)


def _describe_bindings(release: Release) -> str:
    platforms: dict[str, list[str]] = {}
    for platform in sorted({key.split(".")[2] for key in release.pins if key.startswith("bindings.")}):
        platforms.setdefault(_name_pythons(release.pythons(platform)), []).append(platform)
    return "; ".join(f"{', '.join(names)}: {pythons}" for pythons, names in platforms.items())


def _describe_plugin(release: Release, backend: Backend) -> str:
    platforms = sorted(release.platforms(backend.name))
    if not platforms:
        return "absent"
    return "; ".join((", ".join(platforms), *_list_limits(release, backend, platforms)))


def _list_limits(release: Release, backend: Backend, platforms: Sequence[str]) -> Iterator[str]:
    if override := release.override(backend.name):
        yield f"with the library of {override.version}"
    if backend.kernels:
        without = {
            python
            for platform in platforms
            for python in set(release.pythons(platform)) - set(release.kernels(backend.name, platform))
        }
        if without:
            yield f"not for {_name_pythons(without)}, which lack kernels"


def _name_pythons(tags: Iterable[str]) -> str:
    """Return the versions of Pythons, free-threaded ones last.

    >>> _name_pythons({"cp314t", "cp315", "cp312"})
    '3.12, 3.15, 3.14t'
    """
    return ", ".join(map(name_python, sorted(tags, key=python_order)))


def render_picture(measures: Iterable[Measure], backends: Iterable[Backend]) -> str:
    """Return it as SVG: the bindings, and each wheel of ours that has a library; the reader's theme gives the colours.

    Upstream has no wheel for the CPU; that which we take its library from is a third party's.
    """
    known = {backend.name: backend for backend in backends}
    bundled = {BINDINGS, *(name for name, backend in known.items() if backend.prebuilt.bundled)}
    foreign = {name for name, backend in known.items() if backend.is_cpu}
    rows = [
        (() if pair.name in foreign else pair.upstream, pair.ours)
        for pair in pair_up(measures, known.values())
        if pair.ours and pair.name in bundled
    ]
    largest = max(_megabytes(side) for row in rows for side in row)
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__, "."),
        autoescape=True,
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    templates.filters |= {"describe": _describe, "megabytes": _megabytes, "python": _name_python}
    version = parse_wheel_filename(rows[0][0][0].wheel)[1].public
    return templates.get_template("wheels.svg").render(rows=rows, version=version, largest=largest) + "\n"


def _name_python(measure: Measure) -> str:
    """Return the Python that a wheel is for, such as `3.14t`; nothing if it is for all of them."""
    if measure.tag.startswith("py3-") or "abi3" in measure.tag:
        return ""
    return name_python(measure.tag.split("-")[1])


def _describe(wheels: Sequence[Measure]) -> str:
    return f"{count(len(wheels), 'wheel')}, {_megabytes(wheels):.1f} MB"


def _megabytes(wheels: Iterable[Measure]) -> float:
    return sum(measure.size for measure in wheels) / 1e6

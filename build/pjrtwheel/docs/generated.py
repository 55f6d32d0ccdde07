# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is generated below `docs/`: the README's picture, and the table of releases."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import partial
from pathlib import Path

import jinja2

from pjrtwheel.abis import name_python, name_pythons, python_order
from pjrtwheel.backend import Backend, load_backends
from pjrtwheel.errors import UsageError
from pjrtwheel.grouping import group
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
        "docs/images/wheels.svg": render_picture(releases[0], backends),
        "docs/images/wheels-wide.svg": render_picture(releases[0], backends, is_wide=True),
    }


def render_releases(releases: Sequence[Release], backends: Iterable[Backend]) -> str:
    """Return a Markdown table of `jaxlib` and each plugin wheel: which releases have it, and for what."""
    rows = ["| wheel | releases | for |", "| --- | --- | --- |"]
    describe: dict[str, Callable[[Release], str]] = {BINDINGS: _describe_bindings}
    describe |= {backend.distribution: partial(_describe_plugin, backend) for backend in backends}
    for name, describe_in in describe.items():
        alike = group((describe_in(release), release.version) for release in releases)
        rows += [f"| `{name}` | {', '.join(versions)} | {text} |" for text, versions in alike.items() if text]
    return "\n".join(rows)


def _describe_bindings(release: Release) -> str:
    names = sorted({key.split(".")[2] for key in release.pins if key.startswith("bindings.")})
    platforms = group((name_pythons(release.pythons(platform)), platform) for platform in names)
    return "; ".join(f"{', '.join(names)}: {pythons}" for pythons, names in platforms.items())


def _describe_plugin(backend: Backend, release: Release) -> str:
    platforms = sorted(release.platforms(backend.name))
    return "; ".join((", ".join(platforms), *_list_limits(release, backend, platforms))) if platforms else ""


def _list_limits(release: Release, backend: Backend, platforms: Sequence[str]) -> Iterator[str]:
    if override := release.override(backend.name):
        yield f"uses the XLA of {override.version}"
    if backend.kernels:
        without = {
            python
            for platform in platforms
            for python in set(release.pythons(platform)) - set(release.kernels(backend.name, platform))
        }
        if without:
            yield f"not for {name_pythons(without)}, which lack kernels"


def render_picture(release: Release, backends: Iterable[Backend], *, is_wide: bool = False) -> str:
    """Return it as SVG: the plugins of a release, and `jaxlib` for each Python; the theme gives colours.

    Its halves are above each other, as phones need it, or in a line.
    """
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__, "."),
        autoescape=True,
        trim_blocks=True,
        undefined=jinja2.StrictUndefined,
    )
    pinned = {key.split(".")[1] for key in release.pins if key.startswith("plugin.")}
    names = [one.distribution for one in backends if one.name in pinned and one.prebuilt.bundled and not one.is_cpu]
    found = {key.split(".")[1] for key in release.pins if key.startswith("bindings.")}
    pythons = [name_python(tag) for tag in sorted(found, key=python_order) if not tag.endswith("t")]
    facts = {"names": names, "pythons": pythons, "version": release.set_version, "is_wide": is_wide}
    return templates.get_template("wheels.svg").render(facts) + "\n"

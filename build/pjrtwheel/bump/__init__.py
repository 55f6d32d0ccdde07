# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The next release of JAX: find it, pin it, build what is there, and report what changed against the one before.

Nothing is guessed. What a person has to decide is listed with the file to edit; naming the release again goes on from
there, because what is done stays.
"""

import contextlib
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from packaging.version import Version

from pjrtwheel.backend import Backend, load_backends
from pjrtwheel.bazel.invoke import BuildRequest
from pjrtwheel.build import build
from pjrtwheel.bump.report import Decision, compare_releases, decide
from pjrtwheel.dist_folder.printing import describe_level
from pjrtwheel.docs.generated import RELEASES, render_generated
from pjrtwheel.errors import PinError, PjrtWheelError, count
from pjrtwheel.fetch.index import require_index
from pjrtwheel.fetch.listing import list_wheels
from pjrtwheel.fetch.settings import read_settings
from pjrtwheel.files import write_atomically
from pjrtwheel.pin import pin_release
from pjrtwheel.pin.choose import find_named, offered_versions
from pjrtwheel.platforms import host_platform
from pjrtwheel.products.facts import write_facts
from pjrtwheel.program import print_error
from pjrtwheel.record.entries import read_entries
from pjrtwheel.release.known import list_releases, load_release
from pjrtwheel.release.model import Release
from pjrtwheel.sets import BINDINGS


@dataclass(frozen=True, slots=True)
class NextRelease:
    """Which release is next.

    Attributes:
        version: The release to take; empty if there is nothing newer.
        before: The newest release of `releases/` that is older; empty if there is none.
        passed_over: Other releases that are newer than all of `releases/`.
        newest: The newest release of `releases/`; empty if there is none.
    """

    version: str
    before: str
    passed_over: tuple[str, ...]
    newest: str


def find_next(root: Path, version: str | None) -> NextRelease:
    """Ask the package index which release is next: the one that is named, or the newest that is not pinned yet.

    Raises:
        FetchError: The index cannot be asked.
        PinError: It has no jax at all, or not the release that is named.
    """
    require_index(os.environ)
    offered = offered_versions(list_wheels("jax", read_settings()))
    if not offered:
        remedy = "see which index pip is configured for: python3 -m pip config list"
        raise PinError("the package index has no release of jax", remedy=remedy)
    known = list_releases(root)
    fresh = newer_versions(offered, known)
    chosen = find_named(version, offered) if version else "".join(fresh[-1:])
    before = previous_release(chosen, known) if chosen else ""
    return NextRelease(chosen, before, tuple(text for text in fresh if text != chosen), "".join(known[-1:]))


def newer_versions(offered: Iterable[str], known: Sequence[str]) -> tuple[str, ...]:
    """Return the releases that are newer than all known ones, the newest last; pre-releases are passed over.

    >>> newer_versions(["0.11.2", "0.12.0", "0.12.0.1", "0.12.1rc1"], ["0.11.2"])
    ('0.12.0', '0.12.0.1')
    """
    newest = max(map(Version, known), default=Version("0"))
    fresh = (text for text in offered if Version(text) > newest and not Version(text).is_prerelease)
    return tuple(sorted(fresh, key=Version))


def previous_release(version: str, known: Iterable[str]) -> str:
    """Return the newest known release that is older than one; empty if there is none.

    >>> previous_release("0.12.0", ["0.9.3", "0.11.2", "0.12.0", "0.13.0"])
    '0.11.2'
    """
    older = (text for text in known if Version(text) < Version(version))
    return max(older, key=Version, default="")


@dataclass(slots=True)
class _Report:
    """What was done so far, what is to be decided, and the exit status: that of the first step that failed."""

    done: list[str] = field(default_factory=list)
    asked: list[Decision] = field(default_factory=list)
    status: int = 0

    def run(self, name: str, work: Callable[[], str]) -> bool:
        """Do a step, and return whether it succeeded: the others go on. What it prints goes to stderr."""
        print(f"{name} ...", file=sys.stderr, flush=True)
        try:
            with contextlib.redirect_stdout(sys.stderr):
                self.done.append(f"- {name}: {work()}")
        except PjrtWheelError as error:
            print_error(str(error))
            message = "; ".join(line.strip() for line in str(error).splitlines())
            self.done.append(f"- **{name} failed**: {message}")
            self.status = self.status or error.exit_code
            return False
        return True


def bump(root: Path, found: NextRelease, *, dist: Path, cache: Path, building: bool = True) -> tuple[str, int]:
    """Pin a release, build and prove what is there, and return the report, in Markdown, with the exit status.

    Args:
        root: The repository.
        found: The release, and the one before it.
        dist: Folder of the wheels.
        cache: Where downloads and evidence are kept.
        building: Whether to build at all.
    """
    backends = load_backends(root)
    report, lines = _Report(), list[str]()
    if report.run("pin", partial(_pin, root, found.version, cache)):
        release = load_release(root, found.version)
        if building:
            for name, picked in _list_builds(release, backends.values(), report):
                request = BuildRequest(root=root, release=release, backends=picked, platform=host_platform())
                report.run(name, partial(_build_wheels, request, tuple(backends.values()), dist, cache))
        entries = tuple(read_entries(dist).values())
        report.run("selector's facts", partial(write_facts, root, cache, release, backends, entries))
        report.run("documents", partial(write_tables, root))
        if found.before:
            before = load_release(root, found.before)

            def compare() -> str:
                lines.extend(compare_releases(before, release, backends, root))
                return "below"

            report.run("comparison", compare)
        report.asked += decide(release, backends)
    title = f"# Bump JAX to {found.version}" + (f", after {found.before}" if found.before else "")
    asked = ["", "## To decide", "", *map(str, report.asked)] if report.asked else []
    return "\n".join([title, *asked, "", "## Steps", "", *report.done, *lines, ""]), report.status


def _pin(root: Path, version: str, cache: Path) -> str:
    """Pin the release; of one that is pinned already, what is missing."""
    release = pin_release(root, version, cache)
    return f"{release.path.relative_to(root)}, {count(len(release.pins), 'file')}"


def _list_builds(
    release: Release, backends: Iterable[Backend], report: _Report
) -> Iterator[tuple[str, tuple[Backend, ...]]]:
    """Yield a build for each backend: what the others gave stays when one fails. Without any, `jaxlib` is built alone.

    What cannot be built here is written into the report.
    """
    here = host_platform().name
    built = [backend for backend in backends if here in release.platforms(backend.name)]
    for backend in backends:
        if backend not in built:
            report.done.append(f"- build {backend.name}: nothing to build, the release has no library for {here}")
    yield from ((f"build {backend.name}", (backend,)) for backend in built)
    if not built:
        yield "build jaxlib", ()


def _build_wheels(request: BuildRequest, backends: Sequence[Backend], dist: Path, cache: Path) -> str:
    """Build and prove what the index has of a backend for this machine, and say what was proven."""
    names = {backend.distribution for backend in request.backends} or {BINDINGS}
    return "; ".join(
        f"{entry.filename}, {describe_level(entry)}"
        for entry in build(request, backends, dist=dist, cache=cache)
        if entry.distribution in names and entry.version == request.release.set_version
    )


def write_tables(root: Path) -> str:
    """Write those generated documents again that are there, and name them."""
    texts = render_generated(root) if (root / RELEASES).is_file() else {}
    for path, text in texts.items():
        write_atomically(root / path, text)
    return ", ".join(texts) or "there are none"

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The next release of JAX: find it, pin it, build what is there, and report what changed against the one before.

Nothing is guessed. What a person has to decide is listed with the file to edit; naming the release again goes on from
there, because what is done stays.
"""

import contextlib
import os
import sys
import tempfile
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from packaging.version import Version

from pjrtwheel.backend import Backend, load_backends, pick_backend
from pjrtwheel.bazel.invoke import BuildRequest
from pjrtwheel.build import build
from pjrtwheel.bump.report import Decision, compare_plugins, compare_releases, decide, decide_failure
from pjrtwheel.dist_folder.printing import describe_level
from pjrtwheel.docs.generated import RELEASES, render_generated
from pjrtwheel.elf.image import read_image
from pjrtwheel.errors import PinError, PjrtWheelError, count
from pjrtwheel.fetch import WheelCache, download_wheel, unpack_wheel
from pjrtwheel.fetch.index import require_index
from pjrtwheel.fetch.listing import list_wheels, read_settings
from pjrtwheel.files import write_atomically
from pjrtwheel.gpucode.reader import needed_tools, read_gpu_code
from pjrtwheel.pin import pin_release
from pjrtwheel.pin.choose import find_named, offered_versions
from pjrtwheel.platforms import host_platform
from pjrtwheel.products.facts import (
    KnownCode,
    code_of_library,
    code_of_set,
    facts_path,
    format_facts,
    make_facts,
    read_old,
)
from pjrtwheel.program import print_error
from pjrtwheel.record.entries import Entry, read_entries
from pjrtwheel.release.known import list_releases, load_release
from pjrtwheel.release.model import Pin, Release
from pjrtwheel.sets import BINDINGS
from pjrtwheel.verify.inspection import FindTool, make_finder


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


@dataclass(frozen=True, slots=True)
class BumpRequest:
    """What to do for a release.

    Attributes:
        root: The repository.
        dist: Folder of the wheels.
        cache: Where downloads and evidence are kept.
        backends: Names of the backends to build; empty for all that the release has for this machine.
        build: Whether to build at all.
    """

    root: Path
    dist: Path
    cache: Path
    backends: tuple[str, ...] = ()
    build: bool = True


@dataclass(slots=True)
class _Report:
    """What was done so far, what is to be decided, and the exit status: that of the first step that failed."""

    backends: dict[str, Backend]
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
            self.asked += decide_failure(error, name.removeprefix("build "), self.backends)
            self.status = self.status or error.exit_code
            return False
        return True


def bump(request: BumpRequest, found: NextRelease) -> tuple[str, int]:
    """Pin a release, build and prove what is there, and return the report, in Markdown, with the exit status.

    Raises:
        PjrtWheelError: A backend is not known.
    """
    backends = load_backends(request.root)
    chosen = [pick_backend(backends, name) for name in request.backends] or list(backends.values())
    report, lines = _Report(backends), list[str]()
    if report.run("pin", partial(_pin, request, found.version)):
        release = load_release(request.root, found.version)
        if request.build:
            _build(request, release, chosen, report)
        entries = tuple(read_entries(request.dist).values())
        report.run("selector's facts", partial(write_facts, request.root, request.cache, release, backends, entries))
        report.run("documents", partial(write_tables, request.root))
        if found.before:
            before = load_release(request.root, found.before)

            def compare() -> str:
                lines.extend(compare_releases(before, release, backends, request.root))
                lines.extend(compare_plugins(before, release, backends, entries, request.dist, request.root))
                return "below"

            report.run("comparison", compare)
        report.asked += decide(release, backends)
    title = f"# Bump JAX to {found.version}" + (f", after {found.before}" if found.before else "")
    asked = ["", "## To decide", "", *map(str, report.asked)] if report.asked else []
    return "\n".join([title, *asked, "", "## Steps", "", *report.done, *lines, ""]), report.status


def _pin(request: BumpRequest, version: str) -> str:
    """Pin the release; of one that is pinned already, what is missing."""
    release = pin_release(request.root, version, request.cache)
    return f"{release.path.relative_to(request.root)}, {count(len(release.pins), 'file')}"


def _build(request: BumpRequest, release: Release, chosen: list[Backend], report: _Report) -> None:
    """Build each backend by itself: what the others gave stays when one fails. Without any, build jaxlib alone."""
    here = host_platform().name
    there = [backend for backend in chosen if here in release.platforms(backend.name)]
    for backend in chosen:
        if backend in there:
            report.run(f"build {backend.name}", partial(_build_wheels, request, release, backend))
        else:
            report.done.append(f"- build {backend.name}: nothing to build, the release has no library for {here}")
    if not there and not request.backends:
        report.run("build jaxlib", partial(_build_wheels, request, release, None))


def _build_wheels(request: BumpRequest, release: Release, backend: Backend | None) -> str:
    """Build and prove what the index has of a backend for this machine, and say what was proven."""
    chosen = (backend,) if backend else ()
    wanted = BuildRequest(root=request.root, release=release, backends=chosen, platform=host_platform())
    backends = tuple(load_backends(request.root).values())
    entries = build(wanted, backends, dist=request.dist, cache=request.cache)
    distribution = backend.distribution if backend else BINDINGS
    return "; ".join(
        f"{entry.filename}, {describe_level(entry)}"
        for entry in entries
        if entry.distribution == distribution and entry.version == release.set_version
    )


def write_facts(
    root: Path, cache: Path, release: Release, backends: Mapping[str, Backend], entries: Iterable[Entry]
) -> str:
    """Write the selector's facts of a release, and say from how many wheels GPU code was read.

    It comes from the records of the wheels. Of a platform that was not built here, the pinned library is read, which
    is downloaded for that.

    Raises:
        PjrtWheelError: A library cannot be downloaded or read; nothing is written then.
    """
    path = facts_path(root, release.version)
    old = read_old(path)
    known = code_of_set(backends.values(), entries, release)
    recorded = {(entry.name, platform) for entry in (old.backends if old else ()) for platform in entry.tags}
    recorded |= {(entry.backend, entry.platform) for entry in known}
    with tempfile.TemporaryDirectory(prefix="tools-") as scratch:
        find_tool = make_finder(root, Path(scratch))
        for backend in backends.values():
            for platform in release.platforms(backend.name) if backend.prebuilt.bundled else ():
                if (backend.name, platform) not in recorded:
                    pin = release.pin(f"plugin.{backend.name}.{platform}")
                    known.append(_read_pinned(backend, platform, pin, cache, find_tool))
    write_atomically(path, format_facts(make_facts(backends.values(), release, known, old)))
    return f"{path.relative_to(root)}, from {count(len(known), 'wheel')}"


def _read_pinned(backend: Backend, platform: str, pin: Pin, cache: Path, find_tool: FindTool) -> KnownCode:
    """Read the GPU code of a library that the package index has."""
    wheel = WheelCache(cache, download_wheel).fetch(pin)
    with tempfile.TemporaryDirectory(prefix="library-") as scratch:
        unpack_wheel(wheel, Path(scratch), [backend.prebuilt.member])
        library = Path(scratch) / backend.prebuilt.member
        with library.open("rb") as file:
            names = needed_tools(read_image(file, wheel.name))
        tools = {name: tool for name in names if (tool := find_tool(name))}
        return code_of_library(backend.name, platform, library, read_gpu_code(library, tools, where=wheel.name).names())


def write_tables(root: Path) -> str:
    """Write those generated documents again that are there, and name them."""
    texts = render_generated(root) if (root / RELEASES).is_file() else {}
    for path, text in texts.items():
        write_atomically(root / path, text)
    return ", ".join(texts) or "there are none"

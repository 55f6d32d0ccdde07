# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What making a whole release will do, known before anything is started: builds, what is absent, disk, proofs."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jaxlib_select.choose.rules import Fit
from jaxlib_select.choose.vendors import judge
from jaxlib_select.facts import Backend as Facts
from jaxlib_select.machine.model import Machine
from pjrtwheel.abis import name_python
from pjrtwheel.backend import Backend
from pjrtwheel.bazel.invoke import BuildRequest
from pjrtwheel.disk import describe_total_need
from pjrtwheel.dist_folder.release_file import read_entries
from pjrtwheel.errors import count, fit
from pjrtwheel.files import display_path
from pjrtwheel.platforms import PLATFORMS, Platform, find_platform
from pjrtwheel.products.facts import facts_path, read_old
from pjrtwheel.prove.level import Level
from pjrtwheel.prove.targets import choose_targets, load_targets
from pjrtwheel.release.checks import list_bindings_alone, list_prebuilt
from pjrtwheel.release.model import Release
from pjrtwheel.sets.promised import promised_bindings, promised_plugin

PRODUCTS = ("jaxlib-select", "jaxlib-auto", "index")


@dataclass(frozen=True, slots=True)
class PlannedBuild:
    """The wheels of one platform.

    Attributes:
        platform: Name of the platform.
        backends: The backends that the release has a library of there; none where `jaxlib` is built alone.
        wheels: File names of all wheels that come out.
        there: How many of them are in the folder already.
    """

    platform: str
    backends: tuple[str, ...]
    wheels: tuple[str, ...]
    there: int

    def __str__(self) -> str:
        """The line of the plan."""
        bindings = len(self.wheels) - len(self.backends)
        return f"{self.platform:<16}{count(len(self.wheels), 'wheel')}, {self.there} of them there: " + ", ".join(
            (*self.backends, f"jaxlib for {count(bindings, 'Python')}")
        )


@dataclass(frozen=True, slots=True)
class ReleasePlan:
    """Everything that making a release does.

    Attributes:
        release: The release.
        dist: The folder that all goes to.
        builds: One for each platform, that of this machine first.
        absent: Backend and platforms of a wheel that the release does not have → why.
        proofs: What is proven on this machine → at which level, or why not.
        disk: What is needed of the disk, and what is free.
    """

    release: Release
    dist: Path
    builds: tuple[PlannedBuild, ...]
    absent: Mapping[str, str]
    proofs: Mapping[str, str]
    disk: str

    def lines(self, width: int = 80) -> Iterator[str]:
        """Yield the plan for people, no line wider than the terminal where words allow it."""
        wheels = sum(len(build.wheels) for build in self.builds)
        yield f"release {self.release.version}: {count(wheels, 'wheel')} of the set {self.release.set_version}"
        yield f"  into {display_path(self.dist)}"
        sections = (
            ("to build", [str(build) for build in self.builds] + [f"{', '.join(PRODUCTS)}"]),
            ("absent", [f"{what}: {cause}" for what, cause in self.absent.items()]),
            ("proofs on this machine", [f"{what:<16}{level}" for what, level in self.proofs.items()]),
            ("disk", [self.disk]),
        )
        for title, texts in sections:
            yield from [title] if texts else []
            for text in texts:
                yield from textwrap.wrap(
                    text,
                    width,
                    initial_indent="  ",
                    subsequent_indent="    ",
                    break_long_words=False,
                    break_on_hyphens=False,
                    drop_whitespace=True,
                )


def plan_release(
    root: Path,
    release: Release,
    backends: Sequence[Backend],
    *,
    dist: Path,
    cache: Path,
    host: Platform,
    machine: Machine,
    pythons: Sequence[str],
    smoke_tests: bool,
) -> ReleasePlan:
    """Return what making a release on this machine does.

    Args:
        root: The repository.
        release: The release.
        backends: All backends there are.
        dist: The folder that the wheels go to.
        cache: Where downloads and Bazel's outputs are kept.
        host: The platform of this machine.
        machine: Its hardware.
        pythons: The Pythons of the release that are here, by ABI tag.
        smoke_tests: Whether programs are to run.

    Raises:
        FetchError: An input of a pinned library is not pinned.
        UsageError: The facts about the release, or a target, are damaged.
    """
    known = {backend.name: backend for backend in backends}
    pairs = list_prebuilt(release, backends, host)
    names = dict.fromkeys((*(platform for _, platform in pairs), *list_bindings_alone(release, pairs)))
    platforms = sorted(names, key=lambda name: (name != host.name, list(PLATFORMS).index(name)))
    there = {name for name in read_entries(dist) if (dist / name).is_file()} if dist.is_dir() else set()
    chosen = {name: tuple(backend for backend, platform in pairs if platform == name) for name in platforms}
    requests = [
        BuildRequest(root, release, tuple(known[backend] for backend in chosen[name]), find_platform(name))
        for name in platforms
    ]
    here = [known[name] for name in chosen.get(host.name, ())]
    others = [name for name in platforms if name != host.name]
    return ReleasePlan(
        release=release,
        dist=dist,
        builds=tuple(_plan_build(release, request, there) for request in requests),
        absent=dict(_list_absent(release, backends)),
        proofs={
            **_plan_proofs(root, release, here, host, machine, pythons, smoke_tests=smoke_tests),
            **({"others": f"{Level.STATIC}: no program runs here for {fit(others)}"} if others else {}),
        },
        disk=describe_total_need(requests, cache, proofs=smoke_tests),
    )


def _plan_build(release: Release, request: BuildRequest, there: set[str]) -> PlannedBuild:
    platform = request.platform.name
    plugins = [promised_plugin(backend, platform, release.set_version) for backend in request.backends]
    wheels = tuple(name.filename for name in (*promised_bindings(release, platform), *plugins))
    names = tuple(backend.name for backend in request.backends)
    return PlannedBuild(platform, names, wheels, len(there & {*wheels}))


def _list_absent(release: Release, backends: Sequence[Backend]) -> Iterator[tuple[str, str]]:
    """Yield the wheels that a release does not have, though the backend has a tag for the platform, and why."""
    for backend in backends:
        causes: dict[str, list[str]] = {}
        for platform in backend.tags:
            missing = release.find_absent(f"plugin.{backend.name}.{platform}")
            if platform not in release.platforms(backend.name):
                causes.setdefault(missing.cause if missing else "nobody has pinned it", []).append(platform)
        for cause, platforms in causes.items():
            yield f"{backend.name} for {', '.join(platforms)}", cause


def _plan_proofs(
    root: Path,
    release: Release,
    backends: Sequence[Backend],
    host: Platform,
    machine: Machine,
    pythons: Sequence[str],
    *,
    smoke_tests: bool,
) -> dict[str, str]:
    """Return at which level each backend is proven here, as far as its facts predict it."""
    if not smoke_tests:
        return {host.name: f"{Level.LOAD} at most: programs are switched off with --no-smoke"}
    if not pythons:
        return {host.name: f"{Level.LOAD} at most: no Python of the release is installed here"}
    facts = read_old(facts_path(root, release.version))
    known = {entry.name: entry for entry in facts.backends} if facts else {}
    levels = {
        backend.name: _choose_level(
            backend,
            known.get(backend.name),
            machine,
            len(choose_targets(load_targets(root, backend), host.name, emulated=False)),
        )
        for backend in backends
    }
    return {**levels, "on Python": ", ".join(map(name_python, pythons))}


def _choose_level(backend: Backend, facts: Facts | None, machine: Machine, targets: int) -> str:
    verdict = judge(machine, facts) if facts is not None else None
    if backend.is_cpu or (verdict is not None and verdict.fit >= Fit.PART):
        return f"{Level.DEVICE}: every program runs"
    reason = verdict.reason if verdict is not None else "nothing is known of its hardware"
    return f"{Level.AOT} for {count(targets, 'chip')}: {reason}" if targets else f"{Level.LOAD}: {reason}"

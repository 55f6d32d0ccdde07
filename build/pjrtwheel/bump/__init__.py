# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The next release of JAX: find it, pin it, build what is there, and report what changed against the one before.

Nothing is guessed. What a person has to decide is listed with the file and line to edit; naming the release again goes
on from there, because what is done stays.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial

from pjrtwheel.backend import Backend, load_backends, pick_backend
from pjrtwheel.bump.decisions import decide, decide_failures, read_texts
from pjrtwheel.bump.documents import write_changelog, write_docs, write_facts
from pjrtwheel.bump.model import Bump, BumpRequest
from pjrtwheel.bump.report import Section, list_decisions, list_steps, render_report
from pjrtwheel.bump.sections import compare_with_before, describe_tests
from pjrtwheel.bump.steps import Steps
from pjrtwheel.bump.versions import NextRelease, find_next
from pjrtwheel.bump.wheels import build_wheels, judge_tests, run_subset
from pjrtwheel.conformance.comparison import Difference, load_subset
from pjrtwheel.errors import count
from pjrtwheel.pin import pin_release
from pjrtwheel.pin.upstream import UnboundedError
from pjrtwheel.platforms import host_platform
from pjrtwheel.record.entries import read_entries
from pjrtwheel.release.known import list_releases, load_release

__all__ = ["BumpRequest", "NextRelease", "bump", "find_next"]

_UNDECIDED, _STEPS = "To decide", "Steps"


def bump(request: BumpRequest, found: NextRelease) -> tuple[str, int]:
    """Pin a release, build and prove what is there, and return the report with the exit status.

    Raises:
        PjrtWheelError: The release cannot be pinned, and no edit of a file here would help.
    """
    backends = load_backends(request.root)
    chosen = [pick_backend(backends, name) for name in request.backends] or list(backends.values())
    steps = Steps()
    try:
        current = _pin(request, found, backends, steps)
    except UnboundedError as error:
        steps.fail("pin", error)
        asked = decide_failures(steps.done, backends, read_texts(request.root, found.version, backends))
        sections = [Section(_UNDECIDED, list_decisions(asked)), Section(_STEPS, list_steps(steps.done))]
        return render_report(_title(found), sections), steps.status()
    built = _build(request, current, chosen, steps) if request.build else []
    entries = tuple(read_entries(request.dist).values())
    steps.run("selector's facts", partial(write_facts, current, entries))
    tested = _run_tests(request, current, built, steps)
    steps.run("documents", partial(write_docs, current))
    steps.run("changelog", partial(write_changelog, current))
    changes = steps.run("comparison", partial(compare_with_before, current, entries), lambda _: "below")
    texts = read_texts(request.root, found.version, backends)
    asked = decide(current, steps.done, tested, texts)
    sections = [
        Section(_UNDECIDED, list_decisions(asked)),
        Section(_STEPS, list_steps(steps.done)),
        *(changes or ()),
        *describe_tests(tested),
    ]
    return render_report(_title(found), sections), steps.status()


def _title(found: NextRelease) -> str:
    return f"Bump JAX to {found.version}" + (f", after {found.before}" if found.before else "")


def _pin(request: BumpRequest, found: NextRelease, backends: Mapping[str, Backend], steps: Steps) -> Bump:
    """Pin the release; of one that is pinned already, ask for what is missing only."""
    root, pinned = request.root, found.version in list_releases(request.root)
    release = pin_release(root, found.version, request.cache, missing_only=pinned)
    steps.add("pin", f"{release.path.relative_to(root)}, {count(len(release.pins), 'file')}")
    before = load_release(root, found.before) if found.before else None
    return Bump(root, request.dist, request.cache, release, before, backends)


def _build(request: BumpRequest, current: Bump, chosen: Sequence[Backend], steps: Steps) -> list[Backend]:
    """Build each backend by itself: what the others gave stays when one fails. Without any, build jaxlib alone.

    Returns:
        Those that were built.
    """
    here = host_platform().name
    there = [backend for backend in chosen if here in current.release.platforms(backend.name)]
    for backend in chosen:
        if backend not in there:
            steps.add(f"build {backend.name}", f"nothing to build, the release has no library for {here}")
    built = [
        backend
        for backend in there
        if steps.run(f"build {backend.name}", partial(build_wheels, current, backend)) is not None
    ]
    if not there and not request.backends:
        steps.run("build jaxlib", partial(build_wheels, current, None))
    return built


def _run_tests(
    request: BumpRequest, current: Bump, built: Sequence[Backend], steps: Steps
) -> dict[str, tuple[Difference, ...]]:
    """Run JAX's tests on the built backends that have a list of files; a case that is worse fails the step."""
    found = {}
    for backend in built:
        if request.tests is None or not load_subset(current.root, backend.name):
            continue
        name = f"conformance {backend.name}"
        differences = steps.run(name, partial(run_subset, current, backend, request.tests), _count_files)
        if differences is not None:
            found[backend.name] = differences
            if problem := judge_tests(differences):
                steps.fail(name, problem)
    return found


def _count_files(differences: Sequence[Difference]) -> str:
    return f"{count(len(differences), 'file')} compared"

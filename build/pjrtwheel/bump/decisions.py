# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a bump leaves to a person: each with the file and line to edit, and what to write there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.bump.model import Bump
from pjrtwheel.bump.steps import Step
from pjrtwheel.conformance.comparison import Difference
from pjrtwheel.pin.text import XLA_FILE
from pjrtwheel.pin.upstream import UnboundedError
from pjrtwheel.release.checks import describe_commits, describe_contradiction
from pjrtwheel.release.model import OVERRIDES_FILE, Release
from pjrtwheel.verify.checkers import UNDECLARED

# The files in which decisions are written down: path from the root → text, which is empty where there is no file.
Texts = Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person has to decide.

    Attributes:
        path: The file to edit, from the root of the repository.
        line: Its line; one beyond the last where something is to be added at the end.
        question: What is open, and why.
        edit: What can be written there.
    """

    path: str
    line: int
    question: str
    edit: str


def decide(
    bump: Bump, steps: Iterable[Step], tested: Mapping[str, Sequence[Difference]], texts: Texts
) -> Iterator[Decision]:
    """Yield all that is open after a bump: first what made it fail, last what may stay as it is."""
    release = bump.release
    yield from decide_failures(steps, bump.backends, texts)
    yield from decide_absent(release, bump.backends, texts)
    for name, differences in tested.items():
        yield from decide_differences(name, differences, texts)
    yield from decide_commits(release, release_path(release.version), texts)
    yield from decide_source(release, texts)


def read_texts(root: Path, version: str, backends: Iterable[str]) -> dict[str, str]:
    """Return the files in which decisions are written down."""
    places = [OVERRIDES_FILE, XLA_FILE, release_path(version)]
    places += [path for name in backends for path in (backend_path(name), expected_path(name))]
    return {path: (root / path).read_text("utf-8") if (root / path).is_file() else "" for path in places}


def decide_absent(release: Release, backends: Iterable[str], texts: Texts) -> Iterator[Decision]:
    """Ask about each backend that the index has no library of, for any platform."""
    for name in backends:
        causes = sorted({entry.cause for entry in release.absent if entry.key.startswith(f"plugin.{name}.")})
        if causes and not release.platforms(name):
            yield Decision(
                OVERRIDES_FILE,
                _end(texts[OVERRIDES_FILE]),
                f"{name} has no library: {'; '.join(causes)}. Leave it out, or take another version's",
                f'["{release.version}".{name}] with version = "..." and reason = "..."',
            )


def decide_source(release: Release, texts: Texts) -> Iterator[Decision]:
    """Ask for the commit of XLA, if nobody knows it, or who is right, if two say different things."""
    line = _find(texts[XLA_FILE], rf'\["{re.escape(release.version)}"\]')
    if release.xla is None:
        question = "nobody has written down which commit of XLA the release was made from; --xla source needs it"
        yield Decision(XLA_FILE, line, question, f'["{release.version}"] with commit, sha256, bazel, verified, origin')
    elif question := describe_contradiction(release):
        yield Decision(XLA_FILE, line, question, "verified = true, once it was read in JAX's tree at the tag")


def decide_commits(release: Release, path: str, texts: Texts) -> Iterator[Decision]:
    """Ask whether inputs that were built from different commits of JAX may go together."""
    if commits := describe_commits(release):
        yield Decision(
            path,
            _find(texts[path], r"\[commits\]"),
            f"{commits}. Take them as they are, or wait for others",
            f"nothing by hand: ./noxw -s pin -- {release.version} reads it again",
        )


def decide_failures(steps: Iterable[Step], backends: Mapping[str, Backend], texts: Texts) -> Iterator[Decision]:
    """Ask for what a step failed for want of: bounds of a requirement, or a library that may come from elsewhere."""
    for step in steps:
        if isinstance(step.error, UnboundedError):
            yield from _ask_for_bounds(step.error, texts)
        name = step.name.removeprefix("build ")
        if step.error and UNDECLARED in step.error.cause and name in backends:
            needed = re.findall(rf"needs (.+), {re.escape(UNDECLARED)}", step.error.cause)
            path = backend_path(name)
            yield Decision(
                path,
                _find(texts[path], "external = ", "distribution = "),
                f"the libraries of {name} need {'; '.join(needed)}, which is neither in the wheel nor part of Linux",
                "external = [...] with those that the vendor's installation has",
            )


def decide_differences(backend: str, differences: Sequence[Difference], texts: Texts) -> Iterator[Decision]:
    """Ask about the cases of JAX's tests that are worse on the plugin, and about entries that no longer hold."""
    path = expected_path(backend)
    for difference in differences:
        if changes := difference.unexpected():
            names = f"{len(changes)} cases, first {changes[0].name}" if len(changes) > 1 else changes[0].name
            question = f"worse than on the built-in client, for no listed reason: {names}"
            edit = "a [[difference]] for each with case, outcome and reason, if it cannot be avoided"
            yield Decision(path, _end(texts[path]), question, edit)
        for entry in difference.stale:
            line = _find(texts[path], rf'case = "{re.escape(entry.case)}"')
            yield Decision(path, line, f"{entry.case} no longer differs", "remove this [[difference]]")


def backend_path(name: str) -> str:
    """Return the path of a backend's table from the root."""
    return f"plugins/{name}/backend.toml"


def expected_path(name: str) -> str:
    """Return the path of a backend's list of expected differences from the root."""
    return f"tests/conformance/{name}.toml"


def release_path(version: str) -> str:
    """Return the path of a release's file from the root."""
    return f"releases/{version}.toml"


def _ask_for_bounds(error: UnboundedError, texts: Texts) -> Iterator[Decision]:
    for path, text in texts.items():
        pattern = rf'upstream = "{re.escape(error.upstream)}"'
        if path.startswith("plugins/") and re.search(rf"^{pattern}", text, re.MULTILINE):
            yield Decision(path, _find(text, pattern), error.what, f'bounds = {{ {error.project} = ">=...,<..." }}')


def _find(text: str, *patterns: str) -> int:
    """Return the number of the first line that begins with a pattern, the first that occurs; else the end."""
    for pattern in patterns:
        for number, line in enumerate(text.splitlines(), 1):
            if re.match(pattern, line):
                return number
    return _end(text)


def _end(text: str) -> int:
    return len(text.splitlines()) + 1

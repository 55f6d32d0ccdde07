# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What publishing a release does at a destination, decided before anything is sent."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from pjrtwheel.errors import count
from pjrtwheel.publish.place import PublishedFile
from pjrtwheel.sets.projects import BINDINGS, SELECTOR
from pjrtwheel.wheel.names import WheelName, find_name

WIDTH = 80
_INDENT = 22  # of a file's name in the printed plan


class Action(StrEnum):
    """What is done about one file."""

    SEND = "send"
    THERE = "there"
    REFUSE = "refuse"


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file of the release.

    Attributes:
        name: File name.
        sha256: Its digest in `SHA256SUMS`.
        size: Length in bytes.
        project: Normalized project name of a wheel; empty for a document.
    """

    name: str
    sha256: str
    size: int
    project: str = ""


@dataclass(frozen=True, slots=True)
class Step:
    """One file, and what is done about it."""

    file: LocalFile
    action: Action


@dataclass(frozen=True, slots=True)
class Plan:
    """What is done, in this order.

    Attributes:
        tag: Tag of the release.
        destination: Name of the destination.
        steps: The files.
        problems: Sentences that say why nothing may be sent; none if it may.
    """

    tag: str
    destination: str
    steps: tuple[Step, ...]
    problems: tuple[str, ...]

    @property
    def to_send(self) -> tuple[LocalFile, ...]:
        """The files that are sent, in order."""
        return tuple(step.file for step in self.steps if step.action is Action.SEND)

    @property
    def projects(self) -> tuple[str, ...]:
        """The projects of the release."""
        return projects_of(step.file for step in self.steps)


def make_plan(
    tag: str,
    destination: str,
    files: Iterable[LocalFile],
    present: Mapping[str, PublishedFile],
    problems: Iterable[str] = (),
) -> Plan:
    """Compare a release with what is at a destination.

    Args:
        tag: Tag of the release.
        destination: Name of the destination, for sentences.
        files: The release, as far as it is published there.
        present: What is there, by name, each with its sha256.
        problems: What else forbids it, such as limits of the destination.
    """
    ordered = sorted(files, key=lambda file: (_rank(file), file.project, file.name))
    steps = tuple(Step(file, _decide(file, present.get(file.name))) for file in ordered)
    return Plan(tag, destination, steps, (*problems, *find_differences(destination, ordered, present)))


def find_differences(
    destination: str, files: Iterable[LocalFile], present: Mapping[str, PublishedFile]
) -> Iterator[str]:
    """Yield a sentence for each file at a destination that is not the one of the release, or belongs to no release."""
    ours = {file.name: file for file in files}
    for name, found in sorted(present.items()):
        if name not in ours:
            if _would_join(name, ours.values()):
                yield f"{name} is at {destination}, and not in this release"
        elif found.sha256 != ours[name].sha256:
            yield f"{name} is at {destination} with other bytes"
        elif found.yanked is not None:
            yield f"{name} was yanked at {destination}{f': {found.yanked}' if found.yanked else ''}"


def projects_of(files: Iterable[LocalFile]) -> tuple[str, ...]:
    """Return the projects of some files."""
    return tuple(dict.fromkeys(file.project for file in files if file.project))


def format_plan(plan: Plan) -> list[str]:
    """Return the plan as lines of at most 80 columns."""
    total, sending = (sum(file.size for file in files) for files in ([s.file for s in plan.steps], plan.to_send))
    lines = [
        f"{plan.tag} to {plan.destination}: {count(len(plan.steps), 'file')}, {_describe_size(total)}",
        f"to send: {count(len(plan.to_send), 'file')}, {_describe_size(sending)}, in this order",
    ]
    for number, step in enumerate(plan.steps, 1):
        first, *rest = _wrap(step.file.name, WIDTH - _INDENT)
        lines.append(f"{number:>3} {step.action:<6} {_describe_size(step.file.size):>10} {first}")
        lines += [" " * _INDENT + part for part in rest]
    for problem in plan.problems:
        lines += textwrap.wrap(f"refused: {problem}", WIDTH, subsequent_indent=" " * 9)
    return lines


def _rank(file: LocalFile) -> int:
    """Return the place in the order: documents, which no installer sees, plugins and all else, jaxlib, the selector."""
    if not file.project:
        return 0
    return {BINDINGS: 2, SELECTOR: 3}.get(file.project, 1)


def _decide(file: LocalFile, found: PublishedFile | None) -> Action:
    if found is None:
        return Action.SEND
    return Action.THERE if found.sha256 == file.sha256 and found.yanked is None else Action.REFUSE


def _would_join(name: str, ours: Iterable[LocalFile]) -> bool:
    """Return whether installers would take a wheel for one of the release: its project, version and build tag."""
    found = find_name(name)
    names = (find_name(file.name) for file in ours if file.project)
    return found is not None and _identity(found) in {_identity(known) for known in names if known}


def _identity(name: WheelName) -> tuple[str, str, str]:
    return name.distribution, name.version, name.build


def _describe_size(size: int) -> str:
    return f"{size / 1e6:.1f} MB" if size >= 100_000 else f"{size / 1e3:.1f} kB"


def _wrap(name: str, width: int) -> list[str]:
    """Break a file name after hyphens, or anywhere if a part is too long."""
    lines = [""]
    parts = [f"{part}-" for part in name.split("-")]
    parts[-1] = parts[-1][:-1]
    for piece in (part[start : start + width] for part in parts for start in range(0, len(part), width)):
        if len(lines[-1]) + len(piece) > width:
            lines.append("")
        lines[-1] += piece
    return lines

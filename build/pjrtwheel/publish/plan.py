# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What publishing a release does at a destination, decided before anything is sent."""

from __future__ import annotations

import textwrap
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum

from packaging.utils import InvalidSdistFilename, parse_sdist_filename
from packaging.version import InvalidVersion, Version

from pjrtwheel.errors import count, printable
from pjrtwheel.publish.place import PublishedFile
from pjrtwheel.sets.projects import BINDINGS, PURE_PYTHON
from pjrtwheel.wheel.names import METADATA_SUFFIX, WheelName, find_name

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
class Scope:
    """Which other files of a destination installers would take for some of the release.

    Attributes:
        alone: Whether all that is there would be: a draft, or a folder of its own, becomes public as it is.
        extras: Projects that the release requires in its own version, and has no wheel of.
    """

    alone: bool = False
    extras: Collection[str] = ()


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


def make_plan(
    tag: str,
    destination: str,
    files: Iterable[LocalFile],
    present: Mapping[str, PublishedFile],
    problems: Iterable[str] = (),
    scope: Scope = Scope(),
) -> Plan:
    """Compare a release with what is at a destination.

    Args:
        tag: Tag of the release.
        destination: Name of the destination, for sentences.
        files: The release, as far as it is published there.
        present: What is there, by name, each with its sha256.
        problems: What else forbids it, such as limits of the destination.
        scope: Which other files that are there forbid it.
    """
    ordered = sorted(files, key=lambda file: (_rank(file), file.project, file.name))
    steps = tuple(Step(file, _decide(file, present.get(file.name))) for file in ordered)
    return Plan(tag, destination, steps, (*problems, *find_differences(destination, ordered, present, scope)))


def find_differences(
    destination: str, files: Iterable[LocalFile], present: Mapping[str, PublishedFile], scope: Scope
) -> Iterator[str]:
    """Yield a sentence for each file at a destination that is not the one of the release, or would be a part of it."""
    ours = {file.name: file for file in files}
    withdrawn: dict[str, list[str]] = {}
    for name, found in sorted(present.items()):
        if name not in ours:
            if _would_join(name, ours, scope):
                yield f"{name} is at {destination}, and not in this release"
        elif found.sha256 != ours[name].sha256:
            yield f"{name} is at {destination} with other bytes"
        elif found.yanked is not None:
            withdrawn.setdefault(found.yanked, []).append(name)
    for reason, (first, *more) in withdrawn.items():
        which = f"{first} and {count(len(more), 'other file')} were" if more else f"{first} was"
        yield f"{which} yanked at {destination}{f': {printable(reason)}' if reason else ''}"


def projects_of(files: Iterable[LocalFile]) -> tuple[str, ...]:
    """Return the projects of some files."""
    return tuple(dict.fromkeys(file.project for file in files if file.project))


def format_plan(plan: Plan) -> list[str]:
    """Return the plan as lines of at most 80 columns: all files if some are sent, else those that are refused."""
    head = f"{plan.tag} to {plan.destination}: {_count([step.file for step in plan.steps])}"
    if plan.problems:
        return [head, *(line for problem in plan.problems for line in _wrap_problem(problem))]
    if not plan.to_send:
        return [f"{head}; nothing to send"]
    lines = [head, f"to send: {_count(plan.to_send)}, in this order"]
    for number, step in enumerate(plan.steps, 1):
        first, *rest = _wrap(step.file.name, WIDTH - _INDENT)
        lines.append(f"{number:>3} {step.action:<6} {_describe_size(step.file.size):>10} {first}")
        lines += [" " * _INDENT + part for part in rest]
    return lines


def _rank(file: LocalFile) -> int:
    """Return the place in the order: documents, which no installer sees, plugins, jaxlib, and what requires both."""
    if not file.project:
        return 0
    return {BINDINGS: 2, **dict.fromkeys(PURE_PYTHON, 3)}.get(file.project, 1)


def _decide(file: LocalFile, found: PublishedFile | None) -> Action:
    if found is None:
        return Action.SEND
    return Action.THERE if found.sha256 == file.sha256 and found.yanked is None else Action.REFUSE


def _would_join(name: str, ours: Mapping[str, LocalFile], scope: Scope) -> bool:
    """Return whether a file would be a part of the release: by its project, version and build tag, or where it lies."""
    if scope.alone:
        return name.removesuffix(METADATA_SUFFIX) not in ours
    names = [known for file in ours.values() if file.project and (known := find_name(file.name))]
    found = find_name(name)
    if found is None:
        return _find_source(name) in {(known.distribution, Version(known.version)) for known in names}
    if found.distribution in scope.extras:
        return found.version in {known.version for known in names}
    return _identity(found) in set(map(_identity, names))


def _identity(name: WheelName) -> tuple[str, str, str]:
    """Return what makes two wheels parts of one set; without a label, sets of one version differ by their build tag."""
    return name.distribution, name.version, "" if "+" in name.version else name.build


def _find_source(name: str) -> tuple[str, Version] | None:
    """Return project and version of a source distribution, which installers may build in place of a wheel."""
    try:
        return parse_sdist_filename(name)
    except (InvalidSdistFilename, InvalidVersion):
        return None


def _count(files: Collection[LocalFile]) -> str:
    return f"{count(len(files), 'file')}, {_describe_size(sum(file.size for file in files))}"


def _wrap_problem(problem: str) -> list[str]:
    return textwrap.wrap(f"refused: {problem}", WIDTH, subsequent_indent=" " * 9)


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

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is sent to a destination: what it lacks, in an order in which no installer sees half a release."""

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.errors import count, describe_size, printable
from pjrtwheel.fetch.listing import IndexFile
from pjrtwheel.sets import BINDINGS, PURE_PYTHON
from pjrtwheel.wheel.names import WheelName, find_name

# In which order projects are sent: documents, which no installer sees, plugins, `jaxlib`, and what requires both.
_RANKS = {"": 0, BINDINGS: 2, **dict.fromkeys(PURE_PYTHON, 3)}


@dataclass(frozen=True, slots=True)
class LocalFile:
    """A file of the release.

    Attributes:
        path: Where it is.
        sha256: Its digest in `SHA256SUMS`.
        size: Length in bytes.
        project: Normalized project name of a wheel; empty for a document.
    """

    path: Path
    sha256: str
    size: int
    project: str = ""

    @property
    def name(self) -> str:
        """File name."""
        return self.path.name


@dataclass(frozen=True, slots=True)
class Plan:
    """What is done, in this order.

    Attributes:
        files: All files.
        to_send: Those that are not there.
        problems: Sentences that say why nothing may be sent; none if it may.
    """

    files: tuple[LocalFile, ...]
    to_send: tuple[LocalFile, ...]
    problems: tuple[str, ...]


def make_plan(
    destination: str,
    files: Iterable[LocalFile],
    present: Mapping[str, IndexFile],
    problems: Iterable[str] = (),
    *,
    alone: bool = False,
) -> Plan:
    """Compare a release with what is at a destination.

    Args:
        destination: Name of the destination, for sentences.
        files: The release, as far as it is published there.
        present: What is there, by name, each with its sha256.
        problems: What else forbids it, such as limits of the destination.
        alone: Whether any other file that is there forbids it: a draft or a folder becomes public as it is.
    """
    ordered = tuple(sorted(files, key=lambda file: (_RANKS.get(file.project, 1), file.project, file.name)))
    to_send = tuple(file for file in ordered if file.name not in present)
    differences = find_differences(destination, ordered, present, alone=alone)
    return Plan(ordered, to_send, (*problems, *differences))


def find_differences(
    destination: str, files: Iterable[LocalFile], present: Mapping[str, IndexFile], *, alone: bool
) -> Iterator[str]:
    """Yield a sentence for each file at a destination that is not the one of the release, or would be a part of it."""
    ours = {file.name: file for file in files}
    sets = {_identity(known) for file in ours.values() if (known := find_name(file.name))}
    withdrawn: dict[str, list[str]] = {}
    for name, found in sorted(present.items()):
        if name not in ours:
            if alone or ((other := find_name(name)) and _identity(other) in sets):
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


def format_plan(what: str, plan: Plan) -> list[str]:
    """Return the plan as lines: all files if some are sent, else those that are refused."""
    head = f"{what}: {_count(plan.files)}"
    if plan.problems:
        return [head, *(f"refused: {problem}" for problem in plan.problems)]
    if not plan.to_send:
        return [f"{head}; nothing to send"]
    lines = (
        f"{number:>3} {'send' if file in plan.to_send else 'there':<6} {describe_size(file.size):>10} {file.name}"
        for number, file in enumerate(plan.files, 1)
    )
    return [head, f"to send: {_count(plan.to_send)}, in this order", *lines]


def _identity(name: WheelName) -> tuple[str, str, str]:
    """Return what makes two wheels parts of one set; without a label, sets of one version differ by their build tag."""
    return name.distribution, name.version, "" if "+" in name.version else name.build


def _count(files: Collection[LocalFile]) -> str:
    return f"{count(len(files), 'file')}, {describe_size(sum(file.size for file in files))}"

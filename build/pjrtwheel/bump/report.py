# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a bump reports: what a person has to decide, with the file to edit, and what changed between two releases."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from packaging.requirements import Requirement

from pjrtwheel.backend import Backend
from pjrtwheel.errors import shorten
from pjrtwheel.grouping import group
from pjrtwheel.pin import XLA_FILE
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.products.facts import facts_path, read_old
from pjrtwheel.release.checks import describe_commits, describe_contradiction
from pjrtwheel.release.model import OVERRIDES_FILE, Release


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person has to decide: the file to edit, what is open, and why, and what can be written there."""

    path: str
    question: str
    edit: str

    def __str__(self) -> str:
        """Return an item of a list to tick off."""
        return f"- [ ] `{self.path}`: {self.question}. To write: {self.edit}"


def decide(release: Release, backends: Iterable[str]) -> Iterator[Decision]:
    """Yield what is open of a pinned release: backends without a library, and inputs that do not go together."""
    for name in backends:
        causes = sorted({entry.cause for entry in release.absent if entry.key.startswith(f"plugin.{name}.")})
        if causes and not release.platforms(name):
            yield Decision(
                OVERRIDES_FILE,
                f"{name} has no library: {'; '.join(causes)}. Leave it out, or take another version's",
                f'["{release.version}".{name}] with version = "..." and reason = "..."',
            )
    if commits := describe_commits(release):
        question = f"{commits}. Take them as they are, or wait for others"
        edit = f"nothing by hand: remove the file, and ./noxw pin {release.version} pins it again"
        yield Decision(f"releases/{release.version}.toml", question, edit)
    if release.xla is None:
        question = "nobody has written down which commit of XLA the release was made from; --xla source needs it"
        yield Decision(XLA_FILE, question, f'["{release.version}"] with commit, sha256, bazel, verified, origin')
    elif question := describe_contradiction(release):
        yield Decision(XLA_FILE, question, "verified = true, once it was read in JAX's tree at the tag")


_SHOWN = 12  # values of a list
_COMMIT = 12  # characters by which a commit is shown
# What there is of a release: heading → subject → values, whose order counts for none.
Facts = Mapping[str, Mapping[str, Sequence[str]]]


def compare_releases(before: Release, after: Release, backends: Mapping[str, Backend], root: Path) -> Iterator[str]:
    """Yield the lines of a report in Markdown: a heading for each kind of change."""
    old, new = (_describe(release, backends, root) for release in (before, after))
    for heading in old:
        if lines := compare(old[heading], new[heading]):
            yield from ("", f"## {heading}", "", *lines)


def compare(before: Mapping[str, Sequence[str]], after: Mapping[str, Sequence[str]]) -> list[str]:
    """Return a line for each change, with all subjects that changed alike.

    >>> compare({"a": ["1"], "b": ["x", "y"], "c": ["z"]}, {"a": ["2"], "b": ["y"], "d": ["z"]})
    ['- a: 1 → 2', '- b: **removed x**', '- c: **gone**, was z', '- d: new, z']
    """
    subjects = sorted(before.keys() | after.keys())
    values = ((subject, before.get(subject, ()), after.get(subject, ())) for subject in subjects)
    alike = group((_describe_change(old, new), subject) for subject, old, new in values if set(old) != set(new))
    return [f"- {', '.join(subjects)}: {change}" for change, subjects in alike.items()]


def _describe_change(old: Sequence[str], new: Sequence[str]) -> str:
    if not old:
        return f"new, {shorten(new, _SHOWN)}"
    if not new:
        return f"**gone**, was {shorten(old, _SHOWN)}"
    if len(old) == len(new) == 1:
        return f"{old[0]} → {new[0]}"
    added, removed = ([value for value in one if value not in other] for one, other in ((new, old), (old, new)))
    parts = [f"added {shorten(added, _SHOWN)}"] if added else []
    return "; ".join([*parts, f"**removed {shorten(removed, _SHOWN)}**"] if removed else parts)


def _describe(release: Release, backends: Mapping[str, Backend], root: Path) -> Facts:
    facts = read_old(facts_path(root, release.version))
    return {
        "Pythons": _pythons(release),
        "Backends": {name: release.platforms(name) for name in backends},
        "Not on the package index": {entry.key: ["absent"] for entry in release.absent},
        "Overrides": {entry.backend: [f"{entry.version} ({entry.reason})"] for entry in release.overrides},
        "Inputs of other versions than JAX's": {
            pin.project: [pin.version] for pin in release.pins.values() if pin.version != release.version
        },
        "Requirements of extras": _requirements(release),
        "Commits of JAX": {project: [commit[:_COMMIT]] for project, commit in release.commits.items()},
        "Upstream's wheels, mean size": _sizes(release),
        "GPU code": {
            f"{entry.name} {platform}": code
            for entry in (facts.backends if facts else ())
            for platform, code in entry.code.items()
        },
    }


def _pythons(release: Release) -> dict[str, Sequence[str]]:
    found: dict[str, Sequence[str]] = {f"jaxlib {platform}": release.pythons(platform) for platform in PLATFORMS}
    for backend in {key.split(".")[1] for key in release.pins if key.startswith("kernels.")}:
        found |= {f"{backend} kernels {platform}": release.kernels(backend, platform) for platform in PLATFORMS}
    return found


def _requirements(release: Release) -> dict[str, Sequence[str]]:
    """Return what the extras require, the floor before the ceiling."""
    return {
        f"{backend}[{extra}] {requirement.name}": [
            ",".join(sorted(map(str, requirement.specifier), key=lambda bound: (bound[0] == "<", bound)))
        ]
        for backend, extras in release.extras.items()
        for extra, requires in extras.items()
        for requirement in map(Requirement, requires)
    }


def _sizes(release: Release) -> dict[str, Sequence[str]]:
    """Return the mean size by project and platform, so that another Python does not look like a larger wheel."""
    pins = (pin for pin in release.pins.values() if pin.key.startswith(("bindings.", "kernels.", "plugin.")))
    sizes = group((f"{pin.project} {pin.key.rpartition('.')[2]}", pin.size) for pin in pins)
    return {name: [f"{sum(found) / len(found) / 1e6:.1f} MB"] for name, found in sizes.items()}

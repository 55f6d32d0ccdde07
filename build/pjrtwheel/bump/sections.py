# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The parts of the report that compare a release with the one before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from pjrtwheel.bump import comparison
from pjrtwheel.bump.model import Bump
from pjrtwheel.bump.report import Section, list_rows, list_sizes
from pjrtwheel.bump.wheels import read_plugins, sizes_of
from pjrtwheel.conformance.comparison import Difference, format_report
from pjrtwheel.products.facts import facts_path, read_old
from pjrtwheel.record.entries import Entry
from pjrtwheel.release.model import Release


def compare_with_before(bump: Bump, entries: Sequence[Entry]) -> tuple[Section, ...]:
    """Return what changed; nothing where there is no release before.

    Raises:
        PjrtWheelError: Facts or a wheel are damaged.
    """
    if bump.before is None:
        return ()
    inputs = _compare_inputs(bump.before, bump.release, bump)
    return (*inputs, *_compare_facts(bump.before, bump), *_compare_wheels(bump.before, bump, entries))


def describe_tests(tested: Mapping[str, Sequence[Difference]]) -> Iterator[Section]:
    """Yield what became of the cases of JAX's tests."""
    for name, differences in tested.items():
        yield Section(f"JAX's tests on {name}", (format_report(differences).rstrip(),))


def _compare_inputs(before: Release, after: Release, bump: Bump) -> Iterator[Section]:
    absent = comparison.newly_absent(before, after).items()
    yield Section("Pythons", list_rows(comparison.compare_pythons(before, after)))
    yield Section("Backends", list_rows(comparison.compare_platforms(before, after, bump.backends)))
    yield Section("Newly absent", tuple(f"- {', '.join(keys)}: {cause}" for cause, keys in absent))
    yield Section("Newly present", tuple(f"- {key}" for key in comparison.newly_present(before, after)))
    yield Section("Overrides in force", tuple(_list_overrides(before, after)))
    yield Section("Inputs of other versions than JAX's", list_rows(comparison.compare_versions(before, after)))
    yield Section("Requirements of extras", list_rows(comparison.compare_requirements(before, after)))
    yield Section("Commits of JAX", list_rows(comparison.compare_commits(before, after)))
    sizes = comparison.compare_inputs(before, after)
    yield Section("Upstream's wheels, mean size", list_sizes(sizes, before.version, after.version))


def _list_overrides(before: Release, after: Release) -> Iterator[str]:
    for entry in after.overrides:
        earlier = before.override(entry.backend)
        was = f", as in {before.version}" if earlier and earlier.version == entry.version else ""
        yield f"- {entry.backend} takes {entry.version}{was}: {entry.reason}"


def _compare_facts(before: Release, bump: Bump) -> Iterator[Section]:
    old, new = (read_old(facts_path(bump.root, version)) for version in (before.version, bump.release.version))
    if old and new:
        yield Section("GPU code", list_rows(comparison.compare_code(old, new)))


def _compare_wheels(before: Release, bump: Bump, entries: Sequence[Entry]) -> Iterator[Section]:
    backends = tuple(bump.backends.values())
    old, new = (tuple(read_plugins(entries, release, backends, bump.dist)) for release in (before, bump.release))
    both = {plugin.name for plugin in old} & {plugin.name for plugin in new}
    if not both:
        line = f"- not compared: no plugin of both releases is in {bump.dist.name}/"
        yield Section("PJRT API and exported symbols", (line,))
    yield Section("PJRT API", list_rows(comparison.compare_plugins(old, new, lambda plugin: (plugin.pjrt_api,))))
    yield Section("Exported symbols", list_rows(comparison.compare_plugins(old, new, lambda plugin: plugin.exports)))
    sizes = (sizes_of(entries, release, backends) for release in (before, bump.release))
    rows = comparison.compare_sizes(*sizes)
    yield Section("Our wheels, mean size", list_sizes(rows, before.version, bump.release.version))

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which wheels `jaxlib-auto` has, what each requires, and for which machines it says that it is."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from jaxlib_select.facts import Select
from pjrtwheel.backend import Backend
from pjrtwheel.errors import UsageError
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.products.auto.nvidia import Group, nvidia_groups
from pjrtwheel.products.facts import Contents, choose_toolkit, read_select, toolkit_of
from pjrtwheel.record.entries import Entry

NULL = "null"  # the label of the variant without properties (PEP 825)
_ANY = "any"
# Labels are of one release and not of one platform, so the same backend needs another label elsewhere.
_PLATFORM_SUFFIX = {"linux_x86_64": "", "linux_aarch64": "_sbsa"}


@dataclass(frozen=True, slots=True)
class Variant:
    """One wheel of `jaxlib-auto`.

    Attributes:
        label: Its label; empty for the plain wheel.
        platform: Its platform tag, so that no other machine takes it even where the properties are forced.
        requires: What it asks for.
        properties: Of which machines, as `namespace::feature::value`.
    """

    label: str
    platform: str
    requires: tuple[str, ...]
    properties: tuple[str, ...] = ()


def make_variants(backends: Iterable[Backend], entries: Iterable[Entry], contents: Contents) -> list[Variant]:
    """Return the wheels for what was built: a variant whose package is missing would make installers fail.

    Raises:
        UsageError: There is no wheel for the CPU, which the plain wheel asks for wherever the release has one.
    """
    listed = [entry for entry in entries if entry.version == contents.wheel_version]
    tables = [(backend, _read_select(backend, listed)) for backend in backends]
    known = [(backend, select) for backend, select in tables if select is not None]
    plain = _cpu_requires([backend for backend, select in known if select.vendor == "cpu"], listed, contents)
    variants = [variant for pair in known for variant in _of_backend(*pair, listed, contents.wheel_version)]
    return [Variant("", _ANY, plain), Variant(NULL, _ANY, plain), *sorted(variants, key=lambda item: item.label)]


def _read_select(backend: Backend, entries: Iterable[Entry]) -> Select | None:
    stated = [toolkit_of(backend, entry) for entry in entries if entry.distribution == backend.distribution]
    return read_select(backend, choose_toolkit(backend, stated))


def _of_backend(backend: Backend, select: Select, entries: list[Entry], version: str) -> Iterator[Variant]:
    find_groups = {"nvidia": nvidia_groups, "google": _tpu_groups}.get(select.vendor)
    if find_groups is None:
        return
    extras = ",".join(backend.jaxlib_extras.get(backend.name, ()))
    package = f"{backend.distribution}{f'[{extras}]' if extras else ''}=={version}"
    for platform, entry in _built(backend, entries):
        for group in find_groups(select, entry.gpu_code, PLATFORMS[platform].architecture):
            label = "_".join(filter(None, [backend.name, group.suffix])) + _PLATFORM_SUFFIX[platform]
            yield Variant(label, backend.tags[platform], (package, *group.requires), group.properties)


def _tpu_groups(_select: Select, _code: Iterable[str], _architecture: str) -> list[Group]:
    """Return the one group of Google's accelerators: the provider says whether there is any."""
    return [Group("", ("tpu::present::true",))]


def _cpu_requires(backends: list[Backend], entries: list[Entry], contents: Contents) -> tuple[str, ...]:
    """Return what the plain wheel asks for: elsewhere than where we have a wheel, `jaxlib` has an XLA for the CPU."""
    needs = [
        f'{backend.distribution}=={contents.wheel_version}; sys_platform == "linux" '
        f'and platform_machine == "{PLATFORMS[platform].architecture}"'
        for backend in backends
        for platform, _ in _built(backend, entries)
    ]
    absent = all(f"plugin.{backend.name}.{name}" in contents.absent for backend in backends for name in backend.tags)
    if not needs and not absent:
        what = f"no wheel of {contents.version} for the CPU was built"
        raise UsageError(what, remedy=f"build it first: ./noxw -s build_cpu -- --release {contents.version}")
    return (f"jaxlib=={contents.wheel_version}", *needs)


def _built(backend: Backend, entries: list[Entry]) -> Iterator[tuple[str, Entry]]:
    for platform, tag in backend.tags.items():
        for entry in entries:
            if entry.distribution == backend.distribution and any(t.endswith(f"-{tag}") for t in entry.tags):
                yield platform, entry

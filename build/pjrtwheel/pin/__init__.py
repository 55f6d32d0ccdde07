# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Pin what a release takes from the package index, and write it down as `releases/<version>.toml`.

Nothing that upstream publishes is typed. The index lists the files, with their digests; METADATA and `version.py` of
one wheel of each project say the rest. The index is the one of the machine's own pip configuration.
"""

import functools
import os
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement

from pjrtwheel.backend import Backend, load_backends
from pjrtwheel.errors import PinError
from pjrtwheel.fetch.cache import WheelCache
from pjrtwheel.fetch.index import download_wheel, require_index
from pjrtwheel.fetch.listing import IndexFile, list_wheels
from pjrtwheel.fetch.settings import read_settings
from pjrtwheel.files import write_atomically
from pjrtwheel.pin.choose import Chosen, Inputs, WantedFiles, choose_files, find_named, offered_versions, plan_inputs
from pjrtwheel.pin.upstream import UpstreamWheel, gather_metadata, read_upstream
from pjrtwheel.release.model import (
    OVERRIDES_FILE,
    SCHEMA,
    Absent,
    Override,
    Pin,
    Release,
    XlaSource,
    parse_release,
    read_release,
)
from pjrtwheel.tables import TableError, load_toml, read, read_toml, write

# Every wheel of a project that the package index lists.
_Listing = Callable[[str], tuple[IndexFile, ...]]


def pin_release(root: Path, version: str, cache: Path, *, build: int | None = None) -> Release:
    """Ask the package index for the inputs of a release and write `releases/<version>.toml`.

    What is pinned already, and still wanted, is kept and not asked for; without the file all of it is. What is
    downloaded stays in the cache for the builds that follow. The number of our set is that of the file so far, or 1,
    when absent; its label is that of `releases/inputs.toml`.

    Raises:
        PinError: The release is unknown, or a file of hand-made decisions is wrong. Nothing is written then.
        FetchError: The index cannot be asked.
    """
    require_index(os.environ)
    listing = functools.cache(functools.partial(list_wheels, settings=read_settings()))
    wheels = WheelCache(cache, download_wheel)

    def read_wheel(pin: Pin) -> UpstreamWheel:
        return read_upstream(wheels.fetch(pin))

    old = _read_old(root, version)
    jax_pin = None if old else _find_jax(listing, version)  # before all else, which matters only if there is one
    backends = load_backends(root)
    series = _pinned_series(old, backends.values()) if old else {}
    if old and not series.keys() >= {backend.prebuilt.required_by for backend in backends.values()} - {""}:
        jax_pin = _find_jax(listing, version)
    version = jax_pin.version if jax_pin else version  # as the index spells it
    old, path = old or _read_old(root, version), root / "releases" / f"{version}.toml"
    jax = read_wheel(jax_pin) if jax_pin else None
    series = series | _find_series(jax, backends.values()) if jax else series
    overrides = find_overrides(_read(root / OVERRIDES_FILE), version)
    inputs = load_toml(Inputs, root / "releases" / "inputs.toml")
    wanted = plan_inputs(inputs, backends.values(), version, series=series, overrides=overrides)
    chosen = _choose_all(wanted, listing, _keep_pins(old.pins, wanted) if old else {})
    commits, extras = gather_metadata(chosen, old, jax, backends.values(), read_wheel)
    release = Release(
        pins={pin.key: pin for pin in chosen.pins},
        digest="",
        path=path,
        version=version,
        build=build if build is not None else old.build if old else 1,
        label=inputs.label,
        commits=commits,
        extras=extras,
        absent=tuple(_keep_cause(old, entry) for entry in chosen.absent),
        overrides=overrides,
        xla=find_xla(_read(root / XLA_FILE), version),
    )
    text = render_release(release)
    release = parse_release(text, path)
    write_atomically(path, text)
    return release


def _find_jax(listing: _Listing, version: str) -> Pin:
    """Return where `jax` itself is, which no wheel of ours is made from."""
    files = listing("jax")
    found = find_named(version, offered_versions(files))
    (pin,) = choose_files(WantedFiles("jax.any", "jax", found, ("",)), files).pins
    return pin


def _pinned_series(old: Release, backends: Iterable[Backend]) -> dict[str, str]:
    """Return, for requirements such as `jax[tpu]` that name a library's version, the one that is pinned already."""
    return {
        backend.prebuilt.required_by: old.pin(f"plugin.{backend.name}.{platform}").version
        for backend in backends
        if backend.prebuilt.required_by
        for platform in old.platforms(backend.name)
    }


def _find_series(jax: UpstreamWheel, backends: Iterable[Backend]) -> dict[str, str]:
    """Return, for those requirements, the version that METADATA of `jax` names; it may end in `.*`."""
    return {
        library.required_by: jax.find_version(next(iter(Requirement(library.required_by).extras)), library.project)
        for library in (backend.prebuilt for backend in backends)
        if library.required_by
    }


def _choose_all(wanted: Sequence[WantedFiles], listing: _Listing, kept: Mapping[str, Pin]) -> Chosen:
    """Choose all files; the first project with a file for each Python, `jaxlib`, says which Pythons there are.

    Kernels are looked for where there is a library that needs them. What is kept goes before what the index has now.
    """
    chosen = Chosen((), ())
    for entry in wanted:
        pinned = {pin.key for pin in chosen.pins}
        kind, backend = entry.key.split(".")[:2]
        useful = [p for p in entry.platforms if kind != "kernels" or f"plugin.{backend}.{p}" in pinned]
        pythons = sorted({key.split(".")[1] for key in pinned if key.startswith("bindings.")})
        own = {key: pin for key, pin in kept.items() if _is_at(key, entry) and key.rpartition(".")[2] in useful}
        own |= {key: pin for key, pin in kept.items() if _is_at(key, entry) and "{platform}" not in entry.key}
        found = choose_files(replace(entry, platforms=tuple(useful)), listing(entry.project), pythons)
        pins = {pin.key: pin for pin in found.pins} | own
        missing = (absent for absent in found.absent if absent.key not in pins)
        chosen = Chosen((*chosen.pins, *pins.values()), (*chosen.absent, *missing))
    if not any(pin.key.startswith("bindings.") for pin in chosen.pins):
        causes = sorted({entry.cause for entry in chosen.absent if entry.key.startswith("bindings.")})
        raise PinError("the package index has no jaxlib of this release for any platform", cause="; ".join(causes[:2]))
    return chosen


def _read_old(root: Path, version: str) -> Release | None:
    """Return the release as it was pinned before, if it was."""
    path = root / "releases" / f"{version}.toml"
    return read_release(path) if path.exists() else None


def _keep_pins(old: Mapping[str, Pin], wanted: Iterable[WantedFiles]) -> dict[str, Pin]:
    """Return those pins, by key, that are still what is wanted; a series stays at the version it was pinned at."""
    return {
        key: pin
        for key, pin in old.items()
        for entry in wanted
        if _is_at(key, entry) and pin.project == entry.project and fnmatchcase(pin.version, entry.version)
    }


def _keep_cause(old: Release | None, entry: Absent) -> Absent:
    """Return what the index said the first time of an input that is still absent."""
    before = old.find_absent(entry.key) if old else None
    return before if before and (before.project, before.version) == (entry.project, entry.version) else entry


def _is_at(key: str, entry: WantedFiles) -> bool:
    """Whether a pin's key is one of those of some wanted files."""
    return fnmatchcase(key, entry.key.format(python="*", platform="*"))


def _read(path: Path) -> str:
    """Return the text of a file that need not be there."""
    return path.read_text("utf-8") if path.is_file() else ""


XLA_FILE = "releases/xla.toml"


def find_xla(text: str, release: str) -> XlaSource | None:
    """Return the XLA revision of a release from the text of `releases/xla.toml`; nothing if nobody knows it.

    Raises:
        PinError: The text is malformed.
    """
    with _malformed(XLA_FILE):
        table = read_toml(dict[str, Any], text)
        return read(XlaSource, table[release], f'"{release}"') if release in table else None


def find_overrides(text: str, release: str) -> tuple[Override, ...]:
    """Return the overrides of a release from the text of `releases/overrides.toml`.

    Raises:
        PinError: The text is malformed.
    """
    with _malformed(OVERRIDES_FILE):
        tables = read_toml(dict[str, dict[str, dict[str, Any]]], text).get(release, {})
        return tuple(read(Override, table, f'"{release}".{name}', backend=name) for name, table in tables.items())


@contextmanager
def _malformed(path: str) -> Generator[None]:
    try:
        yield
    except TableError as error:
        raise PinError(f"malformed file: {path}", cause=str(error), remedy="correct it, or restore it") from error


def render_release(release: Release) -> str:
    """Return the text of a pins file: the same inputs give the same text, whatever their order."""
    import tomli_w  # noqa: PLC0415 - an installed `pjrtwheel` pins nothing, and may lack it

    ordered = replace(
        release,
        absent=tuple(sorted(release.absent, key=lambda entry: entry.key)),
        commits=dict(sorted(release.commits.items())),
    )
    known = {key: value for key, value in write(ordered).items() if key not in {"pins", "digest", "path"}}
    table = {key: value for key, value in known.items() if value or isinstance(value, (int, str))}
    pins = [write(release.pins[key]) for key in sorted(release.pins)]
    document = {"schema": SCHEMA, **_sorted(table), "pin": pins}
    # The command had that name when the first pins were written, and the lock id is a hash over their text.
    return f"# Written by `nox -s pin -- {release.version}`; do not edit.\n" + tomli_w.dumps(document)


def _sorted(table: dict[str, Any]) -> dict[str, Any]:
    """Return a table with its single values first, as TOML wants it, and its tables in order of name."""
    single = {key: value for key, value in table.items() if not isinstance(value, (dict, list))}
    return {**single, **{key: table[key] for key in sorted(table.keys() - single.keys())}}

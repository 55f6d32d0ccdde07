# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Write down for `jaxlib-select` what the wheels of a release serve, in the dataclasses by which it reads that.

Nothing of what is written down is typed by hand. GPU code comes from the wheels' own records in `dist/release.json`, or
from a library that is read now; platforms, and what is absent, from the release; everything else from the
`backend.toml` files. Of what was recorded before, only GPU code and the toolkit that made it stay, with the file they
were read from, for platforms that the release still pins.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version

from jaxlib_select import facts as selector
from jaxlib_select import tables
from jaxlib_select.errors import FactsError
from jaxlib_select.facts import SCHEMA, Facts, Select, Source, read_facts
from jaxlib_select.machine.model import format_version
from pjrtwheel.backend import Backend
from pjrtwheel.errors import UsageError
from pjrtwheel.files import hash_file
from pjrtwheel.products.pure_python import requires_python
from pjrtwheel.record.entries import Entry
from pjrtwheel.release.model import Release


@dataclass(frozen=True, slots=True)
class KnownCode:
    """GPU code that was read from a wheel or a library.

    Attributes:
        backend: Name of the backend.
        platform: Name of the platform.
        code: Names of the targets, sorted as the reader gives them.
        source: The file.
        toolkit: Version of the toolkit that made it; empty where the library was not asked.
    """

    backend: str
    platform: str
    code: tuple[str, ...]
    source: Source
    toolkit: str = ""


def read_select(backend: Backend, toolkit: str = "") -> Select | None:
    """Read the table `[select]` of a backend, with the toolkit that made its library, as far as that is known.

    Raises:
        UsageError: A key is missing or unknown, or its value is none.
    """
    if backend.select is None:
        return None
    table = {**backend.select, **({"toolkit": toolkit} if toolkit else {})}
    unknown = [f"{where}{key}" for where, key, _ in tables.unknown_keys(Select, table, "select.")]
    if unknown:
        raise _malformed(backend, f"unknown keys: {', '.join(unknown)}")
    try:
        return tables.read(Select, table, "select")
    except tables.TableError as error:
        raise _malformed(backend, str(error)) from error


def toolkit_of(backend: Backend, entry: Entry) -> str:
    """Return the version, such as `13.0`, of the toolkit that made a library, as it stated in a proof; or nothing.

    Raises:
        UsageError: What it stated is no version as CUDA_VERSION has it.
    """
    stated = (proof.pjrt_attributes.get(backend.toolkit_attribute, "") for proof in entry.proofs())
    number = next(filter(None, stated), "")
    if not number:
        return ""
    if not number.isdecimal() or int(number) < 1000:  # version 1.0
        raise UsageError(
            f"{backend.toolkit_attribute} of {entry.filename} is {number!r} in release.json",
            cause="expected a number such as 13000, for 13.0",
            remedy="build and prove the wheel again",
        )
    return f"{int(number) // 1000}.{int(number) % 1000 // 10}"


def choose_toolkit(backend: Backend, stated: Collection[str]) -> str:
    """Return the newest of the toolkits that made the libraries of a backend: a driver must serve that one.

    Raises:
        UsageError: There are libraries, and none was asked for its toolkit.
    """
    known = [version for version in stated if version]
    if backend.toolkit_attribute and stated and not known:
        raise UsageError(
            f"no library of {backend.name} was asked for its {backend.toolkit_attribute}",
            cause="it was built for another platform than this machine's, or recorded by an older version",
            remedy=f"build it for this machine as well: ./noxw build_{backend.name}",
        )
    return max(known, key=Version, default="")


def code_of_set(backends: Iterable[Backend], entries: Iterable[Entry], release: Release) -> list[KnownCode]:
    """Take the GPU code from the entries of `dist/release.json`, as far as they are of this very set.

    A library that somebody built needs no pin. A wheel with an upstream library that is pinned no more is left over.
    """
    listed = [entry for entry in entries if entry.version == release.set_version]
    return [
        KnownCode(
            backend.name, platform, entry.gpu_code, Source(entry.filename, entry.sha256), toolkit_of(backend, entry)
        )
        for backend in backends
        for platform, entry in find_wheels(backend, listed)
        if _key(backend.name, platform) in release.pins or entry.provider != "prebuilt"
    ]


def find_wheels(backend: Backend, entries: Collection[Entry]) -> Iterator[tuple[str, Entry]]:
    """Yield the wheels of a backend, each with its platform."""
    for platform, tag in backend.tags.items():
        for entry in entries:
            if entry.distribution == backend.distribution and any(given.endswith(f"-{tag}") for given in entry.tags):
                yield platform, entry


def code_of_library(backend: str, platform: str, library: Path, code: Iterable[str]) -> KnownCode:
    """Describe the GPU code of a library that was read now."""
    return KnownCode(backend, platform, tuple(code), Source(library.name, hash_file(library)))


def make_facts(
    backends: Iterable[Backend], release: Release, known: Iterable[KnownCode], old: Facts | None = None
) -> Facts:
    """Put together all that is known about a release; of two codes for one place the one that is known now counts.

    A platform is one for which a library is pinned, or known now.

    Raises:
        UsageError: Nothing is known about a library of the release, or a table `[select]` is malformed.
    """
    before = {backend.name: backend for backend in (old.backends if old else ())}
    kept = (entry for entry in _code_in(before.values()) if _key(entry.backend, entry.platform) in release.pins)
    by_place = {(entry.backend, entry.platform): entry for entry in [*kept, *known]}
    listed = sorted(backends, key=lambda backend: backend.name)
    return Facts(
        release.version,
        tuple(_backend_facts(backend, release, by_place, before.get(backend.name)) for backend in listed),
        requires_python(listed),
        SCHEMA,
    )


def facts_path(root: Path, version: str) -> Path:
    """Return where `jaxlib-select` has the facts of a release."""
    return root / "selector" / "jaxlib_select" / "facts" / f"{version}.json"


def read_old(path: Path) -> Facts | None:
    """Return what was written before, if anything was; raise a `UsageError` when it is damaged."""
    try:
        return read_facts(path) if path.is_file() else None
    except FactsError as error:
        raise UsageError(error.what, cause=error.cause, remedy="restore the file, or remove it") from error


def find_unknown(root: Path, version: str, backends: Iterable[Backend]) -> tuple[str, ...]:
    """Return the names of the backends that `jaxlib-select` does not know of in a release, as after adding one.

    Raises:
        UsageError: Its facts are damaged.
    """
    facts = read_old(facts_path(root, version))
    known = {entry.name for entry in facts.backends} if facts else set()
    return tuple(backend.name for backend in backends if backend.name not in known)


def format_facts(facts: Facts) -> str:
    """Return the text of a facts file: sorted keys and a final newline."""
    return json.dumps(tables.write(facts), indent=1, sort_keys=True) + "\n"


def _malformed(backend: Backend, cause: str) -> UsageError:
    remedy = "`Select` in selector/jaxlib_select/facts/__init__.py documents every key"
    return UsageError(f"malformed backend file: {backend.path}", cause=cause, remedy=remedy)


def _key(backend: str, platform: str) -> str:
    """Return the key of the pin of a library."""
    return f"plugin.{backend}.{platform}"


def _code_in(backends: Iterable[selector.Backend]) -> Iterator[KnownCode]:
    """Yield the code that was recorded before."""
    for backend in backends:
        toolkit = format_version(backend.select.toolkit if backend.select else None) or ""
        for platform, code in backend.code.items():
            yield KnownCode(backend.name, platform, code, backend.sources[platform], toolkit)


def _backend_facts(
    backend: Backend, release: Release, known: Mapping[tuple[str, str], KnownCode], before: selector.Backend | None
) -> selector.Backend:
    built = {platform: known[backend.name, platform] for platform in backend.tags if (backend.name, platform) in known}
    there = {name for name in backend.tags if _key(backend.name, name) in release.pins or name in built}
    absent = {name: release.find_absent(_key(backend.name, name)) for name in backend.tags if name not in there}
    _check_known(backend, there, built, before.tags if before else {})
    coded = {platform: entry for platform, entry in built.items() if entry.code}
    return selector.Backend(
        name=backend.name,
        distribution=backend.distribution,
        version=release.set_version,
        family=backend.pjrt_name,
        package=backend.package,
        tags={platform: tag for platform, tag in backend.tags.items() if platform in there},
        variants={name: tuple(extras) for name, extras in backend.jaxlib_extras.items()},
        code={platform: entry.code for platform, entry in coded.items()},
        sources={platform: entry.source for platform, entry in coded.items()},
        select=read_select(backend, choose_toolkit(backend, [entry.toolkit for entry in built.values()])),
        absent={name: entry.cause for name, entry in absent.items() if entry},
    )


def _check_known(
    backend: Backend, there: Iterable[str], built: Mapping[str, KnownCode], recorded: Collection[str]
) -> None:
    """Refuse half a record: it would send the machines of a platform to the CPU."""
    coded = any(entry.code for entry in built.values())
    missing = sorted(name for name in there if name not in built and (coded or name not in recorded))
    if missing and backend.prebuilt.bundled:
        raise UsageError(
            f"nothing is known about the library of {backend.name} for {', '.join(missing)}",
            remedy=f"build it first: ./noxw build_{backend.name} --platform {missing[0]}",
        )

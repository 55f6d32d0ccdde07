# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Write down for `jaxlib-select` what the wheels of a release serve, in the dataclasses by which it reads that.

Nothing of what is written down is typed by hand. GPU code comes from the wheels' own records in `dist/release.json`, or
from a library that is read now; platforms, and what is absent, from the release; everything else from the
`backend.toml` files. Of what was recorded before, only GPU code and the toolkit that made it stay, with the file they
were read from, for platforms that the release still pins.
"""

import json
import re
import tempfile
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from packaging.version import Version

from jaxlib_select import facts as selector
from jaxlib_select import tables
from jaxlib_select.errors import FactsError
from jaxlib_select.facts import SCHEMA, Facts, Select, Source, read_facts
from jaxlib_select.machine.model import format_version
from jaxlib_select.versions import at_least, read_version
from pjrtwheel.backend import Backend
from pjrtwheel.elf.image import read_image
from pjrtwheel.errors import UsageError, count
from pjrtwheel.fetch import WheelCache, download_wheel, unpack_wheel
from pjrtwheel.files import hash_file, write_atomically
from pjrtwheel.gpucode.reader import needed_tools, read_gpu_code
from pjrtwheel.products.pure_python import requires_python
from pjrtwheel.record.entries import Entry
from pjrtwheel.release.model import Release
from pjrtwheel.verify.inspection import FindTool, make_finder
from pjrtwheel.wheel.names import parse_name

Place = tuple[str, str]  # names of a backend and of a platform
_NUMBER = re.compile(r"[0-9]{4,}")  # a version as CUDA_VERSION has it, such as 13000 for 13.0


@dataclass(frozen=True, slots=True)
class KnownCode:
    """GPU code that was read from a wheel or a library.

    Attributes:
        code: Names of the targets, sorted as the reader gives them.
        source: The file; nothing where a library was recorded to have no code.
        toolkit: Version of the toolkit that made it; empty where the library was not asked.
    """

    code: tuple[str, ...]
    source: Source | None
    toolkit: str = ""


def read_select(backend: Backend, release: str, built: Collection[KnownCode] = ()) -> Select | None:
    """Read the table `[select]` of a backend for a release of JAX, with the toolkit of the libraries that were built.

    Raises:
        UsageError: A key is missing or unknown, or its value is none; or no library stated its toolkit.
    """
    if backend.select is None:
        return None
    toolkit = choose_toolkit(backend, [entry.toolkit for entry in built])
    table = {**backend.select, **({"toolkit": toolkit} if toolkit else {})}
    for first, others in backend.since.items():
        if at_least(read_version(release) or (), read_version(first) or ()):
            table |= others
    unknown = [f"{where}{key}" for where, key, _ in tables.unknown_keys(Select, table, "select.")]
    if unknown:
        raise _malformed(backend, f"unknown keys: {', '.join(unknown)}")
    try:
        return tables.read(Select, table, "select")
    except tables.TableError as error:
        raise _malformed(backend, str(error)) from error


def toolkit_of(backend: Backend, entry: Entry) -> str:
    """Return the version, such as `13.0`, of the toolkit that made a library, as it stated in a proof; or nothing."""
    stated = (proof.pjrt_attributes.get(backend.toolkit_attribute, "") for proof in entry.proofs())
    number = next(filter(_NUMBER.fullmatch, stated), "")
    return f"{int(number) // 1000}.{int(number) % 1000 // 10}" if number else ""


def choose_toolkit(backend: Backend, stated: Collection[str]) -> str:
    """Return the newest of the toolkits that made the libraries of a backend: a driver must serve that one.

    Raises:
        UsageError: There are libraries, and none stated its toolkit.
    """
    known = [version for version in stated if version]
    if backend.toolkit_attribute and stated and not known:
        raise UsageError(
            f"no library of {backend.name} stated its {backend.toolkit_attribute} as a number such as 13000",
            cause="it was built for another platform than this machine's, or recorded by an older version",
            remedy=f"build it for this machine as well: ./noxw build_{backend.name}",
        )
    return max(known, key=Version, default="")


def code_of_set(backends: Iterable[Backend], entries: Iterable[Entry], release: Release) -> dict[Place, KnownCode]:
    """Take the GPU code from the entries of `dist/release.json`, as far as they are of this very set.

    A library that somebody built needs no pin. A wheel with an upstream library that is pinned no more is left over.
    """
    listed = [entry for entry in entries if entry.version == release.set_version]
    return {
        (backend.name, platform): KnownCode(
            entry.gpu_code, Source(entry.filename, entry.sha256), toolkit_of(backend, entry)
        )
        for backend in backends
        for platform, tag in backend.tags.items()
        for entry in listed
        if entry.distribution == backend.distribution
        and any(given.endswith(f"-{tag}") for given in entry.tags)
        and (_key(backend.name, platform) in release.pins or entry.provider != "prebuilt")
    }


def code_of_record(old: Facts | None, release: Release) -> dict[Place, KnownCode]:
    """Take the GPU code that was recorded before of the libraries that the release still pins."""
    return {
        (backend.name, platform): KnownCode(
            backend.code.get(platform, ()),
            backend.sources.get(platform),
            format_version(backend.select.toolkit if backend.select else None) or "",
        )
        for backend in (old.backends if old else ())
        for platform in backend.tags
        if _key(backend.name, platform) in release.pins
    }


def make_facts(backends: Iterable[Backend], release: Release, known: Mapping[Place, KnownCode]) -> Facts:
    """Put together all that is known about a release, with the code of each library that our wheels carry.

    A platform is one for which a library is pinned, or known.

    Raises:
        UsageError: A table `[select]` is malformed, or no library was asked for its toolkit.
    """
    listed = sorted(backends, key=lambda backend: backend.name)
    facts = tuple(_backend_facts(backend, release, known) for backend in listed)
    return Facts(release.version, facts, requires_python(listed), SCHEMA, _jaxlib_tags(release))


def _jaxlib_tags(release: Release) -> dict[str, str]:
    """Return the platforms of upstream's jaxlib, with the platform tags of its wheels."""
    pins = [(key.rpartition(".")[2], pin) for key, pin in release.pins.items() if key.startswith("bindings.")]
    return {platform: parse_name(pin.filename).tag.rpartition("-")[2] for platform, pin in pins}


def write_facts(
    root: Path, cache: Path, release: Release, backends: Mapping[str, Backend], entries: Iterable[Entry]
) -> str:
    """Write the selector's facts of a release, and say from how many wheels GPU code was read.

    It comes from the records of the wheels, and else from what was recorded before. Of a platform that is in neither,
    the pinned library is read, which is downloaded for that.

    Raises:
        PjrtWheelError: A library cannot be downloaded or read; nothing is written then.
    """
    path = facts_path(root, release.version)
    fresh = code_of_set(backends.values(), entries, release)
    recorded = code_of_record(read_old(path), release)
    with tempfile.TemporaryDirectory(prefix="tools-") as scratch:
        find_tool = make_finder(root, Path(scratch))
        for backend in backends.values():
            for platform in release.platforms(backend.name) if backend.prebuilt.bundled else ():
                if (backend.name, platform) not in {*fresh, *recorded}:
                    wheel = WheelCache(cache, download_wheel).fetch(release.pin(_key(backend.name, platform)))
                    fresh[backend.name, platform] = _read_library(wheel, backend.prebuilt.member, find_tool)
    write_atomically(path, format_facts(make_facts(backends.values(), release, recorded | fresh)))
    return f"{path.relative_to(root)}, from {count(len(fresh), 'wheel')}"


def _read_library(wheel: Path, member: str, find_tool: FindTool) -> KnownCode:
    """Read the GPU code of a library in an upstream wheel."""
    with tempfile.TemporaryDirectory(prefix="library-") as scratch:
        unpack_wheel(wheel, Path(scratch), [member])
        library = Path(scratch) / member
        with library.open("rb") as file:
            names = needed_tools(read_image(file, wheel.name))
        tools = {name: tool for name in names if (tool := find_tool(name))}
        code = read_gpu_code(library, tools, where=wheel.name).names()
        return KnownCode(tuple(code), Source(library.name, hash_file(library)))


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


def _backend_facts(backend: Backend, release: Release, known: Mapping[Place, KnownCode]) -> selector.Backend:
    built = {name: known[backend.name, name] for name in backend.tags if (backend.name, name) in known}
    there = {name for name in backend.tags if name in built or _key(backend.name, name) in release.pins}
    absent = {name: release.find_absent(_key(backend.name, name)) for name in backend.tags if name not in there}
    return selector.Backend(
        name=backend.name,
        distribution=backend.distribution,
        version=release.set_version,
        family=backend.pjrt_name,
        package=backend.package,
        tags={platform: tag for platform, tag in backend.tags.items() if platform in there},
        variants={name: tuple(extras) for name, extras in backend.jaxlib_extras.items()},
        code={platform: entry.code for platform, entry in built.items() if entry.code},
        sources={platform: entry.source for platform, entry in built.items() if entry.code and entry.source},
        select=read_select(backend, release.version, built.values()),
        absent={name: entry.cause for name, entry in absent.items() if entry},
    )

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a wheel is made from, as a manifest says, and what it will be made of.

Members are read when they are written, with a repair plan for each that is a library. The paths in a manifest are not
opened here.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, BinaryIO

from pjrtwheel.elf.image import is_elf, read_image
from pjrtwheel.elf.layout import Span, read_pieces
from pjrtwheel.elf.repair import check_exports, plan_repair
from pjrtwheel.elf.search_paths import ANYWHERE, LibraryPlace
from pjrtwheel.errors import ElfError, WheelError
from pjrtwheel.gpucode import GpuCode
from pjrtwheel.platforms import Platform, find_platform
from pjrtwheel.release.wheels import ReleaseLock
from pjrtwheel.tables import TableError, read, read_json
from pjrtwheel.wheel.names import WheelName

SCHEMA = 1


@dataclass(frozen=True, slots=True, kw_only=True)
class BackendSpec:
    """What a wheel of a backend is made from.

    Attributes:
        provider: `prebuilt`, `source` or `file-<sha256>`.
        provenance: Where the library or the kernels came from, a JSON file.
        files: Path in the wheel → file on disk; kernels go by their file names.
        licenses: File name below `licenses/` → file on disk.
        tools: Name → program that reads what the libraries hold.
        lock: That of the published set which the wheel is for, or of a set with a label of its own; nothing for a
            wheel of the release's set.
    """

    platform: Platform
    release: Path
    backend: Path
    provider: str
    provenance: Path
    files: dict[str, Path]
    licenses: dict[str, Path]
    tools: dict[str, Path] = field(default_factory=dict)
    lock: ReleaseLock | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PluginSpec(BackendSpec):
    """What a plugin wheel is made from.

    Attributes:
        readme: The description.
        requirement: Distribution and exact version that carries the plugin library, where `files` does not.
    """

    readme: Path
    requirement: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelsSpec(BackendSpec):
    """What a wheel with the kernels for one Python is made from; the Python goes by its ABI tag, such as `cp312`."""

    python: str


@dataclass(frozen=True, slots=True)
class BindingsSpec:
    """What a `jaxlib` wheel is made from.

    Attributes:
        provider: `prebuilt`, `source` or `file-<sha256>`.
        python: The Python, by its ABI tag, such as `cp312` or `cp314t`.
        wheel: Upstream's wheel.
        backends: One backend file for each extra.
        lock: That of a set with a label of its own; nothing for the release's.
        jax_commit: Commit of JAX that the wheel was built from; nothing for one of the package index.
    """

    platform: Platform
    release: Path
    provider: str
    python: str
    wheel: Path
    backends: tuple[Path, ...]
    lock: ReleaseLock | None = None
    jax_commit: str = ""


Spec = PluginSpec | KernelsSpec | BindingsSpec
_KINDS: dict[object, type[Spec]] = {"plugin": PluginSpec, "kernels": KernelsSpec, "bindings": BindingsSpec}


def parse_manifest(text: str) -> Spec:
    """Turn the text of a manifest into a specification; the order of its keys does not matter.

    Raises:
        WheelError: Not JSON, of another schema or kind, or a key is missing, unknown or of the wrong type.
        UsageError: Unknown platform.
    """
    try:
        given = read_json(dict[str, Any], text, "manifest")
        table = {key: dict(sorted(value.items())) if isinstance(value, dict) else value for key, value in given.items()}
        schema, kind = table.pop("schema", None), table.pop("kind", None)
        if schema != SCHEMA:
            raise WheelError(f"manifest has schema {schema!r}, expected {SCHEMA}")
        if kind not in _KINDS:
            raise WheelError(f"manifest is of kind {kind!r}, expected one of {', '.join(map(str, _KINDS))}")
        platform = find_platform(read(str, table.pop("platform", None), "manifest.platform"))
        return read(_KINDS[kind], table, "manifest", platform=platform)
    except TableError as error:
        raise WheelError(str(error)) from error


_LIBRARY_NAME = re.compile(r"\.so(\.[0-9]+)*$")


@dataclass(frozen=True, slots=True)
class MemberSource:
    """One file of a wheel that is still to be written.

    Attributes:
        read: Returns its bytes.
        executable: Whether it gets the permission to execute, as shared libraries have.
        changes: What repair changes, in words.
        dropped_bytes: How much shorter repair makes it.
    """

    path: str
    size: int
    read: Callable[[], bytes | bytearray]
    executable: bool = False
    changes: tuple[str, ...] = ()
    dropped_bytes: int = 0
    is_library: bool = False


@dataclass(frozen=True, slots=True)
class WheelPlan:
    """All that goes into a wheel.

    Attributes:
        members: Its members but RECORD.
        metadata: The text of METADATA, which is also one of the members.
        lock_id: Identity of the set it is made for; empty for a repaired copy, which keeps what lock it has.
        gpu_list: Path of the member that lists `gpu_files`.
        gpu_files: Waits until it is read for which chips each library holds code; by member, without those that hold
            none. It is asked late, because reading takes as long as compressing a part of the library does.
    """

    name: WheelName
    members: tuple[MemberSource, ...]
    metadata: str
    lock_id: str = ""
    provider: str = ""
    provenance: Mapping[str, Any] = field(default_factory=dict)
    gpu_list: str = ""
    gpu_files: Callable[[], Mapping[str, GpuCode]] = dict


def describe_origin(provider: str, filename: str, sha256: str, **known: str) -> dict[str, Any]:
    """Return the provenance of a file, as the rules of the graph write it of a library: unknown values are None."""
    unknown = dict.fromkeys(("project", "version", "member", "xla_commit"))
    return {**unknown, **known, "provider": provider, "filename": filename, "sha256": sha256, "licenses": []}


def text_source(path: str, content: str | bytes) -> MemberSource:
    """Return a member that is held in memory."""
    data = content.encode() if isinstance(content, str) else content
    return MemberSource(path, len(data), lambda: data)


def unchanged_source(path: str, file: BinaryIO, *, executable: bool = False) -> MemberSource:
    """Return a member that is read from a file, which must stay open until it is written, and written as it is."""
    size = file.seek(0, 2)
    return MemberSource(path, size, lambda: read_pieces(file, (Span(0, size),)), executable)


def file_source(
    path: str,
    file: BinaryIO,
    *,
    wheel: str,
    machine: str | None,
    exports: Sequence[str] = (),
    executable: bool = False,
    place: LibraryPlace = ANYWHERE,
) -> MemberSource:
    """Plan a member that is read from a file; what is no library passes through as it is.

    Args:
        path: Its path in the wheel.
        file: Its bytes; must stay open until the member is written.
        wheel: File name of the wheel, for messages.
        machine: Machine that libraries must be made for; any known one when absent.
        exports: Symbols that the library must define, and no others; empty for no limit.
        executable: Whether a file that is no library gets the permission to execute.
        place: Where a library will be found once the wheel is installed.

    Raises:
        ElfError: A library that is none, is for another machine, damaged, or cannot be repaired.
    """
    where = f"{path} in {wheel}"
    file.seek(0)
    start = file.read(8)
    if not is_elf(start):
        if exports or _LIBRARY_NAME.search(path):
            raise ElfError(f"{where} is not an ELF file", cause=f"it starts with {start!r}")
        return unchanged_source(path, file, executable=executable)
    image = read_image(file, where, machine=machine)
    if exports:
        check_exports(image, exports)
    plan = plan_repair(image, place)
    return MemberSource(
        path,
        plan.size,
        lambda: read_pieces(file, plan.pieces),
        executable=True,
        changes=plan.changes,
        dropped_bytes=plan.dropped_bytes,
        is_library=True,
    )

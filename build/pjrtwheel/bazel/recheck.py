# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Hold what Bazel returned to its inputs, whichever cache or machine it came from.

Bazel takes the result of an action from a cache, or from another machine, without looking at it, and whoever can write
there could have changed it. Manifests and downloaded inputs never come from there: Bazel writes the first itself, and
repository rules fetch the second by their hash.

Every member is planned and hashed once more from the manifest's inputs, without compressing anything. From that follow
RECORD, the report, and all of the file but what is compressed: order, names, dates and modes, and nothing between or
around the members. *Verify* then holds the members themselves to RECORD.
"""

import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import replace
from pathlib import Path

from pjrtwheel.errors import WheelError, shorten
from pjrtwheel.wheel.archive import begin_entry, end_of_directory, timestamp
from pjrtwheel.wheel.assemble import list_members, plan_wheel, record_source, report_written
from pjrtwheel.wheel.members import Member, encode_digest, open_wheel
from pjrtwheel.wheel.plan import MemberSource, parse_manifest
from pjrtwheel.wheel.report import REPORT_FILENAME, BuiltWheel, read_built
from pjrtwheel.wheel.unpack import read_record

_MANIFEST = ".manifest.json"  # as build/rules/private/wheels.bzl names it, next to the directory of the wheel


def check_results(
    directories: Iterable[Path], workspace: Path, output_base: Path, *, is_shared: bool
) -> tuple[BuiltWheel, ...]:
    """Return the wheels of a build, each held to its manifest; one that is another is removed from Bazel's folder.

    Otherwise Bazel would call it up to date in the next build, with or without the cache that it came from.

    Args:
        directories: Where the wheels are, below `output_base`.
        workspace: Where Bazel ran.
        output_base: Bazel's own folder for it.
        is_shared: Whether results may come from a cache or another machine; else nobody but this build wrote them.

    Raises:
        WheelError: A wheel is not what its inputs make, or a directory lacks a wheel or its report.
    """
    with (
        _inputs(workspace, output_base) as folder,
        contextlib.chdir(folder),
        ThreadPoolExecutor(2) as pool,  # each holds a library in memory
    ):
        return tuple(pool.map(lambda directory: _check(directory, is_shared=is_shared), directories))


def _check(directory: Path, *, is_shared: bool) -> BuiltWheel:
    """Return the wheel in a directory, once it has passed."""
    try:
        built = read_built(directory)
        if is_shared:
            check_against_inputs(built.path, directory.with_name(directory.name + _MANIFEST))
    except WheelError:
        directory.chmod(0o755)  # Bazel takes the right to write away from what it made
        shutil.rmtree(directory)
        raise
    return built


@contextlib.contextmanager
def _inputs(workspace: Path, output_base: Path) -> Iterator[Path]:
    """Make a folder in which the paths of manifests lead to their files.

    Bazel's own such folder is that of the last command only, and another one may run already.
    """
    with tempfile.TemporaryDirectory(prefix="inputs-") as name:
        folder = Path(name)
        own = (output_base / "external", *output_base.glob("execroot/*/bazel-out"))
        for path in (*own, *workspace.iterdir()):
            place = folder / path.name
            if not place.is_symlink():  # Bazel's own come first, whatever a workspace has under their names
                place.symlink_to(path)
        yield folder


_SHOWN = 3
_REMEDY = "build again without that cache; who may write a cache may write the wheels that are built with it"


def check_against_inputs(wheel: Path, manifest: Path) -> None:
    """Raise a `WheelError` unless a wheel and its report are those that follow from the inputs of its manifest.

    Args:
        wheel: What was returned, next to its report.
        manifest: What it should have been made from; relative paths in it begin in the working directory.
    """
    spec = parse_manifest(manifest.read_text("utf-8"))
    with tempfile.TemporaryDirectory(prefix="recompute-") as scratch, ExitStack() as files:
        plan = plan_wheel(spec, files, scratch=Path(scratch))
        if wheel.name != plan.name.filename:
            raise WheelError(f"a build returned {wheel.name} in the place of {plan.name.filename}", remedy=_REMEDY)
        sources = list(list_members(plan))
        members = {each.path: Member(each.size, hashlib.sha256(each.read()).hexdigest()) for each in sources}
        record = record_source(plan.name, members)
        _refuse(wheel.name, _differing(wheel, record.path, members))
        _refuse(wheel.name, _misplaced(wheel, [*sources, record]))
        report = report_written(plan, wheel)
    path = wheel.with_name(REPORT_FILENAME)
    _refuse(f"the report of {wheel.name}", [] if path.read_bytes() == report.to_json().encode() else [path.name])


def _refuse(what: str, differing: Iterable[str]) -> None:
    if found := sorted(differing):
        raise WheelError(
            f"{what} is not what its inputs make: {shorten(found, _SHOWN)}",
            cause="a cache of Bazel's returned another wheel: it is damaged, or somebody wrote into it",
            remedy=_REMEDY,
        )


def _differing(wheel: Path, record: str, expected: dict[str, Member]) -> Iterator[str]:
    """Yield the members that RECORD gives other digests than the inputs, and those that only one of the two has."""
    wanted = {path: (encode_digest(member.sha256), member.size) for path, member in expected.items()}
    with open_wheel(wheel) as archive:
        listed = read_record(archive, record, wheel)
    stated = {path: (entry.digest, entry.size) for path, entry in listed.items() if path != record}
    yield from {path for path, _ in wanted.items() ^ stated.items()}


def _misplaced(wheel: Path, sources: Sequence[MemberSource]) -> Iterator[str]:
    """Yield what of the file, outside of the compressed data, is not as assembly writes it."""
    stamp, directory, offset = timestamp(os.environ), b"", 0
    with open_wheel(wheel) as archive, wheel.open("rb") as file:
        infos = archive.infolist()
        if [info.filename for info in infos] != [source.path for source in sources]:
            yield "the order of its members"
            return
        for source, info in zip(sources, infos, strict=True):
            entry = replace(begin_entry(source, stamp, offset), crc=info.CRC, compressed=info.compress_size)
            header = entry.local_header()
            file.seek(offset)
            if file.read(len(header)) != header:
                yield f"{source.path} in its place, with its date and mode"
                return
            directory += entry.directory_record()
            offset += len(header) + info.compress_size
        file.seek(offset)
        if file.read() != directory + end_of_directory(len(sources), len(directory), offset):
            yield "the end of the file"

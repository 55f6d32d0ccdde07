# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Hold a wheel that a build system returned to its inputs: whoever can write a shared cache could have changed it.

Every member is planned and hashed once more from the manifest's inputs, without compressing anything. *Verify* then
holds the members themselves to RECORD.
"""

from __future__ import annotations

import hashlib
import json
import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import fields
from pathlib import Path

from pjrtwheel.errors import WheelError, shorten
from pjrtwheel.files import hash_file
from pjrtwheel.sources import import_closure
from pjrtwheel.wheel.deflate.compress import CHUNK_SIZE
from pjrtwheel.wheel.read.directory import open_wheel
from pjrtwheel.wheel.record import Member, encode_digest, parse_record
from pjrtwheel.wheel.write.assemble import plan_wheel
from pjrtwheel.wheel.write.manifest import parse_manifest
from pjrtwheel.wheel.write.plan import MemberSource

_SHOWN = 3
_REMEDY = "build again without that cache; who may write a cache may write the wheels that are built with it"


def identify_check(wheel: Path, manifest: Path) -> str:
    """Return the identity of a check: the wheel, its manifest, every input by its bytes, and our own code.

    Hashing takes a tenth of the time that planning the members again does.
    """
    spec = parse_manifest(manifest.read_text("utf-8"))
    inputs = sorted({path for value in (getattr(spec, field.name) for field in fields(spec)) for path in _paths(value)})
    identity = [
        hash_file(manifest),
        *((str(path), hash_file(path)) for path in inputs),
        (wheel.name, hash_file(wheel)),
        *(hash_file(path) for path in import_closure("pjrtwheel.wheel.write.recompute")),
    ]
    return hashlib.sha256(json.dumps(identity).encode()).hexdigest()


def _paths(value: object) -> Iterator[Path]:
    """Yield the paths in a value of a specification."""
    if isinstance(value, Path):
        yield value
    elif isinstance(value, dict | tuple):
        for part in value.values() if isinstance(value, dict) else value:
            yield from _paths(part)


def check_against_inputs(wheel: Path, manifest: Path) -> None:
    """Raise a `WheelError` unless a wheel has exactly the members that follow from the inputs of its manifest.

    Args:
        wheel: What was returned.
        manifest: What it should have been made from; relative paths in it begin in the working directory.
    """
    spec = parse_manifest(manifest.read_text("utf-8"))
    with tempfile.TemporaryDirectory(prefix="recompute-") as scratch, ExitStack() as files:
        plan = plan_wheel(spec, files, scratch=Path(scratch))
        if wheel.name != plan.name.filename:
            raise WheelError(f"a build returned {wheel.name} in the place of {plan.name.filename}", remedy=_REMEDY)
        expected = {member.path: _hash(member) for member in (*plan.members, *plan.list_gpu_code())}
    differing = sorted(_differing(wheel, f"{plan.name.dist_info}/RECORD", expected))
    if differing:
        raise WheelError(
            f"{wheel.name} is not what its inputs make: {shorten(differing, _SHOWN)}",
            cause="a cache of Bazel's returned another wheel: it is damaged, or somebody wrote into it",
            remedy=_REMEDY,
        )


def _hash(source: MemberSource) -> Member:
    digest = hashlib.sha256()
    for chunk in source.chunks(CHUNK_SIZE):
        digest.update(chunk)
    return Member(source.size, digest.hexdigest())


def _differing(wheel: Path, record: str, expected: dict[str, Member]) -> Iterator[str]:
    """Yield the members that RECORD gives other digests than the inputs, and those that only one of the two has."""
    wanted = {path: (encode_digest(member.sha256), member.size) for path, member in expected.items()}
    try:
        with open_wheel(wheel) as archive:
            listed = parse_record(archive.read(record).decode())
    except (KeyError, ValueError) as error:
        raise WheelError(f"cannot read {record} of {wheel.name}", cause=str(error), remedy=_REMEDY) from error
    stated = {path: (entry.digest, entry.size) for path, entry in listed.items() if path != record}
    yield from {path for path, _ in wanted.items() ^ stated.items()}

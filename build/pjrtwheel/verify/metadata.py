# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of METADATA, WHEEL, RECORD and licences against each other and the file name."""

from __future__ import annotations

from collections.abc import Iterator

from packaging.tags import parse_tag
from packaging.utils import canonicalize_name

from pjrtwheel.verify.contents import WheelContents
from pjrtwheel.verify.finding import Problem

# Files whose own hash RECORD cannot hold (PEP 427).
_UNHASHED = ("RECORD", "RECORD.jws", "RECORD.p7s")


def check_names(wheel: WheelContents) -> Iterator[Problem]:
    """No member would be unpacked outside of where the wheel is installed."""
    for name in wheel.members:
        if name.startswith("/") or "\\" in name or ".." in name.split("/"):
            yield name, "would be unpacked outside of the environment"


def check_record(wheel: WheelContents) -> Iterator[Problem]:
    """RECORD lists every file once, with its true size and sha256."""
    rows: dict[str, tuple[str, str]] = {}
    for row in wheel.record():
        if len(row) != 3:  # path, hash, size (PEP 376)
            yield "", f"RECORD has a row of {len(row)} fields, expected 3: {row!r}"
        elif row[0] in rows:
            yield row[0], "is listed twice in RECORD"
        else:
            rows[row[0]] = (row[1], row[2])
    unhashed = {f"{wheel.dist_info}/{name}" for name in _UNHASHED}
    for name, member in wheel.members.items():
        if name not in rows:
            yield name, "is missing from RECORD"
        elif name not in unhashed and rows[name] != (f"sha256={member.digest}", str(member.size)):
            yield name, f"RECORD says {','.join(rows[name])}, the file is sha256={member.digest},{member.size}"
    yield from ((name, "is in RECORD but not in the wheel") for name in rows if name not in wheel.members)


def check_wheel_file(wheel: WheelContents) -> Iterator[Problem]:
    """WHEEL agrees with the file name, and a wheel with libraries is no pure one."""
    headers = wheel.headers("WHEEL")
    member = f"{wheel.dist_info}/WHEEL"
    tags = frozenset(tag for line in headers.get_all("Tag", []) for tag in parse_tag(line))
    if tags != wheel.name.tags:
        yield member, f"has tags {sorted(map(str, tags))}, the file name says {sorted(map(str, wheel.name.tags))}"
    build = "".join(str(part) for part in wheel.name.build)
    if headers.get("Build", "") != build:
        yield member, f"has build tag {headers.get('Build', '')!r}, the file name says {build!r}"
    purelib = "false" if wheel.libraries else "true"
    if headers.get("Root-Is-Purelib", "").lower() != purelib:
        yield member, f"says Root-Is-Purelib: {headers.get('Root-Is-Purelib')}, expected {purelib}"


def check_metadata(wheel: WheelContents) -> Iterator[Problem]:
    """METADATA and the dist-info directory name the project and version of the file name."""
    headers = wheel.headers("METADATA")
    member = f"{wheel.dist_info}/METADATA"
    if canonicalize_name(headers.get("Name", "")) != wheel.name.distribution:
        yield member, f"names {headers.get('Name')!r}, the file name says {wheel.name.distribution!r}"
    if headers.get("Version") != str(wheel.name.version):
        yield member, f"has version {headers.get('Version')!r}, the file name says {str(wheel.name.version)!r}"
    project, _, version = wheel.dist_info.removesuffix(".dist-info").rpartition("-")
    if (canonicalize_name(project), version) != (wheel.name.distribution, str(wheel.name.version)):
        yield wheel.dist_info, "does not match the file name"


def check_requirements(wheel: WheelContents, requires: tuple[str, ...]) -> Iterator[Problem]:
    """METADATA requires what assembly reported."""
    present = tuple(wheel.headers("METADATA").get_all("Requires-Dist", []))
    if sorted(present) != sorted(requires):
        yield f"{wheel.dist_info}/METADATA", f"requires {list(present)}, the report says {list(requires)}"


def check_licenses(wheel: WheelContents) -> Iterator[Problem]:
    """Every `License-File` is in the wheel, and there is at least one (PEP 639)."""
    names = wheel.headers("METADATA").get_all("License-File", [])
    if not names:
        yield f"{wheel.dist_info}/METADATA", "names no License-File"
    for name in names:
        if f"{wheel.dist_info}/licenses/{name}" not in wheel.members:
            yield f"{wheel.dist_info}/licenses/{name}", "is named by License-File but missing"

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of what a wheel says about itself: RECORD, WHEEL, METADATA, licences, bill of materials and lock.

All of it is read here, and not by the code that wrote it.
"""

import base64
import csv
import io
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from cyclonedx.schema import SchemaVersion
from packaging.requirements import Requirement
from packaging.tags import parse_tag
from packaging.utils import canonicalize_name

from pjrtwheel.errors import shorten
from pjrtwheel.release.wheels import LOCK_FILENAME, ReleaseLock
from pjrtwheel.tables import TableError, read_json
from pjrtwheel.verify.contents import WheelContents
from pjrtwheel.verify.findings import Finding, Problem
from pjrtwheel.wheel.members import OBSOLETE, Member
from pjrtwheel.wheel.metadata import read_requirements
from pjrtwheel.wheel.names import parse_name

_NAMED_PROJECTS = 5


def check_documents(wheel: WheelContents) -> Iterator[Finding]:
    """Yield what is wrong with what a wheel says about itself, whosoever wheel it is."""
    for code, check in (
        ("record", check_record),
        ("metadata", check_metadata),
        ("purelib", check_purelib),
        ("pth", check_startup),
        ("license-file", check_licenses),
        ("license-field", check_license_fields),
        ("sbom", check_sbom),
        ("requires-any-version", check_versions),
        ("lock", check_lock),
    ):
        yield from (Finding(code, member, text) for member, text in check(wheel))


def check_record(wheel: WheelContents) -> Iterator[Problem]:
    """RECORD lists every file once, with its true size and sha256."""
    rows: dict[str, tuple[str, str]] = {}
    try:
        for row in csv.reader(io.StringIO(wheel.texts.get(f"{wheel.dist_info}/RECORD", ""))):
            if len(row) != 3:  # path, hash, size (PEP 376)
                yield "", f"RECORD has a row of {len(row)} fields, expected 3: {row!r}"
            elif row[0] in rows:
                yield row[0], "is listed twice in RECORD"
            else:
                rows[row[0]] = (row[1], row[2])
    except csv.Error as error:
        yield "", f"RECORD is not CSV: {error}"
        return
    for name, member in wheel.members.items():
        if name.removeprefix(f"{wheel.dist_info}/") in OBSOLETE:
            yield name, "is an obsolete signature, which no installer checks"
        if name not in rows:
            yield name, "is missing from RECORD"
        elif name != f"{wheel.dist_info}/RECORD" and rows[name] != (true := _recorded(member)):
            yield name, f"RECORD says {','.join(rows[name])}, the file is {','.join(true)}"
    yield from ((name, "is in RECORD but not in the wheel") for name in rows if name not in wheel.members)


def _recorded(member: Member) -> tuple[str, str]:
    digest = base64.urlsafe_b64encode(bytes.fromhex(member.sha256)).rstrip(b"=").decode()
    return f"sha256={digest}", str(member.size)


def check_wheel_file(wheel: WheelContents) -> Iterator[Problem]:
    """WHEEL agrees with the file name, and a wheel with libraries is no pure one."""
    headers = wheel.headers("WHEEL")
    member = f"{wheel.dist_info}/WHEEL"
    lines, expected = headers.get_all("Tag", []), sorted(map(str, wheel.name.tags))
    try:
        tags = sorted({str(tag) for line in lines for tag in parse_tag(line)})
    except ValueError:
        tags = sorted(lines)
    if tags != expected:
        yield member, f"has tags {tags}, the file name says {expected}"
    if headers.get("Build", "") != wheel.name.build:
        yield member, f"has build tag {headers.get('Build', '')!r}, the file name says {wheel.name.build!r}"
    purelib = "false" if wheel.libraries else "true"
    if headers.get("Root-Is-Purelib", "").lower() != purelib:
        yield member, f"says Root-Is-Purelib: {headers.get('Root-Is-Purelib')}, expected {purelib}"


def check_metadata(wheel: WheelContents) -> Iterator[Problem]:
    """METADATA and the dist-info directory name the project and version of the file name."""
    headers = wheel.headers("METADATA")
    member = f"{wheel.dist_info}/METADATA"
    if canonicalize_name(headers.get("Name", "")) != wheel.name.distribution:
        yield member, f"names {headers.get('Name')!r}, the file name says {wheel.name.distribution!r}"
    if headers.get("Version") != wheel.name.version:
        yield member, f"has version {headers.get('Version')!r}, the file name says {wheel.name.version!r}"
    project, _, version = wheel.dist_info.removesuffix(".dist-info").rpartition("-")
    if (canonicalize_name(project), version) != (wheel.name.distribution, wheel.name.version):
        yield wheel.dist_info, "does not match the file name"


def check_startup(wheel: WheelContents) -> Iterator[Problem]:
    """Nothing of it runs before it is imported."""
    yield from ((name, "runs whenever Python starts") for name in wheel.members if name.endswith(".pth"))


def check_licenses(wheel: WheelContents) -> Iterator[Problem]:
    """Every `License-File` is in the wheel, and there is at least one (PEP 639); before METADATA 2.4 it lay higher."""
    headers = wheel.headers("METADATA")
    names = headers.get_all("License-File", [])
    if not names:
        yield f"{wheel.dist_info}/METADATA", "names no License-File"
    old = headers.get("Metadata-Version", "") in {"1.0", "1.1", "1.2", "2.0", "2.1", "2.2", "2.3"}
    for name in names:
        place = f"{wheel.dist_info}/licenses/{name}"
        if place not in wheel.members and not (old and f"{wheel.dist_info}/{name}" in wheel.members):
            yield place, "is named by License-File but missing"


def check_license_fields(wheel: WheelContents) -> Iterator[Problem]:
    """The licence is stated as an expression (PEP 639)."""
    headers = wheel.headers("METADATA")
    if headers.get("License") is not None and headers.get("License-Expression") is None:
        yield "", "states its licence in the deprecated field License (PEP 639)"
    if headers.get("License") is None and headers.get("License-Expression") is None:
        yield "", "does not state its licence"
    classifiers = [line for line in headers.get_all("Classifier", []) if line.startswith("License ::")]
    if classifiers:
        yield "", f"states its licence in a classifier: {classifiers[0]!r} (PEP 639)"


def check_purelib(wheel: WheelContents) -> Iterator[Problem]:
    """A wheel with libraries says that it has some."""
    if wheel.libraries and wheel.headers("WHEEL").get("Root-Is-Purelib", "").strip().lower() != "false":
        yield "", "does not say Root-Is-Purelib: false, though it holds libraries"


def check_versions(wheel: WheelContents) -> Iterator[Problem]:
    """No requirement is for any version."""
    names = [need.name for need in _read_requirements(wheel) if not need.url and not need.specifier]
    if names:
        yield "", f"accepts every version of {shorten(names, _NAMED_PROJECTS)}"


def check_sbom(wheel: WheelContents) -> Iterator[Problem]:
    """There is a CycloneDX document below `.dist-info/sboms/` (PEP 770)."""
    names = [name for name in wheel.members if name.startswith(f"{wheel.dist_info}/sboms/")]
    if not names:
        yield f"{wheel.dist_info}/sboms", "holds no software bill of materials"
    for name in names:
        try:
            document = read_json(dict[str, Any], wheel.texts.get(name, ""))
        except TableError as error:
            yield name, f"is no bill of materials: {error}"
            continue
        if document.get("bomFormat") != "CycloneDX":
            yield name, f"has bomFormat {document.get('bomFormat')!r}, expected 'CycloneDX'"
        else:
            yield from ((name, problem) for problem in check_cyclonedx(wheel.texts[name], document.get("specVersion")))


def check_cyclonedx(text: str, version: object) -> Iterator[str]:
    """A CycloneDX document holds to the schema of the version it names, and to nothing beyond."""
    # Late, for it takes a second, and what was verified before is not verified again.
    from cyclonedx.validation.json import JsonStrictValidator  # noqa: PLC0415

    known = {schema.to_version(): schema for schema in SchemaVersion}
    if not isinstance(version, str) or version not in known:
        yield f"has specVersion {version!r}, expected one of {', '.join(sorted(known))}"
        return
    error = JsonStrictValidator(known[version]).validate_str(text)
    if error is not None:
        yield f"is no valid CycloneDX {version} document: {str(error).splitlines()[0]}"


def find_document(texts: Mapping[str, str], filename: str) -> tuple[str, str] | None:
    """Return the path and text of a file that lies directly in the import package."""
    paths = (path for path in texts if path.count("/") == 1 and path.endswith(f"/{filename}"))
    return next(((path, texts[path]) for path in paths), None)


def read_lock(wheel: WheelContents) -> dict[str, Any] | None:
    """Return the release lock of a wheel; nothing when there is none, or when it is no JSON object."""
    found = find_document(wheel.texts, LOCK_FILENAME)
    try:
        return read_json(dict[str, Any], found[1]) if found else None
    except TableError:
        return None


def check_lock(wheel: WheelContents) -> Iterator[Problem]:
    """A wheel has a lock document, unless it has metadata alone."""
    if read_lock(wheel) is None:
        yield "", f"holds no {LOCK_FILENAME}, so it cannot tell a jaxlib of other inputs from its own"


def check_set(wheel: WheelContents, plugins: Collection[str]) -> Iterator[Problem]:
    """Version and requirements name the set that the lock is of: `jaxlib` and some plugins go with exactly that one."""
    found = find_document(wheel.texts, LOCK_FILENAME)
    if found is None:
        return
    try:
        lock = read_json(ReleaseLock, found[1], ignore_unknown=True)
    except TableError as error:
        yield found[0], f"is no release lock: {error}"
        return
    if wheel.name.version != lock.version:
        yield found[0], f"is of {lock.version}, the file name says {wheel.name.version}"
    requires = _read_requirements(wheel)
    if wheel.name.distribution in plugins and "jaxlib" not in {canonicalize_name(need.name) for need in requires}:
        yield f"{wheel.dist_info}/METADATA", "requires no jaxlib"
    for need in requires:
        expected = Requirement(lock.requirement).specifier
        if canonicalize_name(need.name) in {"jaxlib", *plugins} and need.specifier != expected:
            yield f"{wheel.dist_info}/METADATA", f"requires {need}, the lock is of {lock.version}"


def _read_requirements(wheel: WheelContents) -> list[Requirement]:
    """Return what METADATA requires, without the lines that twine complains about."""
    return list(read_requirements(wheel.headers("METADATA").get_all("Requires-Dist", [])))


def check_locks(documents: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """Lock documents of one version are equal, byte by byte; those and the problems go by file name of the wheel."""
    first: dict[str, str] = {}
    for wheel, text in documents.items():
        other = first.setdefault(parse_name(wheel).version, wheel)
        if text != documents[other]:
            yield wheel, f"carries another lock than {other}"

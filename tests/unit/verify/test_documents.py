# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of METADATA, WHEEL, RECORD, licences, SBOM and lock, on wheels made for the purpose."""

import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pjrtwheel.verify import documents
from pjrtwheel.verify.contents import WheelContents, read_contents
from pjrtwheel.verify.documents import check_lock, check_locks, find_document
from small_wheels import true_record

INFO = "thing-1.0.dist-info"
TAG = "cp312-abi3-manylinux_2_17_x86_64"
NAME = f"thing-1.0-{TAG}.whl"
FILES = {
    "thing/lib.so": "ELF",
    f"{INFO}/METADATA": "Metadata-Version: 2.4\nName: thing\nVersion: 1.0\n"
    "License-File: LICENSE\nRequires-Dist: jaxlib==1.0\n",
    f"{INFO}/WHEEL": "Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: cp312-abi3-manylinux_2_17_x86_64\n",
    f"{INFO}/licenses/LICENSE": "free",
    f"{INFO}/sboms/thing.cdx.json": '{"bomFormat": "CycloneDX", "specVersion": "1.6"}',
}
RECORD = true_record({name: text.encode() for name, text in FILES.items()}, f"{INFO}/RECORD")


@pytest.fixture
def read(tmp_path: Path) -> Callable[..., WheelContents]:
    """Return a factory: changes to the right files (a text of nothing leaves one out) → the wheel as it is read."""

    def make(changes: Mapping[str, str | None] | None = None, name: str = NAME) -> WheelContents:
        files: dict[str, str | None] = {**FILES, f"{INFO}/RECORD": RECORD, **(changes or {})}
        with zipfile.ZipFile(tmp_path / name, "w") as archive:
            for member, text in files.items():
                if text is not None:
                    archive.writestr(member, text)
        return read_contents(tmp_path / name, tmp_path)

    return make


def test_record_problems_are_reported_together(read: Callable[..., WheelContents]) -> None:
    """A changed, an unlisted and a lost file show up in one pass."""
    wheel = read({"thing/lib.so": "FLE", "thing/new.py": "", f"{INFO}/licenses/LICENSE": None})
    assert [(name, text.split(" ")[0]) for name, text in documents.check_record(wheel)] == [
        ("thing/lib.so", "RECORD"),
        ("thing/new.py", "is"),
        (f"{INFO}/licenses/LICENSE", "is"),
    ]


def test_record_rows_are_unique_and_whole(read: Callable[..., WheelContents]) -> None:
    """A row of two fields and a repeated row are named."""
    wheel = read({f"{INFO}/RECORD": RECORD + RECORD.splitlines()[0] + "\nodd,row\n"})
    assert list(documents.check_record(wheel)) == [
        ("thing/lib.so", "is listed twice in RECORD"),
        ("", "RECORD has a row of 2 fields, expected 3: ['odd', 'row']"),
    ]


@pytest.mark.parametrize("text", ["a,,\rb,,\n", "a" * 200_000 + ",,\n"], ids=["carriage return", "long field"])
def test_record_that_is_no_csv_is_a_problem(read: Callable[..., WheelContents], text: str) -> None:
    """One problem says so, and nothing is said of the files that it may list."""
    ((member, problem),) = documents.check_record(read({f"{INFO}/RECORD": text}))
    assert (member, "CSV" in problem) == ("", True)


@pytest.mark.parametrize(
    ("line", "wrong", "values"),
    [
        ("Root-Is-Purelib: false", "Root-Is-Purelib: true", ("true", "false")),
        ("Tag: cp312-", "Build: 3\nTag: cp312-", ("'3'", "''")),
        ("Tag: cp312-", "Tag: cp313-", ("cp313-abi3", TAG)),
        ("Tag: cp312-", "Tag: any\nTag: cp312-", ("'any'", TAG)),
    ],
)
def test_wheel_file_must_agree_with_the_name(
    read: Callable[..., WheelContents], line: str, wrong: str, values: tuple[str, str]
) -> None:
    """Each field of WHEEL that the file name repeats is compared with it."""
    member = f"{INFO}/WHEEL"
    ((found, text),) = documents.check_wheel_file(read({member: FILES[member].replace(line, wrong)}))
    assert (found, [value in text for value in values]) == (member, [True, True])


def test_metadata_must_agree_with_the_name(read: Callable[..., WheelContents]) -> None:
    """Another project or version in METADATA is named."""
    member = f"{INFO}/METADATA"
    wheel = read({member: FILES[member].replace("thing", "other").replace("Version: 1.0", "Version: 2.0")})
    found = list(documents.check_metadata(wheel))
    assert [(name, value in text) for (name, text), value in zip(found, ("'other'", "'2.0'"), strict=True)] == [
        (member, True)
    ] * 2


@pytest.mark.parametrize(
    ("text", "value"),
    [
        (None, ""),
        ("{}", "None"),
        ("{", "not JSON"),
        ("[]", "[]"),
        ("[" * 100_000, "not JSON"),
        ('{"bomFormat": "CycloneDX", "specVersion": []}', "specVersion []"),
        ('{"bomFormat": "CycloneDX", "specVersion": "9"}', "specVersion '9'"),
        ('{"bomFormat": "CycloneDX", "specVersion": "1.6", "made-up": 1}', "CycloneDX 1.6"),
    ],
    ids=["missing", "foreign", "broken", "list", "depth", "no version", "version", "schema"],
)
def test_the_bill_of_materials_must_be_one(read: Callable[..., WheelContents], text: str | None, value: str) -> None:
    """No document, a document of another kind, a broken one, and one beyond its schema are problems."""
    ((member, found),) = documents.check_sbom(read({f"{INFO}/sboms/thing.cdx.json": text}))
    assert member == (f"{INFO}/sboms/thing.cdx.json" if text else f"{INFO}/sboms")
    assert value in found


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.sampled_from(["CycloneDX", "1.6"]),
    lambda inner: st.lists(inner) | st.dictionaries(st.sampled_from(["bomFormat", "specVersion", "version"]), inner),
)


@settings(max_examples=200, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(JSON)
def test_any_json_is_judged(read: Callable[..., WheelContents], document: object) -> None:
    """Whatever a wheel holds there, the answer is problems and no traceback."""
    text = json.dumps(document)
    wheel = read({f"{INFO}/sboms/thing.cdx.json": text})
    found = [name for name, _ in documents.check_sbom(wheel)]
    is_one = isinstance(document, dict) and document == document | {"bomFormat": "CycloneDX", "specVersion": "1.6"}
    assert is_one or found[:1] == [f"{INFO}/sboms/thing.cdx.json"]


@pytest.mark.parametrize(
    ("version", "place", "missing"),
    [("2.4", "licenses/LICENSE", False), ("2.4", "LICENSE", True), ("2.1", "LICENSE", False), ("2.1", "COPYING", True)],
)
def test_licence_files_lie_where_their_metadata_says(
    read: Callable[..., WheelContents], version: str, place: str, *, missing: bool
) -> None:
    """In a folder of their own since METADATA 2.4, before that next to METADATA."""
    text = FILES[f"{INFO}/METADATA"].replace("2.4", version)
    wheel = read({f"{INFO}/METADATA": text, f"{INFO}/licenses/LICENSE": None, f"{INFO}/{place}": "free"})
    assert [member for member, _ in documents.check_licenses(wheel)] == [f"{INFO}/licenses/LICENSE"] * missing


def test_the_lock_lies_in_the_import_package() -> None:
    """A file of that name deeper down, as in a vendored package, is not the lock."""
    texts = {"a/b/release_lock.json": "no", "jaxlib/release_lock.json": "yes"}
    assert find_document(texts, "release_lock.json") == ("jaxlib/release_lock.json", "yes")
    assert find_document({"a/b/release_lock.json": "no"}, "release_lock.json") is None


def test_missing_and_differing_locks_are_named(read: Callable[..., WheelContents]) -> None:
    """Each wheel out of step is named once; equal ones pass."""
    assert list(check_lock(read({"thing/release_lock.json": "{}"}))) == []
    for changes in ({}, {"thing/release_lock.json": "[]"}):
        assert [member for member, _ in check_lock(read(changes))] == [""]
    names = [f"{name}-{version}-py3-none-any.whl" for name, version in (("b", 1), ("c", 1), ("d", 1), ("e", 2))]
    assert [wheel for wheel, _ in check_locks(dict(zip(names, "xyxz", strict=True)))] == [names[1]]


LOCK = "thing/release_lock.json"
SET_LOCK = '{"schema": 2, "release": "1.0", "version": "1.0", "build": 1, "provider": "prebuilt", "lock_id": "ab"}'
METADATA = FILES[f"{INFO}/METADATA"]
BEAD = 'bead[x]>=1; extra == "bead"'


@pytest.mark.parametrize(
    ("lock", "metadata", "problems"),
    [
        (None, METADATA, []),
        (SET_LOCK, METADATA, []),
        (
            SET_LOCK.replace('"1.0", "build"', '"1.0+split.1", "build"'),
            METADATA,
            ["is of 1.0+split.1, the file name says 1.0", "requires jaxlib==1.0, the lock is of 1.0+split.1"],
        ),
        (SET_LOCK, METADATA.replace("jaxlib==1.0", "numpy"), ["requires no jaxlib"]),
        (SET_LOCK, f"{METADATA}Requires-Dist: {BEAD}\n", [f"requires {BEAD}, the lock is of 1.0"]),
        ("[]", METADATA, ["is no release lock: expected an object, found []"]),
    ],
    ids=["no lock", "right", "other version", "no jaxlib", "other plugin", "no document"],
)
def test_version_and_requirements_are_those_of_the_set(
    read: Callable[..., WheelContents], lock: str | None, metadata: str, problems: list[str]
) -> None:
    """An installer knows the set by them alone, so they must not say another one than the lock."""
    wheel = read({LOCK: lock, f"{INFO}/METADATA": metadata})
    expected = [(f"{INFO}/METADATA" if text.startswith("requires") else LOCK, text) for text in problems]
    assert list(documents.check_set(wheel, {"thing", "bead"})) == expected

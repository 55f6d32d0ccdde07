# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Proofs that were made elsewhere enter the record of a folder, all of them or none."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel.cli import main
from pjrtwheel.dist_folder.folder import add_proof_files
from pjrtwheel.errors import ProofError, UsageError, WheelError
from pjrtwheel.prove.proof_file import write_proof_file
from pjrtwheel.record.entries import RELEASE_FILENAME, format_entries, read_entries
from pjrtwheel.record.proofs import Level, Proof, ProofMachine
from release_entries import entry_of, proof_of

COMMIT = "c" * 40
DATE = "2026-11-22T12:00:00Z"
PLUGIN = "jaxlib_abacus-1.2.3+split.1-cp312-abi3-manylinux_2_27_x86_64.whl"
BINDINGS = "jaxlib-1.2.3+split.1-cp312-cp312-manylinux_2_27_x86_64.whl"
DIGESTS = {PLUGIN: "ab" * 32, BINDINGS: "cd" * 32}
MACHINE = ProofMachine("Linux-6.1", "A processor", "Abacus 3000", 2, "driver 7")
PROOF = replace(proof_of(Level.DEVICE, COMMIT), backend="abacus", machine=MACHINE)


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    """Return the record of two wheels that are not proven; the wheels themselves are not needed."""
    folder = tmp_path / "dist"
    folder.mkdir()
    entries = {name: entry_of(name, sha256=digest) for name, digest in DIGESTS.items()}
    (folder / RELEASE_FILENAME).write_text(format_entries(entries), "utf-8")
    return folder


@pytest.fixture
def proofs(tmp_path: Path) -> Path:
    """Return a file with proofs of both."""
    path = tmp_path / "proofs.json"
    write_proof_file(path, dict.fromkeys(DIGESTS, PROOF), DIGESTS, signed_off_by="A Tester", date=DATE)
    return path


def vouched(proof: Proof, signer: str) -> Proof:
    """Return a proof as it is recorded: with who signed off the file that it came in."""
    return replace(proof, origin=replace(proof.origin, signed_off_by=signer))


def test_proofs_enter_the_record(dist: Path, proofs: Path) -> None:
    """And what is recorded is what was read, and who vouches for it; a second time nothing changes."""
    assert [entry.filename for entry in add_proof_files([proofs], dist)] == [BINDINGS, PLUGIN]
    assert {name: entry.proof for name, entry in read_entries(dist).items()} == dict.fromkeys(
        DIGESTS, vouched(PROOF, "A Tester")
    )
    before = (dist / RELEASE_FILENAME).read_bytes()
    add_proof_files([proofs], dist)
    assert (dist / RELEASE_FILENAME).read_bytes() == before


def test_proofs_of_two_machines_enter_together(dist: Path, proofs: Path, tmp_path: Path) -> None:
    """Of one wheel with two backends both stay."""
    second, other = tmp_path / "second.json", replace(PROOF, backend="soroban")
    write_proof_file(second, {BINDINGS: other}, DIGESTS, signed_off_by="B", date=DATE)
    add_proof_files([proofs, second], dist)
    assert read_entries(dist)[BINDINGS].proofs() == (vouched(PROOF, "A Tester"), vouched(other, "B"))
    assert read_entries(dist)[PLUGIN].proofs() == (vouched(PROOF, "A Tester"),)


SOROBAN = PLUGIN.replace("abacus", "soroban")
# Values at places of a document, and what is said of them.
REFUSED: dict[str, tuple[dict[str, object], str]] = {
    "other bytes": ({"wheels.0.sha256": "0" * 64}, f"they are of {BINDINGS} with sha256 000000000000, "),
    "a wheel that is not there": ({"wheels.0.wheel": SOROBAN}, "release.json lists no such wheel"),
    "a newer schema": ({"schema": 2}, "schema 2"),
    "a level that nothing shows": (
        {"wheels.0.proof.pythons": []},
        f"it claims device for {BINDINGS}, but its results show static",
    ),
    "a date that is none": ({"wheels.0.proof.origin.date": "today"}, "wheels[0].proof.origin.date: 'today'"),
    "a path": ({"wheels.0.wheel": f"../{BINDINGS}"}, "wheels[0].wheel: "),
    "letters of a terminal": ({"wheels.0.wheel": f"\x1b[2J{BINDINGS}"}, "wheels[0].wheel: "),
    "a signature over lines": ({"signed_off_by": "A\nB"}, "signed_off_by: "),
    "nobody": ({"signed_off_by": " "}, "signed_off_by: "),
    "no proofs": ({"wheels": []}, "it has no proofs"),
    "a wheel twice": ({"wheels.1.wheel": BINDINGS}, "it names a wheel twice"),
    "a key that nobody knows": ({"wheels.0.proof.trust": "me"}, "wheels[0].proof"),
}


@pytest.mark.parametrize(("damage", "cause"), REFUSED.values(), ids=REFUSED)
def test_what_is_no_proof_changes_nothing(
    dist: Path, proofs: Path, tmp_path: Path, damage: dict[str, object], cause: str
) -> None:
    """Not even with a good file before it, whose proofs are not recorded either."""
    document = json.loads(proofs.read_text("utf-8"))
    for path, value in damage.items():
        *parents, last = path.split(".")
        place: Any = document
        for key in parents:
            place = place[int(key)] if key.isdigit() else place[key]
        place[last] = value
    bad = tmp_path / "bad.json"
    bad.write_text(json.dumps(document), "utf-8")
    before = (dist / RELEASE_FILENAME).read_bytes()
    with pytest.raises(ProofError) as caught:
        add_proof_files([proofs, bad], dist)
    assert cause in caught.value.cause
    assert "bad.json" in caught.value.what
    assert "\x1b" not in str(caught.value)
    assert (dist / RELEASE_FILENAME).read_bytes() == before


@pytest.mark.parametrize("data", [b"", b"[]", b"\xff\xfe", b"[" * 100_000, b'{"schema": 1}'])
def test_a_damaged_file_is_refused(dist: Path, tmp_path: Path, data: bytes) -> None:
    """Whatever is in it."""
    path = tmp_path / "proofs.json"
    path.write_bytes(data)
    with pytest.raises(ProofError, match=r"is damaged|are refused"):
        add_proof_files([path], dist)


def test_a_huge_file_is_not_read(dist: Path, tmp_path: Path) -> None:
    """It cannot be a proof."""
    path = tmp_path / "proofs.json"
    with path.open("wb") as file:
        file.truncate(17 * 1024 * 1024)
    with pytest.raises(ProofError) as caught:
        add_proof_files([path], dist)
    assert "16777216 bytes" in caught.value.cause


def test_a_record_that_is_damaged_or_missing_stays_as_it_is(dist: Path, proofs: Path, tmp_path: Path) -> None:
    """Proofs do not repair it."""
    (dist / RELEASE_FILENAME).write_text("{}")
    with pytest.raises(WheelError, match="is damaged"):
        add_proof_files([proofs], dist)
    assert (dist / RELEASE_FILENAME).read_text() == "{}"
    with pytest.raises(UsageError, match=r"no such folder: .*/none"):
        add_proof_files([proofs], tmp_path / "none")
    with pytest.raises(UsageError, match=r"no such file: .*/other\.json"):
        add_proof_files([tmp_path / "other.json"], dist)


def test_a_folder_is_no_file_of_proofs(dist: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Nor is a file a folder of wheels; each is named with what is expected in its place."""
    folder, file = tmp_path / "received", tmp_path / "wheels"
    folder.mkdir()
    file.touch()
    for proofs, place in ((folder, dist), (file, file)):
        assert main(["merge", "--proofs", str(proofs), "--dist", str(place)]) == UsageError.exit_code
        assert str(proofs) in capsys.readouterr().err


def test_the_command_takes_proofs_alone(
    dist: Path, proofs: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It prints the wheels that they are of; folders are merged before, so that what is refused changes nothing."""
    text = proofs.read_text("utf-8").replace(DATE, "2020-01-01T00:00:00Z").replace("2026-11-21", "2020-01-01")
    proofs.write_text(text, "utf-8")
    assert main(["merge", "--dist", str(dist), "--proofs", str(proofs)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line for line in lines if line.endswith(".whl")] == [BINDINGS, PLUGIN]
    for further in ([], [str(tmp_path), "--proofs", str(proofs)]):
        assert main(["merge", "--dist", str(dist), *further]) == UsageError.exit_code

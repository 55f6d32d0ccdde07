# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""All problems of all wheels are reported together."""

from __future__ import annotations

import zipfile
from pathlib import Path

import pytest

from pjrtwheel.errors import VerifyError
from pjrtwheel.verify import Finding, verify_paths


def test_one_run_names_every_problem(tmp_path: Path) -> None:
    """A damaged wheel does not hide what is wrong with the others, nor the first fault of a wheel the second."""
    damaged, pure = tmp_path / "a-1.0-py3-none-any.whl", tmp_path / "b-1.0-py3-none-any.whl"
    damaged.write_bytes(b"PK")
    with zipfile.ZipFile(pure, "w") as archive:
        archive.writestr("b-1.0.dist-info/METADATA", "Metadata-Version: 2.4\nName: b\nVersion: 1.0\n")
        archive.writestr("b-1.0.dist-info/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n")
        archive.writestr("b-1.0.dist-info/RECORD", "b-1.0.dist-info/RECORD,,\nb/lost.py,,\n")
    with pytest.raises(VerifyError) as caught:
        verify_paths([damaged, pure], (), tmp_path / "log")
    lines = (tmp_path / "log").read_text().splitlines()
    ours = [line for line in lines if line.rsplit(" ", 1)[1] not in {"[check-wheel-contents]", "[twine]"}]
    assert ours[0].startswith(f"{damaged.name}: cannot read wheel {damaged}")
    assert [line for line in ours if line.startswith(pure.name)] == [
        f"{pure.name}: b-1.0.dist-info/METADATA: is missing from RECORD [record]",
        f"{pure.name}: b-1.0.dist-info/WHEEL: is missing from RECORD [record]",
        f"{pure.name}: b/lost.py: is in RECORD but not in the wheel [record]",
        f"{pure.name}: b-1.0.dist-info/METADATA: names no License-File [licenses]",
        f"{pure.name}: b-1.0.dist-info/sboms: holds no software bill of materials [sbom]",
        f"{pure.name}: holds no release_lock.json [lock]",
    ]
    assert caught.value.what.endswith("problems in 2 of 2 wheels:")


def test_a_finding_is_one_line() -> None:
    """File inside the wheel, what is wrong, and of what kind that is or which check says so."""
    findings = [Finding("elf", "a/b.so", "asks for an executable stack"), Finding("lock", "", "holds no lock")]
    assert [*map(str, findings)] == ["a/b.so: asks for an executable stack [elf]", "holds no lock [lock]"]


def test_many_problems_are_in_a_file(tmp_path: Path) -> None:
    """The message names the first ten, how many more there are, and where all of them are written."""
    wheels = [tmp_path / f"w{number}-1.0-py3-none-any.whl" for number in range(12)]
    for wheel in wheels:
        wheel.write_bytes(b"PK")
    log = tmp_path / "logs" / "verify.txt"
    with pytest.raises(VerifyError) as caught:
        verify_paths(wheels, (), log)
    lines = caught.value.cause.splitlines()
    assert (len(lines), lines[-1]) == (11, f"  and 14 more; all of them in {log}")
    assert len(log.read_text().splitlines()) == 24, "a wheel that cannot be read has no lock either"

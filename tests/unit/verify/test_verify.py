# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""All problems of all wheels are reported together."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from pjrtwheel.errors import VerifyError
from pjrtwheel.verify import verify_wheels
from small_wheels import build_wheel, describe_wheel

CHECKERS = {"[auditwheel]", "[check-wheel-contents]", "[twine]"}


def write(path: Path, requires: Sequence[str] = (), **members: str) -> Path:
    """Write a wheel whose RECORD lists nothing but itself, and return it."""
    project, version, *_ = path.stem.split("-")
    files = {f"{project}/{member}": text.encode() for member, text in members.items()}
    record = f"{project}-{version}.dist-info/RECORD,,\n"
    return build_wheel(path.parent, {**describe_wheel(path.name, requires), **files}, name=path.name, record=record)


def test_one_run_names_every_problem(tmp_path: Path) -> None:
    """A damaged wheel does not hide what is wrong with the others, nor the first fault of a wheel the second."""
    damaged = tmp_path / "a-1.0-py3-none-any.whl"
    damaged.write_bytes(b"PK")
    wheel = write(tmp_path / "b-1.0-py3-none-manylinux_2_27_x86_64.whl", **{"lib.so": "text"})
    with pytest.raises(VerifyError) as caught:
        verify_wheels([damaged, wheel], ())
    lines = [line.strip() for line in caught.value.cause.splitlines()]
    ours = [line for line in lines if line.rsplit(" ", 1)[1] not in CHECKERS]
    codes = [(line.split(":")[0], line.rsplit("[", 1)[1].removesuffix("]")) for line in ours]
    expected = ["library", *["record"] * 3, "license-file", "sbom", "lock"]
    assert codes == [(damaged.name, "zip"), *((wheel.name, code) for code in expected)]
    assert caught.value.what.endswith("problems in 2 of 2 wheels:")


@pytest.mark.parametrize(("requires", "empty"), [([], ["Wheel library is empty", "Wheel is empty"]), (["c"], [])])
def test_a_variant_without_libraries_needs_neither_lock_nor_materials(
    tmp_path: Path, requires: list[str], empty: list[str]
) -> None:
    """Its label is no part of the name that is checked; it may hold nothing if it asks for something."""
    variant = write(tmp_path / "b-1.0-py3-none-any-null.whl", requires)
    with pytest.raises(VerifyError) as caught:
        verify_wheels([variant], ())
    lines = [line.strip() for line in (caught.value.cause or "").splitlines()]
    assert [line for line in lines if line.rsplit(" ", 1)[1] not in CHECKERS] == [
        f"{variant.name}: b-1.0.dist-info/METADATA: is missing from RECORD [record]",
        f"{variant.name}: b-1.0.dist-info/WHEEL: is missing from RECORD [record]",
        f"{variant.name}: b-1.0.dist-info/METADATA: names no License-File [license-file]",
    ]
    contents = [line.rsplit(": ", 1)[1] for line in lines if line.endswith("[check-wheel-contents]")]
    assert contents == [f"{text} [check-wheel-contents]" for text in empty]

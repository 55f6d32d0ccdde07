# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`release.json`: what it says, and what happens where it is damaged."""

import json
from pathlib import Path

import pytest

from pjrtwheel.dist_folder.folder import add_proofs, add_wheels
from pjrtwheel.errors import WheelError
from proven_wheels import ORIGIN, make_wheel
from release_under_test import ROOT


def test_the_record_says_all_that_is_promised(tmp_path: Path) -> None:
    """One entry of release.json, key by key."""
    wheel, proof = make_wheel(tmp_path, "jaxlib_cpu")
    add_wheels([wheel], [{wheel.report.filename: proof}], ORIGIN, tmp_path / "dist")
    document = json.loads((tmp_path / "dist" / "release.json").read_text())
    assert document == json.loads((ROOT / "tests/data/record.json").read_text("utf-8"))
    assert sorted(path.name for path in (tmp_path / "dist").iterdir()) == [wheel.report.filename, "release.json"]


@pytest.mark.parametrize(
    ("data", "place"),
    [
        (b"", ""),
        (b"[]", ""),
        (b"[" * 100_000, ""),
        (b"\xff", ""),
        (b'{"schema": 1, "wheels": []}', "schema"),
        (b'{"schema": 2, "wheels": 1}', "wheels"),
        (b'{"schema": 2, "wheels": [null]}', "wheels[0]: expected"),
        (b'{"schema": 2, "wheels": [{"filename": "a.whl"}]}', "wheels[0] lacks sha256"),
    ],
)
def test_a_damaged_record_stops_whatever_would_replace_it(tmp_path: Path, data: bytes, place: str) -> None:
    """Before anything long; what is in it may be of use to its owner, who learns the place."""
    wheel, proof = make_wheel(tmp_path, "jaxlib_a")
    record = tmp_path / "dist" / "release.json"
    record.parent.mkdir()
    record.write_bytes(data)
    name, digest = wheel.report.filename, wheel.report.sha256
    for step in (
        lambda: add_wheels([wheel], [{name: proof}], ORIGIN, record.parent),
        lambda: add_proofs({name: proof}, {name: digest}, record.parent),
    ):
        with pytest.raises(WheelError) as caught:
            step()
        assert (str(record) in caught.value.what, place in caught.value.cause) == (True, True)
    assert record.read_bytes() == data

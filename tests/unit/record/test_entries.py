# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`release.json`: what it says, and what happens where it is damaged."""

import hashlib
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel.dist_folder import add_proofs, add_wheels
from pjrtwheel.record.entries import parse_entries
from proven_wheels import ORIGIN, make_wheel


def test_the_record_says_all_that_is_promised(tmp_path: Path) -> None:
    """One entry of release.json, key by key."""
    wheel, proof = make_wheel(tmp_path, "jaxlib_cpu")
    add_wheels([wheel], [{wheel.report.wheel: proof}], ORIGIN, tmp_path / "dist")
    document = json.loads((tmp_path / "dist" / "release.json").read_text())
    assert document == {
        "schema": 2,
        "wheels": [
            {
                "filename": "jaxlib_cpu-1.0-cp312-abi3-manylinux_2_27_x86_64.whl",
                "distribution": "jaxlib-cpu",
                "version": "1.0",
                "sha256": hashlib.sha256(b"zip").hexdigest(),
                "size": 3,
                "tags": ["cp312-abi3-manylinux_2_27_x86_64"],
                "requires": ["jaxlib==1.0"],
                "lock_id": "ff",
                "provider": "prebuilt",
                "provenance": {"project": "upstream"},
                "pjrt_api": "0.115",
                "gpu_code": ["sm_90"],
                "proof": {
                    "backend": "cpu",
                    "level": "load",
                    "origin": {"commit": "0" * 40, "dirty": False, "version": "0.1.0", "date": "2026-11-21T09:40:00Z"},
                    "pjrt_api": "0.115",
                    "pjrt_attributes": {"xla_version": "2"},
                    "pythons": [
                        {
                            "python": "cp314",
                            "interpreter": "",
                            "level": "static",
                            "summary": "not run: no interpreter",
                            "reason": "no interpreter",
                            "missed": [],
                            "emulated": False,
                            "programs": [],
                        }
                    ],
                    "emulated": False,
                    "targets": [],
                },
                "other_proofs": [],
                "stripped_bytes": 7,
                "changes": {"a.so": ["dropped .symtab"]},
                "built": {"commit": "0" * 40, "dirty": False, "version": "0.1.0", "date": "2026-11-21T09:40:00Z"},
            }
        ],
    }
    assert sorted(path.name for path in (tmp_path / "dist").iterdir()) == [wheel.report.wheel, "release.json"]


@pytest.mark.parametrize(
    "data", [b"", b"[]", b"[" * 100_000, b"\xff", b'{"schema": 1, "wheels": []}', b'{"schema": 2, "wheels": 1}']
)
def test_a_broken_record_is_made_again(data: bytes) -> None:
    """A record that cannot be read never stops a build."""
    assert parse_entries(data) == {}


def _without_hash(entry: dict[str, Any]) -> Any:
    return {key: value for key, value in entry.items() if key != "sha256"}


@pytest.mark.parametrize(
    ("damage", "place"),
    [
        (_without_hash, "wheels[0] lacks sha256"),
        (lambda entry: {**entry, "other_proofs": [{"level": "aot"}]}, "wheels[0].other_proofs[0] lacks pjrt_api"),
        (lambda _: None, "wheels[0]: expected"),
    ],
    ids=["missing key", "half another proof", "no table"],
)
def test_a_broken_entry_takes_no_other_with_it(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], damage: Callable[[dict[str, Any]], Any], place: str
) -> None:
    """The good entries stay, the build goes on, a copy is kept, and the wheel without an entry is named."""
    dist = tmp_path / "dist"
    for name in ("jaxlib_a", "jaxlib_b"):
        wheel, proof = make_wheel(tmp_path, name)
        add_wheels([wheel], [{wheel.report.wheel: proof}], ORIGIN, dist)
    record = dist / "release.json"
    document = json.loads(record.read_text("utf-8"))
    document["wheels"][0] = damage(document["wheels"][0])
    damaged = json.dumps(document)
    record.write_text(damaged, "utf-8")
    wheel, proof = make_wheel(tmp_path, "jaxlib_c")
    entries = add_wheels([wheel], [{wheel.report.wheel: proof}], ORIGIN, dist)
    assert [entry.distribution for entry in entries] == ["jaxlib-b", "jaxlib-c"]
    first, second = capsys.readouterr().err.splitlines()
    assert first.startswith(f"warning: {record} is damaged ({place}")
    assert first.endswith("; a copy is kept as release.json.damaged-1")
    assert (dist / "release.json.damaged-1").read_text("utf-8") == damaged
    assert "jaxlib_a-1.0-cp312-abi3-manylinux_2_27_x86_64.whl has no entry" in second
    record.write_text(damaged, "utf-8")
    assert add_proofs({entries[0].filename: proof}, {entries[0].filename: entries[0].sha256}, dist) == ()
    assert (dist / "release.json.damaged-2").read_text("utf-8") == damaged


def test_a_wheel_that_is_not_the_recorded_one_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A run killed between its renames leaves a wheel with the entry of its predecessor."""
    dist = tmp_path / "dist"
    wheel, proof = make_wheel(tmp_path, "jaxlib_a")
    add_wheels([wheel], [{wheel.report.wheel: proof}], ORIGIN, dist)
    (dist / wheel.report.wheel).write_bytes(b"other")
    other, proof = make_wheel(tmp_path, "jaxlib_b")
    add_wheels([other], [{other.report.wheel: proof}], ORIGIN, dist)
    (line,) = capsys.readouterr().err.splitlines()
    assert wheel.report.wheel in line

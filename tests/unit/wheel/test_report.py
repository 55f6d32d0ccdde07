# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Reading what assembly reported."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel.errors import WheelError
from pjrtwheel.gpucode import GpuCode
from pjrtwheel.wheel.record import Member
from pjrtwheel.wheel.report import BuiltWheel, Report, parse_report, read_built

TABLE: dict[str, Any] = {
    "wheel": "thing-1.0-py3-none-any.whl",
    "distribution": "thing",
    "version": "1.0",
    "tag": "py3-none-any",
    "sha256": "00",
    "size": 4,
    "requires": ["jaxlib==1.0"],
    "lock_id": "ff",
    "provider": "prebuilt",
    "provenance": {"project": "upstream"},
    "changes": {"a.so": ["dropped .symtab"]},
    "stripped_bytes": 7,
    "findings": {"a.so": ["small alignment"]},
    "members": {"a.so": {"size": 4, "sha256": "11"}},
    "gpu_code": ["sm_90"],
    "gpu_files": {"a.so": {"sass": ["sm_90"]}},
}
REPORT = Report(
    wheel="thing-1.0-py3-none-any.whl",
    distribution="thing",
    version="1.0",
    tag="py3-none-any",
    sha256="00",
    size=4,
    requires=("jaxlib==1.0",),
    lock_id="ff",
    provider="prebuilt",
    provenance={"project": "upstream"},
    changes={"a.so": ("dropped .symtab",)},
    stripped_bytes=7,
    findings={"a.so": ("small alignment",)},
    members={"a.so": Member(4, "11")},
    gpu_code=("sm_90",),
    gpu_files={"a.so": GpuCode(sass=("sm_90",))},
)


def test_wheels_are_found_next_to_their_reports(tmp_path: Path) -> None:
    """A build may leave its wheels at the top or in folders of their own."""
    for folder in (tmp_path / "a", tmp_path / "b" / "c"):
        folder.mkdir(parents=True)
        (folder / "report.json").write_text(json.dumps(TABLE))
        (folder / TABLE["wheel"]).write_text("zip")
    assert read_built(tmp_path) == (
        BuiltWheel(tmp_path / "a" / REPORT.wheel, REPORT),
        BuiltWheel(tmp_path / "b" / "c" / REPORT.wheel, REPORT),
    )


def test_a_report_without_its_wheel_is_an_error(tmp_path: Path) -> None:
    """The names are known from the report alone, nothing is guessed."""
    (tmp_path / "report.json").write_text(json.dumps(TABLE))
    with pytest.raises(WheelError, match=r"names 'thing-1\.0-py3-none-any\.whl', which is not next to it"):
        read_built(tmp_path)


def test_an_empty_folder_is_an_error(tmp_path: Path) -> None:
    """A build that made nothing never counts as a success."""
    with pytest.raises(WheelError, match=r"no wheel with a report\.json"):
        read_built(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{}", json.dumps({**TABLE, "changes": None})])
def test_a_malformed_report_is_an_error(text: str) -> None:
    """Whatever is wrong with the document, the message says what to do."""
    with pytest.raises(WheelError, match="build again"):
        parse_report(text)


def test_what_is_written_is_what_is_read() -> None:
    """A report survives its document."""
    assert parse_report(REPORT.to_json()) == REPORT


def test_a_long_report_is_shown_shortly() -> None:
    """A wheel with kernels for many Pythons has a hundred changes; every finding is named."""
    changes = {f"{number}.so": ("dropped .symtab", "RPATH removed") for number in range(30)}
    lines = replace(REPORT, changes=changes).describe().splitlines()
    assert lines[:3] == [f"{REPORT.wheel} (4 bytes)", "  0.so: dropped .symtab", "  0.so: RPATH removed"]
    assert lines[11:] == ["  and 50 more changes in 30 files", "  a.so: WARNING: small alignment"]

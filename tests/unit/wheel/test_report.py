# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Reading what assembly reported."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel.errors import WheelError
from pjrtwheel.wheel.report import BuiltWheel, Report, parse_report, read_built

REPORT = Report(
    filename="thing-1.0-py3-none-any.whl",
    sha256="0" * 64,
    size=4,
    requires=("jaxlib==1.0",),
    lock_id="ff",
    provider="prebuilt",
    provenance={"project": "upstream"},
    changes={"a.so": ("dropped .symtab",)},
    stripped_bytes=7,
    gpu_code=("sm_90",),
)
TABLE: dict[str, Any] = json.loads(REPORT.to_json())


def test_a_wheel_is_found_next_to_its_report(tmp_path: Path) -> None:
    """Which names it."""
    (tmp_path / "report.json").write_text(json.dumps(TABLE))
    (tmp_path / TABLE["filename"]).write_text("zip")
    assert read_built(tmp_path) == BuiltWheel(tmp_path / REPORT.filename, REPORT)


@pytest.mark.parametrize(
    "names", [[], ["other-1.0-py3-none-any.whl"], [REPORT.filename, "b.whl"], [REPORT.filename, "b/b.whl"]]
)
def test_anything_but_the_wheel_of_the_report_is_an_error(tmp_path: Path, names: list[str]) -> None:
    """One that is missing, or a second one, which nobody would hold to its inputs."""
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("zip")
    (tmp_path / "report.json").write_text(json.dumps(TABLE))
    with pytest.raises(WheelError, match=r"is the report of 'thing-1\.0-py3-none-any\.whl'\nthe folder has other "):
        read_built(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{}", json.dumps({**TABLE, "changes": None})])
def test_a_malformed_report_is_an_error(text: str) -> None:
    """Whatever is wrong with the document, the message says what to do."""
    with pytest.raises(WheelError, match="build again"):
        parse_report(text)


def test_a_long_report_is_shown_shortly() -> None:
    """A wheel with kernels for many Pythons has a hundred changes; every finding is named."""
    changes = {f"{number}.so": ("dropped .symtab", "RPATH removed") for number in range(30)}
    lines = replace(REPORT, changes=changes).describe().splitlines()
    assert lines[:3] == [f"{REPORT.filename} (4 bytes)", "  0.so: dropped .symtab", "  0.so: RPATH removed"]
    assert lines[11:] == ["  and 50 more changes in 30 files"]

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Reading what assembly reported."""

import json
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


def test_a_wheel_without_its_report_is_none(tmp_path: Path) -> None:
    """Nor is a report whose wheel is not there."""
    with pytest.raises(WheelError, match=r"report\.json"):
        read_built(tmp_path)
    (tmp_path / "report.json").write_text(json.dumps(TABLE))
    with pytest.raises(WheelError, match=r"report\.json"):
        read_built(tmp_path)


@pytest.mark.parametrize("text", ["", "[]", "{}", json.dumps({**TABLE, "changes": None})])
def test_a_malformed_report_is_an_error(text: str) -> None:
    """Whatever is wrong with the document, the message says what to do."""
    with pytest.raises(WheelError, match="build again"):
        parse_report(text)

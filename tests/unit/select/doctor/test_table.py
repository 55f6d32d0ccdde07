# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The table of environments (tests/data/doctor.toml): each has its findings, its default platform and its status.

A row has the steps that make the environment, what it is judged by, and what has to come out. In its strings `SITE` is
the folder, `PIP` the installer, `CUDA13` the command that installs the plugin for CUDA 13, and `NOTE` the usual note.
"""

import tomllib
from pathlib import Path
from typing import Any

import pytest

import machines
from jaxlib_select.choose.decision import Candidate, Decision
from jaxlib_select.machine.file import from_json
from site_packages import CUDA13, INSTALL_CUDA13, SOURCE, UPSTREAM12, UPSTREAM13, Site

TABLE = Path(__file__).resolve().parents[3] / "data/doctor.toml"
ROWS: list[dict[str, Any]] = tomllib.loads(TABLE.read_text("utf-8"))["row"]
DECISIONS = {
    "": None,
    "cuda13": CUDA13,
    "cuda12": Decision("jaxlib-cuda-12", "cuda12", ("jaxlib-cuda-12==1.2.3",), (), provider="ours"),
    "cpu": Decision("jaxlib-cpu", "cpu", (), (Candidate("cuda13", chosen=False, reason="too old"),), provider="ours"),
    "upstream13": UPSTREAM13,
    "upstream12": UPSTREAM12,
}


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row["name"])
def test_an_environment_is_judged(site: Site, row: dict[str, Any]) -> None:
    """The level, the code and the remedy of every finding, in order; the values that a row names are in the first."""
    place = {"SITE": str(site.folder)}
    site.make(row["site"])
    machine = row.get("machine", "PLAIN")
    report = site.examine(
        getattr(machines, machine) if isinstance(machine, str) else from_json(machine),
        {name: text.replace("SITE", place["SITE"]) for name, text in row.get("variables", {}).items()},
        DECISIONS[row.get("decision", "")],
        tuple(row.get("sources", ())),
    )
    words = {INSTALL_CUDA13: "CUDA13", "/venv/bin/python -m pip": "PIP", place["SITE"]: "SITE", SOURCE: "NOTE"}

    def shorten(text: str) -> str:
        for long, short in words.items():
            text = text.replace(long, short)
        return text

    found = [
        [finding.level, finding.code, *(shorten(text) for text in (finding.remedy, finding.note) if text)]
        for finding in report.findings
    ]
    assert (found, report.prediction.default or "", report.exit_code) == (row["found"], row["default"], row["status"])
    said = [report.findings[0].what, report.prediction.error] if report.findings else []
    assert [value for value in row.get("says", ()) if value not in shorten(" ".join(said))] == []
    if "last" in row:  # what becomes of the platform that the plugin is for
        entry = report.prediction.platforms[-1]
        platform, outcome, reason = row["last"]
        assert (entry.platform, entry.outcome, reason in entry.reason) == (platform, outcome, True)
        assert entry.provider == row.get("provider", entry.provider)

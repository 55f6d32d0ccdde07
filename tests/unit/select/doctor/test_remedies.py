# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Commands that fix what is wrong can be pasted into any shell."""

import json
from pathlib import Path
from typing import Any

import pytest

from jaxlib_select.doctor import examine
from jaxlib_select.doctor.choice import decide
from jaxlib_select.facts import OURS
from jaxlib_select.machine.file import from_json
from release_under_test import BACKENDS
from site_packages import Site

ROWS: list[dict[str, Any]] = json.loads(
    (Path(__file__).resolve().parents[3] / "data/machines/table.json").read_text("utf-8")
)["rows"]


@pytest.mark.parametrize("installed", ["nothing", "upstream", *BACKENDS])
def test_no_remedy_has_a_comment(site: Site, installed: str, release: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On none of the machines: an interactive zsh and cmd.exe take what comes after `#` as arguments."""
    if installed == "upstream":
        site.jax(lock="").upstream("cuda12", "cuda")
    elif installed != "nothing":
        site.jax().ours(installed, lock="2" * 32)
    said = site.examine().plugins  # the same on every machine that is described
    monkeypatch.setattr(examine, "ask_plugins", lambda *_, **__: said)
    remedies: dict[str, None] = {}
    for row in ROWS:
        machine = from_json(row["machine"])
        report = site.examine(machine, decision=decide(machine, "auto", OURS, release))
        remedies.update(dict.fromkeys(finding.remedy for finding in report.findings if finding.remedy))
        assert "  #" not in report.to_text()
    assert remedies
    assert [remedy for remedy in remedies if "#" in remedy] == []

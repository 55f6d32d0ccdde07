# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Bazel's build event file."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pjrtwheel.bazel.events import Action, BuildLog, parse_events, path_of, read_events


def lines_of(*events: dict[str, Any]) -> list[str]:
    """Return the lines of a build event file."""
    return [json.dumps(event) + "\n" for event in events]


def action(label: str, **content: object) -> dict[str, Any]:
    """Return the event of one action."""
    return {"id": {"actionCompleted": {"label": label, "primaryOutput": "out/x"}}, "action": content}


NAMED = {"id": {"namedSet": {"id": "0"}}, "namedSetOfFiles": {"files": [{"uri": "file:///b/a%20b.whl"}]}}
OUTER = {"id": {"namedSet": {"id": "1"}}, "namedSetOfFiles": {"fileSets": [{"id": "0"}]}}
COMPLETED = {
    "id": {"targetCompleted": {"label": "@//plugins/cpu:wheel"}},
    "completed": {
        "outputGroup": [{"name": "default", "fileSets": [{"id": "1"}]}, {"name": "other", "fileSets": [{"id": "0"}]}]
    },
}
PROGRESS = [{"id": {}, "progress": {"stderr": text}} for text in ("Loading\n", "Done\n")]


def test_what_a_build_leaves_and_did(tmp_path: Path) -> None:
    """Outputs come from nested sets of the default group, actions without bookkeeping, failures with their words."""
    said = tmp_path / "stderr"
    said.write_text("error: no\n", "utf-8")
    log = parse_events(
        lines_of(
            NAMED,
            OUTER,
            action("//:a", type="AssembleWheel", success=True, stderr={"uri": said.as_uri()}),
            action("@//:b", type="CompileExtension", exitCode=1, stderr={"uri": said.as_uri()}),
            action("//:c", type="BazelWorkspaceStatusAction", success=True),
            COMPLETED,
            *PROGRESS,
        )
    )
    good = Action("AssembleWheel", "//:a", "out/x", success=True, exit_code=0, stderr="")
    bad = Action("CompileExtension", "//:b", "out/x", success=False, exit_code=1, stderr="error: no\n")
    assert log == BuildLog({"//plugins/cpu:wheel": (Path("/b/a b.whl"),)}, (good, bad), "Loading\nDone\n")


def test_a_file_cut_off_in_the_middle() -> None:
    """A Bazel that was killed leaves half a line; what stands before it counts."""
    assert parse_events([*lines_of(PROGRESS[0]), '{"id": {"prog']).text == "Loading\n"


def test_no_file_at_all(tmp_path: Path) -> None:
    """A Bazel that did not start leaves nothing."""
    assert read_events(tmp_path / "none.json") == BuildLog({}, (), "")


def test_a_place_elsewhere_is_no_path() -> None:
    """A remote cache has names of its own for files."""
    assert path_of("bytestream://cache/blobs/1/2") is None

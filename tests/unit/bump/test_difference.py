# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What changed between two releases."""

import json
from pathlib import Path

import pytest

from pjrtwheel.backend import load_backends
from pjrtwheel.bump.report import compare, compare_releases
from pjrtwheel.release.model import Release


def test_two_releases(root: Path, before: Release, after: Release, tmp_path: Path) -> None:
    """What came, what went and what is another, each under its heading; what both share is no news."""
    folder = tmp_path / "selector/jaxlib_select/facts"
    folder.mkdir(parents=True)
    facts = json.loads(next((root / "selector/jaxlib_select/facts").glob("0*.json")).read_text())
    for release, code in ((before, ["sm_50", "sm_90"]), (after, ["sm_90"])):
        backend = {**facts["backends"][0], "code": {"linux_x86_64": code}}
        text = json.dumps({**facts, "release": release.version, "backends": [backend]})
        (folder / f"{release.version}.json").write_text(text)
    lines = list(compare_releases(before, after, load_backends(root), tmp_path))
    sections = {text.partition("\n\n")[0]: text for text in "\n".join(lines).split("## ")[1:]}
    expected = {
        "Pythons": ["- jaxlib linux_aarch64: **gone**, was cp315", "- jaxlib linux_x86_64: added cp316"],
        "Not on the package index": ["- bindings.cp316.linux_x86_64: **gone**", "plugin.soroban.linux_x86_64: new"],
        "Overrides": ["- cpu: new, 0.0.48 (nobody has made another one)"],
        "Requirements of extras": [
            "- abacus[with-beads] beads: >=5.1,<6 → >=5.4,<6",
            "- abacus[with-beads] wood: new, >=2",
            "- soroban[with-wires] wires: **gone**, was >=3",
        ],
        "Commits of JAX": ["- jax, jaxlib: 111111111111 → 333333333333"],
        "Upstream's wheels, mean size": ["- jaxlib linux_x86_64: 80.0 MB → 62.0 MB"],
        "GPU code": ["**removed sm_50**"],
    }
    assert sections.keys() == expected.keys()
    for heading, parts in expected.items():
        assert [part for part in parts if part not in sections[heading]] == []
    assert "ziglang" not in "".join(lines)
    assert list(compare_releases(after, after, load_backends(root), tmp_path)) == []


@pytest.mark.parametrize(
    ("old", "new", "line"),
    [
        (["x", "y"], ["y", "z"], ["- c: added z; **removed x**"]),
        (["x", "y"], ["y", "x"], []),
        ([], list("abcdefghijklmnop"), ["- c: new, a, b, c, d, e, f, g, h, i, j, k, l and 4 more"]),
    ],
    ids=["both", "order", "many"],
)
def test_lines(old: list[str], new: list[str], line: list[str]) -> None:
    """What is gone is bold, and the order of a list is no change."""
    assert compare({"c": old}, {"c": new}) == line

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a bump reports of releases that a small index cannot have; tests/integration/test_bump.py runs the command."""

import json
from dataclasses import replace
from pathlib import Path

import pytest

from pjrtwheel.bump.report import compare, compare_releases, decide
from pjrtwheel.release.model import Pin, Release, XlaSource

SOURCE = XlaSource("c0ffee", "ab" * 32, "7.7.1", verified=False, origin="a document")


def make_release(version: str, megabytes: int, commits: dict[str, str]) -> Release:
    """Return a release with one wheel of upstream's."""
    key = "bindings.cp315.linux_x86_64"
    pin = Pin(key, "jaxlib", version, f"jaxlib-{version}-py3-none-any.whl", "ab" * 32, megabytes * 1_000_000)
    path = Path(f"releases/{version}.toml")
    return Release({key: pin}, digest="", path=path, version=version, build=1, commits=commits, xla=SOURCE)


BEFORE = make_release("1.1", 80, {"jax": "1" * 40, "jaxlib": "1" * 40, "soroban-plugin": "2" * 40})
AFTER = make_release("1.2", 62, {"jax": "3" * 40, "jaxlib": "3" * 40})


def test_commits_of_xla_and_jax_are_decisions() -> None:
    """XLA's unknown, or contradicted; inputs that were built from different commits of JAX."""
    assert list(decide(AFTER, [])) == []
    assert [decision.path for decision in decide(replace(AFTER, xla=None), [])] == ["releases/xla.toml"]
    doubted = replace(AFTER, xla=replace(SOURCE, contradicted_by="another document: decaf"))
    (decision,) = decide(doubted, [])
    assert (decision.path, "decaf" in decision.question) == ("releases/xla.toml", True)
    (commits,) = decide(BEFORE, [])
    assert commits.path == "releases/1.1.toml"
    assert "111111111111 (jax, jaxlib); 222222222222 (soroban-plugin)" in commits.question


def test_commits_sizes_and_code_are_compared(root: Path, tmp_path: Path) -> None:
    """Each under its heading; what both releases share is no news."""
    folder = tmp_path / "selector/jaxlib_select/facts"
    folder.mkdir(parents=True)
    facts = json.loads(next((root / "selector/jaxlib_select/facts").glob("0*.json")).read_text())
    for release, code in ((BEFORE, ["sm_50", "sm_90"]), (AFTER, ["sm_90"])):
        backend = {**facts["backends"][0], "name": "abacus", "code": {"linux_x86_64": code}}
        text = json.dumps({**facts, "release": release.version, "backends": [backend]})
        (folder / f"{release.version}.json").write_text(text)
    assert list(filter(None, compare_releases(BEFORE, AFTER, {}, tmp_path))) == [
        "## Commits of JAX",
        "- jax, jaxlib: 111111111111 → 333333333333",
        "- soroban-plugin: **gone**, was 222222222222",
        "## Upstream's wheels, mean size",
        "- jaxlib linux_x86_64: 80.0 MB → 62.0 MB",
        "## GPU code",
        "- abacus linux_x86_64: **removed sm_50**",
    ]


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

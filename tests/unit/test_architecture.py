# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""ARCHITECTURE.md is true: its paths exist, its rooms are in the order of imports, its table of changes holds."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

TOOLING = "build/pjrtwheel"


@pytest.fixture(scope="module")
def text(root: Path) -> str:
    """Return the document."""
    return (root / "ARCHITECTURE.md").read_text("utf-8")


def rows(text: str, heading: str) -> list[list[str]]:
    """Return the cells of the table below a heading, row by row."""
    section = text.split(f"\n## {heading}\n")[1].split("\n## ", maxsplit=1)[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines[1:]]


def rooms(text: str) -> list[set[str]]:
    """Return the parts of the tooling in each row that names any, in the order of the table."""
    found = [set(re.findall(r"`pjrtwheel/(\w+)(?:/|\.py)`", row[0])) for row in rows(text, "Room by room")]
    return [names for names in found if names]


def parts_imported(path: Path, parts: set[str]) -> set[str]:
    """Return the parts of the tooling that a file imports, at its top or in a function."""
    names: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            names |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module:
            names |= {f"{node.module}.{alias.name}" for alias in node.names}
    return {name.split(".")[1] for name in names if name.startswith("pjrtwheel.")} & parts


def test_every_path_exists(root: Path, text: str) -> None:
    """A path that was moved is moved here as well."""
    paths = set(
        re.findall(
            r"`(?!build/__init__)((?:build|pjrtwheel|plugins|selector|tests|releases|docs)/[\w./-]*|noxfile\.py|noxw)`",
            text,
        )
    )
    examples = {path for path in paths if re.search(r"VENDOR|RELEASE|VERSION|NAME|/X\.", path)}
    places = {path: root / re.sub("^pjrtwheel/", f"{TOOLING}/", path) for path in paths - examples}
    assert sorted(path for path, place in places.items() if not place.exists()) == []
    assert len(places) > 40


def test_every_part_of_the_tooling_has_a_row(root: Path, text: str) -> None:
    """And none that is gone."""
    folder = root / TOOLING
    parts = {path.stem for path in folder.glob("*.py")} | {path.parent.name for path in folder.glob("*/__init__.py")}
    assert set().union(*rooms(text)) == parts - {"__init__", "__main__"}


def test_imports_point_downwards_in_the_table(root: Path, text: str) -> None:
    """Within a row they may go either way."""
    order = rooms(text)
    level = {name: number for number, names in enumerate(order) for name in names}
    folder = root / TOOLING
    upwards = set()
    for path in folder.rglob("*.py"):
        own = path.relative_to(folder).with_suffix("").parts[0]
        upwards |= {
            (own, name) for name in parts_imported(path, set(level)) if own in level and level[name] < level[own]
        }
    assert sorted(upwards) == []


def files_of(text: str, change: str) -> set[str]:
    """Return the files that the table of changes names for one."""
    (row,) = (row for row in rows(text, "To change X, touch Y") if row[0] == change)
    return set(re.findall(r"`([\w./-]+\.(?:py|toml|json))`", " ".join(row[1:])))


def test_the_compression_is_nowhere_else(root: Path, text: str) -> None:
    """The level of libdeflate is named in these files, and passed on as a value by all others."""
    words = re.compile(r"--level|\blevel=|\bLEVEL\b|\.level\b")
    folders = [root / TOOLING / name for name in ("bazel", "cli", "wheel")]
    files = [path for folder in folders for path in folder.rglob("*.py")] + [root / TOOLING / "build.py"]
    named = {path.relative_to(root).as_posix() for path in files if words.search(path.read_text("utf-8"))}
    assert named - {f"{TOOLING}/cli/smoke.py"} == files_of(text, "the compression")  # smoke's are levels of proof
    assert not [path for path in (root / "build").rglob("*.bzl") if words.search(path.read_text("utf-8"))]


def test_a_field_of_release_json_is_nowhere_else(root: Path, text: str) -> None:
    """`stripped_bytes`, as an example: all who only read it take it from the entry."""
    writers = set()
    for path in (root / TOOLING).rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.AnnAssign) and ast.unparse(node.target) == "stripped_bytes":
                writers.add(path.relative_to(root).as_posix())
    listed = files_of(text, "a field of `release.json`")
    assert writers == {f"{TOOLING}/wheel/report.py", f"{TOOLING}/publish/release_file.py"}
    assert writers <= listed
    assert listed - writers == {f"{TOOLING}/prove/results.py", "docs/release.schema.json"}
    assert "stripped_bytes" in (root / "docs/release.schema.json").read_text("utf-8")

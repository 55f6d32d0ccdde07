# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Links within the repository lead somewhere, on GitHub and the site; `nox -s docs -- linkcheck` asks the others."""

from __future__ import annotations

import itertools
import re
import subprocess
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from urllib.parse import unquote

import pytest
from markdown_it import MarkdownIt
from markdown_it.token import Token

ROOT = Path(__file__).resolve().parents[3]
LISTED = subprocess.run(
    ["git", "ls-files", "--cached", "--others", "--exclude-standard"],
    cwd=ROOT,
    capture_output=True,
    text=True,
    check=True,
).stdout.splitlines()
FILES = {ROOT / name for name in LISTED if (ROOT / name).exists()}
FOLDERS = {parent for path in FILES for parent in path.parents}
DOCUMENTS = sorted(path for path in FILES if path.suffix == ".md")


@cache
def tokens_of(path: Path) -> list[Token]:
    """Return what a document consists of."""
    return MarkdownIt("commonmark").enable("table").parse(path.read_text("utf-8"))


def links_of(path: Path) -> Iterator[str]:
    """Yield the targets of a document's links and images that are not addresses."""
    for token in tokens_of(path):
        for child in token.children or ():
            target = str(child.attrs.get("href") or child.attrs.get("src") or "")
            if target and not re.match(r"[a-z][a-z0-9+.-]*:|//", target):
                yield unquote(target)


def anchors_of(path: Path) -> set[str]:
    """Return the anchors that GitHub and MyST make of a document's headings."""
    tokens = tokens_of(path)
    counted: Counter[str] = Counter()
    anchors = set()
    for heading, text in itertools.pairwise(tokens):
        if heading.type == "heading_open":
            words = "".join(child.content for child in text.children or ())
            anchor = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
            anchors.add(f"{anchor}-{counted[anchor]}" if counted[anchor] else anchor)
            counted[anchor] += 1
    return anchors


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_links_lead_to_files_and_headings(path: Path) -> None:
    """To what git has, not to what lies here by chance."""
    wrong = []
    for link in links_of(path):
        name, _, anchor = link.partition("#")
        target = (path.parent / name).resolve() if name else path
        if target not in FILES | FOLDERS or (anchor and target.suffix == ".md" and anchor not in anchors_of(target)):
            wrong.append(link)
    assert wrong == []


def test_there_are_links_to_look_at() -> None:
    """Of every kind."""
    links = [link for path in DOCUMENTS for link in links_of(path)]
    assert len(links) > 30
    assert any(".md#" in link for link in links)


def test_a_lost_heading_is_noticed(tmp_path: Path) -> None:
    """Anchors are made as GitHub makes them, the second of two alike with a number."""
    (tmp_path / "a.md").write_text("# What `x.y` is, and why\n\n## Same\n\n## Same\n")
    assert anchors_of(tmp_path / "a.md") == {"what-xy-is-and-why", "same", "same-1"}

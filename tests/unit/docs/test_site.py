# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The documentation is built strictly, whole or not at all."""

import re
import shutil
from pathlib import Path

import pytest

from folders import write_files
from jaxlib_select import cli as select
from pjrtwheel.cli.commands import COMMANDS
from pjrtwheel.docs.site import build_site
from pjrtwheel.errors import UsageError

INDEX = "# Title\n\n```{toctree}\npage\n```\n"
PAGE = "# A page\n\n## A part of it\n\nText.\n"


@pytest.fixture
def small(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a repository with two pages and this repository's settings of Sphinx."""
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    folder = tmp_path / "repository"
    write_files(folder, {"docs/index.md": INDEX, "docs/page.md": PAGE, "data.toml": "a = 1\n", "README.md": "# R\n"})
    shutil.copy(root / "docs/conf.py", folder / "docs")
    for name in ("_ext", "_static"):
        shutil.copytree(root / "docs" / name, folder / "docs" / name)
    for name in ("build", "selector"):
        (folder / name).symlink_to(root / name)
    return folder


def test_a_site_is_built_and_replaced(small: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Pages that are gone are gone; nothing is left next to it."""
    output = tmp_path / "site"
    build_site(small, output)
    assert (output / "page.html").is_file()
    assert f"3 pages: {output}/index.html" in capfd.readouterr().out  # with that of the search
    (small / "docs/page.md").rename(small / "docs/other.md")
    write_files(small, {"docs/index.md": INDEX.replace("page", "other")})
    build_site(small, output)
    assert ((output / "page.html").exists(), (output / "other.html").is_file()) == (False, True)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["repository", "site"]


# Line of a page → what is said of it.
MISTAKES = {
    "[x](missing.md)": "'missing.md'",
    "[x](index.md#nowhere)": "'nowhere'",
    "[x](#nowhere-here)": "'nowhere-here'",
    "[x](../missing.toml)": "no such file: .*missing.toml",
    "![x](missing.svg)": "not readable: missing.svg",
    "```mermaid\nflowchart LR\n```": "'mermaid' is not known",
}


def test_mistakes_keep_the_older_site(small: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """Links and anchors lead somewhere, a menu has every page, and diagrams are images, which need no network."""
    output = tmp_path / "site"
    write_files(output, {"searchindex.js": "", "page.html": "old"})
    (small / "docs/page.md").write_text("\n\n".join([PAGE, *MISTAKES]))
    (small / "docs/orphan.md").write_text("# Alone\n")
    with pytest.raises(UsageError):
        build_site(small, output)
    said = capfd.readouterr().err
    assert [text for text in (*MISTAKES.values(), "orphan.md.*not_included") if not re.search(text, said)] == [], said
    assert (output / "page.html").read_text("utf-8") == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["repository", "site"]


@pytest.mark.parametrize("repository", ["", "owner/name"])
def test_links_to_other_files_lead_to_a_page_or_to_github(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: str
) -> None:
    """A README may be a page. Only on the server's machines it is known where the repository is."""
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://github.example.org")
    monkeypatch.setenv("GITHUB_REPOSITORY", repository)
    links = "[data](../data.toml) [readme](../README.md#r) [part](../part/README.md#a-part-of-it) [top](index.md)"
    included = "```{include} ../part/README.md\n```\n"
    pages = {"docs/page.md": f"{PAGE}\n{links}\n", "docs/part.md": included, "part/README.md": PAGE}
    write_files(small, {"docs/index.md": INDEX.replace("page", "page\npart"), **pages})
    build_site(small, tmp_path / "site")
    html = (tmp_path / "site/page.html").read_text("utf-8")
    (article,) = re.findall(r'<article role="main".*?</article>', html, re.DOTALL)
    found = [link for link in re.findall(r'href="([^"#][^"]*)"', article) if not link.startswith("https://www")]
    base = f"https://github.example.org/{repository}/blob/HEAD"
    outside = [f"{base}/data.toml", f"{base}/README.md#r"] if repository else []
    assert found == [*outside, "part.html#a-part-of-it", "index.html"]


@pytest.mark.parametrize(("page", "commands"), [("commands", COMMANDS), ("jaxlib-select", select.COMMANDS)])
def test_every_command_has_its_place_in_the_reference(root: Path, page: str, commands: dict[str, str]) -> None:
    """In one group, and in the order of the help."""
    text = (root / f"docs/reference/{page}.md").read_text("utf-8")
    assert " ".join(re.findall(r"^```{commands}\n\S+ (.*)$", text, re.MULTILINE)).split() == list(commands)


def test_what_people_read_is_short(root: Path) -> None:
    """The README, with one block that installs, and the pages: 33, next to READMEs and a table of plugins."""
    text = (root / "README.md").read_text("utf-8")
    _, install, _ = re.split(r"<!-- install: \w+ -->", text)
    pages = [page for page in (root / "docs").rglob("*.md") if not page.read_text("utf-8").startswith("```{include}")]
    assert (len(text.splitlines()) <= 110, install.count("```console"), len(pages) <= 34) == (True, 1, True)


def test_the_install_picker_finds_its_colours(root: Path) -> None:
    """On the pages of an index and in the documentation, which have style sheets of their own."""
    static = root / "build/pjrtwheel/products/index/release_pages/static"
    used = set(re.findall(r"var\((--[\w-]+)\)", (static / "picker.css").read_text("utf-8")))
    for sheet in (static / "about.css", root / "docs/_static/site.css"):
        assert used <= set(re.findall(r"(--[\w-]+):", sheet.read_text("utf-8"))), sheet

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The documentation is built strictly, whole or not at all, and served to this machine alone."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import urllib.request
from pathlib import Path

import pytest

from folders import write_files
from pjrtwheel.docs.repository_links import find_address
from pjrtwheel.docs.site import build_site, main
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
    shutil.copytree(root / "docs/_static", folder / "docs/_static")
    (folder / "build").symlink_to(root / "build")
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
    assert main(["--root", str(small), "--output", str(output)]) == UsageError.exit_code
    said = capfd.readouterr().err
    assert [text for text in (*MISTAKES.values(), "orphan.md.*not_included") if not re.search(text, said)] == [], said
    assert (output / "page.html").read_text("utf-8") == "old"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["repository", "site"]


def test_another_folder_is_not_replaced(small: Path, tmp_path: Path) -> None:
    """Only one with a site in it, or an empty one."""
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/file").touch()
    with pytest.raises(UsageError, match="is no site"):
        build_site(small, tmp_path / "mine")
    assert [path.name for path in (tmp_path / "mine").iterdir()] == ["file"]


def test_only_the_repository_has_documentation(tmp_path: Path) -> None:
    """The message says how to name it."""
    assert main(["--root", str(tmp_path)]) == UsageError.exit_code


@pytest.mark.parametrize("repository", ["", "owner/name"])
def test_links_to_other_files_lead_to_a_copy_or_to_github(
    small: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, repository: str
) -> None:
    """On the server's machines it is known where the repository is."""
    monkeypatch.setenv("GITHUB_SERVER_URL", "https://github.example.org")
    monkeypatch.setenv("GITHUB_REPOSITORY", repository)
    (small / "docs/page.md").write_text(f"{PAGE}\n[data](../data.toml) [readme](../README.md#r) [top](index.md)\n")
    build_site(small, tmp_path / "site")
    html = (tmp_path / "site/page.html").read_text("utf-8")
    (article,) = re.findall(r'<article role="main".*?</article>', html, re.DOTALL)
    links = [link for link in re.findall(r'href="([^"#][^"]*)"', article) if not link.startswith("https://www")]
    if repository:
        base = f"https://github.example.org/{repository}/blob/HEAD"
        assert links == [f"{base}/data.toml", f"{base}/README.md#r", "index.html"]
    else:
        assert [re.sub(r"/\w{32}/", "/.../", link) for link in links] == [
            "_downloads/.../data.toml",
            "_downloads/.../README.md",
            "index.html",
        ]
        assert (tmp_path / "site" / links[0]).read_text() == "a = 1\n"


def test_an_image_has_a_twin_for_the_dark_theme(small: Path, tmp_path: Path) -> None:
    """If there is one; another image is shown in both."""
    svg = '<svg xmlns="http://www.w3.org/2000/svg"/>'
    write_files(small / "docs", dict.fromkeys(["a-light.svg", "a-dark.svg", "b-light.svg"], svg))
    (small / "docs/page.md").write_text(f"{PAGE}\n![a](a-light.svg)\n\n![b](b-light.svg)\n")
    build_site(small, tmp_path / "site")
    images = re.findall(r"<img [^>]*>", (tmp_path / "site/page.html").read_text("utf-8"))
    assert [(re.findall(r"only-\w+", image), re.findall(r"\w+-\w+\.svg", image)) for image in images] == [
        (["only-light"], ["a-light.svg"]),
        (["only-dark"], ["a-dark.svg"]),
        ([], ["b-light.svg"]),
    ]


def test_the_address_of_the_repository_needs_both_variables() -> None:
    """One alone says nothing."""
    assert find_address({"GITHUB_SERVER_URL": "https://x"}) == ""
    assert find_address({"GITHUB_SERVER_URL": "https://x", "GITHUB_REPOSITORY": "a/b"}) == "https://x/a/b/blob/HEAD"


def test_it_is_served_to_this_machine(root: Path, small: Path, tmp_path: Path) -> None:
    """At the address that is printed, until it is interrupted."""
    output = tmp_path / "site"
    command = [sys.executable, "-m", "pjrtwheel.docs.site", "serve", "--port=0"]
    environ = os.environ | {"PYTHONPATH": str(root / "build")}
    options = ["--root", str(small), "--output", str(output)]
    with subprocess.Popen([*command, *options], env=environ, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout is not None
            lines = [process.stdout.readline() for _ in range(2)]
            address = lines[1].split()[0]
            assert address.startswith("http://127.0.0.1:")
            with urllib.request.urlopen(f"{address}page.html") as answer:  # noqa: S310 - loopback
                assert b"A part of it" in answer.read()
        finally:
            process.terminate()
    assert process.returncode == 130

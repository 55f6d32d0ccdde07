# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The static package index: its pages, its files, and what it refuses."""

import hashlib
import json
import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest

from folders import snapshot
from pjrtwheel import tables
from pjrtwheel.cli import main, products
from pjrtwheel.errors import UsageError, WheelError
from pjrtwheel.files import hash_file
from pjrtwheel.products.index import write_index
from pjrtwheel.products.index.projects import find_unlisted, list_projects, read_release
from release_entries import entry_at
from release_under_test import BACKENDS, ROOT
from small_wheels import build_wheel

NAME = "jaxlib_abacus-1.0-cp312-abi3-manylinux_2_27_x86_64.whl"
METADATA = b"Metadata-Version: 2.4\nName: jaxlib-abacus\nVersion: 1.0\nRequires-Python: >=3.12\n"
VARIANTS = "jaxlib_abacus-1.0-variants.json"


def list_entry(wheel: Path, **more: Any) -> dict[str, Any]:
    """Return an entry of release.json."""
    return {**tables.write(entry_at(wheel, lock_id="ff")), **more}


def write_release(dist: Path, *entries: dict[str, Any]) -> None:
    """Write release.json."""
    (dist / "release.json").write_text(json.dumps({"schema": 2, "wheels": entries}))


@pytest.fixture
def dist(tmp_path: Path) -> Path:
    """Return a folder with one wheel, a list of its variants, and release.json."""
    folder = make_release(tmp_path / "wheels", NAME)
    (folder / VARIANTS).write_text("{}\n")
    return folder


def test_the_pages_say_what_the_standards_ask_for(dist: Path) -> None:
    """HTML and JSON of one project, whole."""
    write_index(dist, dist / "simple")
    folder = dist / "simple" / "jaxlib-abacus"
    digests = {"WHEEL": hash_file(dist / NAME), "METADATA": hashlib.sha256(METADATA).hexdigest()}
    digests |= {"VARIANTS": hash_file(dist / VARIANTS), "SIZE": str((dist / NAME).stat().st_size)}
    for page in ("index.html", "index.v1+json"):
        expected = (ROOT / "tests/data/abacus_index" / page).read_text("utf-8")
        for word, value in digests.items():
            expected = expected.replace(word, value)
        assert (folder / page).read_text("utf-8") == expected
    assert (folder / f"{NAME}.metadata").read_bytes() == METADATA
    root = json.loads((dist / "simple" / "index.v1+json").read_text())
    assert root == {"meta": {"api-version": "1.3"}, "projects": [{"name": "jaxlib-abacus"}]}
    assert '<a href="jaxlib-abacus/">jaxlib-abacus</a>' in (dist / "simple" / "index.html").read_text()


def test_releases_are_listed_next_to_each_other(make_wheel: Callable[..., Path]) -> None:
    """In the order of their versions, with the lists of their variants, for installers and for people."""
    versions = ["1.9.1", "1.11.2", "1.12.0rc1", "1.12.0", "1.12.0.1", "1.12.0.1+split.1"]
    names = [f"jaxlib_abacus-{version}-py3-none-any.whl" for version in versions]
    wheels = [make_wheel({}, name=name) for name in reversed(names)]
    folder = wheels[0].parent
    for version in versions:
        (folder / f"jaxlib_abacus-{version}-variants.json").write_text("{}\n")
    write_release(folder, *map(list_entry, wheels))
    (project,), _ = write_index(folder, folder / "simple")
    listed = [*names, *(f"jaxlib_abacus-{version}-variants.json" for version in versions)]
    assert (list(project.versions), [file.filename for file in project.files]) == (versions, listed)
    page = json.loads((folder / "simple/jaxlib-abacus/index.v1+json").read_text())
    assert (page["versions"], [file["filename"] for file in page["files"]]) == (versions, listed)
    assert (page["files"][5]["url"], project.is_doubled) == ("jaxlib_abacus-1.12.0.1%2Bsplit.1-py3-none-any.whl", True)


def test_what_a_page_puts_into_a_command_is_a_name(make_wheel: Callable[..., Path]) -> None:
    """Extras of a hostile wheel that no installer would take are left out."""
    names = ("with-beads", "$(reboot)", "beads].org", "")
    metadata = METADATA + b"".join(f"Provides-Extra: {name}\n".encode() for name in names)
    wheel = make_wheel({"jaxlib_abacus-1.0.dist-info/METADATA": metadata}, name=NAME)
    write_release(wheel.parent, list_entry(wheel))
    (project,), _ = write_index(wheel.parent, wheel.parent / "simple")
    (file,) = project.files
    assert file.contents
    assert file.contents.extras == ("with-beads",)


def test_wheels_are_linked_and_bytes_repeat(dist: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No wheel is doubled; a second run, and one without hard links, give the same index."""
    write_index(dist, dist / "simple")
    first = snapshot(dist / "simple")
    assert (dist / NAME).samefile(dist / "simple" / "jaxlib-abacus" / NAME)
    monkeypatch.setattr(os, "link", Mock(side_effect=PermissionError))
    write_index(dist, dist / "simple")
    assert snapshot(dist / "simple") == first
    (dist / VARIANTS).unlink()  # what is gone leaves the index
    (dist / (left := NAME.replace("abacus", "bead"))).symlink_to(NAME)
    projects, _ = write_index(dist, dist / "simple")
    assert find_unlisted(dist, projects) == (left,)
    (dist / left).unlink()
    assert sorted(path.name for path in dist.iterdir()) == [NAME, "release.json", "simple"]
    names = sorted(path.name for path in (dist / "simple" / "jaxlib-abacus").iterdir())
    assert names == ["index.html", "index.v1+json", NAME, f"{NAME}.metadata"]


def test_nothing_is_replaced_when_a_wheel_is_not_the_listed_one(dist: Path) -> None:
    """The index before stays, and nothing partial."""
    write_index(dist, dist / "simple")
    before = snapshot(dist / "simple")
    (dist / NAME).unlink()
    (dist / NAME).write_bytes(b"other")
    with pytest.raises(WheelError, match=NAME):
        write_index(dist, dist / "simple")
    assert snapshot(dist / "simple") == before
    assert list(dist.glob(".partial-*")) == []


@pytest.mark.parametrize(
    "change",
    [
        {"filename": f"../{NAME}"},
        {"filename": NAME.replace(".whl", ".txt")},
        {"filename": NAME.replace("abacus", "slide_rule")},
        {"distribution": "{parent}/evil"},
        {"distribution": "../evil"},
        {"distribution": "jaxlib-abacus\n"},
        {"version": "new"},
        {"tags": []},
    ],
)
def test_a_hostile_record_is_an_error(dist: Path, change: dict[str, Any]) -> None:
    """No path leads out of the folder, and a wheel is listed under its own name and version only."""
    before = snapshot(dist.parent)
    texts = {key: value.format(parent=dist.parent) for key, value in change.items() if isinstance(value, str)}
    write_release(dist, list_entry(dist / NAME, **change | texts))
    with pytest.raises(WheelError, match=r"release\.json"):
        write_index(dist, dist / "simple")
    assert snapshot(dist.parent).keys() == before.keys()


def test_missing_and_damaged_files_are_named(dist: Path, tmp_path: Path) -> None:
    """A listed wheel that is gone, a record that lists none, no record."""
    (dist / NAME).unlink()
    with pytest.raises(WheelError, match=NAME):
        write_index(dist, dist / "simple")
    write_release(dist)
    with pytest.raises(WheelError, match=r"release\.json"):
        write_index(dist, dist / "simple")
    with pytest.raises(UsageError, match="nothing"):
        write_index(tmp_path / "nothing", tmp_path / "simple")


def test_a_folder_that_is_no_index_is_left_alone(dist: Path) -> None:
    """Somebody's files are not replaced; an empty folder is."""
    home = dist / "home"
    home.mkdir()
    write_index(dist, home)
    (dist / "notes").mkdir()
    (dist / "notes" / "index.html").write_text("mine")
    with pytest.raises(UsageError, match="notes"):
        write_index(dist, dist / "notes")
    assert snapshot(dist / "notes") == {"index.html": b"mine"}


def test_the_command_says_what_it_wrote(
    dist: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Where the index is, a wheel that the record does not list, and how users install, with the vendor's libraries."""
    monkeypatch.chdir(dist.parent)
    backend = replace(BACKENDS["cuda13"], distribution="jaxlib-abacus")
    monkeypatch.setattr(products, "load_backends", lambda _: {"cuda13": backend})
    build_wheel(dist, {}, name="jaxlib_stray-1.0-py3-none-any.whl")
    assert main(["index", "--dist", str(dist)]) == 0
    said = capsys.readouterr()
    assert f"{dist.name}/simple/about.html" in said.out
    assert "  pip install --index-url $INDEX jax 'jaxlib-abacus[with-cuda]'\n" in said.out
    assert "jaxlib_stray-1.0-py3-none-any.whl" in said.err


def make_release(folder: Path, name: str) -> Path:
    """Return the folder of a release with one wheel of that name."""
    folder.mkdir(parents=True)
    project, version, *_ = name.split("-")
    info = f"{project}-{version}.dist-info/METADATA"
    wheel = build_wheel(folder, {info: METADATA.replace(b"1.0", version.encode())}, name=name)
    write_release(folder, list_entry(wheel))
    return folder


def test_two_files_of_one_name_are_refused(tmp_path: Path) -> None:
    """Installers could not tell which one they get."""
    first, second = (make_release(tmp_path / tag, NAME) for tag in ("a", "b"))
    same = [*read_release(first), *read_release(second)]
    assert len(list_projects(same, "both")[0].files) == 1  # the same bytes are no harm
    build_wheel(second, {"jaxlib_abacus-1.0.dist-info/METADATA": METADATA, "x.py": b""}, name=NAME)
    write_release(second, list_entry(second / NAME))
    with pytest.raises(WheelError, match=NAME):
        list_projects([*read_release(first), *read_release(second)], "both")


def test_withdrawn_wheels_have_the_reason(tmp_path: Path) -> None:
    """In HTML, in JSON and for people; the decision names the tag or the wheel."""
    folder = make_release(tmp_path / "dist", NAME)
    (tmp_path / "releases").mkdir()
    for decided in ('tag = "v1.0"', f'wheel = "{NAME}"'):
        text = f'[[yanked]]\n{decided}\nreason = "crashes <on> start"\ndate = "2026-11-22"\n'
        (tmp_path / "releases/yanked.toml").write_text(text)
        assert main(["index", "--root", str(tmp_path), "--dist", str(folder)]) == 0
        page = folder / "simple/jaxlib-abacus"
        assert json.loads((page / "index.v1+json").read_text())["files"][0]["yanked"] == "crashes <on> start"
        assert 'data-yanked="crashes &lt;on&gt; start"' in (page / "index.html").read_text()
        assert "crashes &lt;on&gt; start" in (folder / "simple/about_files/wheels.html").read_text()
    (tmp_path / "releases/yanked.toml").write_text('[[yanked]]\nreason = "x"\ndate = "2026-11-22"\n')
    assert main(["index", "--root", str(tmp_path), "--dist", str(folder)]) == 3

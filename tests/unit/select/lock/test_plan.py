# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a lock is about: backends, arguments, what pip resolved, and where files are."""

import importlib
import json
import shlex
import warnings
from pathlib import Path

import pytest

from jaxlib_select.apply.formats import write_toml
from jaxlib_select.apply.groups import make_choices
from jaxlib_select.apply.locations import local_file, make_relative, pack_arguments, unpack_arguments
from jaxlib_select.apply.lock_file import read_lock, write_again
from jaxlib_select.apply.pylock import build_document
from jaxlib_select.apply.resolution import read_report, show_wheels
from jaxlib_select.choose.policy import Policy
from jaxlib_select.errors import LockError, UsageError
from jaxlib_select.machine.model import Machine
from lock_files import GROUPS, HERE, evidence, package, wheel
from machines import H100


def test_with_which_arguments_a_lock_was_written(tmp_path: Path) -> None:
    """Folders next to it move with it, others stay, and passwords are not kept."""
    given = ["--groups", "cpu", "--find-links", f"{tmp_path}/my dist", "--find-links", "/dist"]
    indexes = ["--index-url", "https://me:secret@example.org/simple/", "--no-index"]
    packed = pack_arguments([*given, *indexes], tmp_path)
    kept = [*given[:3], "my dist", "--find-links", "/dist", "--index-url", "https://example.org/simple/", "--no-index"]
    assert packed == kept
    assert list(unpack_arguments(packed, Path("moved"))) == [*given[:3], str(Path("moved/my dist")), *kept[4:]]
    path = tmp_path / "pylock.toml"
    path.write_text(write_toml(build_document(GROUPS, "cuda13", evidence(arguments=tuple(packed)), HERE)), "utf-8")
    again = shlex.split(write_again(read_lock(path)))
    assert again == ["jaxlib-select", "lock", "jax", *given[:3], f"{tmp_path}/my dist", *kept[4:], "-o", str(path)]


def test_a_lock_is_about_every_backend_with_wheels_for_the_platform() -> None:
    """The decision comes first; a platform without GPU wheels gets none of them."""
    names = [decision.group for decision in make_choices("jax", H100, Policy()).decisions]
    assert names[0] == "cuda13"
    cuda = ["cuda12", "cuda12-legacy", "cuda13", "cuda13-cc100"]
    assert sorted(names) == ["cpu", *cuda, "oneapi", "rocm10-local", "rocm7-local", "tpu"]
    arm = Machine(os="linux", arch="aarch64")
    assert sorted(d.group for d in make_choices("jax", arm, Policy()).decisions) == ["cpu", *cuda]
    chosen = make_choices("jax", H100, Policy(), ["cuda12-local"])
    assert [decision.backend for decision in chosen.decisions] == ["cuda13", "cuda12-local"]
    assert json.loads(str(chosen.evidence(HERE).machine))["nvidia"]["cuda"] == "13.0"


def test_an_unknown_group_is_not_blamed_on_another_option() -> None:
    """The user wrote `--groups`."""
    with pytest.raises(UsageError, match=r"'bogus'.*--groups"):
        make_choices("jax", H100, Policy(), ["cpu", "bogus"])


def test_pips_report_becomes_packages() -> None:
    """Names as the standard wants them, files with hashes; what comes from a repository cannot be locked."""

    def item(url: str, **info: object) -> dict[str, object]:
        return {"metadata": {"name": "A_b", "version": "1"}, "download_info": {"url": url, **info}}

    hashes = {"sha256": "0"}
    hashed = {"archive_info": {"hashes": hashes}}
    made, archive = "https://e/a-1-py3-none-any.whl", "https://e/a.tar.gz"
    assert read_report({"install": [item(made, **hashed), item(archive, **hashed)]}) == [
        {"name": "a-b", "version": "1", "wheels": [{"url": made, "hashes": hashes}]},
        {"name": "a-b", "version": "1", "sdist": {"url": archive, "hashes": hashes}},
    ]
    with pytest.raises(LockError, match="a-b 1"):
        read_report({"install": [item("git+https://e/a", vcs_info={})]})


def test_where_wheels_come_from() -> None:
    """A line for each, with the index or the folder; a host is never cut."""
    host = f"{'long.' * 20}example.org"
    places = [f"https://me:secret@e.org/{'d' * 80}", "file:///w%1b%20x", f"https://{host}/simple/jax"]
    files = [{"url": f"{place}/jax-1%2Bs.1-py3-none-any.whl"} for place in places]
    start = "jax-1+s.1-*.whl  from "
    long = f"{start}e.org/{'d' * 51}..."
    assert show_wheels([{"name": "jax", "wheels": files}]) == [long, f"{start}/w? x", f"{start}{host}..."]


def test_files_below_the_lock_move_with_it(tmp_path: Path) -> None:
    """Their paths become relative; others stay as they are, and are counted."""
    near = package("a") | {"wheels": [wheel("dist/a%20b.whl", tmp_path.as_uri())]}
    far = package("b") | {"wheels": [wheel("b.whl", "file:///elsewhere")]}
    packages, elsewhere = make_relative([near, far, package("c")], tmp_path)
    assert [entry["wheels"][0].get("path") for entry in packages] == ["dist/a b.whl", None, None]
    assert elsewhere == 1


@pytest.mark.parametrize(
    ("url", "windows", "path"),
    [
        ("file:///w/a%20b.whl", False, "/w/a b.whl"),
        ("file://localhost/w/a.whl", False, "/w/a.whl"),
        ("file:///C:/w/a%20b.whl", True, r"C:\w\a b.whl"),
        ("file://server/share/a.whl", True, r"\\server\share\a.whl"),
        ("https://example.org/a.whl", False, None),
        ("", False, None),
    ],
)
def test_files_on_this_machine(url: str, windows: bool, path: str | None) -> None:
    """A drive of Windows stands behind a slash, a server before one."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # from Python 3.14, for who is not urllib
        module = importlib.import_module("nturl2path" if windows else "urllib.request")
    to_path = module.url2pathname
    assert (str(found) if (found := local_file(url, to_path)) else None) == path

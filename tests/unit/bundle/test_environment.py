# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""With PJRTWHEEL_BUNDLE, pip, the tooling, noxw and nox take from the bundle and nothing else."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from pjrtwheel.bundle.environment import check_machine, choose_variables, enter_bundle
from pjrtwheel.bundle.manifest import MANIFEST, read_manifest
from pjrtwheel.errors import FetchError
from pjrtwheel.fetch.download import download_file, read_document
from pjrtwheel.fetch.index import download_wheel, explain_output
from pjrtwheel.files import hash_file
from pjrtwheel.platforms import host_platform
from pjrtwheel.release.model import Pin

DEMO = "Demo-1.0-py3-none-any.whl"


def pip(*arguments: str, environ: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """Run pip."""
    command = [sys.executable, "-m", "pip", *arguments]
    return subprocess.run(command, env=environ, capture_output=True, text=True, check=False)


def names_of(folder: Path) -> set[str]:
    """Return the names of the files in a folder."""
    return {path.name for path in folder.iterdir()}


def make_pin(wheel: Path) -> Pin:
    """Return a pin of a wheel."""
    return Pin("tool.demo.any", "demo", "1.0", wheel.name, hash_file(wheel), wheel.stat().st_size)


def test_pip_installs_from_the_bundle_alone(bundle: Path, tmp_path: Path) -> None:
    """Whatever the machine's configuration names; what is required comes along."""
    environ = {**os.environ, "PJRTWHEEL_BUNDLE": str(bundle), "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": "/nowhere"}
    enter_bundle(environ)
    done = pip("download", "--dest", str(tmp_path / "out"), "other", environ=environ)
    assert done.returncode == 0, done.stderr
    assert names_of(tmp_path / "out") == {DEMO, "other-2.0-py3-none-any.whl"}
    lacking = pip("download", "--dest", str(tmp_path / "none"), "pip", environ=environ)
    assert "No matching distribution found for pip" in lacking.stderr


def test_pip_refuses_a_wheel_that_was_altered_since(bundle: Path, tmp_path: Path) -> None:
    """The pages of the bundle have the hashes, so that other installers hold to them as well."""
    environ = {**os.environ, "PJRTWHEEL_BUNDLE": str(bundle)}
    enter_bundle(environ)
    with (bundle / "wheels" / DEMO).open("ab") as file:
        file.write(b"more")
    done = pip("download", "--no-deps", "--dest", str(tmp_path / "out"), "demo", environ=environ)
    assert done.returncode != 0
    assert "DO NOT MATCH THE HASHES" in done.stderr


def test_environment_is_changed_once(bundle: Path) -> None:
    """What noxw did, neither nox nor the tooling does again; without a bundle nothing changes."""
    environ = {"PJRTWHEEL_BUNDLE": str(bundle), "PJRTWHEEL_CACHE": os.environ["PJRTWHEEL_CACHE"], "UV_INDEX": "x"}
    enter_bundle(environ)
    assert environ["PIP_INDEX_URL"] == (bundle / "simple").as_uri()
    assert "UV_INDEX" not in environ
    assert choose_variables(environ) == {}
    assert choose_variables({"PJRTWHEEL_BUNDLE": ""}) == choose_variables({}) == {}


def test_bundle_for_another_machine_is_refused(bundle: Path) -> None:
    """By platform and Python, before pip says something that leads nowhere."""
    manifest, host = read_manifest(bundle), host_platform().name
    with pytest.raises(FetchError, match="this machine is linux_none"):
        check_machine(manifest, manifest.tool_pythons[0], "linux_none")
    with pytest.raises(FetchError, match=r"no tools for Python 3\.99") as caught:
        check_machine(manifest, "cp399", host)
    assert caught.value.remedy == "name such a Python in PJRTWHEEL_PYTHON, or make the bundle with --python 3.99"


def test_pinned_wheel_is_linked(bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It costs no room in the cache, where that is on the same disk, and starts no pip."""
    monkeypatch.setenv("PJRTWHEEL_BUNDLE", str(bundle))
    monkeypatch.setattr("pjrtwheel.fetch.index.run_pip", None)
    (tmp_path / "out").mkdir()
    found = download_wheel(make_pin(bundle / "wheels" / DEMO), tmp_path / "out")
    assert found.samefile(bundle / "wheels" / DEMO)


def test_pinned_wheel_is_copied_where_it_cannot_be_linked(
    bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As from another disk."""

    def link(source: Path, target: Path) -> None:
        raise OSError(18, "Invalid cross-device link", str(source), None, str(target))

    monkeypatch.setattr("os.link", link)
    monkeypatch.setenv("PJRTWHEEL_BUNDLE", str(bundle))
    (tmp_path / "out").mkdir()
    found = download_wheel(make_pin(bundle / "wheels" / DEMO), tmp_path / "out")
    assert found.read_bytes() == (bundle / "wheels" / DEMO).read_bytes()


def test_what_a_bundle_lacks_is_named(bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A pinned wheel, and what pip was to install."""
    pin = make_pin(bundle / "wheels" / DEMO)
    (bundle / "wheels" / DEMO).unlink()
    monkeypatch.setenv("PJRTWHEEL_BUNDLE", str(bundle))
    with pytest.raises(FetchError) as caught:
        download_wheel(pin, tmp_path)
    remedy = "on a machine with a network, run `./noxw -s bundle` again with what is missing"
    assert str(caught.value).splitlines() == [f"the bundle {bundle} has no {DEMO}", "pinned as tool.demo.any", remedy]
    said = explain_output("cannot install", "ERROR: No matching distribution found for numpy<1\n")
    assert str(said).splitlines() == ["cannot install", f"the bundle {bundle} has no numpy<1", remedy]


def test_address_that_somebody_names_is_refused(bundle: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before it is asked; a folder is taken, as without a bundle."""
    monkeypatch.setenv("PJRTWHEEL_BUNDLE", str(bundle))
    address = "https://user:secret@example.org/x"
    for take in (
        lambda: download_wheel(make_pin(bundle / "wheels" / DEMO), tmp_path, url=address),
        lambda: download_wheel(make_pin(bundle / "wheels" / DEMO), tmp_path, index=address),
        lambda: download_file(address, tmp_path / "x", 1),
        lambda: read_document(address),
    ):
        with pytest.raises(FetchError) as caught:
            take()
        assert str(caught.value).splitlines()[0] == "nothing is taken from example.org"
    assert read_document((bundle / "bundle.json").as_uri()) == (bundle / "bundle.json").read_bytes()


@pytest.mark.parametrize("command", [["noxw", "--list"], ["-m", "pjrtwheel", "table"]])
def test_damaged_bundle_ends_every_command(bundle: Path, root: Path, tmp_path: Path, command: list[str]) -> None:
    """Before anything is done: by noxw, and by the tooling without it."""
    (bundle / "wheels" / DEMO).unlink()
    environ = {**os.environ, "PJRTWHEEL_BUNDLE": str(bundle), "PYTHONPATH": str(root / "build")}
    done = subprocess.run(
        [sys.executable, *command], cwd=root, env=environ, capture_output=True, text=True, check=False
    )
    assert done.returncode == FetchError.exit_code
    assert done.stderr.splitlines()[:2] == [f"error: damaged bundle: {bundle}", f"       missing: wheels/{DEMO}"]
    assert not (tmp_path / "cache").exists()


def test_noxw_needs_no_more_than_the_standard_library(bundle: Path, root: Path) -> None:
    """It asks before there is any environment."""
    environ = {**os.environ, "PJRTWHEEL_BUNDLE": str(bundle), "PYTHONPATH": str(root / "build")}
    command = [sys.executable, "-S", "-m", "pjrtwheel.bundle.environment"]
    done = subprocess.run(command, env=environ, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == choose_variables({**os.environ, "PJRTWHEEL_BUNDLE": str(bundle)})
    assert (bundle / MANIFEST).is_file()

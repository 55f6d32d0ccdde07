# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Lock files of a release: ours by name, all else from the index with its hash."""

import tomllib
from pathlib import Path

import pytest

from package_index import NotingHandler, serve_folder
from pjrtwheel.attest import locks
from pjrtwheel.attest.locks import make_locks
from pjrtwheel.errors import UsageError
from pjrtwheel.fetch.settings import IndexSettings
from pjrtwheel.files import hash_file
from release_entries import entry_at
from small_wheels import build_wheel, describe_wheel

PLATFORM, VERSION = "manylinux_2_27_x86_64", "1.2.3+split.1"
WHEELS = {
    f"jaxlib-{VERSION}-cp312-cp312-{PLATFORM}.whl": [
        f"jaxlib-bead=={VERSION} ; extra == 'bead'",
        f"jaxlib-other=={VERSION} ; extra == 'other'",
    ],
    f"jaxlib_bead-{VERSION}-cp312-abi3-{PLATFORM}.whl": [f"jaxlib=={VERSION}", f"jaxlib-bead-kernels=={VERSION}"],
    f"jaxlib_bead_kernels-{VERSION}-cp312-cp312-{PLATFORM}.whl": [],
}


@pytest.fixture
def release(tmp_path: Path) -> Path:
    """Return a folder with the wheels of a small release."""
    for name, requires in WHEELS.items():
        build_wheel(tmp_path, describe_wheel(name, requires), name=name)
    return tmp_path


def put_on_index(index: Path, name: str, *requires: str) -> None:
    """Put a wheel on an index, with its page."""
    project = index / name.partition("-")[0]
    project.mkdir(parents=True)
    build_wheel(project, describe_wheel(name, requires), name=name)
    (project / "index.html").write_text(f'<a href="{name}#sha256={hash_file(project / name)}">{name}</a>', "utf-8")


def test_a_lock_has_our_wheels_by_name_and_all_else_by_address(
    release: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One for each extra of `jaxlib` whose plugin is there, with the kernels that this requires."""
    put_on_index(tmp_path / "index", "jax-1.2.3-py3-none-any.whl", "jaxlib<=1.2.3,>=1.2.3", "numpy")
    put_on_index(tmp_path / "index", "numpy-2.1-py3-none-any.whl")
    entries = [entry_at(release / name) for name in WHEELS]
    with serve_folder(tmp_path / "index", NotingHandler) as address:
        monkeypatch.setattr(locks, "read_settings", lambda: IndexSettings((address, "file:///nowhere"), (tmp_path,)))
        made = make_locks(release, entries)
    assert list(made) == ["pylock.bead.toml"]
    packages = tomllib.loads(made["pylock.bead.toml"].decode())["packages"]
    found = {
        package["name"]: [wheel.get("path", wheel.get("url")) for wheel in package["wheels"]] for package in packages
    }
    ours = {entry.distribution: [entry.filename] for entry in entries}
    assert found == {
        **ours,
        "jax": [f"{address}jax/jax-1.2.3-py3-none-any.whl"],
        "numpy": [f"{address}numpy/numpy-2.1-py3-none-any.whl"],
    }


def test_an_index_of_this_disk_alone_gives_no_lock(release: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its addresses mean nothing elsewhere; and without `jaxlib` there is nothing to lock."""
    monkeypatch.setattr(locks, "read_settings", lambda: IndexSettings(("file:///nowhere",), (release,)))
    entries = [entry_at(release / name) for name in WHEELS]
    with pytest.raises(UsageError, match="--no-locks"):
        make_locks(release, entries)
    assert make_locks(release, entries[1:]) == {}

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""An environment is filled from outside, for a Python and a processor that this machine may lack."""

from __future__ import annotations

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from pjrtwheel.environment.venv import python_tag_of, select_requirements, unpack_into
from pjrtwheel.errors import ProofError
from pjrtwheel.platforms import PLATFORMS, Platform

ARM = PLATFORMS["linux_aarch64"]


def make_environment(folder: Path, python: str = "python3.15") -> Path:
    """Make the folders of a virtual environment, of a Python that no test needs to start."""
    (folder / "lib" / python / "site-packages").mkdir(parents=True)
    return folder


@pytest.fixture
def wheels(make_wheel: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder with one wheel for each of two processors; no package index is asked."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    text = b"Metadata-Version: 2.4\nName: demo\nVersion: 1.0\n"

    def make(platform: str) -> Path:
        module = f"PLATFORM = {platform!r}".encode()
        files = {"demo/__init__.py": module, "demo-1.0.dist-info/METADATA": text}
        return make_wheel(files, name=f"demo-1.0-cp315-cp315-{platform}.whl")

    made = [make(platform) for platform in ("linux_aarch64", "manylinux_2_28_x86_64")]
    return made[0].parent


@pytest.mark.parametrize(
    "platform", [entry for entry in PLATFORMS.values() if entry.builds], ids=lambda item: item.name
)
def test_the_wheel_for_the_other_machine_is_unpacked(tmp_path: Path, wheels: Path, platform: Platform) -> None:
    """Not the one for this machine and the Python that runs pip."""
    environment = make_environment(tmp_path / "venv")

    unpack_into(environment, platform, ["demo==1.0", "nothing; python_version < '3.15'"], folders=[wheels])
    site = environment / "lib/python3.15/site-packages"
    assert platform.architecture in (site / "demo/__init__.py").read_text()
    (wheel,) = wheels.glob(f"*{platform.architecture}.whl")
    with zipfile.ZipFile(wheel) as archive:
        rows = archive.read("demo-1.0.dist-info/RECORD").splitlines()
    assert set(rows) <= set((site / "demo-1.0.dist-info/RECORD").read_bytes().splitlines())


def test_what_there_is_no_wheel_for_is_named(tmp_path: Path, wheels: Path) -> None:
    """With Python and platform."""
    with pytest.raises(ProofError) as caught:
        unpack_into(make_environment(tmp_path / "venv", "python3.14"), ARM, ["demo==1.0"], folders=[wheels])
    assert caught.value.what == "cannot install for cp314 on linux_aarch64: demo==1.0"
    assert python_tag_of(make_environment(tmp_path / "free", "python3.14t")) == "cp314t"
    with pytest.raises(ProofError, match="no virtual environment"):
        python_tag_of(tmp_path)


def test_markers_are_judged_for_the_other_python() -> None:
    """Version and processor; a free-threaded Python has the version of the other one."""
    texts = ["a; python_version >= '3.14'", "b; platform_machine == 'x86_64'", "c[x]>=1; sys_platform == 'linux'"]
    assert list(select_requirements(texts, "cp314t", ARM)) == ["a", "c[x]>=1"]
    assert list(select_requirements(texts, "cp313", PLATFORMS["linux_x86_64"])) == ["b", "c[x]>=1"]

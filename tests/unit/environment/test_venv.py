# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The environment of programs under test, also for a Python and a processor that this machine may lack."""

from __future__ import annotations

import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from pjrtwheel.abis import plugin_tag
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.processes import clean_environ
from pjrtwheel.environment.venv import (
    create_venv,
    install,
    python_tag_of,
    select_requirements,
    unpack_into,
    wheelhouse_name,
)
from pjrtwheel.errors import ProofError
from pjrtwheel.platforms import PLATFORMS, Platform
from pjrtwheel.wheel.names import fits

WHEEL = b"Wheel-Version: 1.0\nGenerator: test\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
METADATA = b"Metadata-Version: 2.1\nName: demo\nVersion: 1.0\n"


@pytest.mark.parametrize(
    ("tag", "fitting", "others"),
    [
        ("cp312-abi3-linux_x86_64", "cp312 cp314", "cp311 cp314t"),
        ("cp313-cp313-linux_x86_64", "cp313", "cp312 cp314 cp313t"),
        ("cp314-cp314t-linux_x86_64", "cp314t", "cp314"),
        ("cp315-abi3t-linux_x86_64", "cp316t", "cp316"),
        (plugin_tag("cp312", "linux_x86_64"), "cp312 cp314t cp315 cp315t", "cp311"),
        (plugin_tag("cp315", "linux_x86_64"), "cp315", "cp314"),
    ],
)
def test_a_wheel_fits_its_python(tag: str, fitting: str, others: str) -> None:
    """Bindings fit one Python; a stable ABI fits that and every later one, with the GIL or without."""
    pythons = f"{fitting} {others}".split()
    assert [python for python in pythons if fits(tag, python)] == fitting.split()


def test_no_setting_reaches_the_programs_under_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Settings of the user for JAX, XLA, plugins and Python do not reach a proof; the rest does."""
    for name in ("JAX_PLATFORMS", "JAXLIB_CPU_DISABLE", "XLA_FLAGS", "PYTHONPATH", "PJRT_NAMES_AND_LIBRARY_PATHS"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setenv("SOME_PROXY", "kept")
    environ = clean_environ(JAX_TRACEBACK_FILTERING="off")
    settings = sorted(name for name in environ if name.startswith(("JAX", "XLA", "PYTHON", "PJRT_")))
    assert (settings, environ["SOME_PROXY"]) == (["JAX_TRACEBACK_FILTERING"], "kept")


def test_the_wheel_of_this_build_is_installed(make_wheel: Callable[..., Path], tmp_path: Path) -> None:
    """A wheel built anew under the same name is installed anew: the installer's cache holds the one before."""
    here = Interpreter(tag="", path=Path(sys.executable), prefix=sys.prefix, version="")
    installed = []
    for text in (b"FIRST", b"SECOND"):
        info = {"demo-1.0.dist-info/WHEEL": WHEEL, "demo-1.0.dist-info/METADATA": METADATA}
        wheel = make_wheel({"demo.py": text, **info})
        python = create_venv(here, tmp_path / "venv")
        install(python, ["demo"], [wheel.parent])
        installed += [path.read_bytes() for path in (tmp_path / "venv").glob("lib/*/site-packages/demo.py")]
    assert installed == [b"FIRST", b"SECOND"]


def test_other_pins_of_the_same_wheel_are_another_wheelhouse(make_wheel: Callable[..., Path]) -> None:
    """A folder that was filled for one pin lacks what the next one needs; the order of lines does not matter."""
    python = Interpreter(Path(sys.executable), "cp312", "3.12.1", sys.prefix)
    names = []
    for needs in (("libtpu==1",), ("libtpu==2",), ("libtpu==2", "numpy"), ("numpy", "libtpu==2")):
        lines = "".join(f"Requires-Dist: {need}\n" for need in needs)
        wheel = make_wheel({"demo-1.0.dist-info/METADATA": METADATA + lines.encode()})
        names.append(wheelhouse_name(python, ["jax"], [wheel]))
    assert [names.index(name) for name in names] == [0, 1, 2, 2]


def test_wheels_that_do_not_install_are_said_with_a_remedy(tmp_path: Path) -> None:
    """What is asked for, and where to look."""
    python = create_venv(Interpreter(Path(sys.executable), "", "", sys.prefix), tmp_path / "venv")
    with pytest.raises(ProofError) as caught:
        install(python, ["nowhere==1"], [tmp_path])
    assert ("nowhere==1" in caught.value.what, "nowhere" in caught.value.cause) == (True, True)


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

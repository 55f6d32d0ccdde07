# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The environment of programs under test."""

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pjrtwheel.abis import plugin_tag
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.processes import clean_environ
from pjrtwheel.environment.venv import create_venv, install, install_wheels, wheelhouse_name
from pjrtwheel.errors import ProofError
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
        (plugin_tag("cp312", "linux_x86_64"), "cp312 cp314t cp315 cp315t", "cp311 cp313t"),
        (plugin_tag("cp315", "linux_x86_64"), "cp315", "cp314"),
    ],
)
def test_a_wheel_fits_its_python(tag: str, fitting: str, others: str) -> None:
    """Bindings fit one Python; a stable ABI fits that and every later one, with the GIL or without."""
    assert [python for python in f"{fitting} {others}".split() if fits(tag, python)] == fitting.split()


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


def test_a_wheel_with_a_label_is_another(make_wheel: Callable[..., Path], tmp_path: Path) -> None:
    """Which `==` would take for the one that is proven, and prefer."""
    here = Interpreter(tag="", path=Path(sys.executable), prefix=sys.prefix, version="")
    wheel, _ = (
        make_wheel(
            {
                f"demo-{version}.dist-info/WHEEL": WHEEL,
                f"demo-{version}.dist-info/METADATA": METADATA.replace(b"1.0", version.encode()),
            },
            name=f"demo-{version}-py3-none-any.whl",
        )
        for version in ("1.0", "1.0+own.1")
    )
    (tmp_path / "wheelhouses" / wheelhouse_name(here, (), [wheel])).mkdir(parents=True)
    install_wheels(create_venv(here, tmp_path / "venv"), here, (), [wheel], tmp_path)
    assert [path.name for path in tmp_path.glob("venv/lib/*/site-packages/demo*")] == ["demo-1.0.dist-info"]


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

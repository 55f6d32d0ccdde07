# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the wheel of an accelerator must hold, and where."""

from dataclasses import replace
from pathlib import Path

import pytest

import abacus_backend
from pjrtwheel.abis import plugin_tag
from pjrtwheel.backend import Backend, Kernels, parse_backend
from pjrtwheel.verify import accelerator
from pjrtwheel.verify.contents import WheelContents
from pjrtwheel.wheel.names import parse_name

KERNELS = Kernels("abacus-kernels", "abacus_kernels")
BACKEND = replace(parse_backend(abacus_backend.BACKEND, Path("plugins/abacus/backend.toml")), kernels=KERNELS)
UNBUNDLED = replace(BACKEND, prebuilt=replace(BACKEND.prebuilt, bundled=False), kernels=None)
INFO = "jaxlib_abacus-1.0.dist-info"
MODULES = tuple(f"abacus_kernels/_sums.cpython-{python}-x86_64-linux-gnu.so" for python in ("312", "313"))
APART = "jaxlib_abacus_kernels-1.0-cp312-cp312-manylinux_2_27_x86_64.whl"


def wheel(
    libraries: tuple[str, ...],
    requires: str = "",
    filename: str = "jaxlib_abacus-1.0-cp312-abi3-manylinux_2_27_x86_64.whl",
) -> WheelContents:
    """Return a wheel as it is read."""
    text = f"Metadata-Version: 2.4\nRequires-Dist: jaxlib==1.0\n{requires}"
    name = parse_name(filename)
    paths = dict.fromkeys(libraries, Path("lib.so"))
    return WheelContents(Path("w.whl"), name, INFO, {}, {}, {f"{INFO}/METADATA": text}, paths)


def test_packages_at_the_top() -> None:
    """Kernels are where JAX looks for them, next to a package of our own; the plugin's wheel has its own alone."""
    packages = accelerator.expected_packages(wheel(MODULES[:1], filename=APART), BACKEND)
    assert packages == ("jaxlib_abacus_kernels", "abacus_kernels")
    assert accelerator.expected_packages(wheel(("jaxlib_abacus/abacus.so",)), BACKEND) == ("jaxlib_abacus",)


@pytest.mark.parametrize(
    ("backend", "libraries", "requires", "members"),
    [
        (BACKEND, ("jaxlib_abacus/abacus.so",), "", []),
        (BACKEND, (), "", ["jaxlib_abacus/abacus.so"]),
        (UNBUNDLED, (), "abacus_pjrt==1.0", []),
        *(
            (UNBUNDLED, (), f"abacus-pjrt{loose}", [f"{INFO}/METADATA"])
            for loose in (">=1", "==1.*", "===1.0", "==1.0,!=1.1", "==1.0; extra == 'abacus'")
        ),
        (UNBUNDLED, ("jaxlib_abacus/abacus.so",), "a==1", ["jaxlib_abacus/abacus.so", f"{INFO}/METADATA"]),
    ],
)
def test_library_is_bundled_or_required(
    backend: Backend, libraries: tuple[str, ...], requires: str, members: list[str]
) -> None:
    """A wheel either carries the plugin library, or requires the one version of the distribution that does."""
    contents = wheel(libraries, f"Requires-Dist: {requires}\n" if requires else "")
    assert [member for member, _ in accelerator.check_plugin(contents, backend)] == members


TWINS = ("_pjrt.abi3.so", "_pjrt.cpython-314t-x86_64-linux-gnu.so", "_pjrt.abi3t.so")
EXTENSION = tuple(f"jaxlib_abacus/pjrt/{name}" for name in TWINS)


def tagged(libraries: tuple[str, ...], platform: str = "manylinux_2_27_x86_64") -> WheelContents:
    """Return a wheel whose name claims every ABI that the extension is compiled for."""
    name = parse_name(f"jaxlib_abacus-1.0-{plugin_tag('cp312', platform)}.whl")
    return replace(wheel(libraries), name=name)


def test_every_abi_of_the_name_has_a_module() -> None:
    """A module for the stable ABI has its twins, of the wheel's own architecture; libraries need none."""
    assert list(accelerator.check_abis(tagged((*EXTENSION, "jaxlib_abacus/abacus.so")))) == []
    assert list(accelerator.check_abis(wheel(EXTENSION[:1]))) == []
    assert [member for member, _ in accelerator.check_abis(tagged(EXTENSION[:1]))] == [*EXTENSION[1:]]
    twin = "jaxlib_abacus/pjrt/_pjrt.cpython-314t-aarch64-linux-gnu.so"
    assert [member for member, _ in accelerator.check_abis(tagged(EXTENSION, "manylinux_2_27_aarch64"))] == [twin]


def test_a_twin_of_the_extension_is_no_kernel() -> None:
    """It does not have to lie where JAX looks for kernels."""
    assert list(accelerator.check_kernels(tagged(EXTENSION), BACKEND)) == []
    assert [member for member, _ in accelerator.check_kernels(tagged(EXTENSION[1:2]), UNBUNDLED)] == [EXTENSION[1]]


@pytest.mark.parametrize(
    ("members", "expected"),
    [
        (MODULES[:1], []),
        (("jaxlib_abacus_kernels/count.so",), [""]),
        (MODULES, [MODULES[1]]),
        *(
            ((*MODULES[:1], other), [other])
            for other in (
                "abacus_kernels/_sums.cpython-312-aarch64-linux-gnu.so",
                "jaxlib_abacus/_sums.cpython-312-x86_64-linux-gnu.so",
            )
        ),
    ],
    ids=["right", "none", "other Python", "other machine", "other place"],
)
def test_kernels_are_where_jax_looks_for_them(members: tuple[str, ...], expected: list[str]) -> None:
    """There are some in their wheel, all of them for its Python."""
    assert [member for member, _ in accelerator.check_kernels(wheel(members, filename=APART), BACKEND)] == expected


@pytest.mark.parametrize("backend", [None, UNBUNDLED, BACKEND], ids=["no accelerator", "no kernels", "the plugin"])
def test_modules_of_one_python_have_no_place_elsewhere(backend: Backend | None) -> None:
    """A wheel for every Python holds none."""
    assert [member for member, _ in accelerator.check_kernels(wheel(MODULES[:1]), backend)] == [MODULES[0]]

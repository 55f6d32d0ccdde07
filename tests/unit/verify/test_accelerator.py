# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the wheel of an accelerator must hold, and where."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from packaging.utils import canonicalize_name

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


def wheel(libraries: tuple[str, ...], requires: str = "") -> WheelContents:
    """Return a wheel as it is read."""
    text = f"Metadata-Version: 2.4\nRequires-Dist: jaxlib==1.0\n{requires}"
    name = parse_name("jaxlib_abacus-1.0-cp312-abi3-manylinux_2_27_x86_64.whl")
    paths = dict.fromkeys(libraries, Path("lib.so"))
    return WheelContents(Path("w.whl"), name, INFO, {}, {}, {f"{INFO}/METADATA": text}, paths)


def test_backend_is_found_by_its_distribution() -> None:
    """However the name is spelled; other wheels have none."""
    assert accelerator.find_backend(canonicalize_name("JAXlib_abacus"), [BACKEND]) is BACKEND
    assert accelerator.find_backend(canonicalize_name("jaxlib"), [BACKEND]) is None


def test_packages_at_the_top() -> None:
    """That of the kernels belongs there as soon as there are some."""
    assert accelerator.expected_packages(wheel(MODULES), BACKEND) == ("jaxlib_abacus", "abacus_kernels")
    assert accelerator.expected_packages(wheel(("jaxlib_abacus/abacus.so",)), BACKEND) == ("jaxlib_abacus",)


def provenance_of(*pythons: str) -> str:
    """Return a `provenance.json` with kernels for some Pythons."""
    return json.dumps({"project": "abacus-pjrt", "kernels": [{"python": python} for python in pythons]})


@pytest.mark.parametrize(
    ("backend", "libraries", "requires", "problems"),
    [
        (BACKEND, ("jaxlib_abacus/abacus.so",), "", []),
        (BACKEND, (), "", [("jaxlib_abacus/abacus.so", "is missing")]),
        (UNBUNDLED, (), "Requires-Dist: abacus_pjrt==1.0\n", []),
        (UNBUNDLED, (), "", [(f"{INFO}/METADATA", "does not require one version of abacus-pjrt")]),
        *(
            (
                UNBUNDLED,
                (),
                f"Requires-Dist: abacus-pjrt{loose}\n",
                [(f"{INFO}/METADATA", "does not require one version of abacus-pjrt")],
            )
            for loose in ("==1.*", "===1.0", "==1.0,!=1.1", "==1.0; extra == 'abacus'")
        ),
        (
            UNBUNDLED,
            ("jaxlib_abacus/abacus.so",),
            "Requires-Dist: abacus-pjrt>=1.0\n",
            [
                ("jaxlib_abacus/abacus.so", "must not be bundled"),
                (f"{INFO}/METADATA", "does not require one version of abacus-pjrt"),
            ],
        ),
    ],
    ids=["bundled", "missing", "required", "neither", "wildcard", "arbitrary", "two", "marker", "both"],
)
def test_library_is_bundled_or_required(
    backend: Backend, libraries: tuple[str, ...], requires: str, problems: list[tuple[str, str]]
) -> None:
    """A wheel either carries the plugin library, or requires the one version of the distribution that does."""
    assert list(accelerator.check_plugin(wheel(libraries, requires), backend)) == problems


TWINS = ("_pjrt.abi3.so", "_pjrt.abi3t.so", "_pjrt.cpython-314t-x86_64-linux-gnu.so")
EXTENSION = tuple(f"jaxlib_abacus/pjrt/{name}" for name in TWINS)


def tagged(libraries: tuple[str, ...], platform: str = "manylinux_2_27_x86_64") -> WheelContents:
    """Return a wheel whose name claims every ABI that the extension is compiled for."""
    name = parse_name(f"jaxlib_abacus-1.0-{plugin_tag('cp312', platform)}.whl")
    return replace(wheel(libraries), name=name)


def test_every_abi_of_the_name_has_a_module() -> None:
    """A module for the stable ABI has its twins, of the wheel's own architecture; libraries need none."""
    assert list(accelerator.check_abis(tagged((*EXTENSION, "jaxlib_abacus/abacus.so")))) == []
    assert list(accelerator.check_abis(wheel(EXTENSION[:1]))) == []
    assert list(accelerator.check_abis(tagged(EXTENSION[:1]))) == [
        (EXTENSION[1], "is missing, although the wheel claims the ABI abi3t"),
        (EXTENSION[2], "is missing, although the wheel claims the ABI cp314t"),
    ]
    twin = "jaxlib_abacus/pjrt/_pjrt.cpython-314t-aarch64-linux-gnu.so"
    assert list(accelerator.check_abis(tagged(EXTENSION, "manylinux_2_27_aarch64"))) == [
        (twin, "is missing, although the wheel claims the ABI cp314t")
    ]


def test_a_twin_of_the_extension_is_no_kernel() -> None:
    """It neither has to lie where JAX looks for kernels, nor stands for them."""
    assert list(accelerator.check_kernels(tagged((*EXTENSION, *MODULES)), BACKEND)) == []
    assert list(accelerator.check_kernels(tagged(EXTENSION[2:]), UNBUNDLED)) == [
        (EXTENSION[2], "is a module of one CPython, which this wheel may not have")
    ]
    without = replace(tagged(EXTENSION), texts={"jaxlib_abacus/provenance.json": provenance_of()})
    assert list(accelerator.check_presence(without)) == []


@pytest.mark.parametrize(
    ("members", "problems"),
    [
        (MODULES, []),
        (("jaxlib_abacus/pjrt/_pjrt.abi3.so",), []),
        (MODULES[:1], []),
        (
            (*MODULES, "abacus_kernels/_rods.cpython-314t-x86_64-linux-gnu.so"),
            [
                ("", "has no _rods for cp312"),
                ("", "has no _rods for cp313"),
                ("", "has no _sums for cp314t"),
            ],
        ),
        (
            (*MODULES, "abacus_kernels/_sums.cpython-314-aarch64-linux-gnu.so"),
            [
                (
                    "abacus_kernels/_sums.cpython-314-aarch64-linux-gnu.so",
                    "has a suffix that no Python on x86_64 has",
                )
            ],
        ),
        (
            (*MODULES, "jaxlib_abacus/_sums.cpython-313-x86_64-linux-gnu.so"),
            [
                (
                    "jaxlib_abacus/_sums.cpython-313-x86_64-linux-gnu.so",
                    "is in 'jaxlib_abacus', expected 'abacus_kernels'",
                )
            ],
        ),
    ],
    ids=["right", "none", "one Python", "other modules", "other machine", "other place"],
)
def test_kernels_are_where_jax_looks_for_them(members: tuple[str, ...], problems: list[tuple[str, str]]) -> None:
    """Every module is there for every Python that has one."""
    assert list(accelerator.check_kernels(wheel(members), BACKEND)) == problems


@pytest.mark.parametrize("backend", [None, UNBUNDLED], ids=["no accelerator", "no kernels"])
def test_modules_of_one_python_have_no_place_elsewhere(backend: Backend | None) -> None:
    """A wheel for every Python holds none, but where the backend file says so."""
    assert list(accelerator.check_kernels(wheel(MODULES[:1]), backend)) == [
        (MODULES[0], "is a module of one CPython, which this wheel may not have")
    ]


def test_kernels_for_another_machine() -> None:
    """The suffix names the architecture of the wheel."""
    problems = list(accelerator.check_kernels(tagged(MODULES, "manylinux_2_27_aarch64"), BACKEND))
    assert [member for member, _ in problems] == list(MODULES)


@pytest.mark.parametrize(
    ("libraries", "provenance", "problem"),
    [
        (MODULES, provenance_of("cp312", "cp313"), ""),
        ((), provenance_of(), ""),
        (MODULES[:1], provenance_of("cp312", "cp313"), "names kernels for cp312, cp313, the wheel has some for cp312"),
        (MODULES[:1], provenance_of(), "names kernels for no Python, the wheel has some for cp312"),
        ((), provenance_of("cp314t"), "names kernels for cp314t, the wheel has some for no Python"),
        ((), "[]", "expected an object, found []"),
    ],
    ids=["right", "none", "one missing", "not stated", "all missing", "damaged"],
)
def test_kernels_are_those_that_the_provenance_names(libraries: tuple[str, ...], provenance: str, problem: str) -> None:
    """A wheel states for which Pythons it has kernels, and that is compared with what is in it."""
    contents = wheel(libraries)
    contents.texts["jaxlib_abacus/provenance.json"] = provenance
    expected = [("jaxlib_abacus/provenance.json", problem)] if problem else []
    assert list(accelerator.check_presence(contents)) == expected

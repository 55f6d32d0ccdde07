# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The extension's sources against CPython's headers: its stable ABIs."""

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from pjrtwheel.environment.interpreters import find_interpreters

pytestmark = pytest.mark.integration

# Macro of the ABI → the oldest Python whose headers have it. A free-threaded Python's own headers are those of the same
# version with the GIL, but for this macro.
ABIS = {"Py_LIMITED_API=0x030c0000": (3, 12), "Py_GIL_DISABLED": (3, 13), "Py_TARGET_ABI3T=0x030f0000": (3, 15)}


@pytest.mark.parametrize("macro", ABIS)
def test_declarations_agree_with_cpython(root: Path, compile_library: Callable[..., Path], macro: str) -> None:
    """The compiler refuses a declaration of stable_abi.h that differs from the same one in Python.h."""
    found = find_interpreters(f"cp3{minor}" for minor in range(ABIS[macro][1], 16))
    question = "import sysconfig; print(sysconfig.get_path('include'))"
    asked = [[str(entry.path), "-I", "-c", question] for entry in found.values() if entry]
    includes = [Path(subprocess.check_output(command, text=True).strip()) for command in asked]
    headers = [include for include in includes if (include / "Python.h").exists()]
    if not headers:
        pytest.skip(f"no Python with headers is installed here: none of {', '.join(found)}")
    compare = root / "tests/data/stable_abi_check.c"
    for include in headers:
        compile_library("compare.o", f"-D{macro}", f"-I{include}", f"-I{include.parent}", compare, shared=False)


@pytest.mark.parametrize(
    ("flags", "refusal"),
    [
        ((), "Py_LIMITED_API is set by the build"),
        (("-DPy_LIMITED_API=0x030b0000",), r"needs the stable ABI of CPython 3\.12"),
        (("-DPy_TARGET_ABI3T=0x030e0000",), r"begins with CPython 3\.15"),
    ],
)
def test_the_build_must_say_which_stable_abi(
    root: Path, compile_library: Callable[..., Path], flags: tuple[str, ...], refusal: str
) -> None:
    """It comes from backend.toml, never from a source file."""
    with pytest.raises(AssertionError, match=refusal):
        compile_library("module.o", *flags, root / "plugins/pjrt/module.c", shared=False)

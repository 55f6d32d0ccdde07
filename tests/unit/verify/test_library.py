# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Checks of shared objects."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pjrtwheel.errors import ElfError
from pjrtwheel.platforms import host_platform
from pjrtwheel.verify.elf import check_library
from pjrtwheel.verify.formats import read_library
from pjrtwheel.verify.library import Library, check_exports

RIGHT = Library(
    "a/lib.so",
    "EM_X86_64",
    exports=("GetPjrtApi",),
    needed=("libc.so.6",),
    search_paths=("$ORIGIN/../b",),
    executable_stack=False,
    alignment=0x1000,
)


def test_a_right_library_has_no_problem() -> None:
    """Nothing is said about a library that is as it should be."""
    assert [*check_library(RIGHT, "EM_X86_64"), *check_exports(RIGHT, ("GetPjrtApi", "Optional"))] == []


@pytest.mark.parametrize(
    ("library", "machine", "problem"),
    [
        (RIGHT, "EM_AARCH64", "is for EM_X86_64, expected EM_AARCH64"),
        (
            replace(RIGHT, search_paths=("/usr/lib",)),
            "EM_X86_64",
            "has RPATH element '/usr/lib', expected one below $ORIGIN",
        ),
        (replace(RIGHT, search_paths=("",)), "EM_X86_64", "has RPATH element '', expected one below $ORIGIN"),
        (
            replace(RIGHT, search_paths=("$ORIGIN/../../b",)),
            "EM_X86_64",
            "has RPATH element '$ORIGIN/../../b', which leads out of site-packages",
        ),
        (
            replace(RIGHT, search_paths=("$ORIGIN", "$ORIGIN")),
            "EM_X86_64",
            "has a repeated RPATH element in '$ORIGIN:$ORIGIN'",
        ),
        (replace(RIGHT, executable_stack=True), "EM_X86_64", "asks for an executable stack"),
        (
            replace(RIGHT, machine="EM_AARCH64"),
            "EM_AARCH64",
            "has segments aligned to 0x1000, too little for 64 KiB pages",
        ),
    ],
    ids=["machine", "absolute", "empty", "outside", "repeated", "stack", "alignment"],
)
def test_each_fault_is_named(library: Library, machine: str, problem: str) -> None:
    """One fault gives one problem, with the offending value."""
    assert list(check_library(library, machine)) == [("a/lib.so", problem)]


def test_declared_search_paths_are_right() -> None:
    """What the backend file names may stay, and nothing like it."""
    library = replace(RIGHT, search_paths=("$ORIGIN/../../..", "/opt/rocm/lib", "/opt/rocm"))
    assert list(check_library(library, "EM_X86_64", ("/opt/rocm/lib", "$ORIGIN/../../.."))) == [
        ("a/lib.so", "has RPATH element '/opt/rocm', expected one below $ORIGIN")
    ]


def test_symbols_of_the_linker_are_allowed() -> None:
    """Every XLA that was built with protobuf has them, so no backend lists them."""
    exports = ("GetPjrtApi", "__start_pb_defaults", "__stop_pb_defaults")
    assert list(check_exports(replace(RIGHT, exports=exports), ("GetPjrtApi",))) == []


def test_exports_are_held_to_the_list() -> None:
    """The entry point must be there, and nothing that is not allowed."""
    leaking = replace(RIGHT, exports=("a", "b", "c", "d", "e", "f"))
    assert list(check_exports(leaking, ("GetPjrtApi",))) == [
        ("a/lib.so", "does not export 'GetPjrtApi'"),
        ("a/lib.so", "exports 6 symbols beyond the allowed ones: a, b, c, d, e"),
    ]


@pytest.mark.skipif(not hasattr(math, "__file__"), reason="this Python has math built in")
def test_a_real_extension_is_read() -> None:
    """Python's own extension module exports its initializer and has an ordinary stack."""
    library = read_library(Path(math.__file__), "math.so")
    assert "libc.so.6" in library.needed
    assert (library.machine, library.exports, library.executable_stack) == (
        host_platform().machine,
        ("PyInit_math",),
        False,
    )
    assert library.alignment >= 0x1000


def test_a_text_is_no_library(tmp_path: Path) -> None:
    """The error names the member of the wheel, not the temporary file."""
    (tmp_path / "0001.so").write_text("INPUT(libfoo.so)")
    with pytest.raises(ElfError, match=r"^a/lib\.so is not an ELF file"):
        read_library(tmp_path / "0001.so", "a/lib.so")


@pytest.mark.parametrize("sections", [True, False])
def test_what_the_loader_sees_is_read(make_elf: Callable[..., bytes], tmp_path: Path, *, sections: bool) -> None:
    """With section headers and without: the loader does not need them."""
    (tmp_path / "a.so").write_bytes(make_elf(runpath="$ORIGIN:$ORIGIN/b", rpath="/c", stack_flags=7, sections=sections))

    library = read_library(tmp_path / "a.so", "a/a.so")

    assert (library.machine, library.exports, library.needed) == ("EM_X86_64", ("GetPjrtApi",), ("libc.so.6",))
    assert (library.search_kind, library.search_paths) == ("RPATH+RUNPATH", ("/c", "$ORIGIN", "$ORIGIN/b"))
    assert (library.executable_stack, library.alignment, library.is_plugin) == (True, 0x1000, True)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(changes=st.lists(st.tuples(st.integers(0, 4095), st.integers(0, 255)), min_size=1, max_size=8))
def test_damage_never_surprises(make_elf: Callable[..., bytes], tmp_path: Path, changes: list[tuple[int, int]]) -> None:
    """Whatever bytes are damaged, the library is read, or refused by the name of the member."""
    data = bytearray(make_elf(runpath="/opt/x:$ORIGIN"))
    for place, value in changes:
        data[place % len(data)] = value
    (tmp_path / "a.so").write_bytes(data)
    try:
        library = read_library(tmp_path / "a.so", "a/a.so")
    except ElfError as error:
        assert str(error).startswith("a/a.so is ")  # noqa: PT017 - refusing is one of two outcomes
    else:
        assert library.member == "a/a.so"

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is decided before and between the steps of a build."""

from __future__ import annotations

import argparse
import dataclasses
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel.backend import Backend, find_backend
from pjrtwheel.bazel import BuildLog, BuildResult
from pjrtwheel.bazel.events import Action
from pjrtwheel.build import (
    check_library,
    check_set,
    check_writable,
    describe_actions,
    describe_repair,
    parse_provider,
    verification_key,
)
from pjrtwheel.cli import build as command
from pjrtwheel.errors import ElfError, UsageError, VerifyError
from pjrtwheel.verify import Report


@pytest.fixture
def cpu(root: Path) -> Backend:
    """Return the CPU backend."""
    return find_backend(root, "cpu")


def test_provider_names_stand_for_themselves() -> None:
    """The two providers need no path."""
    assert [parse_provider(name) for name in ("prebuilt", "source")] == [("prebuilt", None), ("source", None)]


def test_anything_else_is_the_path_of_a_library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A relative path means the directory the command was called in."""
    (tmp_path / "plugin.so").write_bytes(b"")
    monkeypatch.chdir(tmp_path)
    assert parse_provider("plugin.so") == ("file", tmp_path / "plugin.so")


@pytest.mark.parametrize(
    ("content", "text"),
    [
        ({"machine": 183}, "is made for EM_AARCH64, expected EM_X86_64"),
        ({"exports": ["main"]}, "exports no GetPjrtApi"),
        (b"no library at all", "is not an ELF file"),
    ],
    ids=["machine", "exports", "text"],
)
def test_a_library_of_ones_own_is_refused_by_its_path(
    content: dict[str, Any] | bytes, text: str, cpu: Backend, make_elf: Callable[..., bytes], tmp_path: Path
) -> None:
    """Before Bazel is started, and not under the name that it would have in a wheel."""
    library = tmp_path / "mine.so"
    library.write_bytes(content if isinstance(content, bytes) else make_elf(**content))
    with pytest.raises(ElfError) as caught:
        check_library(library, cpu, "linux_x86_64")
    assert caught.value.what == f"{library} {text}"


def test_a_plugin_of_ones_own_is_accepted(cpu: Backend, make_elf: Callable[..., bytes], tmp_path: Path) -> None:
    """One that is for the platform and exports what it may, with what the linker adds to every XLA with protobuf."""
    exports = (*cpu.exports, "__start_pb_defaults", "__stop_pb_defaults")
    (tmp_path / "mine.so").write_bytes(make_elf(exports=exports))
    check_library(tmp_path / "mine.so", cpu, "linux_x86_64")


def test_path_that_is_no_file_is_refused() -> None:
    """A misspelled provider is answered with the choices."""
    with pytest.raises(UsageError) as caught:
        parse_provider("prebuild")
    assert str(caught.value).splitlines() == [
        "no such library: 'prebuild'",
        "--xla takes 'prebuilt', 'source' or the path of a PJRT plugin library",
    ]


def test_actions_are_counted_by_kind() -> None:
    """The user sees what Bazel did, and that it did nothing when nothing changed."""

    def result(*mnemonics: str) -> BuildResult:
        actions = tuple(Action(name, "//:x", "x", success=True, exit_code=0, stderr="") for name in mnemonics)
        return BuildResult((), BuildLog({}, actions, ""))

    assert describe_actions(result("Wheel", "Compile", "Wheel")) == "Bazel ran 3 actions: Compile 1, Wheel 2"
    assert describe_actions(result("Wheel")) == "Bazel ran 1 action: Wheel 1"
    assert describe_actions(result()) == "Bazel ran 0 actions, everything was up to date"


def test_repair_is_summed_up_in_one_line() -> None:
    """The user sees how much repair did to a wheel, and where to read it file by file."""
    changes: dict[str, tuple[str, ...]] = {"jaxlib/a.so": ("dropped .symtab",), "jaxlib/b.so": ("dropped .comment",)}
    report = Report("a.whl", "jaxlib", "1", "t", "ab", 5, (), "id", "prebuilt", {}, changes, 99_760_000)
    assert describe_repair(report) == "a.whl: repair changed 2 files and dropped 99.8 MB ('changes' in release.json)"


def test_verification_is_repeated_for_other_bytes_only(cpu: Backend) -> None:
    """A wheel that was verified in one set need not be verified again in another."""
    assert verification_key("a", [cpu]) == verification_key("a", [cpu])
    assert verification_key("a", [cpu]) != verification_key("b", [cpu])


def test_wheels_of_two_sets_are_refused() -> None:
    """Wheels that were verified apart are still held against each other."""

    def report(name: str, lock_id: str) -> Report:
        return Report(f"{name}.whl", name, "1", "t", "ab", 5, (), lock_id, "prebuilt", {}, {}, 0)

    check_set([report("jaxlib", "0123456789"), report("jaxlib-cpu", "0123456789")])
    with pytest.raises(VerifyError) as caught:
        check_set([report("jaxlib", "0123456789"), report("jaxlib-cpu", "abcdefghij")])
    assert caught.value.what == "wheels of different sets: jaxlib.whl (01234567), jaxlib-cpu.whl (abcdefgh)"


def test_verification_is_repeated_for_another_allow_list(cpu: Backend, tmp_path: Path) -> None:
    """The exports that a library may have stand in the backend's table, so a change of it asks for a new look."""
    table = tmp_path / "backend.toml"
    table.write_text(cpu.path.read_text("utf-8").replace('exports = ["GetPjrtApi"', 'exports = ["Other"'), "utf-8")
    assert table.read_bytes() != cpu.path.read_bytes()
    assert verification_key("a", [dataclasses.replace(cpu, path=table)]) != verification_key("a", [cpu])


def test_place_that_cannot_be_written_is_refused_before_building(tmp_path: Path) -> None:
    """A file in the way is noticed at once; folders that are missing can be made."""
    (tmp_path / "file").touch()
    check_writable(tmp_path / "new" / "dist")
    with pytest.raises(UsageError, match=r"cannot write to .*/file/dist"):
        check_writable(tmp_path / "file" / "dist")


@pytest.mark.parametrize("arguments", [[], ["cpu", "--bindings-only"]], ids=["neither", "both"])
def test_backend_or_bindings_must_be_chosen(arguments: list[str]) -> None:
    """The command never guesses what to build."""
    parser = argparse.ArgumentParser()
    command.configure_parser(parser)
    with pytest.raises(UsageError, match="name one backend, or say --bindings-only"):
        command.execute(parser.parse_args(arguments))

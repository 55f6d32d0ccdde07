# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a plugin's loader refuses before it opens anything: locks, libraries, Pythons."""

import importlib.machinery
import json
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from folders import write_dist_info
from loaders import load_cpu
from small_libraries import build_elf

LOCK = {"schema": 2, "release": "1.2.3", "version": "1.2.3", "build": 1, "provider": "prebuilt", "lock_id": "a" * 32}
REMEDY = "pip install --force-reinstall --no-deps jaxlib==1.2.3 jaxlib-cpu==1.2.3"
NOTE = "add the --find-links or --index-url that both wheels came from"


def write_lock(directory: Path, **changes: object) -> Path:
    """Write a lock document into a directory and return the directory."""
    directory.mkdir(parents=True, exist_ok=True)
    (directory / "release_lock.json").write_text(json.dumps(LOCK | changes), "utf-8")
    return directory


def test_a_pair_of_one_build_is_accepted(tmp_path: Path) -> None:
    """Equal locks give the lock."""
    lock = load_cpu("pjrt.lock")
    package, jaxlib = write_lock(tmp_path / "jaxlib_cpu"), write_lock(tmp_path / "jaxlib")
    assert lock.check_release("jaxlib-cpu", package, jaxlib) == lock.Lock("1.2.3", 1, "prebuilt", "a" * 32, "1.2.3")


@pytest.mark.parametrize(
    ("changes", "error", "named"),
    [
        ({"release": "1.2.2", "version": "1.2.2"}, "VersionMismatchError", ("jaxlib-cpu 1.2.3", "jaxlib 1.2.2")),
        ({"lock_id": "b" * 32, "provider": "source"}, "LockMismatchError", ("a" * 32, "b" * 32, "source")),
        (None, "JaxlibMissingError", ("jaxlib 1.2.3",)),
    ],
    ids=["release", "build", "none"],
)
def test_another_jaxlib_is_refused(
    tmp_path: Path, changes: dict[str, object] | None, error: str, named: tuple[str, ...]
) -> None:
    """The message has both sides, and a command that can be pasted, with what else there is to know apart from it."""
    package = write_lock(tmp_path / "jaxlib_cpu")
    jaxlib = None if changes is None else write_lock(tmp_path / "jaxlib", **changes)
    with pytest.raises(getattr(load_cpu("pjrt.errors"), error)) as caught:
        load_cpu("pjrt.lock").check_release("jaxlib-cpu", package, jaxlib)
    assert [value for value in named if value not in caught.value.what] == []
    assert (caught.value.remedy, caught.value.note) == (REMEDY, NOTE)


@pytest.mark.parametrize(
    ("installed", "fits"),
    [("1.2", True), ("1.2.3+split.1", True), ("1.1.9", False), ("1.2.4", False), (None, True)],
)
def test_a_plugin_for_upstreams_jaxlib_takes_its_releases(tmp_path: Path, installed: str | None, fits: bool) -> None:
    """Whether it is ours or upstream's; where its version is not known, JAX decides."""
    lock, errors = load_cpu("pjrt.lock"), load_cpu("pjrt.errors")
    package = write_lock(tmp_path / "jaxlib_cpu", release="1.2", version="1.2.3", lock_id="")
    (tmp_path / "jaxlib").mkdir()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(lock, "installed_version", {"jaxlib": installed}.get)
        if fits:
            assert lock.check_release("jaxlib-cpu", package, tmp_path / "jaxlib").version == "1.2.3"
        else:
            with pytest.raises(errors.VersionMismatchError) as caught:
                lock.check_release("jaxlib-cpu", package, tmp_path / "jaxlib")
            assert caught.value.remedy.endswith("install jax==1.2.3 jaxlib==1.2.3")
            assert not caught.value.note  # both are on the package index


@pytest.mark.parametrize("text", [None, "", "[]", "{}", '{"release": "1.2.3"}'], ids=repr)
def test_a_jaxlib_without_a_lock_is_refused(tmp_path: Path, text: str | None) -> None:
    """So is one whose lock cannot be read."""
    package, jaxlib = write_lock(tmp_path / "jaxlib_cpu"), tmp_path / "jaxlib"
    jaxlib.mkdir()
    if text is not None:
        (jaxlib / "release_lock.json").write_text(text, "utf-8")
    with pytest.raises(load_cpu("pjrt.errors").LockMissingError) as caught:
        load_cpu("pjrt.lock").check_release("jaxlib-cpu", package, jaxlib)
    assert caught.value.what.startswith(f"jaxlib has no readable release lock: {jaxlib / 'release_lock.json'} (")
    assert (caught.value.remedy, caught.value.note) == (REMEDY, NOTE)


@pytest.mark.parametrize("keep", [0.999, 0.5, 0.02], ids=["end", "half", "headers only"])
def test_a_truncated_library_is_found(tmp_path: Path, keep: float) -> None:
    """The dynamic linker would map what is not there, and the process would die of SIGBUS."""
    path, data = tmp_path / "plugin.so", build_elf()
    check, errors = load_cpu("pjrt.library").check_library, load_cpu("pjrt.errors")
    with pytest.raises(errors.LibraryMissingError):
        check(path, "x86_64", "install it again")
    path.write_bytes(data)
    check(path, "x86_64", "")
    path.write_bytes(data[: max(70, int(len(data) * keep))])
    with pytest.raises(errors.LibraryDamagedError, match="truncated") as caught:
        check(path, "x86_64", "install it again")
    assert (str(path) in caught.value.what, caught.value.remedy) == (True, "install it again")


def test_what_installing_again_does_not_bring(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The symbol, and the libraries that should have it, are named, without a command that cannot help."""
    plugin, errors, path = load_cpu("pjrt.plugin"), load_cpu("pjrt.errors"), tmp_path / "plugin.so"
    path.write_bytes(build_elf(needed=("libc.so.6", "libbead.so.1")))

    def load(path: Path) -> None:
        raise {True: OSError, False: RuntimeError}[path.is_file()](f"{path}: undefined symbol: count")

    monkeypatch.setattr(plugin, "import_extension", lambda: SimpleNamespace(load=load))
    with pytest.raises(errors.LibraryDamagedError, match="undefined symbol: count") as caught:
        plugin.load_library(path, "install it again")
    assert ("libbead.so.1" in caught.value.cause, caught.value.remedy) == (True, "")
    with pytest.raises(errors.LibraryDamagedError) as caught:
        plugin.load_library(tmp_path, "install it again")
    assert caught.value.remedy == "install it again"


@pytest.mark.parametrize("data", [b"", b"\x7fELF", b"<html>" + bytes(100)], ids=["empty", "magic", "html"])
def test_what_is_no_elf_file_is_found(tmp_path: Path, data: bytes) -> None:
    """Whatever its size."""
    path = tmp_path / "plugin.so"
    path.write_bytes(data)
    with pytest.raises(load_cpu("pjrt.errors").LibraryDamagedError, match="is not an ELF file"):
        load_cpu("pjrt.library").check_library(path, "x86_64", "")


SPLIT = {"version": "1.2.3+split.1"}


@pytest.fixture
def own(monkeypatch: pytest.MonkeyPatch) -> Callable[[set[str]], None]:
    """Return a function: the plugins that the installed jaxlib has extras for."""
    lock = load_cpu("pjrt.lock")
    return lambda names: monkeypatch.setattr(lock, "find_own_plugins", lambda: frozenset(names))


def test_messages_name_the_version_of_the_set(tmp_path: Path) -> None:
    """With its label, which is what installers need to see."""
    package = write_lock(tmp_path / "jaxlib_cpu", **SPLIT)
    jaxlib = write_lock(tmp_path / "jaxlib", version="1.2.3+other.3", lock_id="b" * 32)
    with pytest.raises(load_cpu("pjrt.errors").LockMismatchError) as caught:
        load_cpu("pjrt.lock").check_release("jaxlib-cpu", package, jaxlib)
    assert (caught.value.cause, caught.value.remedy) == (
        "they are of one release, but of different sets of wheels",
        REMEDY.replace("==1.2.3", "==1.2.3+split.1"),
    )
    assert "jaxlib-cpu 1.2.3+split.1 (lock " in caught.value.what
    assert load_cpu("pjrt.lock").pin(package) == "==1.2.3"  # JAX itself has no label
    assert load_cpu("pjrt.lock").pin_set(package) == "==1.2.3+split.1"


@pytest.mark.parametrize("release", ["1.2.3", "1.3.0"])
def test_a_plugin_of_another_set_is_none_of_this_one(
    own: Callable[[set[str]], None], tmp_path: Path, release: str
) -> None:
    """The extras of the installed jaxlib tell it from a broken set, whatever its release."""
    errors, lock = load_cpu("pjrt.errors"), load_cpu("pjrt.lock")
    package = write_lock(tmp_path / "jaxlib_abacus", version="1.2.3+acme.1")
    jaxlib = write_lock(tmp_path / "jaxlib", release=release, version=f"{release}+split.1", lock_id="b" * 32)
    own({"jaxlib-cpu"})
    with pytest.raises(errors.OtherSetError) as caught:
        lock.check_release("jaxlib-abacus", package, jaxlib)
    assert caught.value.remedy == f"pip install --force-reinstall --no-deps jaxlib-abacus=={release}+split.1"
    assert (caught.value.quiet, caught.value.effect) == (True, "absent")
    own({"jaxlib-cpu", "jaxlib-abacus"})
    expected = errors.LockMismatchError if release == "1.2.3" else errors.VersionMismatchError
    with pytest.raises(expected):
        lock.check_release("jaxlib-abacus", package, jaxlib)


def test_a_plugin_of_no_extra_serves_with_the_lock_of_the_set(own: Callable[[set[str]], None], tmp_path: Path) -> None:
    """As one does that was built for a published set."""
    own({"jaxlib-cpu"})
    package, jaxlib = write_lock(tmp_path / "jaxlib_abacus", **SPLIT), write_lock(tmp_path / "jaxlib", **SPLIT)
    assert load_cpu("pjrt.lock").check_release("jaxlib-abacus", package, jaxlib).version == "1.2.3+split.1"


@pytest.mark.parametrize(
    ("extras", "expected"),
    [
        (
            ['jaxlib-cpu==1+a.1; extra == "cpu"', 'Jaxlib_CUDA.13[with-cuda]==1; extra == "cuda13"'],
            {"jaxlib-cpu", "jaxlib-cuda-13"},
        ),
        ([], None),
        (None, None),
    ],
)
def test_plugins_of_the_installed_set(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, extras: list[str] | None, expected: set[str]
) -> None:
    """They are what jaxlib's extras ask for; without extras or metadata it is not known."""
    if extras is not None:
        lines = "".join(f"Requires-Dist: {line}\n" for line in ["numpy>=2.0", *extras])
        write_dist_info(tmp_path, "jaxlib", "1", metadata=lines)
    installed = load_cpu("pjrt.installed")
    monkeypatch.setattr("sys.path", [str(tmp_path)])
    assert installed.find_own_plugins() == expected


OWN = "_pjrt.cpython-314t-x86_64-linux-gnu.so"
# What CPython 3.14t and 3.15t import, by the order of their suffixes.
SUFFIXES = {
    "3.14": [".cpython-314t-x86_64-linux-gnu.so", ".abi3.so", ".so"],
    "3.15": [".cpython-315t-x86_64-linux-gnu.so", ".abi3t.so", ".so"],
}


@pytest.fixture
def pose(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Callable[..., None]:
    """Return a function: flags of a Python, its version, files of the extension → the loader sees these."""

    def pose_(abiflags: str, version: str, *files: str) -> None:
        for file in files:
            (tmp_path / file).touch()
        monkeypatch.setattr(load_cpu("pjrt.installed"), "__file__", str(tmp_path / "installed.py"))
        monkeypatch.setattr(sys, "abiflags", abiflags)
        monkeypatch.setattr(sys, "version_info", (3, int(version.removeprefix("3.")), 0, "final", 0))
        monkeypatch.setattr(importlib.machinery, "EXTENSION_SUFFIXES", SUFFIXES[version])

    return pose_


@pytest.mark.parametrize(
    ("abiflags", "version", "files", "file"),
    [
        ("", "3.14", ("_pjrt.abi3.so",), "_pjrt.abi3.so"),
        ("d", "3.14", ("_pjrt.abi3.so",), "_pjrt.abi3.so"),
        ("t", "3.14", ("_pjrt.abi3.so", "_pjrt.abi3t.so", OWN), OWN),
        ("t", "3.15", ("_pjrt.abi3.so", "_pjrt.abi3t.so", OWN), "_pjrt.abi3t.so"),
        ("t", "3.14", (), None),
        ("t", "3.15", ("_pjrt.abi3.so",), None),
    ],
    ids=["GIL", "debug build", "its own", "stable ABI", "nothing", "nothing it would import"],
)
def test_a_python_with_a_file_for_it_is_accepted(
    pose: Callable[..., None], abiflags: str, version: str, files: tuple[str, ...], file: str | None
) -> None:
    """Debug builds have the same ABI since CPython 3.8; one that would import no file at all gets another error."""
    pose(abiflags, version, *files)
    found = load_cpu("pjrt.installed").find_extension()
    assert (found.name if found else None) == file
    load_cpu("pjrt.installed").check_interpreter("jaxlib-cpu")


@pytest.mark.parametrize("abiflags", ["t", "td"])
def test_a_free_threaded_python_without_a_file_of_its_own_is_refused(
    pose: Callable[..., None], tmp_path: Path, abiflags: str
) -> None:
    """It would import the file for Pythons with the GIL; no pip command helps, so nothing else is compared or said."""
    pose(abiflags, "3.14", "_pjrt.abi3.so", "_pjrt.abi3t.so")
    with pytest.raises(load_cpu("pjrt.errors").InterpreterError) as caught:
        load_cpu("pjrt.lock").check_release("jaxlib-cpu", tmp_path / "absent", None)
    assert (f"3.14{abiflags}" in caught.value.what, "_pjrt.abi3.so" in caught.value.cause) == (True, True)
    report = load_cpu("pjrt.examine").examine_plugin(load_cpu("").PLUGIN, 0, opening=True)
    assert [str(problem) for problem in report.problems].count(str(caught.value)) == 1
    assert report.verdict().endswith(caught.value.remedy)


@pytest.mark.parametrize(
    ("package", "command"), [("pip", "pip uninstall jax-a jax-b"), ("unpip", "uv pip uninstall jax-a jax-b")]
)
def test_a_remedy_changes_this_environment(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, package: str, command: str
) -> None:
    """Without a pip of its own, as uv makes them, a shell would run the pip of another environment."""
    (tmp_path / package).mkdir()
    (tmp_path / package / "__init__.py").touch()
    loader = load_cpu("pjrt.installed")
    monkeypatch.delitem(sys.modules, "pip", raising=False)
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    assert loader.pip_command("uninstall jax-a jax-b") == command

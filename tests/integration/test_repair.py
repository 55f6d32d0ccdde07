# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Repair of real libraries and wheels, compared with what binutils and patchelf make of them."""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pjrtwheel.backend import find_backend
from pjrtwheel.elf.image import ElfImage, read_image
from pjrtwheel.elf.layout import read_pieces
from pjrtwheel.elf.repair import plan_repair
from pjrtwheel.fetch import WheelCache, cache_root, download_wheel
from pjrtwheel.release.model import Release
from pjrtwheel.wheel.assemble import repair_wheel

pytestmark = pytest.mark.integration

SEARCH_PATH = "/opt/build/lib:$ORIGIN/../x:/opt/build/lib:$ORIGIN/../x"
SMALL = "jaxlib/cpu_feature_guard.so"
PLUGIN_PIN = "plugin.cpu.linux_x86_64"
BINDINGS_PIN = "bindings.cp312.linux_x86_64"


@pytest.fixture(scope="module")
def fetch(release: Release) -> Callable[[str], Path]:
    """Return a function: key of a pin → the wheel in the cache."""
    cache = WheelCache(cache_root(os.environ), download_wheel)
    return lambda key: cache.fetch(release.pin(key))


@pytest.fixture
def small(fetch: Callable[[str], Path], tmp_path: Path) -> Path:
    """Return a small real library that has its symbol tables."""
    with zipfile.ZipFile(fetch(BINDINGS_PIN)) as archive:
        return Path(archive.extract(SMALL, tmp_path))


def tool(name: str) -> str:
    """Return a program, from the folder of this Python or from the system; skip the test without it."""
    found = shutil.which(name, path=f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}")
    if found is None:
        pytest.skip(f"no {name} on this machine")
    return found


def run(*arguments: str | Path) -> str:
    """Run a program, see that it does not complain, and return what it prints."""
    result = subprocess.run(arguments, capture_output=True, text=True, check=True)
    assert result.stderr == ""
    return result.stdout


def repair(library: Path) -> tuple[Path, tuple[str, ...]]:
    """Write a repaired copy next to a library; return it and the changes."""
    copy = library.with_suffix(".repaired.so")
    with library.open("rb") as file, copy.open("wb") as target:
        plan = plan_repair(read_image(file, library.name))
        target.write(read_pieces(file, plan.pieces))
    return copy, plan.changes


def read(library: Path) -> ElfImage:
    """Read the facts about a library."""
    with library.open("rb") as file:
        return read_image(file, library.name)


def loaded(library: Path) -> Iterator[tuple[int, str]]:
    """Yield address and digest of what each segment loads, but for the file header, which points to the sections."""
    with library.open("rb") as file:
        for segment in read(library).segments:
            start = max(segment.offset, 64)
            file.seek(start)
            data = file.read(max(segment.offset + segment.filesz - start, 0))
            yield segment.vaddr, hashlib.sha256(data).hexdigest()


def open_library(library: Path) -> None:
    """Load a library with the dynamic loader, in a process of its own."""
    run(sys.executable, "-c", "import ctypes, sys; ctypes.PyDLL(sys.argv[1])", library)


def test_strip_agrees_with_binutils(small: Path) -> None:
    """Sections and loaded bytes are those that strip leaves, except for the comment, which we drop too."""
    stripped = small.with_suffix(".stripped.so")
    run(tool("strip"), "--strip-unneeded", "--remove-section=.comment", "-o", stripped, small)
    repaired, _ = repair(small)
    assert set(read(repaired).names) == set(read(stripped).names)
    assert dict(loaded(repaired)) == dict(loaded(stripped)) == dict(loaded(small))
    # binutils lets section names share their ends, and leaves no null entries of 64 bytes.
    nulls = read(repaired).names.count("")
    assert repaired.stat().st_size <= stripped.stat().st_size + 64 * nulls
    open_library(repaired)


def test_search_path_and_stack_as_patchelf_reads_them(small: Path) -> None:
    """What patchelf spoiled is repaired, by patchelf's own account, and the library loads."""
    patchelf = tool("patchelf")
    run(patchelf, "--set-rpath", SEARCH_PATH, small)
    run(patchelf, "--set-execstack", small)
    repaired, changes = repair(small)
    assert run(patchelf, "--print-rpath", repaired) == "$ORIGIN/../x\n"
    assert run(patchelf, "--print-execstack", repaired) == "execstack: -\n"
    assert changes[-2:] == (
        "RUNPATH keeps 1 of 4 elements (2 absolute, 1 repeated): $ORIGIN/../x",
        "cleared the executable-stack flag",
    )
    assert repair(repaired)[1] == ()
    open_library(repaired)


def test_library_that_patchelf_has_grown(small: Path) -> None:
    """What patchelf appends is loaded: what lies in front of it stays, the search path is repaired, and it loads."""
    run(tool("patchelf"), "--set-rpath", SEARCH_PATH, small)
    repaired, changes = repair(small)
    assert changes == ("RUNPATH keeps 1 of 4 elements (2 absolute, 1 repeated): $ORIGIN/../x",)
    assert dict(loaded(repaired)).keys() == dict(loaded(small)).keys()
    assert read(repaired).exports == read(small).exports
    assert run(tool("patchelf"), "--print-rpath", repaired) == "$ORIGIN/../x\n"
    assert run(tool("readelf"), "--all", "--wide", repaired)
    open_library(repaired)


def test_repaired_plugin_wheel_loads(root: Path, fetch: Callable[[str], Path], tmp_path: Path) -> None:
    """The whole upstream wheel goes through, no larger than before, and its library still is a PJRT plugin."""
    wheel = fetch(PLUGIN_PIN)
    report = repair_wheel(wheel, tmp_path)
    assert report.filename == wheel.name
    assert report.size <= wheel.stat().st_size
    with zipfile.ZipFile(tmp_path / report.filename) as archive:
        library = Path(archive.extract(find_backend(root, "cpu").prebuilt.member, tmp_path / "unpacked"))
    program = "import ctypes, sys; print(bool(ctypes.CDLL(sys.argv[1]).GetPjrtApi))"
    assert run(sys.executable, "-c", program, library) == "True\n"


def test_killed_in_the_middle(tmp_path: Path, fetch: Callable[[str], Path]) -> None:
    """A repair that was killed leaves no wheel, and the next one removes what it did leave."""
    output = tmp_path / "out"
    wheel = fetch(PLUGIN_PIN)
    command: list[str | Path] = [sys.executable, "-m", "pjrtwheel", "repair", wheel, "--output", output]
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, env=environ, stdout=subprocess.DEVNULL) as process:
        deadline = time.monotonic() + 120
        while not any(path.stat().st_size > 1000 for path in output.glob(".*.partial")):
            assert process.poll() is None, "it was too fast to be killed"
            assert time.monotonic() < deadline
            time.sleep(0.02)
        process.send_signal(signal.SIGKILL)
    (left,) = output.iterdir()
    assert left.name.endswith(".partial")
    repair_wheel(wheel, output)
    assert [path.name for path in output.iterdir()] == [wheel.name]

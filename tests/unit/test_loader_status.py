# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m <package>` on installations that are broken in one way or another: a refusal, never a traceback."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from pjrtwheel.backend import Backend, load_backends

ROOT = Path(__file__).resolve().parent.parent.parent
BACKENDS = load_backends(ROOT)
GPUS = [backend for backend in BACKENDS.values() if backend.kernels]
LOCK = {"schema": 1, "release": "0.11.2", "build": 1, "provider": "prebuilt", "lock_id": "a" * 32}

RUN = "import runpy, sys; sys.path.insert(0, sys.argv[1]); runpy.run_module(sys.argv[2], run_name='__main__')"
# An extension that opens everything and finds that the library says nothing about itself.
FOREIGN = "def preload(*_): pass\ndef load(path): return None\ndef api_version(api): raise TypeError('no API')\n"

# One with the real dynamic linker.
LINKER = "import ctypes\ndef preload(path, _): ctypes.CDLL(path)\n"

Status = Callable[..., tuple[int, str]]


@pytest.fixture
def status(tmp_path: Path) -> Status:
    """Return a function: backend, library and extension → exit status and first line on stderr."""

    def ask(backend: Backend, library: bytes | None, extension: str | None = None) -> tuple[int, str]:
        package = tmp_path / backend.package
        shutil.copytree(ROOT / "plugins" / backend.name / backend.package, package)
        for part in ("pjrt", *backend.shared):
            shutil.copytree(ROOT / "plugins" / part / "loader", package / part)
        for folder in (package, tmp_path / "jaxlib"):
            folder.mkdir(exist_ok=True)
            (folder / "release_lock.json").write_text(json.dumps(LOCK), "utf-8")
        if library is not None:
            (package / backend.library).write_bytes(library)
        if extension is not None:
            (package / "pjrt/_pjrt.py").write_text(extension, "utf-8")
        command = [sys.executable, "-I", "-c", RUN, str(tmp_path), backend.package]
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        assert result.stderr, result.stdout
        return result.returncode, result.stderr.splitlines()[0].replace(f"{tmp_path}/", "")

    return ask


@pytest.mark.parametrize("backend", GPUS, ids=lambda item: item.name)
def test_a_library_that_is_missing(status: Status, backend: Backend) -> None:
    """It is looked for before those of the vendor are."""
    library = f"{backend.package}/{backend.library}"
    assert status(backend, None) == (
        1,
        (
            f"{backend.distribution}: LibraryMissingError: cannot read the plugin library {library}: "
            "No such file or directory"
        ),
    )


@pytest.mark.parametrize("backend", GPUS, ids=lambda item: item.name)
def test_a_library_that_is_truncated(status: Status, backend: Backend, make_elf: Callable[..., bytes]) -> None:
    """Its list of needed libraries is not read."""
    whole = make_elf(needed=("libvendor.so.1",))
    code, line = status(backend, whole[:300])
    assert (code, line.partition(" is ")[2]) == (1, f"truncated: 300 bytes of at least {len(whole)}")


@pytest.mark.parametrize("backend", GPUS, ids=lambda item: item.name)
def test_an_extension_that_cannot_be_imported(status: Status, backend: Backend, make_elf: Callable[..., bytes]) -> None:
    """Its file is missing."""
    assert status(backend, make_elf()) == (
        1,
        (
            f"{backend.distribution}: LibraryDamagedError: cannot import the extension of {backend.distribution}: "
            f"No module named '{backend.package}.pjrt._pjrt'"
        ),
    )


@pytest.mark.parametrize("backend", GPUS, ids=lambda item: item.name)
def test_an_error_that_nobody_foresaw(status: Status, backend: Backend, make_elf: Callable[..., bytes]) -> None:
    """The same last resort as inside JAX."""
    assert status(backend, make_elf(), FOREIGN) == (
        1,
        f"{backend.distribution}: TakeOverError: {backend.distribution} cannot serve this JAX: TypeError: no API",
    )


def test_a_text_in_the_place_of_a_vendors_library(
    status: Status, make_elf: Callable[..., bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The dynamic linker's own words are the cause, the vendor's installation the remedy."""
    (tmp_path / "rocm/lib").mkdir(parents=True)
    (tmp_path / "rocm/lib/libvendor.so.1").write_text("INPUT(libvendor.so.1.2)\n", "utf-8")
    monkeypatch.setenv("ROCM_PATH", str(tmp_path / "rocm"))
    code, line = status(BACKENDS["rocm7"], make_elf(needed=("libvendor.so.1",)), LINKER)
    expected = "jaxlib-rocm-7: VendorLibraryError: jaxlib-rocm-7 needs libvendor.so.1 (looked in rocm/lib, "
    assert (code, line[: len(expected)]) == (1, expected)

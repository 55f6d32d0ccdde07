# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Copy the interpreter that runs this, with what it needs to run elsewhere: `python -m pjrtwheel.bazel.copy_runtime`.

The copy has the program, its own shared library, the standard library as source, the extension modules that the tools
use, and the libraries that those need. It needs nothing else of a machine but the C library, and is the same wherever
the interpreter was installed: all of it is an input of the actions that it runs, on this machine or another.
"""

import importlib.machinery
import importlib.util
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pjrtwheel.errors import BazelError
from pjrtwheel.files import explain_full_disk
from pjrtwheel.program import CommandParser, program

# Modules that an interpreter may have as shared libraries instead of in itself; their names differ between versions.
# A module that is missing here is an ImportError of the action, on every machine.
EXTENSIONS = (
    *("_asyncio", "_bisect", "_blake2", "_contextvars", "_csv", "_datetime", "_decimal", "_elementtree", "_hashlib"),
    *("_heapq", "_hmac", "_json", "_md5", "_opcode", "_pickle", "_posixsubprocess", "_queue", "_random", "_sha1"),
    *("_sha2", "_sha256", "_sha3", "_sha512", "_socket", "_statistics", "_struct", "_typing", "array", "binascii"),
    *("fcntl", "grp", "math", "mmap", "pyexpat", "resource", "select", "unicodedata", "zlib", "_zstd"),
)
# Parts of the standard library that no tool imports, and what a machine adds to it.
_LEFT_OUT = re.compile(
    r"(test|tests|idlelib|lib2to3|tkinter|turtledemo|ensurepip|pydoc_data|site-packages|dist-packages|__pycache__"
    r"|lib-dynload|config-.*|sitecustomize\.py|usercustomize\.py)"
)
# What every machine has, and has to fit its kernel and its name services.
_C_LIBRARY = re.compile(r"(linux-vdso|ld-|lib(c|m|dl|rt|util|pthread|resolv|anl)\.so|libc\.musl)")
_STATIC = "not a dynamic executable"  # as ldd says, with status 1
_NEEDED = re.compile(r"^\s*(\S+) => (/\S+) \(", re.MULTILINE)


def runtime_files() -> Iterator[tuple[str, Path]]:
    """Yield the files of the running interpreter, by their place in a copy.

    Raises:
        BazelError: The libraries cannot be listed.
    """
    program_file = Path(os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable))
    library = Path(os.__file__).resolve().parent
    place = f"{sys.platlibdir}/{library.name}"
    yield "bin/python", program_file
    for path in _sources(library):
        yield f"{place}/{path.relative_to(library)}", path
    modules = [module for name in EXTENSIONS if (module := _find_extension(name))]
    for module in modules:
        yield f"{place}/lib-dynload/{module.name}", module
    yield from ((f"lib/{name}", path) for name, path in sorted(_libraries((program_file, *modules)).items()))


def _sources(folder: Path) -> Iterator[Path]:
    for path in sorted(folder.iterdir()):
        if _LEFT_OUT.fullmatch(path.name):
            continue
        if path.is_dir():
            yield from _sources(path)
        elif path.suffix == ".py":
            yield path


def _find_extension(name: str) -> Path | None:
    """Return the file of an extension module; none if the interpreter lacks it, or has it within itself."""
    spec = importlib.util.find_spec(name)
    if spec is None or not isinstance(spec.loader, importlib.machinery.ExtensionFileLoader):
        return None
    return Path(spec.loader.path)


def _libraries(files: Iterable[Path]) -> dict[str, Path]:
    """Return the shared libraries that some files need, and those that they need, by name, without the C library."""
    found: dict[str, Path] = {}
    for file in files:
        found |= {name: Path(path) for name, path in _NEEDED.findall(_list_libraries(file))}
    return {name: path for name, path in found.items() if not _C_LIBRARY.match(name)}


def _list_libraries(file: Path) -> str:
    environ = {**os.environ, "LC_ALL": "C"}  # it is read below
    done = subprocess.run(["ldd", str(file)], env=environ, capture_output=True, text=True, check=False)
    problem = next((line.strip() for line in done.stdout.splitlines() if "not found" in line), "")
    if not problem and done.returncode and _STATIC not in done.stdout + done.stderr:
        problem = done.stderr.strip() or f"ldd ended with {done.returncode}"
    if problem:
        raise BazelError(f"{file} cannot be copied with all that it needs", cause=problem)
    return done.stdout


def copy_runtime(output: Path) -> None:
    """Copy the running interpreter into a folder."""
    with explain_full_disk(output):
        for name, source in runtime_files():
            target = output / name
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)
        (output / "bin/python").chmod(0o755)


@program
def main(argv: Sequence[str] | None = None) -> int:
    """Copy, and return the exit status."""
    parser = CommandParser(prog="python -m pjrtwheel.bazel.copy_runtime", description=__doc__)
    parser.add_argument("--output", type=Path, required=True, help="new folder for the copy")
    copy_runtime(parser.parse_all(argv).output)
    return 0


if __name__ == "__main__":
    sys.exit(main())

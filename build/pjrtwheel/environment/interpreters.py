# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find real CPython interpreters on this machine.

Many names on PATH are shims that fail or that start another version than they are named for, so each candidate is
started once and asked what it is.
"""

import json
import os
import platform
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

_PROBE = """
import json, platform, sys, sysconfig

def machine_of(path):
    with open(path, "rb") as file:
        return file.read(20)[18:]  # e_machine of an ELF file

try:
    emulated = machine_of("/proc/thread-self/exe") != machine_of(sys.executable)
except OSError:
    emulated = False
if sys.implementation.name != "cpython" or platform.machine() != sys.argv[1]:
    sys.exit(1)
suffix = "t" if sysconfig.get_config_var("Py_GIL_DISABLED") else ""
print(json.dumps({
    "tag": f"cp{sys.version_info[0]}{sys.version_info[1]}{suffix}",
    "version": platform.python_version(),
    "prefix": sys.base_prefix,
    "emulated": emulated,
    "path": sys.executable,
}))
"""
_PROBE_SECONDS = 20


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A CPython that was started and answered.

    Attributes:
        tag: Its ABI tag; `cp313t` for a free-threaded build.
        version: Its full version, such as `3.12.1`.
        prefix: Where it is installed; two paths with one prefix are the same interpreter.
        emulated: Whether it runs under an emulator, such as QEMU's: the program that the kernel runs is for another
            processor than Python's own file.
    """

    path: Path
    tag: str
    version: str
    prefix: str
    emulated: bool = False


def candidate_paths(tag: str, environ: Mapping[str, str], home: Path) -> Iterator[Path]:
    """Yield the files that may be an interpreter of this tag, likeliest first, without starting any.

    PATH comes first, then pyenv's and uv's own stores (`PYENV_ROOT` and `UV_PYTHON_INSTALL_DIR`, or below `home`), then
    the folders of the manylinux images.
    """
    suffix = "t" if tag.endswith("t") else ""
    minor = tag.removeprefix("cp3").removesuffix("t")
    version = f"3.{minor}{suffix}"
    for folder in filter(None, environ.get("PATH", "").split(os.pathsep)):
        yield Path(folder) / f"python{version}"
    pyenv = Path(environ.get("PYENV_ROOT", home / ".pyenv")) / "versions"
    uv = Path(environ.get("UV_PYTHON_INSTALL_DIR", home / ".local" / "share" / "uv" / "python"))
    stores = ((pyenv, f"3.{minor}[.a-z-]*"), (uv, f"cpython-3.{minor}[.+]*"), (Path("/opt/python"), "cp3*"))
    for store, pattern in stores:
        for installed in sorted(store.glob(pattern), reverse=True):
            yield installed / "bin" / f"python{version}"
            yield installed / "bin" / "python"
    yield from (Path(folder) / f"python{version}" for folder in ("/usr/local/bin", "/usr/bin"))


def probe(path: Path) -> Interpreter | None:
    """Start a candidate and return what it says of itself; nothing if it fails or is no CPython of this machine."""
    try:
        command = [str(path), "-I", "-c", _PROBE, platform.machine()]
        result = subprocess.run(command, capture_output=True, text=True, timeout=_PROBE_SECONDS, check=True)
        answer = json.loads(result.stdout)
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
    return Interpreter(Path(answer.pop("path")), **answer)


def find_interpreter(tag: str, candidates: Iterable[Path]) -> Interpreter | None:
    """Return the first candidate that really is a CPython of this tag."""
    for path in dict.fromkeys(candidates):
        found = probe(path) if path.is_file() and os.access(path, os.X_OK) else None
        if found is not None and found.tag == tag:
            return found
    return None


def find_interpreters(tags: Iterable[str]) -> dict[str, Interpreter | None]:
    """Look for each tag on this machine."""
    return {tag: find_interpreter(tag, candidate_paths(tag, os.environ, Path.home())) for tag in tags}

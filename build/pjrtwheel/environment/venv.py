# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Clean environments: a fresh venv into which wheels are installed by their plain names, without the network.

What comes from the package index (jax, numpy, ...) is downloaded once per interpreter and set of requirements, by the
machine's own pip configuration, into a folder of wheels. From then on every environment is made offline, from that
folder and the wheels under test.
"""

import hashlib
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Sequence
from pathlib import Path

import uv

from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.processes import clean_environ
from pjrtwheel.errors import ProofError, UsageError
from pjrtwheel.fetch.index import explain_output
from pjrtwheel.wheel.members import open_wheel
from pjrtwheel.wheel.metadata import read_field
from pjrtwheel.wheel.names import parse_name
from pjrtwheel.wheel.unpack import read_metadata


def scratch_place(cache: Path) -> Path:
    """Return where environments are staged, so that a later run can remove those of runs that were killed."""
    return cache / "environments"


def create_venv(interpreter: Interpreter, target: Path) -> Path:
    """Make an empty environment without pip, and return its Python.

    Raises:
        ProofError: The interpreter cannot make one.
    """
    result = run_tool([str(interpreter.path), "-I", "-m", "venv", "--without-pip", "--clear", str(target)])
    if result.returncode != 0:
        raise ProofError(
            f"{interpreter.path} cannot make a virtual environment",
            cause=last_lines(result.stderr or result.stdout),
            remedy="on Debian: apt-get install python3-venv",
        )
    return target / "bin" / "python"


def install(
    python: Path, requirements: Sequence[str], folders: Iterable[Path], *, fresh: Iterable[str] | None = None
) -> None:
    """Install from folders of wheels alone, without the network.

    uv links files from its cache if UV_CACHE_DIR names one, apart from those of the `fresh` projects: it knows a wheel
    of a folder by its name alone, and would install the one of an earlier build. Without that all are unpacked.

    Raises:
        ProofError: They cannot be installed: the disk is full, a wheel is damaged, or they do not go together.
    """
    links = [f"--find-links={folder.resolve()}" for folder in folders]
    caching = ["--no-cache"]
    # uv takes no --refresh-package where UV_OFFLINE is set, although these wheels are not on a network.
    if fresh is not None and "UV_CACHE_DIR" in os.environ and not os.environ.get("UV_OFFLINE"):
        caching = [f"--refresh-package={name}" for name in fresh]
    command = [str(find_uv()), "pip", "install", "--quiet", "--python", str(python), "--no-index", *caching]
    result = run_tool([*command, *links, *requirements])
    if result.returncode != 0:
        raise ProofError(
            f"cannot install {' '.join(requirements)}",
            cause=last_lines(result.stderr or result.stdout),
            remedy="check that the folders have wheels of one build, with all that they require (Requires-Dist)",
        )


def find_uv() -> Path:
    """Return the uv that is installed with us."""
    return Path(uv.find_uv_bin())


def pip_command(python: Path) -> list[str]:
    """Return the command that runs this environment's pip on behalf of another environment."""
    return [sys.executable, "-P", "-m", "pip", "--python", str(python), "--disable-pip-version-check", "--no-input"]


def run_tool(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Run a tool that makes or fills an environment, and return what it printed."""
    return subprocess.run(command, capture_output=True, text=True, check=False, env=clean_environ())


def last_lines(text: str, count: int = 4) -> str:
    """Return the last lines of what a tool printed."""
    return "\n".join(line.strip() for line in text.strip().splitlines()[-count:])


def requirement_group(root: Path, name: str) -> tuple[str, ...]:
    """Return a dependency group of the repository's `pyproject.toml` (PEP 735), without included groups.

    Raises:
        UsageError: There is no such group.
    """
    groups = tomllib.loads((root / "pyproject.toml").read_text("utf-8")).get("dependency-groups", {})
    if name not in groups:
        raise UsageError(f"{root / 'pyproject.toml'} has no dependency group {name!r}")
    return tuple(requirement for requirement in groups[name] if isinstance(requirement, str))


def needs_of(wheel: Path) -> list[str]:
    """Return the `Requires-Dist` lines of a wheel, sorted."""
    return sorted(read_field(read_metadata(wheel).decode("utf-8"), "Requires-Dist"))


def wheelhouse_name(interpreter: Interpreter, requirements: Sequence[str], wheels: Sequence[Path]) -> str:
    """Return the name of the folder for a question to the package index.

    What our wheels need is part of the question: built anew with other pins, they have the same name and version.
    """
    ours = sorted([parse_name(wheel.name).requirement, *needs_of(wheel)] for wheel in wheels)
    identity = json.dumps([interpreter.tag, interpreter.prefix, sorted(requirements), ours])
    return f"{interpreter.tag}-{hashlib.sha256(identity.encode()).hexdigest()[:16]}"


def wheelhouse(interpreter: Interpreter, requirements: Sequence[str], wheels: Sequence[Path], cache: Path) -> Path:
    """Return a folder with every wheel that `requirements` need beyond `wheels`, filling it on first use.

    The wheels under test take part in the resolution but are not kept.

    Raises:
        FetchError: The package index does not have what is needed, or cannot be reached.
    """
    folder = cache / "wheelhouses" / wheelhouse_name(interpreter, requirements, wheels)
    if folder.is_dir():
        return folder
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(prefix=f"{folder.name}-", dir=folder.parent) as scratch:
        staged = Path(scratch) / folder.name
        staged.mkdir()
        ours = [parse_name(wheel.name).requirement for wheel in wheels]
        links = [f"--find-links={wheel.parent.resolve()}" for wheel in wheels]
        what = f"what the proofs on Python {interpreter.version} need"
        download_wheels(interpreter, staged, what, [[*links, *requirements, *ours]])
        for wheel in wheels:
            (staged / wheel.name).unlink(missing_ok=True)
        if not folder.is_dir():  # otherwise another run was faster, and its folder is as good
            staged.rename(folder)
    return folder


def create_environment(
    interpreter: Interpreter, requirements: Sequence[str], wheels: Sequence[Path], *, target: Path, cache: Path
) -> Path:
    """Make an environment with wheels under test and all that they and some requirements need; return its Python."""
    python = create_venv(interpreter, target)
    install_wheels(python, interpreter, requirements, wheels, cache)
    return python


def install_wheels(
    python: Path, interpreter: Interpreter, requirements: Sequence[str], wheels: Sequence[Path], cache: Path
) -> None:
    """Install wheels under test, and all that they and some requirements need, into an environment of a Python."""
    folders = {wheelhouse(interpreter, requirements, wheels, cache), *(wheel.parent for wheel in wheels)}
    ours = [parse_name(wheel.name) for wheel in wheels]
    needs = [*requirements, *(name.requirement for name in ours)]
    install(python, needs, folders, fresh=[name.distribution for name in ours])
    require_installed(python, wheels)


def require_installed(python: Path, wheels: Iterable[Path]) -> None:
    """Make sure that it is these very wheels that are in an environment: names and versions alone do not show it.

    Raises:
        ProofError: Another wheel of the same name and version is there, or none.
    """
    for wheel in wheels:
        record = f"{parse_name(wheel.name).dist_info}/RECORD"
        with open_wheel(wheel) as archive:
            rows = archive.read(record).splitlines()
        installed = site_packages(python) / record
        if not installed.is_file() or not set(rows) <= set(installed.read_bytes().splitlines()):
            raise ProofError(
                f"what was installed is not {wheel}",
                cause="another wheel of the same name and version is in its folder, or installed with Python",
                remedy="remove that one",
            )


def site_packages(python: Path) -> Path:
    """Return where the wheels of an environment are, by its Python."""
    (folder,) = (python.parent.parent / "lib").glob("python3.*")
    return folder / "site-packages"


def download_wheels(interpreter: Interpreter, folder: Path, what: str, wanted: Iterable[Sequence[str]]) -> None:
    """Let pip download wheels for an empty environment of an interpreter, once for each list of arguments.

    Raises:
        FetchError: The package index does not have what is needed, or cannot be reached.
    """
    print(f"downloading {what} ...", file=sys.stderr, flush=True)
    with tempfile.TemporaryDirectory(prefix="pip-") as scratch:
        python = create_venv(interpreter, Path(scratch) / "venv")
        command = [*pip_command(python), "download", "--quiet", "--only-binary=:all:", f"--dest={folder}"]
        for arguments in wanted:
            result = run_tool([*command, *arguments])
            if result.returncode != 0:
                raise explain_output(f"cannot download {what}", result.stderr)

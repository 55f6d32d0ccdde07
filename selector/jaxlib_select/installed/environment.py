# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is installed in one Python environment, read from its files; nothing of it is imported."""

from __future__ import annotations

import csv
import importlib.metadata
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jaxlib_select.errors import UsageError
from jaxlib_select.facts import Facts
from jaxlib_select.names import normalize
from jaxlib_select.versions import in_range

GROUP = "jax_plugins"
PLACES = ("bin/python", "Scripts/python.exe")  # of the interpreter in a virtual environment
_ASK = """
import json, platform, sys
host = [sys.platform, platform.machine()]
print(json.dumps([sys.executable, list(sys.version_info[:3]), sys.path, sys.prefix, host]))
"""


@dataclass(frozen=True)
class Distribution:
    """An installed distribution.

    Attributes:
        name: Its name, normalized (PEP 503).
        version: Its version; empty when its metadata is damaged.
        folder: The folder on the search path it lies in.
        plugins: Modules it advertises to JAX, by the name of the entry point.
        record: Files it is made of, relative to the folder, there or not; none if it does not say.
        url: The file that it was installed from, if the installer was given one (PEP 610); empty otherwise.
        requires: What it needs, as it says (PEP 508).
    """

    name: str
    version: str
    folder: Path
    plugins: Mapping[str, str]
    record: tuple[str, ...] = ()
    url: str = ""
    requires: tuple[str, ...] = ()


@dataclass(frozen=True)
class Environment:
    """A Python environment.

    Attributes:
        python: Its interpreter.
        version: Version of Python.
        paths: Folders where it looks for modules, in order.
        prefix: Its root.
        distributions: What is installed, by normalized name; the one that Python takes, where there are several.
        duplicates: Names of which there are several in one folder: left by an interrupted installation.
        damaged: Folders of metadata without a name or version.
        host: What the interpreter says it runs on: `sys.platform` and `platform.machine()`.
    """

    python: Path
    version: tuple[int, ...]
    paths: tuple[Path, ...]
    prefix: Path
    distributions: Mapping[str, Distribution]
    duplicates: tuple[str, ...] = ()
    damaged: tuple[Path, ...] = ()
    host: tuple[str, str] = ("", "")

    def version_of(self, name: str) -> str | None:
        """Return the version of an installed distribution, or None."""
        found = self.distributions.get(normalize(name))
        return found.version if found is not None else None

    def find(self, relative: str) -> Path | None:
        """Return the first file or folder of this relative path on the search path."""
        return next((path / relative for path in self.paths if (path / relative).exists()), None)


def read_environment(
    paths: Sequence[Path],
    *,
    python: Path,
    version: tuple[int, ...],
    prefix: Path | None = None,
    host: tuple[str, str] = ("", ""),
) -> Environment:
    """Read the metadata of everything on the search path of an interpreter.

    The root of the environment is the interpreter's grandparent unless given.
    """
    folders = tuple(dict.fromkeys(path for path in paths if path.is_dir()))
    found: dict[str, Distribution] = {}
    duplicates: set[str] = set()
    damaged: list[Path] = []
    for folder in folders:
        here = set()
        for metadata in importlib.metadata.distributions(path=[str(folder)]):
            distribution = _read_distribution(metadata, folder)
            if distribution is None:
                damaged.append(Path(str(getattr(metadata, "_path", folder))))
                continue
            if distribution.name in here:
                duplicates.add(distribution.name)
            here.add(distribution.name)
            found.setdefault(distribution.name, distribution)
    root = prefix if prefix is not None else python.parent.parent
    return Environment(python, version, folders, root, found, tuple(sorted(duplicates)), tuple(sorted(damaged)), host)


def this_environment() -> Environment:
    """Read the environment this program runs in."""
    paths = [Path(entry) for entry in sys.path if entry]
    python, version, prefix = Path(sys.executable), sys.version_info[:3], Path(sys.prefix)
    host = (sys.platform, platform.machine())
    return read_environment(paths, python=python, version=version, prefix=prefix, host=host)


def other_environment(python: Path) -> Environment:
    """Read the environment of another interpreter, or of a folder with one, which is asked for its search path.

    Raises:
        UsageError: It is no Python, or does not start.
    """
    python = find_interpreter(python)
    try:
        # In a folder without modules, and without PYTHONSAFEPATH, which older versions do not know.
        result = subprocess.run(
            [str(python), "-c", _ASK],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=60,
            check=False,
            cwd=str(python.parent),
        )
    except subprocess.TimeoutExpired as error:
        raise UsageError(f"not a usable Python: {python} did not answer within {error.timeout:.0f} seconds") from error
    except OSError as error:
        raise UsageError(f"not a Python interpreter: {python} ({error.strerror or error})") from error
    return _read_answer(python, result)


def judge_python(environment: Environment, facts: Facts) -> UsageError | None:
    """Return the error that a release does not run on an environment's Python; None if it does.

    Its remedy is the command that makes another environment.
    """
    if not facts.requires_python or in_range(environment.version, facts.requires_python):
        return None
    oldest, version = facts.requires_python.removeprefix(">="), ".".join(map(str, environment.version))
    make = f"uv venv --python {oldest}" if shutil.which("uv") else f"python{oldest} -m venv"
    return UsageError(
        f"JAX {facts.release} needs Python {facts.requires_python}, {environment.python} is Python {version}",
        note=f"make another environment, and name it: --python .venv-{oldest}",
        remedy=f"{make} .venv-{oldest}",
    )


def find_interpreter(path: Path) -> Path:
    """Return the interpreter that is meant by a path: itself, or the one of a virtual environment.

    Raises:
        UsageError: There is none.
    """
    if path.is_dir():
        found = next((path / place for place in PLACES if (path / place).is_file()), None)
        if found is None:
            raise UsageError(f"no Python in the folder {path}: neither {' nor '.join(PLACES)} is there")
        return found
    if not path.exists():
        raise UsageError(f"no such Python: {path}")
    if not os.access(path, os.X_OK):
        raise UsageError(f"not a Python interpreter: {path} is a file that cannot be run")
    return path


def _read_answer(python: Path, result: subprocess.CompletedProcess[str]) -> Environment:
    """Read the environment that an interpreter described."""
    if result.returncode != 0:
        said = (result.stderr.strip().splitlines() or ["it says nothing"])[-1]
        raise UsageError(f"not a usable Python: {python} ended with status {result.returncode}: {said}")
    try:
        executable, version, paths, prefix, (system, processor) = json.loads(result.stdout.splitlines()[-1])
        return read_environment(
            [Path(entry) for entry in paths if entry],
            python=Path(executable),
            version=tuple(version),
            prefix=Path(prefix),
            host=(system, processor),
        )
    except (ValueError, IndexError, TypeError) as error:
        raise UsageError(f"not a Python interpreter: {python} does not answer as one") from error


def _read_distribution(metadata: importlib.metadata.Distribution, folder: Path) -> Distribution | None:
    """Return a distribution, or None if its metadata has no name."""
    try:
        # Missing METADATA gives an empty message, and a version of None in newer Pythons.
        headers = metadata.metadata
        name, version = headers["Name"], headers["Version"]
        requires, files = tuple(headers.get_all("Requires-Dist") or ()), _recorded(metadata)
        plugins = {
            entry.name: entry.value.split(":")[0].strip() for entry in metadata.entry_points if entry.group == GROUP
        }
    except Exception:  # noqa: BLE001  # whatever an interrupted installation left
        return None
    if not name or not version:
        return None
    return Distribution(normalize(name), version, folder, plugins, files, _origin(metadata), requires)


def _recorded(metadata: importlib.metadata.Distribution) -> tuple[str, ...]:
    """Return the files that RECORD lists; Python's own `files` leaves out those that are gone."""
    return tuple(row[0] for row in csv.reader((metadata.read_text("RECORD") or "").splitlines()) if row)


def _origin(metadata: importlib.metadata.Distribution) -> str:
    """Return the URL of the file that a distribution was installed from."""
    try:
        return str(json.loads(metadata.read_text("direct_url.json") or "{}").get("url", ""))
    except (ValueError, AttributeError):
        return ""

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is installed in one Python environment, read from its files; nothing of it is imported."""

from __future__ import annotations

import importlib.metadata
import json
import re
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jaxlib_select.errors import UsageError

GROUP = "jax_plugins"
_ASK = "import json, sys; print(json.dumps([sys.executable, list(sys.version_info[:3]), sys.path, sys.prefix]))"


@dataclass(frozen=True)
class Distribution:
    """An installed distribution.

    Attributes:
        name: Its name, normalized (PEP 503).
        version: Its version; empty when its metadata is damaged.
        folder: The folder on the search path it lies in.
        plugins: Modules it advertises to JAX, by the name of the entry point.
        record: Files it is made of, relative to the folder; none if it does not say.
    """

    name: str
    version: str
    folder: Path
    plugins: Mapping[str, str]
    record: tuple[str, ...] = ()


@dataclass(frozen=True)
class Environment:
    """A Python environment.

    Attributes:
        python: Its interpreter.
        version: Version of Python.
        paths: Folders where it looks for modules, in order.
        prefix: Its root.
        distributions: What is installed, by normalized name; the one that Python takes, where there are several.
        doubled: Names of which there are several in one folder: remains of an installation that was cut off.
        damaged: Folders of metadata without a name or version.
    """

    python: Path
    version: tuple[int, ...]
    paths: tuple[Path, ...]
    prefix: Path
    distributions: Mapping[str, Distribution]
    doubled: tuple[str, ...] = ()
    damaged: tuple[Path, ...] = ()

    def version_of(self, name: str) -> str | None:
        """Return the version of an installed distribution, or nothing."""
        found = self.distributions.get(normalize(name))
        return found.version if found is not None else None

    def find(self, relative: str) -> Path | None:
        """Return the first file or folder of this relative path on the search path."""
        return next((path / relative for path in self.paths if (path / relative).exists()), None)


def normalize(name: str) -> str:
    """Return a project name in the form in which names are compared (PEP 503).

    >>> normalize("JAX_CUDA12.PJRT")
    'jax-cuda12-pjrt'
    """
    return re.sub(r"[-_.]+", "-", name).lower()


def read_environment(
    paths: Sequence[Path], *, python: Path, version: tuple[int, ...], prefix: Path | None = None
) -> Environment:
    """Read the metadata of everything on a search path.

    Args:
        paths: The search path.
        python: The interpreter it belongs to.
        version: Version of that interpreter.
        prefix: Root of the environment; the interpreter's grandparent unless given.
    """
    folders = tuple(dict.fromkeys(path for path in paths if path.is_dir()))
    found: dict[str, Distribution] = {}
    doubled: list[str] = []
    damaged: list[Path] = []
    for folder in folders:
        here = set()
        for metadata in importlib.metadata.distributions(path=[str(folder)]):
            distribution = _read_distribution(metadata, folder)
            if distribution is None:
                damaged.append(_metadata_folder(metadata, folder))
                continue
            if distribution.name in here:
                doubled.append(distribution.name)
            here.add(distribution.name)
            found.setdefault(distribution.name, distribution)
    root = prefix if prefix is not None else python.parent.parent
    return Environment(python, version, folders, root, found, tuple(sorted(set(doubled))), tuple(sorted(damaged)))


def this_environment() -> Environment:
    """Read the environment this program runs in."""
    paths = [Path(entry) for entry in sys.path if entry]
    return read_environment(paths, python=Path(sys.executable), version=sys.version_info[:3], prefix=Path(sys.prefix))


def other_environment(python: Path) -> Environment:
    """Read the environment of another interpreter, which is asked for its search path.

    Raises:
        UsageError: It is no Python, or does not answer.
    """
    try:
        # In a folder without modules, and without PYTHONSAFEPATH, which older versions do not know.
        result = subprocess.run(
            [str(python), "-c", _ASK], capture_output=True, text=True, timeout=60, check=True, cwd=str(python.parent)
        )
        executable, version, paths, prefix = json.loads(result.stdout.splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
        raise UsageError(f"not a usable Python: {str(python)!r}", cause=str(error)) from error
    folders = [Path(entry) for entry in paths if entry]
    return read_environment(folders, python=Path(executable), version=tuple(version), prefix=Path(prefix))


def _read_distribution(metadata: importlib.metadata.Distribution, folder: Path) -> Distribution | None:
    """Return a distribution, or nothing if its metadata has no name."""
    try:
        # Missing METADATA gives an empty message, and a version of None in newer Pythons.
        name, version = metadata.metadata["Name"], metadata.metadata["Version"]
        files = tuple(str(file) for file in metadata.files or ())
        plugins = {
            entry.name: entry.value.split(":")[0].strip() for entry in metadata.entry_points if entry.group == GROUP
        }
    except Exception:  # noqa: BLE001  # whatever the remains of an installation look like
        return None
    if not name or not version:
        return None
    return Distribution(normalize(name), version, folder, plugins, files)


def _metadata_folder(metadata: importlib.metadata.Distribution, folder: Path) -> Path:
    return Path(str(getattr(metadata, "_path", folder)))

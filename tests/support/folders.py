# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Folders of files, as tests need them."""

import json
from collections.abc import Mapping
from pathlib import Path


def write_files(root: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files by their paths below a folder, and return that."""
    for path, content in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_bytes(content if isinstance(content, bytes) else content.encode())
    return root


def snapshot(folder: Path) -> dict[str, bytes]:
    """Return every file below a folder."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def write_program(path: Path, script: str) -> Path:
    """Write a program for the shell, and return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    path.chmod(0o755)
    return path


def write_dist_info(site: Path, name: str, version: str, *, metadata: str = "", entry_points: str = "") -> None:
    """Write what tells that a project is installed in a `site-packages`, with further METADATA and entry points."""
    files = {"METADATA": f"Metadata-Version: 2.4\nName: {name}\nVersion: {version}\n{metadata}"}
    files |= {"entry_points.txt": entry_points} if entry_points else {}
    write_files(site / f"{name.replace('-', '_')}-{version}.dist-info", files)


def cut_file(path: Path) -> None:
    """Leave half of a file, as a broken download would."""
    replace_file(path, path.read_bytes()[: path.stat().st_size // 2])


def replace_file(path: Path, content: bytes) -> None:
    """Replace a file; it may be a hard link into an installer's cache, so it is never written in place."""
    path.unlink()
    path.write_bytes(content)


def rewrite_lock(path: Path, **changes: object) -> None:
    """Change entries of a lock document in an environment."""
    replace_file(path, json.dumps(json.loads(path.read_bytes()) | changes).encode())


def installed_in(site: Path) -> dict[str, str]:
    """Return name and version of all that is installed in a `site-packages`."""
    found = (path.name.removesuffix(".dist-info").split("-") for path in site.glob("*.dist-info"))
    return {name.replace("_", "-"): version for name, version in found}


def site_packages_of(python: Path) -> Path:
    """Return the `site-packages` of the environment of a Python."""
    (site,) = (python.parent.parent / "lib").glob("python3*/site-packages")
    return site

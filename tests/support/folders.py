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


def replace_file(path: Path, content: bytes) -> None:
    """Replace a file; it may be a hard link into an installer's cache, so it is never written in place."""
    path.unlink()
    path.write_bytes(content)


def rewrite_lock(path: Path, **changes: object) -> None:
    """Change entries of a lock document in an environment."""
    replace_file(path, json.dumps(json.loads(path.read_bytes()) | changes).encode())


def site_packages_of(python: Path) -> Path:
    """Return the `site-packages` of the environment of a Python."""
    (site,) = (python.parent.parent / "lib").glob("python3*/site-packages")
    return site

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`bundle.json`: what a bundle was made for, and each of its files with size and hash; standard library only."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

from pjrtwheel.errors import FetchError
from pjrtwheel.tables import TableError, column, read_json, write_json

MANIFEST = "bundle.json"
SCHEMA = 1
PAGES_FOLDER = "simple"
REPOSITORY = "repository.bundle"
BEGUN = "bundle.begun"
"""A file in a folder whose bundle is not finished; what a run does not need is removed from such a folder alone."""


class Kind(StrEnum):
    """What a file is for; of several, the first."""

    INPUT = "pinned input"
    TOOL = "tool"
    PROOF = "proof"
    REPOSITORY = "repository"
    PAGE = "page"


@dataclass(frozen=True, slots=True)
class BundledFile:
    """One file of a bundle.

    Attributes:
        kind: What it is for.
        path: Its place in the folder.
        size: Length in bytes.
        sha256: Hexadecimal digest.
    """

    kind: Kind
    path: str = column(pattern=r"(?!/)(?!.*(^|/)\.\.(/|$)).+")
    size: int = column(minimum=0)
    sha256: str = column(pattern=r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class Manifest:
    """What is in a bundle.

    Attributes:
        schema: Version of this format.
        commit: The commit of the repository in it.
        host: The platform that it works on.
        tool_pythons: ABI tags of the Pythons that the tools can be installed for.
        proof_pythons: ABI tags of the Pythons that wheels can be proven on.
        wheels: Release, backend and platform of what can be built, such as `0.12.0.1 cpu linux_x86_64`.
        files: All files but this one, in order of path.
    """

    schema: int
    commit: str
    host: str
    tool_pythons: tuple[str, ...]
    proof_pythons: tuple[str, ...]
    wheels: tuple[str, ...]
    files: tuple[BundledFile, ...]

    def size_of(self, kinds: Iterable[Kind]) -> int:
        """Return how many bytes the files of some kinds have."""
        wanted = set(kinds)
        return sum(file.size for file in self.files if file.kind in wanted)


def read_manifest(folder: Path) -> Manifest:
    """Read what is in a bundle.

    Raises:
        FetchError: The folder is no bundle, one that was not finished, or one of another format.
    """
    path = folder / MANIFEST
    try:
        manifest = read_json(Manifest, path.read_bytes())
    except OSError as error:
        raise _explain(folder, error) from error
    except TableError as error:
        raise FetchError(
            f"malformed: {path}", cause=str(error), remedy="copy it again from where it was made"
        ) from error
    if manifest.schema != SCHEMA:
        raise FetchError(
            f"{path} is of format {manifest.schema}, expected {SCHEMA}",
            remedy="use the repository that is in the bundle",
        )
    return manifest


def _explain(folder: Path, error: OSError) -> FetchError:
    if not folder.is_dir():
        kind = "a file, and no folder" if folder.exists() else "not there; is its disk mounted?"
        return FetchError(f"no bundle: {folder}", cause=f"it is {kind}")
    if (folder / BEGUN).exists():
        return FetchError(
            f"no bundle: {folder}",
            cause=f"it is not finished: {MANIFEST} is written last",
            remedy="finish it on a machine with a network: run the `./noxw -s bundle` that made it again",
        )
    reason = "it has none" if isinstance(error, FileNotFoundError) else f"it cannot be read: {error.strerror}"
    return FetchError(f"no bundle: {folder}", cause=f"a bundle has a {MANIFEST}; {reason}")


def format_manifest(manifest: Manifest) -> str:
    """Return the text of the file."""
    return write_json(manifest)

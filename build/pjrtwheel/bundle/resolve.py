# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Ask this machine's pip which files it would install for an interpreter, and fetch them by hash."""

from __future__ import annotations

import json
import urllib.parse
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pjrtwheel.environment.venv import pip_command, run_tool
from pjrtwheel.errors import FetchError
from pjrtwheel.fetch.index import explain_output
from pjrtwheel.fetch.listing import local_path
from pjrtwheel.files import hash_file

_BATCH = 16  # files that one run of pip fetches: as many may be fetched again when it is killed
_WHEELS_ONLY = "--only-binary=:all:"


@dataclass(frozen=True, slots=True)
class Resolved:
    """A wheel that pip chose."""

    project: str
    version: str
    filename: str
    sha256: str

    @property
    def requirement(self) -> str:
        """The line of a requirements file that means this very file."""
        return f"{self.project}=={self.version} --hash=sha256:{self.sha256}"


def resolve(python: Path, requirements: Sequence[str], scratch: Path, *options: str) -> tuple[Resolved, ...]:
    """Return the wheels that pip would install into an empty environment, given by its Python; nothing is installed.

    Raises:
        FetchError: The package index cannot be reached, or has no wheels that fit together.
    """
    report = scratch / "report.json"
    command = [*pip_command(python), "install", "--dry-run", "--ignore-installed", "--quiet", _WHEELS_ONLY]
    done = run_tool([*command, "--report", str(report), *options, *requirements])
    if done.returncode != 0:
        raise explain_output("cannot resolve what the bundle needs", done.stderr)
    return tuple(_read_item(item) for item in json.loads(report.read_text("utf-8"))["install"])


def _read_item(item: dict[str, Any]) -> Resolved:
    """Return one entry of pip's installation report."""
    source, metadata = item["download_info"], item["metadata"]
    url = source["url"]
    digest = source.get("archive_info", {}).get("hashes", {}).get("sha256", "")
    if not digest and (path := local_path(url)):
        digest = hash_file(path)
    name = urllib.parse.unquote(urllib.parse.urlsplit(url).path.rpartition("/")[2])
    if not digest:
        raise FetchError(f"the package index gives no sha256 for {name}", remedy="use an index that does (PEP 503)")
    return Resolved(metadata["name"], metadata["version"], name, digest)


def download(python: Path, wanted: Iterable[Resolved], scratch: Path) -> Iterable[tuple[Path, ...]]:
    """Fetch wheels for the interpreter that they were resolved for, some at a time; pip holds them to their hashes.

    Raises:
        FetchError: pip failed, or brought other files.
    """
    pending = list(wanted)
    for number, start in enumerate(range(0, len(pending), _BATCH)):
        batch, folder = pending[start : start + _BATCH], scratch / f"batch-{number}"
        folder.mkdir()
        listed = scratch / "requirements.txt"
        listed.write_text("".join(f"{entry.requirement}\n" for entry in batch), "utf-8")
        command = [*pip_command(python), "download", "--quiet", "--no-deps", _WHEELS_ONLY, "--require-hashes"]
        done = run_tool([*command, "--no-cache-dir", "--dest", str(folder), "--requirement", str(listed)])
        if done.returncode != 0:
            raise explain_output("cannot download what the bundle needs", done.stderr)
        paths = tuple(folder / entry.filename for entry in batch)
        if missing := [path.name for path in paths if not path.is_file()]:
            raise FetchError(f"pip did not bring {', '.join(missing)}")
        yield paths

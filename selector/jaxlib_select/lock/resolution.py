# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Let uv or pip find out everything that requirements bring along, with files and hashes."""

from __future__ import annotations

import json
import tempfile
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from jaxlib_select.decision import Decision
from jaxlib_select.errors import InstallError, LockError
from jaxlib_select.install.commands import Installer, only_from
from jaxlib_select.install.plan import is_ours
from jaxlib_select.install.process import run_installer
from jaxlib_select.lock.document import Group, Table, build_tag, filename
from jaxlib_select.lock.places import local_file
from jaxlib_select.names import normalize
from jaxlib_select.versions import read_version

# The first version of pip whose dry run downloads no wheel that the index has metadata of (PEP 658).
_PIP_WITH_METADATA = (25, 3)


def resolve_group(decision: Decision, installer: Installer, options: Sequence[str], *, quiet: bool = False) -> Group:
    """Resolve what one decision needs, for the platform and the Python of the installer's environment.

    Args:
        decision: The decision.
        installer: What resolves.
        options: Further options of the installer.
        quiet: Show nothing of what it says.

    Raises:
        InstallError: The index cannot be reached, or does not have it.
        LockError: What came out cannot be locked.
    """
    requirements = (*decision.requirements, *decision.constraints)
    where = only_from(decision.index_url, options)
    packages = resolve_requirements(requirements, installer, where, quiet=quiet)
    if is_ours(decision.package):
        check_jaxlib(packages)
    return Group(decision.group, decision.backend, requirements, tuple(packages))


def resolve_requirements(
    requirements: Sequence[str], installer: Installer, options: Sequence[str], *, quiet: bool = False
) -> list[Table]:
    """Return what requirements bring along, as tables of `packages` (PEP 751).

    Raises:
        InstallError: The index cannot be reached, or does not have it.
        LockError: What came out cannot be locked.
    """
    with tempfile.TemporaryDirectory(prefix="jaxlib-select-") as folder:
        run = _run_uv if installer.kind == "uv" else _run_pip
        return run(installer, requirements, options, Path(folder), quiet=quiet)


def check_jaxlib(packages: Iterable[Table]) -> None:
    """Make sure that the jaxlib of a resolution is ours.

    Raises:
        InstallError: It is not.
    """
    for package in packages:
        wheels = package.get("wheels", [])
        if package["name"] == "jaxlib" and not any(build_tag(filename(wheel))[0] for wheel in wheels):
            place = next((str(wheel.get("url") or filename(wheel)) for wheel in wheels), "no wheel")
            raise InstallError(
                f"jaxlib {package['version']} would be JAX's own, which serves no package of ours",
                cause=place,
                remedy="name the index or folder that has ours: --find-links DIR, or --extra-index-url URL",
            )


def _run_uv(
    installer: Installer,
    requirements: Sequence[str],
    options: Sequence[str],
    folder: Path,
    *,
    quiet: bool,
) -> list[Table]:
    """`uv pip compile` writes a lock file itself."""
    asked, answer = folder / "requirements.in", folder / "pylock.toml"
    asked.write_text("".join(f"{requirement}\n" for requirement in requirements), "utf-8")
    output = ["--format", "pylock.toml", "--output-file", str(answer), "--no-header", "--quiet"]
    target = ["--python", str(installer.python)]
    run_installer([*installer.program, "compile", str(asked), *output, *target, *options], quiet=quiet)
    return list(tomllib.loads(answer.read_text("utf-8")).get("packages", []))


def pip_remark(version: str) -> str:
    """Return why a version of pip resolves slowly; empty for one that does not."""
    if (read_version(version) or _PIP_WITH_METADATA) >= _PIP_WITH_METADATA:
        return ""
    newest = ".".join(map(str, _PIP_WITH_METADATA))
    return f"pip {version} downloads every wheel to resolve; uv and pip {newest} read the index's metadata instead"


def _run_pip(
    installer: Installer,
    requirements: Sequence[str],
    options: Sequence[str],
    folder: Path,
    *,
    quiet: bool,
) -> list[Table]:
    """`pip install --report` says what it would install (pip 22.2 or newer)."""
    report = folder / "report.json"
    dry = ["--dry-run", "--ignore-installed", "--report", str(report)]
    run_installer([*installer.program, "install", *dry, *options, *requirements], quiet=quiet)
    return read_report(json.loads(report.read_text("utf-8")))


def read_report(report: Mapping[str, Any]) -> list[Table]:
    """Turn pip's installation report into packages of a lock file.

    Raises:
        LockError: Something comes from a folder or a repository, or has no hash.
    """
    return [_package(item) for item in report["install"]]


def _package(item: Mapping[str, Any]) -> Table:
    name, version = normalize(item["metadata"]["name"]), item["metadata"]["version"]
    url = item["download_info"]["url"]
    hashes = item["download_info"].get("archive_info", {}).get("hashes", {})
    if "sha256" not in hashes:
        raise LockError(f"cannot lock {name} {version}: {url} has no sha256", remedy="lock released files only")
    entry: dict[str, Any] = {"url": url, "hashes": {"sha256": hashes["sha256"]}}
    if urlsplit(url).path.endswith(".whl"):
        return {"name": name, "version": version, "wheels": [entry]}
    return {"name": name, "version": version, "sdist": entry}


def make_relative(packages: Sequence[Table], folder: Path) -> tuple[list[Table], int]:
    """Replace links to files at or below a folder by relative paths, so that both can move together.

    Args:
        packages: Packages of a lock file.
        folder: Where the lock file will lie.

    Returns:
        The packages, and how many files lie elsewhere on this machine.
    """
    elsewhere = 0
    changed: list[Table] = []
    for package in packages:
        table = dict(package)
        for key in ("wheels", "sdist"):
            if key in table:
                entries = table[key] if key == "wheels" else [table[key]]
                moved = [_relative(entry, folder) for entry in entries]
                elsewhere += sum(str(entry.get("url", "")).startswith("file:") for entry in moved)
                table[key] = moved if key == "wheels" else moved[0]
        changed.append(table)
    return changed, elsewhere


def _relative(entry: Table, folder: Path) -> Table:
    path = local_file(str(entry.get("url", "")))
    if path is None:
        return entry
    try:
        relative = path.relative_to(folder.resolve())
    except ValueError:
        return entry
    rest = {key: value for key, value in entry.items() if key != "url"}
    return {"path": relative.as_posix(), **rest}

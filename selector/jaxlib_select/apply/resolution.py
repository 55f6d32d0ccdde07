# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Let uv or pip find out everything that requirements bring along, with files and hashes.

Our jaxlib and JAX's own have the same name. The version of ours has a label, or it has a build tag, by which pip finds
it among the files of all indexes. uv takes what the first index has that knows the name, and asks the extra ones before
the main one.
"""

from __future__ import annotations

import contextlib
import json
import tempfile
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from jaxlib_select.apply.installer import Installer, bindings_of, is_ours, only_from, run_installer, turned_around
from jaxlib_select.apply.pylock import Group, Table, build_tag, filename
from jaxlib_select.choose.decision import Decision
from jaxlib_select.errors import InstallError, LockError
from jaxlib_select.names import normalize
from jaxlib_select.versions import read_version

# The first version of pip whose dry run downloads no wheel that the index has metadata of (PEP 658).
_PIP_WITH_METADATA = (25, 3)


def resolve_group(decision: Decision, installer: Installer, options: Sequence[str], *, quiet: bool = False) -> Group:
    """Resolve what one decision needs, for the platform and the Python of the installer's environment.

    Raises:
        InstallError: The index cannot be reached, or does not have it.
        LockError: What came out cannot be locked.
    """
    requirements = (*decision.requirements, *decision.constraints)
    where = only_from(decision.index_url, options)
    packages = _resolve_requirements(requirements, installer, where, quiet=quiet)
    if is_ours(decision.package):
        _check_jaxlib(packages)
    return Group(decision.group, decision.backend, requirements, tuple(packages))


def _resolve_requirements(
    requirements: Sequence[str], installer: Installer, options: Sequence[str], *, quiet: bool = False
) -> list[Table]:
    """Return what requirements bring along, as tables of `packages` (PEP 751); errors as of `resolve_group`."""
    with tempfile.TemporaryDirectory(prefix="jaxlib-select-") as folder:
        run = _run_uv if installer.kind == "uv" else _run_pip
        return run(installer, requirements, options, Path(folder), quiet=quiet)


def _check_jaxlib(packages: Iterable[Table]) -> None:
    """Raise an `InstallError` if the jaxlib of a resolution is not ours."""
    for package in packages:
        wheels = package.get("wheels", [])
        labelled = "+" in package.get("version", "")
        if package["name"] == "jaxlib" and not labelled and not any(build_tag(filename(wheel))[0] for wheel in wheels):
            place = next((str(wheel.get("url") or filename(wheel)) for wheel in wheels), "no wheel")
            raise InstallError(
                f"jaxlib {package['version']} would be JAX's own, which serves no package of ours",
                cause=place,
                remedy="name the index or folder that has ours: --find-links DIR, or --extra-index-url URL",
            )


def _run_uv(
    installer: Installer, requirements: Sequence[str], options: Sequence[str], folder: Path, *, quiet: bool
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
    installer: Installer, requirements: Sequence[str], options: Sequence[str], folder: Path, *, quiet: bool
) -> list[Table]:
    """`pip install --report` says what it would install (pip 22.2 or newer)."""
    report = folder / "report.json"
    dry = ["--dry-run", "--ignore-installed", "--report", str(report)]
    run_installer([*installer.program, "install", *dry, *options, *requirements], quiet=quiet)
    return read_report(json.loads(report.read_text("utf-8")))


def read_report(report: Mapping[str, Any]) -> list[Table]:
    """Turn pip's installation report into packages of a lock file; a `LockError` for what has no hash."""
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


def find_order(decisions: Iterable[Decision], installer: Installer, options: Sequence[str]) -> tuple[str, ...]:
    """Return options with the indexes in an order by which our jaxlib is taken; an `InstallError` if there is none."""
    bindings = [text for decision in decisions for text in bindings_of(decision)]
    if installer.kind != "uv" or not bindings:
        return tuple(options)
    orders = list(dict.fromkeys((tuple(options), turned_around(options))))
    for order in orders[:-1]:
        with contextlib.suppress(InstallError):
            _check_bindings(bindings, installer, order)
            return order
    _check_bindings(bindings, installer, orders[-1])
    return orders[-1]


def _check_bindings(bindings: Sequence[str], installer: Installer, options: Sequence[str]) -> None:
    _check_jaxlib(_resolve_requirements(bindings, installer, (*options, "--no-deps"), quiet=True))

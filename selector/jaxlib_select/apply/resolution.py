# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Let uv or pip find out everything that requirements bring along, with files and hashes.

Our jaxlib and JAX's own have the same name: the version of ours has a label, or its file a build tag.
"""

from __future__ import annotations

import json
import posixpath
import tempfile
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from jaxlib_select.apply.installer import Installer, bindings_of, is_ours, name_of, run_installer
from jaxlib_select.apply.pylock import Group, Table, build_tag, filename
from jaxlib_select.choose.decision import Decision
from jaxlib_select.errors import InstallError, LockError
from jaxlib_select.names import normalize
from jaxlib_select.sentences import printable, shorten


def resolve_group(decision: Decision, installer: Installer, *, quiet: bool = False) -> Group:
    """Resolve what one decision needs, for the platform and the Python of the installer's environment.

    Raises:
        InstallError: The index cannot be reached, or does not have it.
        LockError: What came out cannot be locked.
    """
    requirements = (*decision.requirements, *decision.constraints)
    packages = _resolve(requirements, installer.only_from(decision.index_url), quiet=quiet)
    if is_ours(decision.package):
        _check_jaxlib(packages)
    return Group(decision.group, decision.backend, requirements, tuple(packages))


def _resolve(requirements: Sequence[str], installer: Installer, *options: str, quiet: bool = False) -> list[Table]:
    """Return what requirements bring along, as tables of `packages` (PEP 751); errors as of `resolve_group`."""
    options = (*only_wheels(requirements), *options)
    with tempfile.TemporaryDirectory(prefix="jaxlib-select-") as folder:
        asked, answer = Path(folder, "requirements.in"), Path(folder, "pylock.toml")
        if installer.kind == "pip":  # its report says what it would install (pip 22.2 or newer)
            dry = ["--dry-run", "--ignore-installed", "--report", str(answer), *options]
            run_installer(installer.install(requirements, *dry), quiet=quiet)
            return read_report(json.loads(answer.read_text("utf-8")))
        asked.write_text("".join(f"{requirement}\n" for requirement in requirements), "utf-8")
        output = ["--format", "pylock.toml", "--output-file", str(answer), "--no-header", "--quiet"]
        target = [*installer.target(), *installer.sources, *options]
        run_installer([*installer.program, "compile", str(asked), *output, *target], quiet=quiet)
        return list(tomllib.loads(answer.read_text("utf-8")).get("packages", []))


def _check_jaxlib(packages: Iterable[Table]) -> None:
    """Raise an `InstallError` if the jaxlib of a resolution is not ours."""
    for package in packages:
        wheels = package.get("wheels", [])
        labelled = "+" in package.get("version", "")
        if package["name"] == "jaxlib" and not labelled and not any(build_tag(filename(wheel))[0] for wheel in wheels):
            place = next((str(wheel.get("url") or filename(wheel)) for wheel in wheels), "no wheel")
            raise InstallError(
                f"jaxlib {package['version']} would be JAX's own, which works with none of our packages",
                cause=place,
                remedy="name the index or folder that has ours: --index-url URL, or --find-links DIR",
            )


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


def find_wheels(decisions: Iterable[Decision], installer: Installer) -> list[Table]:
    """Return our wheels, and the jax and jaxlib that go with them, as an installer finds them.

    Each requirement has an exact version, so a higher version on another index is ignored.

    Raises:
        InstallError: They are not there, or the jaxlib is JAX's own.
    """
    ours = [decision for decision in decisions if is_ours(decision.package) and decision.index_url is None]
    wanted = [text for decision in ours for text in (*decision.requirements, *bindings_of(decision))]
    packages = _resolve(wanted, installer, "--no-deps", "--only-binary=:all:", quiet=True) if wanted else []
    _check_jaxlib(packages)
    return packages


def only_wheels(requirements: Iterable[str]) -> tuple[str, ...]:
    """Return the options with which uv and pip build no source package under one of our names.

    >>> only_wheels(["jaxlib-cpu==0.11.2", "flax"])
    ('--only-binary', 'jaxlib', '--only-binary', 'jaxlib-cpu')
    """
    ours = dict.fromkeys(name for name in map(name_of, requirements) if is_ours(name))
    return tuple(word for name in (["jaxlib", *ours] if ours else []) for word in ("--only-binary", name))


def show_wheels(packages: Iterable[Table]) -> list[str]:
    """Return a line for each file: its name up to the tags, and where it comes from, without passwords.

    >>> url = "https://me:secret@example.org/simple/a-b/a_b-1%2Bc-py3-none-any.whl"
    >>> show_wheels([{"name": "a-b", "wheels": [{"url": url}]}])
    ['a_b-1+c-*.whl  from example.org/simple/a-b']
    """
    rows = []
    for file in (file for package in packages for file in package.get("wheels", [])):
        place = urlsplit(str(file.get("url", "")))
        host, folder = place.netloc.rpartition("@")[2], posixpath.dirname(unquote(place.path))
        rows.append((f"{filename(file).rsplit('-', 3)[0]}-*.whl", f"{host}{shorten(folder, 60 - len(host))}"))
    width = max((len(name) for name, _ in rows), default=0)
    return [printable(f"{name:<{width}}  from {origin}") for name, origin in rows]

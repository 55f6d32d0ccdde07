# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Look up what is not in a wheel: the programs of vendors, and the versions that the package index has."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

from packaging.requirements import InvalidRequirement, Requirement

from pjrtwheel.backend import load_backends
from pjrtwheel.errors import FetchError, PjrtWheelError
from pjrtwheel.fetch import WheelCache, cache_root, download_wheel, unpack_wheel
from pjrtwheel.fetch.index import OFFLINE_SIGNS, run_pip
from pjrtwheel.platforms import host_platform
from pjrtwheel.release.known import load_release
from pjrtwheel.verify.findings import Finding

_VERSIONS = re.compile(r"^Available versions: (.+)$", re.MULTILINE)

# The oldest Python of a release, which need not be the one that runs this.
_PYTHON = "--python-version=3.12"

# Name of a vendor's program → where it is, or nothing.
FindTool = Callable[[str], Path | None]

# Name of a project → its versions, the newest first.
AskIndex = Callable[[str], tuple[str, ...]]


def make_finder(root: Path, given: Mapping[str, Path], scratch: Path) -> FindTool:
    """Return a function that finds a program by name: where the user says, or else pinned and fetched, at most once.

    The root is another folder when there is no repository at hand; what is fetched is unpacked in `scratch`.
    """
    found: dict[str, Path | None] = dict(given)

    def find(name: str) -> Path | None:
        if name not in found:
            found[name] = _fetch(root, name, scratch)
        return found[name]

    return find


def _fetch(root: Path, name: str, scratch: Path) -> Path | None:
    """Return the pinned program, or nothing where it is not available: a wheel is described without it."""
    tools = {key: tool for backend in load_backends(root).values() for key, tool in backend.tools.items()}
    if name not in tools:
        return None
    try:
        pin = load_release(root).pin(f"tool.{name}.{host_platform().name}")
        wheel = WheelCache(cache_root(os.environ), download_wheel).fetch(pin)
        unpack_wheel(wheel, scratch, [tools[name].member])
    except PjrtWheelError as error:
        print(f"cannot get {name}: {error}", file=sys.stderr)
        return None
    program = scratch / tools[name].member
    program.chmod(0o755)
    return program


def find_unresolvable(requires: Iterable[str], ask_index: AskIndex) -> Iterator[Finding]:
    """Yield a finding for each `Requires-Dist` line that can be read and that no version of the index fulfils."""
    for line in requires:
        try:
            requirement = Requirement(line)
        except InvalidRequirement:
            continue
        if requirement.url:
            continue
        versions = ask_index(requirement.name)
        if not versions:
            yield Finding("requires-missing", "", f"requires {requirement.name}, which the package index does not have")
        elif not list(requirement.specifier.filter(versions, prereleases=True)):
            text = f"requires {requirement.name}{requirement.specifier}; the package index has up to {versions[0]}"
            yield Finding("requires-missing", "", text)


def ask_index(name: str) -> tuple[str, ...]:
    """Return the versions of a project, the newest first; none when there is no such project."""
    options = ("--disable-pip-version-check", "--no-input", "--only-binary=:all:", "--pre", _PYTHON)
    status, output = run_pip((sys.executable, "-m", "pip", "index", "versions", *options, name))
    return parse_versions(status, output, name)


def parse_versions(status: int, output: str, name: str) -> tuple[str, ...]:
    """Return the versions that pip listed.

    Raises:
        FetchError: The package index cannot be reached.
    """
    match = _VERSIONS.search(output)
    if match:
        return tuple(match[1].split(", "))
    if any(sign in output for sign in OFFLINE_SIGNS) or "No matching distribution found" not in output:
        lines = output.strip().splitlines() or [f"pip ended with status {status} and said nothing"]
        raise FetchError(f"cannot ask the package index for {name}", cause=lines[-1])
    return ()

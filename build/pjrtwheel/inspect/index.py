# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Ask the package index whether what a wheel requires is available; the machine's own pip decides which index."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Iterable, Iterator

from packaging.requirements import InvalidRequirement, Requirement

from pjrtwheel.errors import FetchError
from pjrtwheel.fetch.index import OFFLINE_SIGNS, run_pip
from pjrtwheel.verify.findings import Finding

_VERSIONS = re.compile(r"^Available versions: (.+)$", re.MULTILINE)

# The oldest Python of a release, which need not be the one that runs this.
_PYTHON = "--python-version=3.12"

# Name of a project → its versions, the newest first.
AskIndex = Callable[[str], tuple[str, ...]]


def find_unresolvable(requires: Iterable[str], ask_index: AskIndex) -> Iterator[Finding]:
    """Yield a finding for each requirement that no version of the index fulfils.

    Args:
        requires: `Requires-Dist` lines; those that cannot be read are not looked at.
        ask_index: Returns the versions of a project.
    """
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
    """Return the versions of a project, the newest first; none when there is no such project.

    Raises:
        FetchError: The package index cannot be reached.
    """
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

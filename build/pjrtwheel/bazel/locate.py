# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find a Bazel of a supported version, or get Debian's."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.errors import BazelError
from pjrtwheel.fetch.index import BUNDLE_VARIABLE
from pjrtwheel.release.model import XlaSource

OLDEST = (4, 2)
NEWEST_MAJOR = 8  # Bazel 9 has no WORKSPACE any more
_OVERRIDES = ("--override_repository=jax=", "--override_repository=xla=")
_DEBIAN_PACKAGE = "bazel-bootstrap"
NAMES = ("bazelisk", "bazel", "bazel-4")
_VERSION = re.compile(r"(\d+)\.(\d+)(?:\.(\d+))?")


@dataclass(frozen=True, slots=True)
class Bazel:
    """A Bazel that can be run.

    Attributes:
        command: Path of the program.
        version: Major, minor and patch version.
        wanted: Value of `USE_BAZEL_VERSION`, by which bazelisk and Debian's wrapper choose; empty to leave it alone.
    """

    command: str
    version: tuple[int, int, int]
    wanted: str = ""


def parse_version(text: str) -> tuple[int, int, int] | None:
    """Return the version in the output of `bazel --version` or of the package manager, None if there is none.

    >>> parse_version("bazel 7.7.1"), parse_version("4.2.3+ds-9"), parse_version("bazel no_version")
    ((7, 7, 1), (4, 2, 3), None)
    """
    match = _VERSION.search(text)
    if match is None:
        return None
    major, minor, patch = match.groups("0")
    return int(major), int(minor), int(patch)


def _run_quietly(command: Sequence[str], environ: Mapping[str, str]) -> str:
    """Run a command; return what it printed, or an empty string when it failed or is not there."""
    try:
        done = subprocess.run(
            command, env=dict(environ), cwd="/", capture_output=True, text=True, check=False, timeout=300
        )
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout if done.returncode == 0 else ""


def identify(command: str, pinned: str, environ: Mapping[str, str]) -> Bazel | None:
    """Ask a program which Bazel it is; bazelisk fetches the pinned version, Debian's wrapper refuses any it has not.

    Debian's build of 4.2.3 says `no_version` whatever it is asked; the package manager knows better.
    """
    for wanted in (pinned, "latest"):
        text = _run_quietly((command, "--version"), {**environ, "USE_BAZEL_VERSION": wanted})
        if text:
            break
    else:
        return None
    if "no_version" in text:
        text = _run_quietly(("dpkg-query", "-W", "-f", "${Version}", _DEBIAN_PACKAGE), environ)
    version = parse_version(text)
    return Bazel(command, version, wanted) if version else None


def _candidates(environ: Mapping[str, str]) -> Iterator[str]:
    if named := environ.get("BAZEL"):
        found = shutil.which(named, path=environ.get("PATH"))
        if found is None:
            raise BazelError(f"BAZEL={named} cannot be run", remedy="correct the variable, or unset it")
        yield found
        return
    for name in NAMES:
        # bazelisk takes what it runs from the network, and does not say whether it has it.
        if name == "bazelisk" and environ.get(BUNDLE_VARIABLE):
            continue
        if found := shutil.which(name, path=environ.get("PATH")):
            yield found


def find_bazel(pinned: str, environ: Mapping[str, str]) -> Bazel:
    """Return the first supported Bazel: `$BAZEL`, then bazelisk, which fetches the pinned version, or bazel on PATH.

    Raises:
        BazelError: None was found; the message lists what was, and says how to get one.
    """
    seen = []
    for command in _candidates(environ):
        bazel = identify(command, pinned, environ)
        if bazel and bazel.version >= OLDEST and bazel.version[0] <= NEWEST_MAJOR:
            return bazel
        seen.append(f"{command} ({'.'.join(map(str, bazel.version)) if bazel else 'does not run'})")
    raise BazelError(
        f"no usable Bazel found (supported: {'.'.join(map(str, OLDEST))} to {NEWEST_MAJOR}.x)",
        cause=f"looked at: {', '.join(seen)}" if seen else f"looked for {', '.join(NAMES)} on PATH, and for $BAZEL",
        remedy=f"install bazelisk (npm install -g @bazel/bazelisk), or on Debian: apt-get install {_DEBIAN_PACKAGE}",
    )


def _may_install(environ: Mapping[str, str]) -> bool:
    """Return whether Debian's package can be installed here: as root, with apt, and no Bazel was asked for by name.

    Nor where everything is taken from a bundle, which has none.
    """
    elsewhere = environ.get("BAZEL") or environ.get(BUNDLE_VARIABLE)
    return os.geteuid() == 0 and Path("/etc/debian_version").exists() and not elsewhere


def _install_debian(environ: Mapping[str, str]) -> None:
    """Install Debian's package, refreshing the package lists when it is not known yet."""
    quiet = {**environ, "DEBIAN_FRONTEND": "noninteractive"}
    install = ("apt-get", "install", "--yes", "--no-install-recommends", _DEBIAN_PACKAGE)
    print(f"no Bazel found, installing Debian's: {' '.join(install)}", file=sys.stderr, flush=True)
    if not _run_quietly(install, quiet):
        _run_quietly(("apt-get", "update"), quiet)
        _run_quietly(install, quiet)


def provide_bazel(pinned: str, environ: Mapping[str, str]) -> Bazel:
    """Return a supported Bazel, installing Debian's when there is none and that is possible; see `find_bazel`.

    Raises:
        BazelError: There is none; the message says what to install and how.
    """
    try:
        return find_bazel(pinned, environ)
    except BazelError:
        if not _may_install(environ):
            raise
    _install_debian(environ)
    return find_bazel(pinned, environ)


def is_overridden(flags: Sequence[str]) -> bool:
    """Return whether another tree takes the place of the pinned XLA, or of JAX, which has a part of GPU plugins."""
    return any(flag.startswith(_OVERRIDES) for flag in flags)


def check_version(bazel: Bazel, xla: XlaSource, extra: Sequence[str]) -> None:
    """Make sure that Bazel can build the pinned XLA; of another tree nothing is known, so nothing is demanded.

    Raises:
        BazelError: It is of another major version than XLA wants.
    """
    wanted = parse_version(xla.bazel)
    if wanted is None or bazel.version[0] == wanted[0] or is_overridden(extra):
        return
    raise BazelError(
        f"XLA at {xla.commit[:12]} needs Bazel {xla.bazel}, {bazel.command} is {'.'.join(map(str, bazel.version))}",
        remedy="install bazelisk (npm install -g @bazel/bazelisk), or name a Bazel in the variable BAZEL",
    )

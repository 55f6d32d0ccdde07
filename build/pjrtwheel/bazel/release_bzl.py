# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Tell Bazel about the chosen release: `python -m pjrtwheel.bazel.release_bzl --root DIR [--release VERSION]`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path

from pjrtwheel.bazel.starlark import Value, to_starlark
from pjrtwheel.platforms import PLATFORMS, host_platform
from pjrtwheel.program import run_main
from pjrtwheel.release.model import Release, load_release


def render_release(release: Release, host: str) -> str:
    """Return a `.bzl` file with the facts of a release that the graph is laid out by.

    Args:
        release: The parsed release file.
        host: Name of the platform that the build runs on.
    """
    facts: dict[str, Value] = {
        "version": release.version,
        "host": host,
        "pythons": {name: release.pythons(name) for name in PLATFORMS},
        "xla": asdict(release.xla),
    }
    return f'"""The release that was chosen; written by a repository rule."""\n\nRELEASE = {to_starlark(facts)}\n'


def main(argv: Sequence[str] | None = None) -> int:
    """Print the file and return the exit status."""
    return run_main(_run, argv)


def _run(argv: Sequence[str]) -> int:
    """Parse the arguments and print the file."""
    parser = argparse.ArgumentParser(prog="python -m pjrtwheel.bazel.release_bzl", description=__doc__)
    parser.add_argument("--root", type=Path, required=True, help="the repository")
    parser.add_argument("--release", default="", help="the JAX release (default: the newest)")
    arguments = parser.parse_args(argv)
    release = load_release(arguments.root, arguments.release)
    print(render_release(release, host_platform().name), end="")
    return 0


if __name__ == "__main__":
    sys.exit(main())

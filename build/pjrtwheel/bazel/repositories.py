# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Say in JSON what the graph is laid out by, for a repository rule: `python -m pjrtwheel.bazel.repositories`."""

import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from pjrtwheel.abis import FREE_THREADED, STABLE_ABI, extension_suffix
from pjrtwheel.backend import Backend, load_backends, merge_tools
from pjrtwheel.platforms import PLATFORMS, Platform, host_platform
from pjrtwheel.program import CommandParser, program
from pjrtwheel.release.known import load_release
from pjrtwheel.release.model import Release
from pjrtwheel.sources import import_closure
from pjrtwheel.tables import write

_XLA = ("commit", "sha256", "verified", "toolchain_commit", "toolchain_sha256")
# The programs that actions run, by the modules that each begins with.
_ACTIONS = {"assemble": ("pjrtwheel.__main__", "pjrtwheel.cli.assemble"), "compile": ("pjrtwheel.bazel.compile",)}


def _describe_graph(root: Path, version: str | None, host: Platform) -> dict[str, Any]:
    """Return all that the graph is laid out by, as name and value of each constant in `@jax_release//:release.bzl`."""
    backends, release = load_backends(root), load_release(root, version)
    return {
        "RELEASE": {
            "version": release.version,
            "host": host.name,
            "jax_commit": release.commits.get("jaxlib", ""),
            "pythons": {name: list(release.pythons(name)) for name in PLATFORMS},
            # A WORKSPACE names every key, whether or not XLA is built.
            "xla": {name: getattr(release.xla, name, "") for name in _XLA},
        },
        "PLATFORMS": {name: _describe_platform(entry) for name, entry in PLATFORMS.items()},
        "FREE_THREADED": FREE_THREADED,
        "TOOLS": write(merge_tools(backends.values())),
        "BACKENDS": {name: _describe_backend(backend, release) for name, backend in backends.items()},
        "SOURCES": list_sources(root / "build"),
    }


def _describe_platform(platform: Platform) -> dict[str, Any]:
    abis = (STABLE_ABI, *FREE_THREADED.values())
    return {
        "compiler_target": platform.compiler_target,
        "suffixes": {abi: extension_suffix(abi, platform.architecture) for abi in abis},
    }


def _describe_backend(backend: Backend, release: Release) -> dict[str, Any]:
    """Return the table of a backend, and the Pythons that its kernels are pinned for, by platform."""
    table: dict[str, Any] = write(replace(backend, path=Path("backend.toml")))
    return table | {
        "pythons": {name: release.kernels(backend.name, name) if backend.kernels else () for name in PLATFORMS}
    }


def list_sources(build: Path) -> dict[str, list[str]]:
    """Return, for each program that actions run, the files of the tooling that it needs and no others.

    Editing any other module, such as one of the front end, then builds no wheel anew. Paths are relative to `build/`.
    """
    return {
        name: [path.relative_to(build).as_posix() for path in import_closure(*modules, folder=build)]
        for name, modules in _ACTIONS.items()
    }


@program
def main(argv: Sequence[str] | None = None) -> int:
    """Print it, and return the exit status."""
    parser = CommandParser(prog="python -m pjrtwheel.bazel.repositories", description=__doc__)
    parser.add_argument("--root", type=Path, required=True, help="the repository")
    parser.add_argument("--release", help="the JAX release (default: the newest)")
    arguments = parser.parse_all(argv)
    print(json.dumps(_describe_graph(arguments.root, arguments.release, host_platform())))
    return 0


if __name__ == "__main__":
    sys.exit(main())

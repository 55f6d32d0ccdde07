# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What building XLA itself asks of Bazel: its version, and the configurations of backends and platforms.

What all share is in `ci/bazelrc/xla.bazelrc`, what an accelerator needs in `xla.bazelrc` of its own directory and
of those it shares with others.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.bazel.locate import Bazel, parse_version
from pjrtwheel.errors import BazelError, UsageError
from pjrtwheel.release.model import XlaSource

_OVERRIDE = "--override_repository=xla="


def is_overridden(flags: Sequence[str]) -> bool:
    """Return whether another tree takes the place of the pinned XLA."""
    return any(flag.startswith(_OVERRIDE) for flag in flags)


def source_files(backend: Backend, workspace: Path) -> tuple[Path, ...]:
    """Return the `--bazelrc` files that define a backend's configurations, those it shares with others first."""
    places = (workspace / "plugins" / name / "xla.bazelrc" for name in (*backend.shared, backend.name))
    return tuple(path for path in places if path.is_file())


def source_flags(backend: Backend, platform: str, extra: Sequence[str]) -> tuple[str, ...]:
    """Return the options of `bazel build` for a backend with [source], given the user's own options."""
    if backend.source is None:
        raise UsageError(f"backend {backend.name} cannot be built from source", remedy=f"see {backend.path}")
    configs = (f"xla_{platform}", *backend.source.configs)  # the accelerator's settings win over the platform's
    tree = ("--//build:xla_tree=overridden",) if is_overridden(extra) else ()
    return (*(f"--config={config}" for config in configs), *tree)


def check_version(bazel: Bazel, xla: XlaSource, extra: Sequence[str]) -> None:
    """Make sure that Bazel can build the pinned XLA; of another tree nothing is known, so nothing is demanded.

    Raises:
        BazelError: It is of another major version than XLA wants.
    """
    wanted = parse_version(xla.bazel)
    if wanted is None or bazel.version[0] == wanted[0] or is_overridden(extra):
        return
    raise BazelError(
        f"XLA at {xla.commit[:12]} is built with Bazel {xla.bazel}, found {'.'.join(map(str, bazel.version))}",
        cause=f"{bazel.command} is the Bazel on this machine",
        remedy="install bazelisk (npm install -g @bazel/bazelisk), or name a Bazel in the variable BAZEL",
    )

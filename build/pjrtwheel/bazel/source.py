# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What building XLA itself asks of Bazel: its version, and the configurations of `ci/bazelrc/xla.bazelrc`."""

from __future__ import annotations

from collections.abc import Sequence

from pjrtwheel.backend import Backend
from pjrtwheel.bazel.locate import Bazel, parse_version
from pjrtwheel.errors import BazelError
from pjrtwheel.release import XlaSource

OVERRIDE = "--override_repository=xla="


def is_overridden(flags: Sequence[str]) -> bool:
    """Say whether another tree stands in for the pinned XLA."""
    return any(flag.startswith(OVERRIDE) for flag in flags)


def source_flags(backend: Backend, platform: str, extra: Sequence[str]) -> tuple[str, ...]:
    """Return the options of `bazel build` for a backend built from source.

    Args:
        backend: The accelerator.
        platform: Name of the platform the wheels are for.
        extra: The user's own options.
    """
    configs = (*backend.source.configs, f"xla_{platform}")
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

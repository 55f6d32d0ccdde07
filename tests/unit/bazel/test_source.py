# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What source mode asks of Bazel."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from pjrtwheel.backend import find_backend, load_backends
from pjrtwheel.bazel.invoke import source_files, source_flags
from pjrtwheel.bazel.locate import Bazel, check_version
from pjrtwheel.errors import BazelError, UsageError
from pjrtwheel.release.model import XlaSource

OVERRIDDEN = ("--override_repository=xla=/stub", "--jobs=2")


def configurations(path: Path) -> set[str]:
    """Return the names that a file for Bazel defines."""
    lines = path.read_text("utf-8").splitlines()
    return {line.split()[0].partition(":")[2] for line in lines if line and not line.startswith("#")}


def test_configurations_of_backend_and_platform(root: Path) -> None:
    """The backend's own come last and win over the platform's; another tree is a flag of the graph."""
    backend = find_backend(root, "cpu")
    configs = ("--config=xla_linux_aarch64", "--config=xla_cpu")
    assert source_flags(backend, "linux_aarch64", ()) == configs
    assert source_flags(backend, "linux_aarch64", OVERRIDDEN) == (*configs, "--//build:xla_tree=overridden")


@pytest.mark.parametrize("name", sorted(load_backends(Path(__file__).resolve().parents[3])))
def test_every_configuration_exists(root: Path, name: str) -> None:
    """Each configuration of a backend is defined in a file of its directory, or of one that it shares."""
    backend = find_backend(root, name)
    own = {config for path in source_files(backend, root) for config in configurations(path)}
    assert set(backend.source.configs if backend.source else ()) <= own
    assert bool(own) == bool(backend.source)


def test_what_backends_share_is_read_first(root: Path) -> None:
    """A backend's own file can then build upon it; one whose source is not open is refused by name."""
    backend = dataclasses.replace(find_backend(root, "cuda12"), shared=("cuda", "pjrt"))
    assert source_files(backend, root) == (root / "plugins/cuda/xla.bazelrc", root / "plugins/cuda12/xla.bazelrc")
    with pytest.raises(UsageError, match="tpu"):
        source_flags(find_backend(root, "tpu"), "linux_x86_64", ())


def test_steps_of_the_workspace_are_all_called(root: Path) -> None:
    """WORKSPACE loads and calls every step once, in order: the archives, then each one of the list."""
    steps = (root / "build/rules/private/xla_steps.bzl").read_text("utf-8").split("\nSTEPS = [\n")[1]
    # Entries of the list start at its own indentation and are the only lines there that do not close a bracket.
    count = 1 + sum(line.startswith("    ") and line[4] not in " )" for line in steps.splitlines())
    lines = (root / "WORKSPACE").read_text("utf-8").splitlines()
    called = [line for line in lines if line.startswith("step")]
    assert called == [f"step{number}()" for number in range(count)]
    loads = [line for line in lines if line.startswith('load("@xla_steps')]
    assert loads == [f'load("@xla_steps//:step{number}.bzl", step{number} = "step")' for number in range(count)]


def test_a_bazel_of_another_major_version_is_refused() -> None:
    """What the pinned XLA wants is known; of another tree nothing is, so any Bazel may try."""
    xla = XlaSource("0123456789abcdef", "ab" * 32, "8.7.0", verified=False, origin="a document")
    check_version(Bazel("bazel", (8, 5, 1)), xla, ())
    check_version(Bazel("bazel", (4, 2, 3)), xla, OVERRIDDEN)
    with pytest.raises(BazelError) as caught:
        check_version(Bazel("/usr/bin/bazel", (4, 2, 3)), xla, ())
    assert caught.value.what == "XLA at 0123456789ab is built with Bazel 8.7.0, found 4.2.3"

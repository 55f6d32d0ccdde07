# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What source mode asks of Bazel."""

from pathlib import Path

import pytest

from pjrtwheel.backend import find_backend, load_backends
from pjrtwheel.bazel.invoke import source_files
from pjrtwheel.bazel.locate import Bazel, check_version
from pjrtwheel.errors import BazelError
from pjrtwheel.release.model import XlaSource

OVERRIDDEN = ("--override_repository=xla=/stub", "--jobs=2")


def configurations(path: Path) -> set[str]:
    """Return the names that a file for Bazel defines."""
    lines = path.read_text("utf-8").splitlines()
    return {line.split()[0].partition(":")[2] for line in lines if line and not line.startswith("#")}


@pytest.mark.parametrize("name", sorted(load_backends(Path(__file__).resolve().parents[3])))
def test_every_configuration_exists(root: Path, name: str) -> None:
    """Each configuration of a backend is defined in a file of its directory, or of one that it shares."""
    backend = find_backend(root, name)
    own = {config for path in source_files(backend, root) for config in configurations(path)}
    assert set(backend.source.configs if backend.source else ()) <= own
    assert bool(own) == bool(backend.source)


def test_a_bazel_of_another_major_version_is_refused() -> None:
    """What the pinned XLA wants is known; of another tree nothing is, so any Bazel may try."""
    xla = XlaSource("0123456789abcdef", "ab" * 32, "8.7.0", verified=False, origin="a document")
    check_version(Bazel("bazel", (8, 5, 1)), xla, ())
    check_version(Bazel("bazel", (4, 2, 3)), xla, OVERRIDDEN)
    with pytest.raises(BazelError) as caught:
        check_version(Bazel("/usr/bin/bazel", (4, 2, 3)), xla, ())
    assert caught.value.what == "XLA at 0123456789ab is built with Bazel 8.7.0, found 4.2.3"

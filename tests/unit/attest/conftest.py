# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A repository with one release, its wheels, and that release made of them."""

from pathlib import Path

import pytest

from pjrtwheel.attest.make import make_release
from pjrtwheel.attest.release_folder import ReleaseFolder
from sound_wheels import TAG, make_dist, make_repository


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """Return a repository with one release."""
    return make_repository(tmp_path / "repository")


@pytest.fixture
def dist(repository: Path, tmp_path: Path) -> Path:
    """Return a folder with the wheels of that release, and of the selector."""
    return make_dist(repository, tmp_path / "dist")


@pytest.fixture
def release(repository: Path, dist: Path, tmp_path: Path) -> ReleaseFolder:
    """Return the release, made outside of a workflow and without a key."""
    return make_release(repository, TAG, dist, tmp_path / TAG, locks=False, environ={})

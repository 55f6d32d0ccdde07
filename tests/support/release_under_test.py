# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The repository, its backends, and which of its releases the tests are about."""

import os
from pathlib import Path

from pjrtwheel.backend import load_backends
from pjrtwheel.release.known import choose_release
from pjrtwheel.release.model import Release

ROOT = Path(__file__).resolve().parents[2]
BACKENDS = load_backends(ROOT)


def release_under_test() -> Release:
    """Return the release that PJRTWHEEL_TEST_RELEASE names, or else the one that `build_cpu` takes."""
    return choose_release(ROOT, os.environ.get("PJRTWHEEL_TEST_RELEASE"), "linux_x86_64", "cpu")

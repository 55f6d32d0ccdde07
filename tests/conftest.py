# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What every test may ask for."""

import os
import signal
from pathlib import Path

import lief
import pytest
from hypothesis import HealthCheck, settings

from pjrtwheel.release.model import Release
from release_under_test import ROOT, release_under_test


def pytest_configure() -> None:
    """Make the tests independent of how busy the machine is, and of how they were started."""
    settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
    settings.load_profile("untimed")
    if signal.getsignal(signal.SIGINT) == signal.SIG_IGN:  # as in the background of a shell; programs inherit that
        signal.signal(signal.SIGINT, signal.default_int_handler)
    lief.disable_leak_warning()  # of its own, at the end of every worker
    # In a session that takes from a bundle, its index is the machine's; tests bring indexes and bundles of their own.
    os.environ.pop("PJRTWHEEL_BUNDLE", None)


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the root of the repository."""
    return ROOT


@pytest.fixture(scope="session")
def release() -> Release:
    """Return the release that the tests are about: that of PJRTWHEEL_TEST_RELEASE, or else what `build_cpu` takes."""
    return release_under_test()

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What every test may ask for."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

# Speed is measured in benchmarks/, never in a test: a busy machine fails none.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


@pytest.fixture(scope="session")
def root() -> Path:
    """Return the root of the repository."""
    return Path(__file__).resolve().parent.parent

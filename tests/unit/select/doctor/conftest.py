# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""An environment for the doctor to look at."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from jaxlib_select.facts import load_facts
from site_packages import Site


@pytest.fixture
def site(
    tmp_path: Path, make_elf: Callable[..., bytes], put_loader: Callable[[str, Path], Path], shared_facts: Path
) -> Site:
    """Return an empty environment."""
    return Site(tmp_path, make_elf, put_loader, load_facts(folder=shared_facts))

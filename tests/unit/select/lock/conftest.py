# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A lock file that tests may change."""

from collections.abc import Callable
from pathlib import Path

import pytest

from jaxlib_select.apply.formats import write_toml
from jaxlib_select.apply.pylock import build_document
from lock_files import GROUPS, HERE, evidence


@pytest.fixture
def make_lock(tmp_path: Path) -> Callable[..., Path]:
    """Return a function that writes the lock of `GROUPS`, with texts in it replaced."""

    def make(*changes: tuple[str, str], name: str = "pylock.toml") -> Path:
        text = write_toml(build_document(GROUPS, "cuda13", evidence(), HERE))
        for before, after in changes:
            assert before in text
            text = text.replace(before, after)
        path = tmp_path / name
        path.write_text(text, "utf-8")
        return path

    return make

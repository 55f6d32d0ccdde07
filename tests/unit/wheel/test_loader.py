# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The modules of a loader that assembly writes from `backend.toml`."""

import ast
from pathlib import Path

import pytest

from pjrtwheel.backend import Backend
from pjrtwheel.wheel.plugin import generate_modules
from release_under_test import BACKENDS


@pytest.mark.parametrize("backend", BACKENDS.values(), ids=BACKENDS)
def test_generated_modules_are_python_and_not_in_the_repository(root: Path, backend: Backend) -> None:
    """Assembly refuses a file that it writes itself."""
    package = root / "plugins" / backend.name / backend.package
    for name, text in generate_modules(backend, "prebuilt").items():
        assert ast.get_docstring(ast.parse(text))
        assert not (package / name).exists()

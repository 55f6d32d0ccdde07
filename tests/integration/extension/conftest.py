# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A plugin that is all ours, and the extension from the built wheel to talk to it."""

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from programs import run_code


@pytest.fixture(scope="session")
def fake_plugin(root: Path, compile_library: Callable[..., Path]) -> Path:
    """Return a PJRT plugin without XLA; see tests/data/fake_plugin.c."""
    return compile_library("fake_plugin.so", root / "tests/data/fake_plugin.c")


@pytest.fixture(scope="session")
def run(root: Path, wheel_python: Path, fake_plugin: Path) -> Callable[[str], Any]:
    """Return a function: an expression over `np`, `_pjrt` and the fake plugin `p` → its value, as a literal."""
    setup = (
        "import sys; sys.path.insert(0, sys.argv[1]);"
        "import numpy as np, ml_dtypes, fake_plugin; from jaxlib_cpu.pjrt import _pjrt;"
        "p = fake_plugin.FakePlugin(sys.argv[2]);"
        "exec(sys.argv[3]); print(repr(eval(sys.argv[4])))"
    )

    def evaluate(expression: str, statements: str = "") -> Any:
        result = run_code(wheel_python, setup, str(root / "tests/data"), str(fake_plugin), statements, expression)
        assert result.returncode == 0, result.stderr
        return ast.literal_eval(result.stdout)

    return evaluate

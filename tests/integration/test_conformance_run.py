# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The comparison of clients, on the built wheels and a test file in the manner of JAX's own."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pjrtwheel.backend import find_backend
from pjrtwheel.conformance.clients import check_client, client_environ
from pjrtwheel.errors import ProofError
from programs import run_tooling

pytestmark = [pytest.mark.integration, pytest.mark.slow]

TESTS = """
import unittest
import jax

IS_PLUGIN = getattr(jax.devices()[0].client, "pjrt_c_api_minor_version", 0) > 0

class TinyTest(unittest.TestCase):
    def test_both(self):
        self.assertEqual(float(jax.numpy.arange(4).sum()), 6.0)

    def test_skipped_on_the_plugin(self):
        if IS_PLUGIN:
            self.skipTest("needs the built-in client")

    def test_crashes_on_the_plugin(self):
        if IS_PLUGIN:
            import os
            os.abort()

    def test_last(self):
        self.assertEqual(len(jax.devices()), 1)
"""


def test_what_differs_is_named(wheel_python: Path, root: Path, tmp_path: Path) -> None:
    """Both clients run, a crash costs one case, and every difference is in the report and in the exit status."""
    (tmp_path / "tests").mkdir()
    (tmp_path / "tests" / "tiny_test.py").write_text(TESTS)
    pip = [sys.executable, "-m", "pip", "--python", str(wheel_python), "install", "--quiet"]
    subprocess.run([*pip, "pytest==9.2.0", "pytest-xdist==3.8.0"], check=True)
    options = ("--backend", "cpu", "--environment", wheel_python, "--root", root)
    result = run_tooling(root, "conformance", tmp_path / "tests", "tiny_test", *options)
    lines = result.stdout.splitlines()
    assert result.returncode == 9, result.stderr
    assert "tiny_test.py: 2 passed, 1 failed, 1 skipped; differs on JAX's own client: 2, and 0 expected" in lines
    changes = [line.split(";")[0] for line in lines if line.startswith("- ")]
    assert changes == [
        "- tiny_test.py::TinyTest::test_crashes_on_the_plugin: failed",
        "- tiny_test.py::TinyTest::test_skipped_on_the_plugin: skipped",
    ]


def test_the_built_in_client_is_not_taken_for_the_plugin(wheel_python: Path, root: Path) -> None:
    """Where the plugin is disabled, JAX is asked and says so."""
    backend = find_backend(root, "cpu")
    environ = client_environ(os.environ, backend, "built-in")
    check_client(wheel_python, environ, "built-in")
    with pytest.raises(ProofError, match="not run on the plugin client, but: built-in"):
        check_client(wheel_python, environ, "plugin")

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What all plugins share is built once, so it must suit each of them."""

from __future__ import annotations

import re
from pathlib import Path

from pjrtwheel.backend import load_backends


def test_the_extension_is_built_for_the_python_of_every_backend(root: Path) -> None:
    """Bazel cannot read backend.toml, so the tag is in both; it chooses the stable ABI and names the wheel."""
    tags = re.findall(r'python_tag = "(\w+)"', (root / "plugins/pjrt/BUILD.bazel").read_text("utf-8"))
    backends = load_backends(root)
    assert tags
    assert {name: [backend.python_tag] for name, backend in backends.items()} == dict.fromkeys(backends, tags)

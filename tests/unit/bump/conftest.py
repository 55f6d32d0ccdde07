# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Two small releases, read from the text of pins files."""

from pathlib import Path

import pytest

from pjrtwheel.release.model import Release, parse_release

_HEAD = """
schema = 2
release = "{version}"
build = 1
"""
_PIN = """
[[pin]]
key = "{key}"
project = "{project}"
version = "{version}"
filename = "{file}-{version}-py3-none-any.whl"
sha256 = "{digest}"
size = {size}
"""


def _pin(key: str, project: str, version: str, size: int) -> str:
    return _PIN.format(
        key=key, project=project, version=version, file=project.replace("-", "_"), digest="ab" * 32, size=size
    )


def _read(version: str, *parts: str) -> Release:
    return parse_release(_HEAD.format(version=version) + "".join(parts), Path(f"releases/{version}.toml"))


@pytest.fixture
def before() -> Release:
    """Return the older one, which has everything."""
    return _read(
        "1.1",
        """
[[absent]]
key = "bindings.cp316.linux_x86_64"
project = "jaxlib"
version = "1.1"
cause = "the index has jaxlib 1.1, but not for cp316 on linux_x86_64"

[commits]
jax = "1111111111111111111111111111111111111111"
jaxlib = "1111111111111111111111111111111111111111"
soroban-plugin = "2222222222222222222222222222222222222222"

[extras.abacus]
with-beads = ["beads<6,>=5.1", "rods>=1"]

[extras.soroban]
with-wires = ["wires>=3"]
""",
        _pin("bindings.cp315.linux_x86_64", "jaxlib", "1.1", 80_000_000),
        _pin("bindings.cp315.linux_aarch64", "jaxlib", "1.1", 70_000_000),
        _pin("plugin.abacus.linux_x86_64", "abacus-pjrt", "1.1", 10_000_000),
        _pin("plugin.abacus.linux_aarch64", "abacus-pjrt", "1.1", 10_000_000),
        _pin("kernels.abacus.cp315.linux_x86_64", "abacus-plugin", "1.1", 1_000_000),
        _pin("plugin.soroban.linux_x86_64", "soroban-pjrt", "1.1", 30_000_000),
        _pin("plugin.cpu.linux_x86_64", "libcpu", "0.0.48", 5_000_000),
        _pin("compiler.linux_x86_64", "ziglang", "9", 99),
    )


@pytest.fixture
def after() -> Release:
    """Return the newer one: a backend, a platform and a Python differ, and a requirement."""
    return _read(
        "1.2",
        """
[[absent]]
key = "plugin.abacus.linux_aarch64"
project = "abacus-pjrt"
version = "1.2"
cause = "the index has abacus-pjrt 1.2, but not for linux_aarch64"

[[absent]]
key = "plugin.soroban.linux_x86_64"
project = "soroban-pjrt"
version = "1.2"
cause = "the index has no soroban-pjrt 1.2; the newest before it is 1.1"

[commits]
jax = "3333333333333333333333333333333333333333"
jaxlib = "3333333333333333333333333333333333333333"

[extras.abacus]
with-beads = ["beads<6,>=5.4", "rods>=1", "wood>=2"]

[[override]]
backend = "cpu"
version = "0.0.48"
reason = "nobody has made another one"
""",
        _pin("bindings.cp315.linux_x86_64", "jaxlib", "1.2", 60_000_000),
        _pin("bindings.cp316.linux_x86_64", "jaxlib", "1.2", 64_000_000),
        _pin("plugin.abacus.linux_x86_64", "abacus-pjrt", "1.2", 10_500_000),
        _pin("kernels.abacus.cp315.linux_x86_64", "abacus-plugin", "1.2", 1_000_000),
        _pin("plugin.cpu.linux_x86_64", "libcpu", "0.0.48", 5_000_000),
        _pin("compiler.linux_x86_64", "ziglang", "9", 99),
    )

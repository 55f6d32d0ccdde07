# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Two small releases."""

from pathlib import Path

import pytest

from pjrtwheel.release.model import Absent, Override, Pin, Release


def _pins(version: str, **sizes: int) -> dict[str, Pin]:
    """Return pins of that version and these sizes, by key."""
    projects = {
        "bindings": "jaxlib",
        "plugin.abacus": "abacus-pjrt",
        "kernels.abacus": "abacus-plugin",
        "plugin.soroban": "soroban-pjrt",
    }
    found = {}
    for key, size in sizes.items():
        project = next(project for start, project in projects.items() if key.startswith(start))
        found[key] = Pin(key, project, version, f"{project}-{version}-py3-none-any.whl", "ab" * 32, size)
    cpu = Pin("plugin.cpu.linux_x86_64", "libcpu", "0.0.48", "libcpu-0.0.48-py3-none-any.whl", "ab" * 32, 5_000_000)
    compiler = Pin("compiler.linux_x86_64", "ziglang", "9", "ziglang-9-py3-none-any.whl", "ab" * 32, 99)
    return {**found, cpu.key: cpu, compiler.key: compiler}


@pytest.fixture
def before() -> Release:
    """Return the older one, which has everything."""
    cause = "the index has jaxlib 1.1, but not for cp316 on linux_x86_64"
    sizes = {
        "bindings.cp315.linux_x86_64": 80_000_000,
        "bindings.cp315.linux_aarch64": 70_000_000,
        "plugin.abacus.linux_x86_64": 10_000_000,
        "plugin.abacus.linux_aarch64": 10_000_000,
        "kernels.abacus.cp315.linux_x86_64": 1_000_000,
        "plugin.soroban.linux_x86_64": 30_000_000,
    }
    return Release(
        _pins("1.1", **sizes),
        digest="",
        path=Path("releases/1.1.toml"),
        version="1.1",
        build=1,
        commits={"jax": "1" * 40, "jaxlib": "1" * 40, "soroban-plugin": "2" * 40},
        extras={"abacus": {"with-beads": ("beads<6,>=5.1", "rods>=1")}, "soroban": {"with-wires": ("wires>=3",)}},
        absent=(Absent("bindings.cp316.linux_x86_64", "jaxlib", "1.1", cause),),
    )


@pytest.fixture
def after() -> Release:
    """Return the newer one: a backend, a platform and a Python differ, and a requirement."""
    abacus = "the index has abacus-pjrt 1.2, but not for linux_aarch64"
    soroban = "the index has no soroban-pjrt 1.2; the newest before it is 1.1"
    sizes = {
        "bindings.cp315.linux_x86_64": 60_000_000,
        "bindings.cp316.linux_x86_64": 64_000_000,
        "plugin.abacus.linux_x86_64": 10_500_000,
        "kernels.abacus.cp315.linux_x86_64": 1_000_000,
    }
    return Release(
        _pins("1.2", **sizes),
        digest="",
        path=Path("releases/1.2.toml"),
        version="1.2",
        build=1,
        commits={"jax": "3" * 40, "jaxlib": "3" * 40},
        extras={"abacus": {"with-beads": ("beads<6,>=5.4", "rods>=1", "wood>=2")}},
        absent=(
            Absent("plugin.abacus.linux_aarch64", "abacus-pjrt", "1.2", abacus),
            Absent("plugin.soroban.linux_x86_64", "soroban-pjrt", "1.2", soroban),
        ),
        overrides=(Override("cpu", "0.0.48", "nobody has made another one"),),
    )

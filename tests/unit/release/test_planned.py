# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Listing what a release takes from the index."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest

from pjrtwheel.backend import Backend, Kernels, Prebuilt, Tool, find_backend
from pjrtwheel.errors import PinError, UsageError
from pjrtwheel.release.planned import WantedFile, plan_inputs

INPUTS = """
[[input]]
key = "bindings.{python}.{platform}"
project = "jaxlib"
version = "{release}"
pythons = ["cp312", "cp313"]
platforms = ["linux_x86_64"]

[[input]]
key = "header.pjrt_c_api"
project = "pjrt-header"
version = "7"
platforms = ["linux_x86_64"]
"""


@pytest.fixture
def vendor(root: Path) -> Backend:
    """Return a backend that has one of everything."""
    cpu = find_backend(root, "cpu")
    return dataclasses.replace(
        cpu,
        name="abacus",
        prebuilt=Prebuilt("abacus-pjrt", "1.2.*", "abacus/plugin.so", ("linux_x86_64",), "cp312"),
        kernels=Kernels("abacus-kernels", "{release}", "abacus_kernels", ("cp312", "cp313"), ("linux_x86_64",)),
        tools={"beads": Tool("abacus-tools", "5", "bin/beads", ("linux_x86_64", "linux_aarch64"))},
    )


def test_plan_fills_in_release_python_and_platform() -> None:
    """One entry is for a file per platform and Python; an entry without Pythons for one file."""
    assert plan_inputs(INPUTS, [], "1.2.3") == (
        WantedFile("bindings.cp312.linux_x86_64", "jaxlib", "1.2.3", "linux_x86_64", "cp312"),
        WantedFile("bindings.cp313.linux_x86_64", "jaxlib", "1.2.3", "linux_x86_64", "cp313"),
        WantedFile("header.pjrt_c_api", "pjrt-header", "7", "linux_x86_64"),
    )


def test_plan_takes_everything_of_a_backend_from_its_own_file(vendor: Backend) -> None:
    """A new backend directory adds its library, kernels and tools without any list being edited."""
    assert plan_inputs("input = []", [vendor], "1.2.3") == (
        WantedFile("plugin.abacus.linux_x86_64", "abacus-pjrt", "1.2.*", "linux_x86_64", "cp312"),
        WantedFile("kernels.abacus.cp312.linux_x86_64", "abacus-kernels", "1.2.3", "linux_x86_64", "cp312"),
        WantedFile("kernels.abacus.cp313.linux_x86_64", "abacus-kernels", "1.2.3", "linux_x86_64", "cp313"),
        WantedFile("tool.beads.linux_x86_64", "abacus-tools", "5", "linux_x86_64"),
        WantedFile("tool.beads.linux_aarch64", "abacus-tools", "5", "linux_aarch64"),
    )


def test_a_tool_of_two_backends_is_pinned_once(vendor: Backend) -> None:
    """The second backend adds what is its own, and shares the tool."""
    second = dataclasses.replace(vendor, name="soroban")
    keys = [wanted.key for wanted in plan_inputs("input = []", [vendor, second], "1.2.3")]
    assert [key for key in keys if key.startswith("tool.")] == ["tool.beads.linux_x86_64", "tool.beads.linux_aarch64"]
    assert [key for key in keys if key.startswith("plugin.")] == [
        "plugin.abacus.linux_x86_64",
        "plugin.soroban.linux_x86_64",
    ]


def test_two_tools_of_one_name_are_refused(vendor: Backend) -> None:
    """One pin cannot be for two versions."""
    newer = dataclasses.replace(vendor.tools["beads"], version="6")
    second = dataclasses.replace(vendor, name="soroban", tools={"beads": newer})
    with pytest.raises(UsageError, match="backend soroban has another tool 'beads' than a backend before it"):
        plan_inputs("input = []", [vendor, second], "1.2.3")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[input", "not TOML: "),
        ("[[input]]\nkey = 'x'\n", r"input\[0\] lacks project, version, platforms"),
        (INPUTS.replace("{release}", "{version}"), "has an unknown placeholder: 'version'"),
    ],
    ids=["no TOML", "missing key", "placeholder"],
)
def test_malformed_inputs_are_refused(text: str, message: str) -> None:
    """A mistake in the hand-kept file is named before the index is asked."""
    with pytest.raises(PinError, match=message):
        plan_inputs(text, [], "1.2.3")

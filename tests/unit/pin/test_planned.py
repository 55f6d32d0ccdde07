# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Listing what a release takes from the index."""

import dataclasses
from pathlib import Path

import pytest

from pjrtwheel.backend import Backend, Kernels, Prebuilt, Tool, find_backend
from pjrtwheel.errors import UsageError
from pjrtwheel.pin.choose import Inputs, WantedFiles, plan_inputs
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.release.model import Override

INPUTS = Inputs(
    (
        WantedFiles("bindings.{python}.{platform}", "jaxlib", "{release}"),
        WantedFiles("header.pjrt_c_api", "pjrt-header", "7", ("linux_x86_64",)),
    )
)


@pytest.fixture
def vendor(root: Path) -> Backend:
    """Return a backend that has one of everything."""
    cpu = find_backend(root, "cpu")
    return dataclasses.replace(
        cpu,
        name="abacus",
        prebuilt=Prebuilt("abacus-pjrt", "abacus/plugin.so", "1.2.*", python="cp312"),
        kernels=Kernels("abacus-kernels", "abacus_kernels"),
        tools={"beads": Tool("abacus-tools", "5", "bin/beads", ("linux_x86_64", "linux_aarch64"))},
    )


def test_plan_fills_in_the_release() -> None:
    """Files for every Python and platform are looked for everywhere, unless the entry names platforms."""
    assert plan_inputs(INPUTS, [], "1.2.3", series={}) == (
        WantedFiles("bindings.{python}.{platform}", "jaxlib", "1.2.3", tuple(PLATFORMS)),
        WantedFiles("header.pjrt_c_api", "pjrt-header", "7", ("linux_x86_64",)),
    )


def test_plan_takes_everything_of_a_backend_from_its_own_file(vendor: Backend) -> None:
    """A new backend directory adds its library, kernels and tools without any list being edited."""
    platforms = tuple(vendor.tags)
    assert plan_inputs(Inputs(()), [vendor], "1.2.3", series={}) == (
        WantedFiles("plugin.abacus.{platform}", "abacus-pjrt", "1.2.*", platforms, "cp312"),
        WantedFiles("kernels.abacus.{python}.{platform}", "abacus-kernels", "1.2.3", platforms),
        WantedFiles("tool.beads.{platform}", "abacus-tools", "5", ("linux_x86_64", "linux_aarch64")),
    )


def test_an_override_is_for_all_that_follows_the_release(vendor: Backend) -> None:
    """The library and its kernels; not what has a version of its own."""
    library = dataclasses.replace(vendor.prebuilt, version="{release}")
    backend = dataclasses.replace(vendor, prebuilt=library)
    overrides = [Override("abacus", "1.2.2", "late"), Override("soroban", "9", "another")]
    wanted = plan_inputs(Inputs(()), [backend], "1.2.3", series={}, overrides=overrides)
    assert [entry.version for entry in wanted] == ["1.2.2", "1.2.2", "5"]


def test_a_tool_of_two_backends_is_pinned_once(vendor: Backend) -> None:
    """The second backend adds what is its own, and shares the tool; one pin cannot be for two versions."""
    second = dataclasses.replace(vendor, name="soroban")
    keys = [wanted.key for wanted in plan_inputs(Inputs(()), [vendor, second], "1.2.3", series={})]
    plugins = ["plugin.abacus.{platform}", "plugin.soroban.{platform}"]
    assert [key for key in keys if not key.startswith("kernels.")] == [*plugins, "tool.beads.{platform}"]
    newer = dataclasses.replace(second, tools={"beads": dataclasses.replace(vendor.tools["beads"], version="6")})
    with pytest.raises(UsageError):
        plan_inputs(Inputs(()), [vendor, newer], "1.2.3", series={})

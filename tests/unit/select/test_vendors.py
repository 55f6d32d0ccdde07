# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which code runs on which GPU, and what each vendor's rules say."""

from __future__ import annotations

import pytest

from jaxlib_select.choose.cuda import runs
from jaxlib_select.choose.rules import Fit
from jaxlib_select.choose.vendors import judge
from jaxlib_select.facts import Backend, Select
from jaxlib_select.machine.model import Amd, Machine, Nvidia, NvidiaGpu

TAGS = {"linux_x86_64": "manylinux_2_27_x86_64"}


@pytest.mark.parametrize(
    ("capability", "code", "expected"),
    [
        ((8, 6), "sm_80", True),
        ((8, 0), "sm_86", False),
        ((9, 0), "sm_80", False),
        ((12, 1), "sm_120", True),
        ((10, 3), "sm_100", True),
        ((10, 3), "sm_101", False),
        ((8, 9), "sm_87", False),
        ((9, 0), "sm_90a", True),
        ((9, 1), "sm_90a", False),
        ((10, 3), "sm_100f", True),
        ((12, 1), "sm_120f", True),
        ((11, 0), "compute_100f", False),
        ((9, 0), "compute_80", True),
        ((7, 5), "compute_80", False),
        ((10, 3), "compute_100a", False),
        ((9, 0), "gfx942", False),
        ((9, 0), "sm_", False),
    ],
)
def test_code_runs_where_nvidia_says(capability: tuple[int, int], code: str, expected: object) -> None:
    """SASS within its major version, PTX upwards, suffixed targets on their chip or family, Tegra's code on Tegra."""
    assert runs(capability, [code], tegra=False, cuda=(13, 0), driver=(13, 0), toolkit=(13, 0)) is expected


@pytest.mark.parametrize(
    ("capability", "code", "expected"),
    [((8, 7), "sm_87", True), ((8, 7), "sm_80", False), ((8, 7), "compute_80", False), ((11, 0), "sm_110", True)],
)
def test_a_tegra_needs_code_made_for_exactly_it(capability: tuple[int, int], code: str, expected: object) -> None:
    """Also when only the compute capability tells that it is one."""
    for tegra in (True, False):
        assert runs(capability, [code], tegra=tegra, cuda=(13, 0), driver=(13, 0), toolkit=(13, 0)) is expected


def test_a_gpu_that_is_too_old_is_not_served_though_there_is_code() -> None:
    """As JAX promises nothing below 5.2; the reason says so."""
    machine = Machine("linux", "x86_64", nvidia=Nvidia((12, 4), cuinit=0, gpus=(NvidiaGpu((5, 0), "GTX 750 Ti"),)))
    select = Select("nvidia", driver=(12, 0), oldest_capability=(5, 2))
    backend = Backend("x", "x", "1", "cuda", TAGS, {}, {"linux_x86_64": ("sm_50",)}, select)
    verdict = judge(machine, backend)
    assert (verdict.fit, verdict.reason) == (
        Fit.NONE,
        "serves compute capability 5.2 and newer, not GTX 750 Ti (compute capability 5.0)",
    )


@pytest.mark.parametrize(
    ("cuda", "toolkit", "expected"),
    [((12, 9), (12, 9), True), ((12, 8), (12, 9), False), ((13, 0), (12, 9), True), ((13, 0), None, False)],
)
def test_ptx_needs_a_driver_as_new_as_its_toolkit(
    cuda: tuple[int, int], toolkit: tuple[int, int] | None, expected: object
) -> None:
    """Error 222 otherwise; when nobody knows the toolkit, no driver is sure to be new enough."""
    assert runs((13, 0), ["compute_120"], tegra=False, cuda=cuda, driver=(12, 0), toolkit=toolkit) is expected


def test_a_new_vendor_is_considered_without_new_code() -> None:
    """A backend whose vendor cannot be detected gets a reason like any other, and is never taken by itself."""
    machine = Machine("linux", "x86_64")
    acme = Backend("acme", "jaxlib-acme", "1", "acme", TAGS, {"acme": ()}, select=Select("acme", 9))
    silent = Backend("mute", "jaxlib-mute", "1", "mute", TAGS, {"mute": ()})
    assert judge(machine, acme).reason == "accelerators of 'acme' cannot be detected; --backend acme takes it"
    assert judge(machine, silent).reason.startswith("its facts do not say which machines it serves")
    assert {judge(machine, acme).fit, judge(machine, silent).fit} == {Fit.NONE}


def test_amd_without_a_list_of_supported_chips_goes_by_code() -> None:
    """A vendor that names no chips promises all for which there is code."""
    rocm = Backend("rocm", "r", "1", "rocm", TAGS, {}, {"linux_x86_64": ("gfx906",)}, Select("amd", driver=(7, 0)))
    machine = Machine("linux", "x86_64", amd=Amd("7.1", ("gfx906", "gfx803")))
    verdict = judge(machine, rocm)
    assert (verdict.fit, verdict.hidden, dict(verdict.environment)) == (
        Fit.PART,
        ("amd:1",),
        {"HIP_VISIBLE_DEVICES": "0"},
    )


def test_a_gpu_of_unknown_capability_is_served_by_nobody() -> None:
    """It is hidden, and said to be unknown."""
    cuda = Backend("c", "c", "1", "cuda", TAGS, {}, {"linux_x86_64": ("sm_90",)}, Select("nvidia", driver=(12, 0)))
    gpus = (NvidiaGpu(None, "odd"), NvidiaGpu((9, 0), "H100"))
    verdict = judge(Machine("linux", "x86_64", nvidia=Nvidia((13, 0), cuinit=0, gpus=gpus)), cuda)
    assert (verdict.fit, verdict.hidden) == (Fit.PART, ("nvidia:0",))
    assert "odd (compute capability unknown)" in verdict.reason

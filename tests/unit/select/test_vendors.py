# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which code runs on which GPU, and what each vendor's rules say."""

import pytest

from jaxlib_select.choose.cuda import runs
from jaxlib_select.choose.rules import Fit
from jaxlib_select.choose.vendors import judge
from jaxlib_select.facts import Backend, Select
from jaxlib_select.machine.model import Amd, Machine, Nvidia, NvidiaGpu
from machines import nvidia_machine
from select_commands import lacking

TAGS = {"linux_x86_64": "manylinux_2_27_x86_64"}


@pytest.mark.parametrize(
    ("code", "on", "not_on"),
    [
        ("sm_80", [(8, 0), (8, 6)], [(7, 5), (9, 0)]),
        ("sm_86", [(8, 9)], [(8, 0)]),
        ("sm_100", [(10, 3)], [(11, 0)]),
        ("sm_87", [], [(8, 9)]),
        ("sm_90a", [(9, 0)], [(9, 1)]),
        ("sm_100f", [(10, 3)], [(12, 1)]),
        ("compute_100f", [(10, 3)], [(11, 0)]),
        ("compute_80", [(9, 0)], [(7, 5)]),
        ("compute_100a", [(10, 0)], [(10, 3)]),
        ("gfx942", [], [(9, 0)]),
        ("sm_", [], [(9, 0)]),
    ],
)
def test_code_runs_where_nvidia_says(code: str, on: list[tuple[int, int]], not_on: list[tuple[int, int]]) -> None:
    """SASS within its major version, PTX upwards, suffixed targets on their chip or family, Tegra's code on Tegra."""
    newest = {"cuda": (13, 0), "driver": (13, 0), "toolkit": (13, 0)}
    assert [chip for chip in (*on, *not_on) if runs(chip, [code], tegra=False, **newest)] == on


@pytest.mark.parametrize(
    ("capability", "code", "expected"),
    [((8, 7), "sm_87", True), ((8, 7), "sm_80", False), ((8, 7), "compute_80", False), ((11, 0), "sm_110", True)],
)
def test_a_tegra_needs_code_made_for_exactly_it(capability: tuple[int, int], code: str, expected: bool) -> None:
    """Also when only the compute capability tells that it is one."""
    for tegra in (True, False):
        assert runs(capability, [code], tegra=tegra, cuda=(13, 0), driver=(13, 0), toolkit=(13, 0)) is expected


def test_a_gpu_that_is_too_old_is_not_served_though_there_is_code() -> None:
    """As JAX promises nothing below 5.2; the reason says so."""
    machine = nvidia_machine("GTX 750 Ti", (5, 0), cuda=(12, 4))
    select = Select("nvidia", driver=(12, 0), oldest_capability=(5, 2))
    backend = Backend("x", "x", "1", "cuda", TAGS, {}, {"linux_x86_64": ("sm_50",)}, select)
    verdict = judge(machine, backend)
    assert (verdict.fit, lacking(verdict.reason, "5.2", "GTX 750 Ti", "5.0")) == (Fit.NONE, [])


@pytest.mark.parametrize(
    ("cuda", "toolkit", "expected"),
    [((12, 9), (12, 9), True), ((12, 8), (12, 9), False), ((13, 0), (12, 9), True), ((13, 0), None, False)],
)
def test_ptx_needs_a_driver_as_new_as_its_toolkit(
    cuda: tuple[int, int], toolkit: tuple[int, int] | None, expected: bool
) -> None:
    """Error 222 otherwise; when nobody knows the toolkit, no driver is sure to be new enough."""
    assert runs((13, 0), ["compute_120"], tegra=False, cuda=cuda, driver=(12, 0), toolkit=toolkit) is expected


def test_a_new_vendor_is_considered_without_new_code() -> None:
    """A backend whose vendor cannot be detected gets a reason like any other, and is never taken by itself."""
    machine = Machine("linux", "x86_64")
    acme = Backend("acme", "jaxlib-acme", "1", "acme", TAGS, {"acme": ()}, select=Select("acme", 9))
    silent = Backend("mute", "jaxlib-mute", "1", "mute", TAGS, {"mute": ()})
    assert lacking(judge(machine, acme).reason, "'acme'", "--backend acme") == []
    assert {judge(machine, acme).fit, judge(machine, silent).fit} == {Fit.NONE}


def test_amd_without_a_list_of_supported_chips_goes_by_code() -> None:
    """A vendor that names no chips promises all for which there is code."""
    rocm = Backend("rocm", "r", "1", "rocm", TAGS, {}, {"linux_x86_64": ("gfx906",)}, Select("amd", driver=(7, 0)))
    machine = Machine("linux", "x86_64", amd=Amd("7.1", ("gfx906", "gfx803")))
    verdict = judge(machine, rocm)
    assert (verdict.fit, verdict.hidden) == (Fit.PART, ("amd:1",))
    assert dict(verdict.environment) == {"HIP_VISIBLE_DEVICES": "0"}


def test_a_gpu_of_unknown_capability_is_served_by_nobody() -> None:
    """It is hidden, and said to be unknown."""
    cuda = Backend("c", "c", "1", "cuda", TAGS, {}, {"linux_x86_64": ("sm_90",)}, Select("nvidia", driver=(12, 0)))
    gpus = (NvidiaGpu(None, "odd"), NvidiaGpu((9, 0), "H100"))
    verdict = judge(Machine("linux", "x86_64", nvidia=Nvidia((13, 0), cuinit=0, gpus=gpus)), cuda)
    assert (verdict.fit, verdict.hidden) == (Fit.PART, ("nvidia:0",))
    assert "odd (compute capability unknown)" in verdict.reason

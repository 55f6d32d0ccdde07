# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Levels that are demanded, and waivers that persons wrote."""

from dataclasses import replace
from pathlib import Path

import pytest

from pjrtwheel.backend import load_backends
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.record.entries import Entry
from pjrtwheel.record.proofs import Level, Proof
from pjrtwheel.release_check.policy import (
    Demand,
    Policy,
    Verdict,
    Waiver,
    check_levels,
    check_policy,
    choose_demand,
    judge,
    load_policy,
)
from release_entries import entry_of, proof_of

TODAY = "2026-11-22"
COMMITS = {"c" * 40}
DEMAND = Demand(Level.DEVICE, Level.DEVICE, Level.LOAD, Level.STATIC)
PLUGIN = "jaxlib_abacus-1.2.3-cp312-abi3-manylinux_2_27_x86_64.whl"
BINDINGS = "jaxlib-1.2.3-cp315-cp315t-manylinux_2_27_aarch64.whl"
WAIVER = Waiver(Level.AOT, "jaxlib-abacus", "no abacus here", "2026-11-22", "2026-11-22")


def proven(name: str, *proofs: Proof) -> Entry:
    """Return the entry of a wheel with some proofs."""
    return entry_of(name, proof=proofs[0], other_proofs=proofs[1:])


def shown(level: Level, *, emulated: bool = False, backend: str = "abacus") -> Proof:
    """Return a proof at a level, at the release's commit."""
    proof = proof_of(level, "c" * 40)
    return replace(proof, pythons=tuple(replace(p, emulated=emulated) for p in proof.pythons), backend=backend)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (PLUGIN, Level.DEVICE),
        (BINDINGS, Level.DEVICE),
        ("jaxlib-1.2.3-cp312-cp312-win_amd64.whl", Level.LOAD),
        ("jaxlib_auto-1.2.3-py3-none-any.whl", Level.STATIC),
        ("jaxlib_auto-1.2.3-py3-none-manylinux_2_27_x86_64-abacus.whl", Level.STATIC),
    ],
)
def test_the_kind_of_wheel_decides_what_is_demanded(name: str, expected: Level) -> None:
    """A new backend is demanded to run, without a line that names it."""
    assert choose_demand(DEMAND, entry_of(name), {"linux_x86_64", "linux_aarch64"}) is expected


def test_any_backend_and_the_best_proof_count() -> None:
    """Bindings that ran with one plugin work, whatever another machine lacked."""
    entry = proven(BINDINGS, shown(Level.AOT, backend="soroban"), shown(Level.DEVICE, backend="cpu"))
    assert judge(entry, Level.DEVICE, [], COMMITS) == Verdict(entry, Level.DEVICE, Level.DEVICE)


def test_a_waiver_lowers_the_demand_and_no_further() -> None:
    """What it still demands has to be shown."""
    aot, load = proven(PLUGIN, shown(Level.AOT)), proven(PLUGIN, shown(Level.LOAD))
    assert judge(aot, Level.DEVICE, [WAIVER], COMMITS) == Verdict(aot, Level.DEVICE, Level.AOT, WAIVER)
    refused = judge(load, Level.DEVICE, [WAIVER], COMMITS)
    assert refused == Verdict(load, Level.DEVICE, Level.LOAD)
    (text,) = check_levels([refused])
    assert PLUGIN in text


def test_a_waiver_for_a_plugin_is_one_for_its_kernels() -> None:
    """For the same reason; one for kernels, such as those of some Pythons, says nothing of the plugin."""
    kernels = entry_of("jaxlib_abacus_kernels-1.2.3-cp315-cp315-manylinux_2_27_x86_64.whl")
    alone = replace(WAIVER, wheel="jaxlib-abacus-kernels")
    assert [waiver.covers(entry) for waiver in (WAIVER, alone) for entry in (kernels, entry_of(PLUGIN))] == [
        True, True, True, False,
    ]  # fmt: skip


def test_an_emulated_machine_shows_nothing_of_a_device() -> None:
    """Unless a waiver says that it is enough."""
    entry = proven(PLUGIN, shown(Level.DEVICE, emulated=True))
    assert judge(entry, Level.DEVICE, [WAIVER], COMMITS) == Verdict(entry, Level.DEVICE, Level.STATIC)
    allowing = replace(WAIVER, emulated=True)
    assert judge(entry, Level.DEVICE, [WAIVER, allowing], COMMITS) == Verdict(
        entry, Level.DEVICE, Level.DEVICE, allowing
    )


@pytest.mark.parametrize(
    ("platforms", "pythons", "covered"),
    [
        ((), (), True),
        (("linux_aarch64",), ("cp315t", "cp314"), True),
        (("linux_x86_64",), (), False),
        ((), ("cp315",), False),
    ],
)
def test_a_waiver_covers_what_it_names(platforms: tuple[str, ...], pythons: tuple[str, ...], *, covered: bool) -> None:
    """All platforms and Pythons, unless it names some."""
    waiver = replace(WAIVER, wheel="jaxlib", platforms=platforms, pythons=pythons)
    assert waiver.covers(entry_of(BINDINGS)) is covered
    assert not waiver.covers(entry_of(PLUGIN))


def test_a_decision_that_holds_no_more_is_a_problem() -> None:
    """Whether or not a wheel needs it."""
    expired = replace(WAIVER, until="2026-11-21")
    (text,) = check_policy(Policy(1, DEMAND, (WAIVER, expired)), TODAY)
    assert (expired.describe() in text, "2026-11-21" in text) == (True, True)


def test_the_policy_of_this_repository_is_about_what_exists(root: Path) -> None:
    """A waiver for something else would do nothing."""
    policy = load_policy(root)
    projects = {"jaxlib", *(name for backend in load_backends(root).values() for name in backend.distributions)}
    assert {waiver.wheel for waiver in policy.waivers} <= projects
    assert {name for waiver in policy.waivers for name in waiver.platforms} <= PLATFORMS.keys()
    assert policy.demand == DEMAND

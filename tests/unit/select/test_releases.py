# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Several releases of JAX: which one is meant, and what becomes of machines whose package a release does not have."""

import json
import re
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from jaxlib_select import facts as facts_package
from jaxlib_select.apply.groups import make_choices
from jaxlib_select.apply.installer import Installer, accelerator_families, make_plan, release_of
from jaxlib_select.choose.policy import Policy
from jaxlib_select.choose.resolve import resolve
from jaxlib_select.errors import FactsError, PolicyError, UsageError
from jaxlib_select.facts import OURS, PROVIDERS, UPSTREAM, facts_about, load_facts, releases_within
from jaxlib_select.installed.environment import Distribution, Environment
from jaxlib_select.installed.plugins import Plugin
from jaxlib_select.machine.model import Amd, Intel, Machine
from jaxlib_select.versions import at_least, read_version
from machines import L4, MAX, PLAIN
from select_commands import Select, WriteMachine, asked, lacking

pytestmark = pytest.mark.usefixtures("quiet_place")

AddRelease = Callable[..., None]

SHIPPED = facts_package.FOLDER

CAUSE = "the package index has no jax-oneapi-pjrt 1.1"
LACK = "has no oneapi wheel"
OFFER = "jax==1.0.2: jaxlib-select resolve jax==1.0.2"


@pytest.fixture
def releases(add_release: AddRelease) -> None:
    """Make three releases known, of which the newest has nothing for Intel."""
    add_release("1.0")
    add_release("1.0.2")
    add_release("1.1", oneapi=CAUSE)


@pytest.mark.usefixtures("releases")
@pytest.mark.parametrize(
    ("release", "packages"),
    [
        ("1.0", ["jax==1.0", "jax == 1.0.0", "jax>=1.0,<1.0.2"]),
        ("1.0.2", ["jax==1.0.*", "jax<1.1", "jax~=1.0.0", "jax!=1.1", "jax !=1.1.*, >1.0", "JAXlib<1.1"]),
        ("1.1", ["jax", "jax <= 1.1", "jax~=1.0"]),
    ],
)
def test_the_newest_release_within_bounds_is_taken(release: str, packages: list[str]) -> None:
    """As PEP 440 reads them; jaxlib and the accelerator's package follow."""
    for package in packages:
        name = "jaxlib" if "lib" in package else "jax"
        assert resolve(package, L4).requirements == (f"{name}=={release}", f"jaxlib-cuda-13[with-cuda]=={release}")


@pytest.mark.usefixtures("releases")
@pytest.mark.parametrize("bounds", [">=", "<new", "~=1", "<1.*", "<1.1,", "===1.0"])
def test_bounds_that_cannot_be_read_are_refused(bounds: str) -> None:
    """With what was written."""
    with pytest.raises(UsageError, match=re.escape(repr(bounds))):
        resolve(f"jax{bounds}", PLAIN)


@pytest.mark.usefixtures("releases")
@pytest.mark.parametrize("bounds", ["==2.0", ">1.1", "==2.*"])
def test_an_unknown_release_lists_the_known_ones(bounds: str) -> None:
    """The oldest first."""
    with pytest.raises(FactsError, match=rf"{re.escape(bounds.removeprefix('=='))}.*\n.*: 1\.0, 1\.0\.2, 1\.1"):
        resolve(f"jax{bounds}", PLAIN)


def test_a_pre_release_is_taken_by_its_name_only(add_release: AddRelease) -> None:
    """Unless there is nothing else."""
    add_release("1.1rc1")
    assert resolve("jax", PLAIN).requirements[0] == "jax==1.1rc1"
    add_release("1.0")
    assert resolve("jax", PLAIN).requirements[0] == resolve("jax<2", PLAIN).requirements[0] == "jax==1.0"
    assert resolve("jax==1.1rc1", PLAIN).requirements[0] == "jax==1.1rc1"


@pytest.mark.usefixtures("releases")
def test_bounds_are_for_a_package_with_several_releases(select: Select, write_machine: WriteMachine) -> None:
    """Others are refused: in two lines, what, and what to do."""
    said = select("resolve", "torch<3", "--machine", write_machine(L4))
    first, _ = said.err.splitlines()
    assert (said.status, lacking(first, "torch", "'<3'")) == (2, [])


@pytest.mark.usefixtures("releases")
@pytest.mark.parametrize("provider", PROVIDERS)
def test_the_newest_release_that_serves_the_accelerator_is_taken(provider: str) -> None:
    """Of either provider, within the bounds; one line says why, and what the newest would run on."""
    ours = "jaxlib-oneapi[with-oneapi]==1.0.2"
    wanted = {OURS: ("jax==1.0.2", ours), UPSTREAM: ("jax[oneapi]==1.0.2",)}[provider]
    policy = Policy(provider=provider)
    for package in ("jax", "jax>1.0"):
        decision = resolve(package, MAX, policy)
        assert (decision.requirements, decision.backend, decision.provider) == (wanted, "oneapi", provider)
        (warning,) = decision.warnings
        assert lacking(warning, f"jax 1.1 {LACK}", "oneapi", "1.0.2", "jax==1.1") == []
        assert warning.endswith("jax==1.1 would run on the CPU")
    named = resolve("jax", MAX, replace(asked("oneapi"), provider=provider))  # the newest would be an error
    assert (named.requirements, any("would run" in warning for warning in named.warnings)) == (wanted, False)
    assert resolve("jax", MAX, replace(asked("cpu"), provider=provider)).requirements[0] == "jax==1.1"


@pytest.mark.usefixtures("releases")
def test_an_older_release_says_what_the_machine_lacks() -> None:
    """Where the newest only lacks the wheel."""
    machine = replace(MAX, intel=replace(MAX.intel, level_zero=False))
    lack, advice = resolve("jax", machine).warnings
    assert (LACK in lack, "level-zero" in advice) == (True, True)
    with pytest.raises(PolicyError, match=r"level-zero"):
        resolve("jax", machine, asked("require-gpu"))


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize(("rocm", "name"), [("7.0.2", "rocm7"), ("7.14.1", "rocm7"), ("10.1.0", "rocm10")])
def test_an_amd_gpu_gets_the_newest_release_made_for_its_rocm(
    rocm: str, name: str, provider: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of those that are shipped; where a newer one does not serve it, one line says why, and what it would run on."""
    monkeypatch.setattr(facts_package, "FOLDER", SHIPPED)
    releases, machine = releases_within(), Machine("linux", "x86_64", amd=Amd(rocm, ("gfx942",)))
    listed = [(release, entry) for release in releases for entry in load_facts(release).backends if entry.name == name]
    needs = [(release, entry.select.driver or ()) for release, entry in listed if entry.tags and entry.select]
    served = next(release for release, driver in needs if at_least(read_version(rocm) or (), driver))
    decision = resolve("jax", machine, Policy(provider=provider))
    assert (decision.backend, release_of(decision)) == (f"{name}-local", served)
    insists = [warning.endswith(f"jax=={releases[0]} would run on the CPU") for warning in decision.warnings]
    assert insists == ([True] if served != releases[0] else [])
    if served != releases[0]:  # which lacks the wheel, or needs another ROCm
        (entry,) = (entry for release, entry in listed if release == releases[0])
        why = "needs ROCm" if entry.tags else f"has no {name} wheel"
        assert decision.warnings[0].startswith(f"jax {releases[0]} {why}")


@pytest.mark.usefixtures("releases")
def test_who_insists_on_a_release_is_offered_the_one_that_serves(select: Select, write_machine: WriteMachine) -> None:
    """The CPU is used, why, and a command that can be typed as it is."""
    machine = write_machine(MAX)
    given = ("jax==1.1", "--provider", "ours", "--machine", machine)
    document = json.loads(select("resolve", *given, "--json").out)
    why, offer = document["warnings"]
    (reason,) = (entry["reason"] for entry in document["candidates"] if entry["backend"] == "oneapi")
    assert (LACK in why, LACK in reason) == (True, True)
    assert (document["package"], document["requirements"]) == ("jaxlib-cpu", ["jax==1.1", "jaxlib-cpu==1.1"])
    said = select(*shlex.split(offer.partition(": jaxlib-select ")[2]), *given[1:])
    assert lacking(said.out, "jax==1.0.2\n", "jaxlib-oneapi[with-oneapi]==1.0.2\n") == []
    assert (said.status, said.err) == (0, "")


@pytest.mark.usefixtures("releases")
@pytest.mark.parametrize(
    "machine",
    [PLAIN, L4, replace(PLAIN, intel=Intel(("8086:46a6",))), replace(PLAIN, intel=Intel(("8086:0bd5",)))],
    ids=["no accelerator", "another", "integrated", "no Level Zero"],
)
def test_who_would_not_be_served_there_is_offered_nothing(machine: Machine) -> None:
    """Another release would change nothing."""
    assert not any("1.0.2" in warning for warning in resolve("jax", machine).warnings)


def test_a_newer_release_is_offered_as_well(add_release: AddRelease) -> None:
    """Who asks for an old one may not know that the next has it."""
    add_release("1.0", oneapi="no file")
    add_release("1.1")
    *_, warning = resolve("jax==1.0", MAX).warnings
    assert warning.endswith("jax==1.1: jaxlib-select resolve jax==1.1")


def test_one_accelerator_of_two_is_enough(add_release: AddRelease) -> None:
    """The newest release is taken if it serves any, as on a machine with GPUs of two vendors."""
    both = Machine("linux", "x86_64", amd=Amd("7.0.0", ("gfx942",)), intel=MAX.intel)
    add_release("1.0")
    add_release("1.1", rocm7="no file")
    assert resolve("jax", both).requirements == ("jax==1.1", "jaxlib-oneapi[with-oneapi]==1.1")
    add_release("1.1", oneapi="no file")
    decision = resolve("jax", both)
    assert (decision.backend, decision.warnings) == ("rocm7-local", ())


@pytest.mark.usefixtures("releases")
@pytest.mark.parametrize(("backend", "more"), [("ONEAPI", " --backend oneapi"), ("require-gpu", "")])
def test_what_is_asked_for_by_name_and_absent_is_an_error(backend: str, more: str) -> None:
    """With the cause, and the command that gives it."""
    with pytest.raises(PolicyError) as caught:
        resolve("jax==1.1", MAX, asked(backend))
    cause = LACK if backend == "require-gpu" else CAUSE
    assert (cause in caught.value.cause, caught.value.remedy.endswith(f"{OFFER}{more}")) == (True, True)


def test_a_backend_that_a_release_does_not_list_is_not_unknown(add_release: AddRelease, tmp_path: Path) -> None:
    """It came with a later one."""
    add_release("1.0")
    add_release("1.1")
    path = tmp_path / "facts/1.0.json"
    document = json.loads(path.read_text("utf-8"))
    document["backends"] = [backend for backend in document["backends"] if backend["name"] != "oneapi"]
    path.write_text(json.dumps(document), "utf-8")
    with pytest.raises(PolicyError, match=r"jax==1\.1 --backend oneapi"):
        resolve("jax==1.0", MAX, asked("oneapi"))
    assert resolve("jax==1.0", MAX).backend == "cpu"


def test_without_a_package_for_the_cpu_jax_has_its_own(add_release: AddRelease) -> None:
    """The answer is plain JAX; accelerators are served as ever."""
    add_release("1.1", cpu="no file")
    decision = resolve("jax", PLAIN)
    assert (decision.package, decision.backend, decision.requirements) == ("jax", "cpu", ("jax==1.1",))
    assert decision.warnings == ()
    assert resolve("jax", L4).requirements == ("jax==1.1", "jaxlib-cuda-13[with-cuda]==1.1")
    named = resolve("jax", PLAIN, asked("cpu"))
    assert (named.requirements, lacking(*named.warnings, "no cpu wheel", "jax alone")) == (("jax==1.1",), [])


@pytest.mark.usefixtures("releases")
def test_a_lock_has_the_groups_of_its_release() -> None:
    """What is absent there has none; the evidence keeps what was asked for."""
    newest, older = (make_choices(package, MAX, Policy()) for package in ("jax==1.1", "jax<1.1"))
    assert "oneapi" not in {decision.backend for decision in newest.decisions}
    assert "oneapi" in {decision.backend for decision in older.decisions}
    assert {decision.requirements[0] for decision in older.decisions} == {"jax==1.0.2"}
    assert (older.package, older.asked) == ("jax<1.1", "auto")
    assert make_choices("jax", MAX, Policy()).package == "jax==1.0.2"  # or a CPU would find the newest in a check


@pytest.mark.parametrize(
    ("package", "machine", "removed"),
    [
        ("jax", PLAIN, ["jaxlib-cpu", "jaxlib-oneapi"]),
        ("jax", L4, ["jaxlib-cpu", "jaxlib-oneapi"]),
        ("jax==1.0", PLAIN, ["jaxlib-oneapi"]),
        ("jax==1.0.2", PLAIN, ["jaxlib-oneapi"]),
        ("jax==1.0.2", L4, ["jaxlib-cpu", "jaxlib-oneapi"]),
    ],
    ids=["absent", "absent, GPU", "the same", "upgraded", "another"],
)
def test_the_cpu_s_package_of_another_release_does_not_stay(
    add_release: AddRelease, machine: Machine, package: str, removed: list[str]
) -> None:
    """It refuses to work with another jaxlib; unless it is brought to the release itself."""
    for release in ("1.0", "1.0.2"):
        add_release(release)
    add_release("1.1", cpu="no file")
    names = ("jax", "jaxlib", "jaxlib-cpu", "jaxlib-oneapi")
    found = {name: Distribution(name, "1.0", Path("site"), {}) for name in names}
    environment = Environment(Path(sys.executable), sys.version_info[:3], (), Path("venv"), found)
    plugins = [
        Plugin(f"jaxlib_{platform}", ("entry point",), f"jaxlib-{platform}", "1.0", platform=platform, ours=True)
        for platform in ("cpu", "oneapi")
    ]
    uv, families = Installer("uv", ("uv", "pip"), Path("py")), accelerator_families(load_facts())
    *_, last = make_plan([resolve(package, machine)], environment, plugins, uv, families=families)
    assert last == ("uv", "pip", "uninstall", "--python", "py", *removed)


@pytest.mark.usefixtures("releases")
def test_facts_are_those_of_the_installed_release() -> None:
    """Whoever built it; about an unknown one those of the newest are the best there are."""
    found = [facts_about(version).release for version in ("1.0", "1.0.2+split.1", "0.9", "")]
    assert found == ["1.0", "1.0.2", "1.1", "1.1"]

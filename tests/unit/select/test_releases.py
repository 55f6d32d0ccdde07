# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Several releases of JAX: which one is meant, and what becomes of machines whose package a release does not have."""

from __future__ import annotations

import json
import shlex
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from jaxlib_select.apply.groups import make_choices
from jaxlib_select.apply.installer import Installer, accelerator_families, make_plan
from jaxlib_select.choose.policy import Policy, read_policy
from jaxlib_select.choose.resolve import resolve
from jaxlib_select.cli import main
from jaxlib_select.errors import FactsError, PolicyError, UsageError
from jaxlib_select.facts import facts_about, load_facts
from jaxlib_select.installed.environment import Distribution, Environment
from jaxlib_select.installed.plugins import Plugin
from jaxlib_select.machine.file import to_json
from jaxlib_select.machine.model import Amd, Intel, Machine
from machines import L4, MAX, PLAIN

pytestmark = pytest.mark.usefixtures("quiet_place")

AddRelease = Callable[..., None]

CAUSE = "the package index has no jax-oneapi-pjrt 1.1"
NO_ONEAPI = f"there is no wheel of jaxlib-oneapi 1.1 for Linux on x86_64, {CAUSE}"
OFFER = "the newest that has it is jax==1.0.2: jaxlib-select resolve jax==1.0.2"


@pytest.fixture
def releases(add_release: AddRelease) -> None:
    """Make three releases known, of which the newest has nothing for Intel."""
    add_release("1.0")
    add_release("1.0.2")
    add_release("1.1", oneapi=CAUSE)


def write_machine(machine: Machine) -> str:
    """Write a machine file into the folder of the test, and return its name."""
    Path("machine.json").write_text(json.dumps(to_json(machine)), "utf-8")
    return "machine.json"


@pytest.mark.usefixtures("releases")
@pytest.mark.parametrize(
    ("package", "release"),
    [
        ("jax", "1.1"),
        ("jax==1.0", "1.0"),
        ("jax == 1.0.0", "1.0"),
        ("jax==1.0.*", "1.0.2"),
        ("jax<1.1", "1.0.2"),
        ("jax <= 1.1", "1.1"),
        ("jax~=1.0.0", "1.0.2"),
        ("jax~=1.0", "1.1"),
        ("jax>=1.0,<1.0.2", "1.0"),
        ("jax!=1.1", "1.0.2"),
        ("jax !=1.1.*, >1.0", "1.0.2"),
        ("JAXlib<1.1", "1.0.2"),
    ],
)
def test_the_newest_release_within_bounds_is_taken(package: str, release: str) -> None:
    """As PEP 440 reads them; jaxlib and the accelerator's package follow."""
    name = "jaxlib" if "lib" in package else "jax"
    assert resolve(package, L4).requirements == (f"{name}=={release}", f"jaxlib-cuda-13[with-cuda]=={release}")


@pytest.mark.usefixtures("releases")
@pytest.mark.parametrize("bounds", [">=", "<new", "~=1", "<1.*", "<1.1,", "===1.0"])
def test_bounds_that_cannot_be_read_are_refused(bounds: str) -> None:
    """With what was written."""
    with pytest.raises(UsageError) as caught:
        resolve(f"jax{bounds}", PLAIN)
    assert repr(bounds) in caught.value.what


@pytest.mark.usefixtures("releases")
@pytest.mark.parametrize(("package", "named"), [("jax==2.0", "'2.0'"), ("jax>1.1", ">1.1"), ("jax==2.*", "==2.*")])
def test_an_unknown_release_lists_the_known_ones(package: str, named: str) -> None:
    """The oldest first."""
    with pytest.raises(FactsError) as caught:
        resolve(package, PLAIN)
    assert (named in caught.value.what, caught.value.remedy) == (True, "known releases: 1.0, 1.0.2, 1.1")


def test_a_pre_release_is_taken_by_its_name_only(add_release: AddRelease) -> None:
    """Unless there is nothing else."""
    add_release("1.1rc1")
    assert resolve("jax", PLAIN).requirements[0] == "jax==1.1rc1"
    add_release("1.0")
    assert resolve("jax", PLAIN).requirements[0] == resolve("jax<2", PLAIN).requirements[0] == "jax==1.0"
    assert resolve("jax==1.1rc1", PLAIN).requirements[0] == "jax==1.1rc1"
    add_release("1.1")
    assert resolve("jax==1.1", PLAIN).requirements[0] == "jax==1.1"


@pytest.mark.usefixtures("releases")
def test_the_release_may_be_an_option(capsys: pytest.CaptureFixture[str]) -> None:
    """Of the packages of JAX; others keep their own versions."""
    machine = write_machine(L4)
    assert main(["resolve", "torch", "jax<1.1", "--release", "1.0", "--machine", machine, "--json"]) == 0
    documents = json.loads(capsys.readouterr().out)
    assert [document["requirements"][0] for document in documents] == ["torch==2.14.*", "jax==1.0"]
    assert resolve("jax>=1.0", L4, release="1.0.2") == resolve("jax==1.0.2", L4)


@pytest.mark.usefixtures("releases")
@pytest.mark.parametrize(
    ("arguments", "status", "named"),
    [
        (["jax==1.0", "--release", "1.1"], 2, ("jax==1.0", "1.1")),
        (["jax>=1.1", "--release", "1.0.2"], 2, ("jax>=1.1", "1.0.2")),
        (["torch", "--release", "1.1"], 2, ("--release 1.1", "torch")),
        (["jax", "--release", "9"], 1, ("'9'",)),
        (["torch<3"], 2, ("torch", "'<3'")),
    ],
)
def test_a_contradiction_is_an_error(
    arguments: list[str], status: int, named: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    """In two lines: what, and what to do."""
    assert main(["resolve", *arguments, "--machine", write_machine(L4)]) == status
    first, second = capsys.readouterr().err.splitlines()
    assert ([value for value in named if value not in first], bool(second.strip())) == ([], True)


def test_a_version_given_twice_must_be_the_same() -> None:
    """For packages whose resolvers know no releases, too."""
    assert resolve("torch==2.14.0", L4, release="2.14.0") == resolve("torch==2.14.0", L4)
    with pytest.raises(UsageError):
        resolve("torch==2.14.0", L4, release="2.14.1")


@pytest.mark.usefixtures("releases")
def test_a_machine_whose_package_is_absent_is_told_which_release_has_it(capsys: pytest.CaptureFixture[str]) -> None:
    """For people and for programs: the CPU is used, why, and a command that can be typed as it is."""
    machine = write_machine(MAX)
    assert main(["resolve", "jax", "--machine", machine]) == 0
    out, err = capsys.readouterr()
    assert f"rejected    oneapi  {NO_ONEAPI}" in out.splitlines()
    assert main(["resolve", "jax", "--machine", machine, "--json"]) == 0
    document = json.loads(capsys.readouterr().out)
    (warning,) = document["warnings"]
    assert (err, NO_ONEAPI in warning) == (f"warning: {warning}\n", True)
    assert {"backend": "oneapi", "chosen": False, "reason": NO_ONEAPI} in document["candidates"]
    assert (document["package"], document["requirements"]) == ("jaxlib-cpu", ["jax==1.1", "jaxlib-cpu==1.1"])
    offered = shlex.split(warning.partition(": jaxlib-select ")[2])
    assert main([*offered, "--machine", machine]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines()[1:3] == ["install     jax==1.0.2", "install     jaxlib-oneapi[with-oneapi]==1.0.2"]
    assert err == ""


@pytest.mark.usefixtures("releases")
@pytest.mark.parametrize(
    "machine",
    [PLAIN, L4, replace(PLAIN, intel=Intel(("8086:46a6",))), replace(PLAIN, intel=Intel(("8086:0bd5",)))],
    ids=["no accelerator", "another", "integrated", "no Level Zero"],
)
def test_who_would_not_be_served_there_is_offered_nothing(machine: Machine) -> None:
    """Another release would change nothing."""
    decision = resolve("jax", machine)
    assert not any("1.0.2" in warning for warning in decision.warnings)


def test_a_newer_release_is_offered_as_well(add_release: AddRelease) -> None:
    """Who asks for an old one may not know that the next has it."""
    add_release("1.0", oneapi="no file")
    add_release("1.1")
    (warning,) = resolve("jax==1.0", MAX).warnings
    assert warning.endswith("the newest that has it is jax==1.1: jaxlib-select resolve jax==1.1")


def test_a_better_accelerator_than_the_one_taken_is_mentioned(add_release: AddRelease) -> None:
    """As for a machine with GPUs of two vendors."""
    both = Machine("linux", "x86_64", amd=Amd("7.0.0", ("gfx942",)), intel=MAX.intel)
    add_release("1.0")
    add_release("1.1", rocm7="no file")
    decision = resolve("jax", both)
    (warning,) = decision.warnings
    assert (decision.backend, "rocm7" in warning, "jax==1.0" in warning) == ("oneapi", True, True)
    add_release("1.1", oneapi="no file")
    add_release("1.2", oneapi="no file")
    decision = resolve("jax", both)
    assert (decision.backend, decision.warnings) == ("rocm7-local", ())


@pytest.mark.usefixtures("releases")
def test_what_is_asked_for_by_name_and_absent_is_an_error() -> None:
    """With the cause, and the command that gives it."""
    for name in ("oneapi", "ONEAPI"):
        with pytest.raises(PolicyError) as caught:
            resolve("jax", MAX, read_policy([name], {}, None))
        assert (caught.value.cause, caught.value.remedy) == (CAUSE, f"{OFFER} --backend oneapi")
    with pytest.raises(PolicyError) as caught:
        resolve("jax", MAX, read_policy(["require-gpu"], {}, None))
    assert (f"oneapi: {NO_ONEAPI}" in caught.value.cause, caught.value.remedy) == (True, OFFER)


def test_a_backend_that_a_release_does_not_list_is_not_unknown(add_release: AddRelease, tmp_path: Path) -> None:
    """It came with a later one."""
    add_release("1.0")
    add_release("1.1")
    path = tmp_path / "facts/1.0.json"
    document = json.loads(path.read_text("utf-8"))
    document["backends"] = [backend for backend in document["backends"] if backend["name"] != "oneapi"]
    path.write_text(json.dumps(document), "utf-8")
    with pytest.raises(PolicyError, match=r"jax==1\.1 --backend oneapi"):
        resolve("jax==1.0", MAX, read_policy(["oneapi"], {}, None))
    assert resolve("jax==1.0", MAX).backend == "cpu"


def test_without_a_package_for_the_cpu_jax_has_its_own(add_release: AddRelease) -> None:
    """The answer is plain JAX, with the cause; accelerators are served as ever."""
    add_release("1.0")
    add_release("1.1", cpu="no file")
    decision = resolve("jax", PLAIN)
    assert (decision.package, decision.backend, decision.requirements) == ("jax", "cpu", ("jax==1.1",))
    (warning,) = decision.warnings
    assert [value for value in ("jaxlib-cpu 1.1", "no file") if value not in warning] == []
    assert resolve("jax", L4).requirements == ("jax==1.1", "jaxlib-cuda-13[with-cuda]==1.1")
    assert resolve("jax", PLAIN, read_policy(["cpu"], {}, None)).requirements == ("jax==1.1",)


@pytest.mark.usefixtures("releases")
def test_a_lock_has_the_groups_of_its_release() -> None:
    """What is absent there has none; the evidence keeps what was asked for."""
    newest, older = (make_choices(package, MAX, Policy()) for package in ("jax", "jax<1.1"))
    assert "oneapi" not in {decision.backend for decision in newest.decisions}
    assert "oneapi" in {decision.backend for decision in older.decisions}
    assert {decision.requirements[0] for decision in older.decisions} == {"jax==1.0.2"}
    assert (older.package, older.asked) == ("jax<1.1", "auto")


@pytest.mark.parametrize(
    ("package", "removed"),
    [
        ("jax", ("jaxlib-cpu", "jaxlib-oneapi")),
        ("jax==1.0", ("jaxlib-oneapi",)),
        ("jax==1.0.2", ("jaxlib-cpu", "jaxlib-oneapi")),
    ],
    ids=["absent", "the same", "another"],
)
@pytest.mark.parametrize("machine", [PLAIN, L4], ids=["plain", "L4"])
def test_the_cpu_s_package_of_another_release_does_not_stay(
    add_release: AddRelease, machine: Machine, package: str, removed: tuple[str, ...]
) -> None:
    """It refuses to work with another jaxlib; unless it is brought to the release itself."""
    for release in ("1.0", "1.0.2"):
        add_release(release)
    add_release("1.1", cpu="no file")
    names = {"jax": "1.0", "jaxlib": "1.0", "jaxlib-cpu": "1.0", "jaxlib-oneapi": "1.0"}
    found = {name: Distribution(name, version, Path("site"), {}) for name, version in names.items()}
    environment = Environment(Path(sys.executable), sys.version_info[:3], (), Path("venv"), found)
    plugins = [
        Plugin(name.replace("-", "_"), ("entry point",), name, "1.0", platform=platform, ours=True)
        for name, platform in (("jaxlib-cpu", "cpu"), ("jaxlib-oneapi", "oneapi"))
    ]
    decision = resolve(package, machine)
    families = accelerator_families(load_facts())
    *_, last = make_plan(
        [decision], environment, plugins, Installer("uv", ("uv", "pip"), Path("py")), families=families
    )
    upgraded = {decision.package} & set(removed)
    assert last == ("uv", "pip", "uninstall", "--python", "py", *sorted({*removed} - upgraded))


@pytest.mark.usefixtures("releases")
def test_facts_are_those_of_the_installed_release() -> None:
    """Whoever built it; about an unknown one those of the newest are the best there are."""
    assert [facts_about(version).release for version in ("1.0", "1.0.2+split.1", "0.9", "")] == [
        "1.0",
        "1.0.2",
        "1.1",
        "1.1",
    ]

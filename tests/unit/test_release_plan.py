# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Making a whole release: what the plan says before anything is started, and what is said when a step fails."""

from collections.abc import Callable
from pathlib import Path

import pytest

from pjrtwheel import cli
from pjrtwheel.backend import Backend, load_backends
from pjrtwheel.cli import release as command
from pjrtwheel.cli.release import PlannedCommand, list_steps, run_steps
from pjrtwheel.errors import BazelError, PjrtWheelError, UsageError
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.record.entries import RELEASE_FILENAME, format_entries
from pjrtwheel.release.model import Release
from pjrtwheel.release_plan import ReleasePlan, plan_release
from pjrtwheel.sets.wheel_sets import promised_set
from release_entries import entry_of

HOST = PLATFORMS["linux_x86_64"]
Plan = Callable[..., ReleasePlan]
STEPS = (PlannedCommand("a", "first", "a"), PlannedCommand("b", "second", "b"), PlannedCommand("c", "third", "c"))


@pytest.fixture
def backends(root: Path) -> tuple[Backend, ...]:
    """Return all backends."""
    return tuple(load_backends(root).values())


@pytest.fixture
def plan(release: Release, backends: tuple[Backend, ...], tmp_path: Path) -> Plan:
    """Return a function that plans the release under test."""

    def make() -> ReleasePlan:
        return plan_release(release, backends, dist=tmp_path / "dist", host=HOST)

    return make


def test_all_wheels_of_a_release_are_planned(plan: Plan, release: Release, backends: tuple[Backend, ...]) -> None:
    """Each once, this machine's first, and what the release does not have is named with the cause."""
    made = plan()
    wheels = [wheel for build in made.builds for wheel in build.wheels]
    assert sorted(wheels) == sorted(name.filename for name in promised_set(release, backends, HOST))
    assert made.builds[0].platform == HOST.name
    missing = {(entry.name, place) for entry in backends for place in entry.tags} - {
        (name, build.platform) for build in made.builds for name in build.backends
    }
    named = {
        (what.partition(" for ")[0], place) for what in made.absent for place in what.partition(" for ")[2].split(", ")
    }
    assert named == missing
    assert all(made.absent.values())


def test_what_is_there_is_counted(plan: Plan) -> None:
    """By the files and by `release.json`: neither alone will do."""
    name = plan().builds[0].wheels[0]
    dist = plan().dist
    dist.mkdir()
    (dist / name).touch()
    (dist / RELEASE_FILENAME).write_text(format_entries({name: entry_of(name)}), "utf-8")
    assert [build.there for build in plan().builds] == [1, *[0] * (len(plan().builds) - 1)]
    (dist / name).unlink()
    assert {build.there for build in plan().builds} == {0}


def test_a_dry_run_shows_the_plan_alone(
    root: Path, release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nothing is started, and no folder is made."""
    monkeypatch.setattr(command, "_run", lambda *_: pytest.fail("a step was started"))
    dist = tmp_path / "dist"
    assert cli.main(["release", release.version, "--dry-run", "--root", str(root), "--dist", str(dist)]) == 0
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith(f"release {release.version}: ")
    assert printed[-1] == "nothing was built: this is a dry run"
    assert not dist.exists()
    assert cli.main(["release", "9.9.9", "--dry-run", "--root", str(root)]) == UsageError.exit_code
    assert capsys.readouterr().err.splitlines()[0] == "error: unknown release: '9.9.9'"


def test_the_steps_are_those_of_the_sessions(plan: Plan, release: Release) -> None:
    """Wheels first, what is made of them after that; each could be run alone, by the arguments that it gets."""
    made = plan()
    steps = list(list_steps(made, smoke_tests=False))
    assert [step.what for step in steps] == [
        *(build.platform for build in made.builds),
        *("jaxlib-select", "jaxlib-auto", "index"),
    ]
    for step, build in zip(steps, made.builds, strict=False):
        given = cli.make_parser(step.command).parse_all(step.arguments)
        assert (given.platform, given.release, given.no_smoke) == (build.platform, release.version, True)
        assert (given.all, given.bindings_only) == (bool(build.backends), not build.backends)


def test_the_first_failure_ends_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """With the status of what failed, what is done, and how to go on; nothing comes after it."""
    started: list[str] = []

    def run(step: PlannedCommand, *_: Path) -> None:
        started.append(step.what)
        if step.what == "second":
            raise BazelError("it broke", cause="a worm", remedy="fix it")

    monkeypatch.setattr(command, "_run", run)
    with pytest.raises(PjrtWheelError) as caught:
        run_steps(STEPS, tmp_path, tmp_path)
    assert (started, caught.value.exit_code) == (["first", "second"], BazelError.exit_code)
    assert (caught.value.what, caught.value.remedy) == ("second: it broke", "fix it")
    assert "done: first (1 of 3)" in caught.value.note


def test_all_steps_are_run_in_order(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The last line says where all of it is, as seen from here."""
    monkeypatch.chdir(tmp_path)
    started: list[str] = []
    monkeypatch.setattr(command, "_run", lambda step, *_: started.append(step.what))
    run_steps(STEPS, tmp_path, tmp_path / "dist")
    assert started == ["first", "second", "third"]
    assert capsys.readouterr().out.splitlines()[-1] == "all of it is in dist"

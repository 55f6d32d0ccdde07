# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Making a whole release: what the plan says before anything is started, and what is said when a step fails."""

from pathlib import Path

import pytest

from pjrtwheel import cli
from pjrtwheel.cli import release as command
from pjrtwheel.cli.release import run_steps
from pjrtwheel.errors import BazelError
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.record.entries import RELEASE_FILENAME, format_entries
from pjrtwheel.release.model import Release
from pjrtwheel.release_plan import PlannedBuild, list_absent, list_steps, plan_builds
from pjrtwheel.sets.promised import promised_set
from release_entries import entry_of
from release_under_test import BACKENDS

ALL = tuple(BACKENDS.values())

HOST = PLATFORMS["linux_x86_64"]
STEPS = {"first": ["a"], "second": ["b"], "third": ["c"]}


def test_all_wheels_of_a_release_are_planned(release: Release, tmp_path: Path) -> None:
    """Each once, this machine's first, and what the release does not have is named with the cause."""
    builds = list(plan_builds(release, ALL, dist=tmp_path / "dist", host=HOST))
    wheels = [wheel for build in builds for wheel in build.wheels]
    assert sorted(wheels) == sorted(name.filename for name in promised_set(release, ALL, HOST))
    assert builds[0].platform == HOST.name
    planned = {(name, build.platform) for build in builds for name in build.backends}
    absent = dict(list_absent(release, ALL))
    parts = [key.partition(" for ") for key in absent]
    named = {(name, place) for name, _, places in parts for place in places.split(", ")}
    assert named == {(entry.name, place) for entry in ALL for place in entry.tags} - planned
    assert all(absent.values())


def test_what_is_there_is_counted(release: Release, tmp_path: Path) -> None:
    """By the files and by `release.json`: neither alone will do."""

    def count_there() -> list[int]:
        return [build.there for build in plan_builds(release, ALL, dist=tmp_path, host=HOST)]

    name = next(plan_builds(release, ALL, dist=tmp_path, host=HOST)).wheels[0]
    (tmp_path / name).touch()
    (tmp_path / RELEASE_FILENAME).write_text(format_entries({name: entry_of(name)}), "utf-8")
    assert (count_there()[0], sum(count_there())) == (1, 1)
    (tmp_path / name).unlink()
    assert sum(count_there()) == 0


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


def test_a_build_says_how_many_of_its_wheels_are_there() -> None:
    """After what it makes, which is not there for that."""
    line = str(PlannedBuild("macos_arm64", ("cpu",), ("a", "jaxlib-1", "jaxlib-2"), 1))
    assert line.split(maxsplit=1)[1] == "cpu, jaxlib for 2 Pythons: 3 wheels, 1 of them there"


def test_each_step_is_a_command(release: Release) -> None:
    """Wheels first, what is made of them after that; each could be run alone, by the arguments that it gets."""
    builds = (PlannedBuild("linux_x86_64", ("cpu",), (), 0), PlannedBuild("macos_arm64", (), (), 0))
    steps = list_steps(release, builds, smoke_tests=False)
    assert list(steps) == ["linux_x86_64", "macos_arm64", "jaxlib-select", "pjrtwheel", "jaxlib-auto", "index"]
    given = [cli.make_parser(command).parse_all(arguments) for command, *arguments in steps.values()]
    for parsed, build in zip(given, builds, strict=False):
        assert (parsed.platform, parsed.release, parsed.no_smoke) == (build.platform, release.version, True)
        assert (parsed.all, parsed.bindings_only) == (bool(build.backends), not build.backends)


def test_the_first_failure_ends_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """With its own error; what is done is said before, and nothing comes after it."""
    started: list[str] = []

    def run(words: list[str], *_: Path) -> None:
        started.extend(words)
        if words == STEPS["second"]:
            raise BazelError("it broke")

    monkeypatch.setattr(command, "_run", run)
    with pytest.raises(BazelError):
        run_steps(STEPS, tmp_path, tmp_path)
    assert started == ["a", "b"]
    assert "done: first (1 of 3)" in capsys.readouterr().err


def test_all_steps_are_run_in_order(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One after the other."""
    started: list[str] = []
    monkeypatch.setattr(command, "_run", lambda words, *_: started.extend(words))
    run_steps(STEPS, tmp_path, tmp_path / "dist")
    assert started == ["a", "b", "c"]

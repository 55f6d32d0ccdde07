# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Building a release again: which commands run at its commit, and how what comes out is compared.

The commit here has a tooling of a few lines, which copies wheels instead of building them.
"""

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from git_repository import git
from pjrtwheel.attest.make import make_release
from pjrtwheel.cli import main
from pjrtwheel.record.origin import Origin
from small_wheels import rewrite_wheel
from sound_wheels import ORIGIN, PLUGIN, TAG, WHEELS, make_dist, make_repository

TOOLING = """
import json, os, shutil, sys
from pathlib import Path
root = Path(__file__).parent
dist = Path(sys.argv[sys.argv.index("--dist") + 1])
dist.mkdir(exist_ok=True)
(root / "plugins").stat()
made = Path(os.environ["MADE"])
names = ("SOURCE_DATE_EPOCH", "PJRTWHEEL_REMOTE", "PJRTWHEEL_BAZEL_FLAGS")
variables = [f"{name}={os.environ[name]}" for name in names if name in os.environ]
called = [*sys.argv[1:], *variables, *sorted(p.name for p in dist.iterdir())]
with (made.parent / "called").open("a") as file:
    print(json.dumps([word.replace(str(root), "ROOT").replace(str(dist), "DIST") for word in called]), file=file)
for path in made.glob("*.whl"):
    shutil.copy(path, dist)
sys.exit(int(os.environ.get("STATUS", "0")))
"""
OPTIONS = ["--release", "1.2.3", "--platform", "linux_x86_64", "--no-smoke", "--xla", "prebuilt", "--level", "6"]
OPTIONS += ["--dist", "DIST"]
Reproduce = Callable[..., tuple[int, str, str]]


@pytest.fixture
def repository(tmp_path: Path, root: Path) -> Path:
    """Return a repository with a release, a backend and the small tooling, in one commit."""
    folder = make_repository(tmp_path / "repository")
    (folder / "noxw").write_text(TOOLING, "utf-8")
    (folder / "plugins" / "cpu").mkdir()
    shutil.copy(root / "plugins" / "cpu" / "backend.toml", folder / "plugins" / "cpu")
    git(folder, "init", "--quiet")
    git(folder, "add", ".")
    git(folder, "commit", "--quiet", "--message=First")
    return folder


@pytest.fixture
def origin(repository: Path) -> Origin:
    """Return the state of the repository."""
    return replace(ORIGIN, commit=git(repository, "rev-parse", "HEAD"))


@pytest.fixture
def made(repository: Path, origin: Origin, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return the folder of wheels that building again gives: those of the release, and its folder is next to it."""
    made = make_dist(repository, tmp_path / "made", origin=origin)
    make_release(repository, TAG, made, tmp_path / TAG, locks=False, environ={})
    for path in made.iterdir():  # others than those of the release, which they are linked to
        copy = path.with_suffix(".copy")
        shutil.copy(path, copy)
        copy.replace(path)
    monkeypatch.setenv("MADE", str(made))
    monkeypatch.setenv("PJRTWHEEL_CACHE", str(tmp_path / "cache"))
    return made


@pytest.fixture
def reproduce(repository: Path, made: Path, capfd: pytest.CaptureFixture[str]) -> Reproduce:
    """Return a function: options → the exit status of reproducing the release, and what was printed."""

    def call(*options: str) -> tuple[int, str, str]:
        status = main(["reproduce", str(made.parent / TAG), "--root", str(repository), *options])
        return (status, *capfd.readouterr())

    return call


def calls(made: Path) -> list[list[str]]:
    """Return what the tooling at the commit was asked for."""
    return [json.loads(line) for line in (made.parent / "called").read_text("utf-8").splitlines()]


def test_all_wheels_are_built_by_the_options_of_the_statement(
    reproduce: Reproduce, made: Path, repository: Path, origin: Origin
) -> None:
    """One command for each project and platform; jaxlib-auto is made for the wheels that were published."""
    status, out, _ = reproduce()
    assert (status, out.splitlines()) == (
        0,
        [
            *(f"{name}: the same bytes" for name in WHEELS),
            f"{TAG}: 4 wheels built again from {origin.commit}, all with the same bytes",
        ],
    )
    others = sorted(["release.json", *(name for name in WHEELS if "auto" not in name)])
    assert calls(made) == [
        ["-s", "build_jaxlib", "--", *OPTIONS],
        ["-s", "build_auto", "--", "--release", "1.2.3", "--dist", "DIST", *others],
        ["-s", "build_cpu", "--", *OPTIONS],
    ]
    assert git(repository, "status", "--porcelain") == ""
    assert git(repository, "worktree", "list").count("\n") == 0
    assert not list((made.parent / "cache" / "workspaces").iterdir())


@pytest.mark.parametrize(
    ("options", "wheels"),
    [
        (["--wheel", "jaxlib_cpu-*", "--wheel", "*-none-any.whl"], [WHEELS[2], PLUGIN]),
        (["--wheel", "*_x86_64.whl"], [name for name in WHEELS if "auto" not in name]),
        (["--wheel", WHEELS[1]], [WHEELS[1]]),
    ],
)
def test_some_wheels_can_be_chosen(reproduce: Reproduce, options: list[str], wheels: list[str]) -> None:
    """By their names, whole or as patterns."""
    status, out, _ = reproduce(*options)
    assert (status, out.splitlines()[:-1]) == (0, [f"{name}: the same bytes" for name in wheels])


def test_level_date_and_label_are_repeated(repository: Path, origin: Origin, made: Path, reproduce: Reproduce) -> None:
    """The first two are read from the published bytes, the label from the version of the set."""
    shutil.rmtree(made.parent / TAG)
    shutil.rmtree(made)
    environ = {"SOURCE_DATE_EPOCH": "1700000000"}
    labelled = make_repository(made.parent / "labelled", label="own")
    make_dist(labelled, made, origin=origin, levels=dict.fromkeys(("cp312", "cp313"), 9), environ=environ)
    make_release(repository, "v1.2.3+own.1", made, made.parent / TAG, locks=False, environ={})
    assert reproduce("--wheel", "jaxlib-*-cp312-*")[0] == 0
    expected = [*OPTIONS[:-3], "9", "--label", "own", *OPTIONS[-2:]]
    assert calls(made) == [["-s", "build_jaxlib", "--", *expected, "SOURCE_DATE_EPOCH=1700000000"]]


def test_servers_that_the_release_may_come_from_have_no_part(
    reproduce: Reproduce, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their results are what is to be checked."""
    monkeypatch.setenv("PJRTWHEEL_REMOTE", "farm.bazelrc")
    monkeypatch.setenv("PJRTWHEEL_BAZEL_FLAGS", "--disk_cache=/shared")
    assert reproduce("--wheel", PLUGIN)[0] == 0
    assert calls(made)[-1][:2] == ["-s", "build_cpu"]
    assert not [word for call in calls(made) for word in call if "PJRTWHEEL_" in word]


def test_a_wheel_that_comes_out_otherwise_is_named_with_the_reason(reproduce: Reproduce, made: Path) -> None:
    """The others are listed as well, and nothing is left to guess."""

    def change(name: str, data: bytes) -> bytes | None:
        return None if name.endswith("/library.so") else data.replace(b"n7 = 49", b"n7 = 50")

    rewrite_wheel(made / PLUGIN, change)
    status, out, err = reproduce()
    assert status == 13
    assert [f"{name}: {'differs' if name == PLUGIN else 'the same bytes'}" for name in WHEELS] == [
        line for line in out.splitlines() if not line.startswith(" ")
    ]
    assert "  members: jaxlib_cpu/library.so before, none now\n" in out
    assert "  bytes: jaxlib_cpu/__init__.py\n" in out
    assert f"1 of 4 wheels of {TAG}" in err


def test_a_build_that_gives_less_or_fails_is_no_success(
    reproduce: Reproduce, made: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The wheel that did not come out, or is none, is named; what the tooling said is on the terminal."""
    (made / PLUGIN).write_bytes(b"zip")
    status, out, _ = reproduce("--wheel", PLUGIN)
    assert (status, out.splitlines()[0]) == (13, f"{PLUGIN}: differs")
    (made / PLUGIN).unlink()
    status, out, _ = reproduce("--wheel", PLUGIN)
    assert (status, out.splitlines()[0]) == (13, f"{PLUGIN}: differs")
    monkeypatch.setenv("STATUS", "7")
    status, _, err = reproduce("--wheel", PLUGIN)
    assert (status, "exit status 7" in err) == (13, True)


@pytest.mark.parametrize(
    ("change", "provider", "words"),
    [
        ({"commit": "e" * 40}, "prebuilt", "e" * 40),
        ({"dirty": True}, "prebuilt", TAG),
        *(({}, given, "jaxlib for linux_x86_64") for given in ("source", f"source-{'a' * 64}", f"file-{'a' * 64}")),
    ],
)
def test_what_cannot_be_built_again_is_refused_before_anything_is_built(
    repository: Path,
    origin: Origin,
    made: Path,
    reproduce: Reproduce,
    change: dict[str, object],
    provider: str,
    words: str,
) -> None:
    """A commit that this clone lacks, changes that were never committed, a library that only its builder has."""
    shutil.rmtree(made.parent / TAG)
    shutil.rmtree(made)
    make_dist(repository, made, origin=replace(origin, **change), provider=provider)  # type: ignore[arg-type]
    make_release(repository, TAG, made, made.parent / TAG, locks=False, environ={})
    status, out, err = reproduce()
    assert (status, out) == (13, "")
    assert words in err
    assert not (made.parent / "called").exists()


def test_wheels_that_the_release_does_not_have_are_refused(reproduce: Reproduce) -> None:
    """The message says what there is."""
    status, _, err = reproduce("--wheel", PLUGIN, "--wheel", PLUGIN.replace("cp312", "cp311"))
    assert (status, f"it has {PLUGIN} and 3 more\n" in err) == (2, True)


def test_what_was_built_can_be_kept(reproduce: Reproduce, made: Path, tmp_path: Path) -> None:
    """For whoever wants to look into a difference with other programs."""
    assert reproduce("--wheel", PLUGIN, "--keep", str(tmp_path / "kept"))[0] == 0
    assert (tmp_path / "kept" / "jaxlib-cpu-linux_x86_64" / PLUGIN).read_bytes() == (made / PLUGIN).read_bytes()

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A plugin is found together with the `jaxlib` of its set, and with that of no other set."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

import abacus_backend
from pjrtwheel import cli
from pjrtwheel.backend import Backend, find_backend
from pjrtwheel.errors import ProofError, UsageError, WheelError
from pjrtwheel.platforms import PLATFORMS, host_platform
from pjrtwheel.prove.on_python import can_prove
from pjrtwheel.release.known import load_release
from pjrtwheel.release.wheels import ReleaseLock
from pjrtwheel.sets.finished import FinishedSet, find_set, find_set_of, read_backend
from release_files import lock_of, write_release_file

HERE = PLATFORMS["linux_x86_64"]
JAXLIB = "jaxlib-{}-{}-{}-manylinux_2_27_x86_64.whl"
KERNELS = JAXLIB.replace("jaxlib", "jaxlib_cuda_13_kernels")
PLUGIN = "jaxlib_cuda_13-{}-cp312-abi3-manylinux_2_27_x86_64.whl"


@dataclass(frozen=True)
class Bench:
    """A repository with two releases, and two folders for small wheels of sets."""

    root: Path
    dist: Path
    away: Path
    backend: Backend
    write_wheel: Callable[..., Path]

    def put(self, folder: Path, version: str, *pythons: str, plugin: bool = False, lock_id: str = "ab" * 16) -> None:
        """Write the `jaxlib` of a set for some Pythons, and its plugin."""
        lock = lock_of(version, lock_id).to_json()
        for python in pythons:
            name = JAXLIB.format(version, python, python)
            self.write_wheel({"jaxlib/release_lock.json": lock.encode()}, name=name).rename(folder / name)
        if plugin:
            wheel = self.write_wheel(
                {f"{self.backend.package}/release_lock.json": lock.encode()}, name=PLUGIN.format(version)
            )
            wheel.rename(folder / wheel.name)

    def find(self, **options: Any) -> FinishedSet:
        """Find the set in `dist`."""
        return find_set(self.root, self.dist, self.backend, HERE, self.dist.parent / "cache", **options)


@pytest.fixture
def bench(root: Path, tmp_path: Path, make_wheel: Callable[..., Path]) -> Bench:
    """Return the repository and its folders."""
    repository, dist, away = (tmp_path / name for name in ("repository", "dist", "away"))
    for path in (dist, away):
        path.mkdir()
    for version in ("1.2", "1.3"):
        write_release_file(
            repository, {"bindings.cp312.linux_x86_64": JAXLIB.format(version, "cp312", "cp312")}, version=version
        )
    return Bench(repository, dist, away, find_backend(root, "cuda13"), make_wheel)


def found_in(finished: FinishedSet, *pythons: str) -> tuple[str, list[str]]:
    """Return the release of a set, and its wheels with the names of their folders."""
    return finished.release.version, [f"{path.parent.name}/{path.name}" for path in finished.fetch(pythons)]


def pair_of(version: str, python: str = "cp312", *, folder: str = "dist") -> list[str]:
    """Return the wheels of a set as `found_in` names them, with the `jaxlib` in some folder."""
    return [f"{folder}/{JAXLIB.format(version, python, python)}", f"dist/{PLUGIN.format(version)}"]


def test_the_only_set_of_the_newest_release_is_taken(bench: Bench, capsys: pytest.CaptureFixture[str]) -> None:
    """Of those in the folder, whatever it is called; wheels of other backends and platforms stay where they are."""
    bench.put(bench.dist, "1.2+split.1", "cp312", plugin=True)
    (bench.dist / "foo.whl").touch()  # only seems to be a wheel
    assert found_in(bench.find(), "cp312") == ("1.2", pair_of("1.2+split.1"))
    with pytest.raises(UsageError, match=r"no wheel of jaxlib-cuda-13 1\.3 for"):
        bench.find(release="1.3")
    bench.put(bench.dist, "1.3+acme.7", "cp312", "cp313", plugin=True)
    for name in (PLUGIN.replace("cuda_13", "cpu"), PLUGIN.replace("x86_64", "aarch64")):
        (bench.dist / name.format("1.3+other.1")).touch()
    (bench.dist / JAXLIB.replace("x86_64", "aarch64").format("1.3+acme.7", "cp312", "cp312")).touch()
    capsys.readouterr()
    assert found_in(bench.find(), "cp312") == ("1.3", pair_of("1.3+acme.7"))
    plugin = bench.dist / PLUGIN.format("1.3+acme.7")
    assert capsys.readouterr().err == f"set 1.3+acme.7: {plugin}, jaxlib of {bench.dist}\n"
    assert found_in(bench.find(release="1.2"), "cp312") == ("1.2", pair_of("1.2+split.1"))


def test_a_plugin_for_upstreams_jaxlib_is_proven_with_it(bench: Bench) -> None:
    """Which is of no set, and has no lock."""
    bench.put(bench.dist, "1.3", plugin=True, lock_id="")
    bench.write_wheel({}, name=JAXLIB.format("1.3", "cp312", "cp312")).rename(bench.dist / pair_of("1.3")[0][5:])
    assert found_in(bench.find(), "cp312") == ("1.3", pair_of("1.3"))


def wrapped(bench: Bench, version: str, lock: ReleaseLock, backend: str = abacus_backend.BACKEND) -> Path:
    """Write the wheel of a plugin that no repository knows."""
    members = {"backend.toml": backend, "release_lock.json": lock.to_json()}
    wheel = {f"jaxlib_abacus/{name}": text.encode() for name, text in members.items()}
    name = PLUGIN.replace("cuda_13", "abacus").format(version)
    return bench.write_wheel(wheel, name=name).rename(bench.dist / name)


def test_a_wheel_says_itself_what_it_is_proven_with(bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    """The backend, the `jaxlib` of its set, or upstream's from the index: the newest that it allows, or one named."""
    bench.put(bench.dist, "1.3+acme.9", "cp312", "cp313")
    plugin = wrapped(bench, "1.3+acme.9", lock_of("1.3+acme.9"))
    finished = find_set_of(bench.root, plugin, None, HERE, bench.dist)
    assert (finished.backend.name, finished.backend.library) == ("abacus", "abacus.so")
    assert found_in(finished, "cp313") == (
        "1.3",
        [f"dist/{JAXLIB.format('1.3+acme.9', 'cp313', 'cp313')}", f"dist/{plugin.name}"],
    )
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(bench.away))
    plugin = wrapped(bench, "1.3", ReleaseLock("1.2", "1.3", 0, "file", ""))
    for version in ("1.2", "1.3"):
        bench.put(bench.away, version, "cp312")
    newest, oldest = (
        find_set_of(bench.root, plugin, None, HERE, bench.dist / "cache", release=release) for release in (None, "1.2")
    )
    assert [one.release.version for one in (newest, oldest)] == ["1.3", "1.2"]
    assert found_in(oldest, "cp312")[1][0].endswith(f"/{JAXLIB.format('1.2', 'cp312', 'cp312')}")


@pytest.mark.parametrize(
    ("lock", "release", "named"),
    [
        (lock_of("1.3+acme.9"), None, "next to"),
        (lock_of("1.3+acme.9"), "1.2", "not for 1.2"),
        (lock_of("1.3+acme.9"), "newest", "not for newest"),
        (ReleaseLock("1.2", "1.3", 0, "file", ""), "1.1", "not for 1.1"),
    ],
    ids=["no jaxlib", "another release than its set's", "no version", "outside of the range"],
)
def test_a_wheel_is_proven_only_with_what_it_locks(
    bench: Bench, lock: ReleaseLock, release: str | None, named: str
) -> None:
    """Nothing else is taken in silence."""
    plugin = wrapped(bench, lock.version, lock)
    with pytest.raises(UsageError, match=named):
        find_set_of(bench.root, plugin, None, HERE, bench.dist, release=release)


def test_what_a_wheel_says_of_its_backend_may_be_newer_or_hostile(bench: Bench) -> None:
    """A key that is not known is no fault; nesting without an end is one."""
    lock = lock_of("1.3+acme.9")
    newer = wrapped(bench, lock.version, lock, f"future_key = 1\n{abacus_backend.BACKEND}")
    assert read_backend(bench.root, newer).library == "abacus.so"
    hostile = wrapped(bench, lock.version, lock, f"a = {'[' * 20_000}")
    with pytest.raises(UsageError, match=r"malformed backend file: .*abacus-1\.3"):
        read_backend(bench.root, hostile)


def test_a_wheel_that_says_nothing_or_is_for_elsewhere_is_refused(bench: Bench, root: Path) -> None:
    """The backend of a repository needs no description; upstream's wheels have none."""
    bench.put(bench.dist, "1.3", "cp312", plugin=True)
    ours, other = (bench.dist / name.format("1.3", "cp312", "cp312") for name in (PLUGIN, JAXLIB))
    assert read_backend(root, ours) == bench.backend
    with pytest.raises(UsageError, match="describes no backend"):
        read_backend(root, other)
    with pytest.raises(UsageError, match="another platform"):
        find_set_of(root, ours, bench.backend, PLATFORMS["linux_aarch64"], bench.dist)


def test_of_several_sets_one_has_to_be_named(bench: Bench) -> None:
    """None is the right one by itself; the message says how to choose."""
    for version in ("1.3+acme.9", "1.3+acme.10", "1.2+split.1"):
        bench.put(bench.dist, version, "cp312", plugin=True)
    with pytest.raises(UsageError) as caught:
        bench.find()
    assert "1.3+acme.9, 1.3+acme.10" in caught.value.what
    for version in ("1.3+acme.9", "1.2+split.1"):
        assert found_in(bench.find(where=version), "cp312") == (version[:3], pair_of(version))


def test_the_jaxlib_may_be_where_the_set_is_published(bench: Bench) -> None:
    """Of several sets there, the newest that there is a plugin of."""
    bench.put(bench.dist, "1.3+acme.9", plugin=True)
    for version in ("1.3+acme.9", "1.3+acme.10"):
        bench.put(bench.away, version, "cp312", "cp313")
    found = found_in(bench.find(where=str(bench.away)), "cp313")
    assert found == ("1.3", pair_of("1.3+acme.9", "cp313", folder="away"))


def test_what_is_missing_is_named(bench: Bench) -> None:
    """The plugin, its jaxlib, or any plugin for the set that was named."""
    with pytest.raises(UsageError, match=r"jaxlib-cuda-13 1\.3 for linux_x86_64"):
        bench.find()
    bench.put(bench.dist, "1.3+acme.9", plugin=True)
    with pytest.raises(UsageError, match=r"jaxlib 1\.3\+acme\.9 for linux_x86_64"):
        bench.find()
    bench.put(bench.away, "1.3+other.1", "cp312")
    with pytest.raises(UsageError) as caught:
        bench.find(where=str(bench.away))
    assert ("1.3+acme.9" in caught.value.cause, f"--set {bench.away}" in caught.value.remedy) == (True, True)


def test_two_sets_of_one_version_are_not_taken_for_one(bench: Bench) -> None:
    """A plugin whose lock is another one would be refused once it is installed."""
    bench.put(bench.dist, "1.3+acme.9", plugin=True)
    bench.put(bench.away, "1.3+acme.9", "cp312", lock_id="cd" * 16)
    with pytest.raises(WheelError, match="different locks"):
        bench.find(where=str(bench.away)).fetch(["cp312"])


def test_a_pair_is_for_one_python(bench: Bench) -> None:
    """A jaxlib for another one is no substitute."""
    bench.put(bench.dist, "1.3+acme.9", "cp312", plugin=True)
    assert [path.name for path in bench.find().fetch_pair("cp312")] == [
        JAXLIB.format("1.3+acme.9", "cp312", "cp312"),
        PLUGIN.format("1.3+acme.9"),
    ]
    with pytest.raises(ProofError, match=r"cp313 in the set 1\.3\+acme\.9"):
        bench.find().fetch_pair("cp313")


def test_kernels_come_from_the_folder_of_the_plugin(bench: Bench) -> None:
    """Those of its set for the same Pythons, with the same lock; a Python without any has no pair."""
    bench.put(bench.dist, "1.3+acme.9", "cp312", "cp313", plugin=True)
    for version, python in (("1.3+acme.9", "cp312"), ("1.3+acme.8", "cp313")):
        lock = lock_of(version, "ab" * 16).to_json().encode()
        name = KERNELS.format(version, python, python)
        wheel = bench.write_wheel({f"{bench.backend.kernels_package}/release_lock.json": lock}, name=name)
        wheel.rename(bench.dist / name)
    pair = [JAXLIB.format("1.3+acme.9", "cp312", "cp312"), PLUGIN.format("1.3+acme.9")]
    kernels = KERNELS.format("1.3+acme.9", "cp312", "cp312")
    assert [path.name for path in bench.find().fetch_pair("cp312")] == [*pair, kernels]
    wheels = bench.find().fetch(["cp312", "cp313"])
    assert [can_prove(wheels, python) for python in ("cp312", "cp313")] == [True, False]
    with pytest.raises(ProofError):
        bench.find().fetch_pair("cp313")
    lock = lock_of("1.3+acme.9", "cd" * 16).to_json().encode()
    bench.write_wheel({f"{bench.backend.kernels_package}/release_lock.json": lock}, name=kernels).rename(
        bench.dist / kernels
    )
    with pytest.raises(WheelError, match="different locks"):
        bench.find().fetch(["cp312"])


@pytest.mark.parametrize("command", [["smoke", "--backend", "cpu"], ["conformance", "--backend", "cpu", "."]])
def test_the_commands_take_the_choice(
    bench: Bench, root: Path, tmp_path: Path, command: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """`--set` means to both what it means to `build`."""
    release = load_release(root)
    (tmp_path / "a_test.py").touch()
    platform_tag = "manylinux_2_27_x86_64" if host_platform() == HERE else "manylinux_2_27_aarch64"
    for number in (1, 2):
        (bench.dist / f"jaxlib_cpu-{release.version}+acme.{number}-cp312-abi3-{platform_tag}.whl").touch()
    words = [str(tmp_path) if word == "." else word for word in command]
    options = ["--root", str(root), "--dist", str(bench.dist), "--release", release.version]
    assert cli.main([*words, *options]) == UsageError.exit_code
    assert "choose one, as with --set" in capsys.readouterr().err
    assert cli.main([*words, *options, "--set", str(bench.dist)]) == UsageError.exit_code
    assert f"{bench.dist} has no jaxlib wheel, so it is no set" in capsys.readouterr().err

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find a set that is published: in folders, at addresses and by version, and what is said where there is none."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pjrtwheel.cli import main
from pjrtwheel.errors import FetchError, PjrtWheelError, UsageError, WheelError
from pjrtwheel.files import hash_file
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.release.model import Release
from pjrtwheel.release.wheels import ReleaseLock
from pjrtwheel.sets import published
from pjrtwheel.sets.published import choose_set, fetch_set, find_offer, read_lock
from release_files import lock_of
from small_wheels import damage_stream

X86, ARM = PLATFORMS["linux_x86_64"], PLATFORMS["linux_aarch64"]
PLATFORM_TAG = "manylinux_2_27_x86_64"
MakeWheel = Callable[..., Path]


@pytest.fixture
def publish(make_wheel: MakeWheel) -> Callable[..., Path]:
    """Return a function: version, Pythons, lock → the folder with small wheels of `jaxlib`."""

    def make(version: str, *pythons: str, lock: ReleaseLock | None = None, platform: str = PLATFORM_TAG) -> Path:
        files = {"jaxlib/release_lock.json": (lock or lock_of(version)).to_json().encode()}
        names = [f"jaxlib-{version}-{python}-{python}-{platform}.whl" for python in pythons or ("cp312",)]
        (folder,) = {make_wheel(files, name=name).parent for name in names}
        return folder

    return make


def test_the_lock_comes_out_of_a_folder(publish: Callable[..., Path], tmp_path: Path) -> None:
    """With a jaxlib for every Python that is wanted, described for the proofs."""
    folder = publish("1.2+acme.3", "cp312", "cp313", "cp314")
    publish("1.2+acme.3", platform="manylinux_2_27_aarch64")
    offer = find_offer(str(folder), tmp_path)
    chosen = choose_set(offer, None, X86)
    found = fetch_set(chosen, ["cp312", "cp314"])
    assert found.lock == lock_of("1.2+acme.3")
    names = [f"jaxlib-1.2+acme.3-{python}-{python}-{PLATFORM_TAG}.whl" for python in ("cp312", "cp314")]
    assert [wheel.report.filename for wheel in found.bindings] == names
    first = found.bindings[0]
    assert first.path == folder / names[0]
    assert (first.report.sha256, first.report.lock_id) == (hash_file(first.path), "ab" * 16)
    assert [wheel.report.filename for wheel in fetch_set(chosen, []).bindings] == names[:1]


@pytest.mark.parametrize(
    ("release", "expected"), [(None, "1.3+split.1"), ("1.2", "1.2+split.10"), ("1.3", "1.3+split.1")]
)
def test_the_newest_set_of_a_release_is_taken(
    publish: Callable[..., Path], tmp_path: Path, release: str | None, expected: str
) -> None:
    """By its number, not by how that is spelled; a labelled one comes before upstream's own."""
    versions = ("1.2+split.9", "1.2+split.10", "1.2", "1.3+split.1", "1.3")
    (folder,) = {publish(version) for version in versions}
    assert choose_set(find_offer(str(folder), tmp_path), release, X86).name.version == expected


def write_index(folder: Path, root: Path) -> str:
    """Write the pages of a static index of a folder's wheels, and return its address."""
    pages = root / "simple/jaxlib"
    pages.mkdir(parents=True)
    links = [f'<a href="{path.as_uri()}#sha256={hash_file(path)}">{path.name}</a>' for path in folder.glob("*.whl")]
    (pages / "index.html").write_text("".join(links), "utf-8")
    return (root / "simple").as_uri()


def test_the_lock_comes_from_an_address(publish: Callable[..., Path], tmp_path: Path) -> None:
    """An index is asked by pip, and what it gives stays in the cache."""
    folder = publish("1.2+acme.3")
    offer = find_offer(write_index(folder, tmp_path), tmp_path / "cache")
    found = fetch_set(choose_set(offer, "1.2", X86), ["cp312"])
    assert (found.lock, found.bindings[0].path.is_relative_to(tmp_path / "cache")) == (lock_of("1.2+acme.3"), True)


def test_the_lock_comes_by_its_version(
    publish: Callable[..., Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where pip is configured to look, and from no other set there."""
    folder = publish("1.2+acme.3")
    publish("1.2+acme.4")
    for name, value in {"NO_INDEX": "1", "FIND_LINKS": str(folder), "CONFIG_FILE": os.devnull}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    offer = find_offer("1.2+ACME-3", tmp_path / "cache")
    assert fetch_set(choose_set(offer, None, X86), []).lock == lock_of("1.2+acme.3")
    with pytest.raises(UsageError, match=r"1\.2\+acme\.5"):
        find_offer("1.2+acme.5", tmp_path / "cache")


def test_what_is_no_place_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """An empty folder, a missing one, an address that does not answer, and any other word."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "file").touch()
    for place in ("empty", "away", "file", (tmp_path / "simple").as_uri()):
        with pytest.raises(UsageError) as caught:
            find_offer(place, tmp_path)
        assert place in caught.value.what
    with pytest.raises(FetchError) as failed:
        find_offer("http://127.0.0.1:9/simple/", tmp_path)
    assert failed.value.cause.startswith("http://127.0.0.1:9/simple/")


def test_credentials_of_an_address_are_in_no_message(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """They would be in the log of a workflow."""
    with pytest.raises(FetchError) as failed:
        find_offer("http://me:secret@127.0.0.1:9/simple/", tmp_path)
    assert "secret" not in str(failed.value)
    monkeypatch.setattr(published, "list_wheels", lambda *_: ())
    with pytest.raises(UsageError) as caught:
        find_offer("https://me:secret@example.org/simple/", tmp_path)
    assert ("example.org" in caught.value.what, "secret" in str(caught.value)) == (True, False)


def test_a_set_of_another_release_or_platform_is_refused(publish: Callable[..., Path], tmp_path: Path) -> None:
    """With what there is instead."""
    offer = find_offer(str(publish("1.2+split.1")), tmp_path)
    for release, platform, asked in (("1.3", X86, "1.3 for linux_x86_64"), (None, ARM, "for linux_aarch64")):
        with pytest.raises(UsageError, match=f"has no jaxlib {asked}") as caught:
            choose_set(offer, release, platform)
        assert caught.value.cause == "it has 1.2+split.1 for linux_x86_64"


@pytest.mark.parametrize(
    ("name", "text", "error", "what"),
    [
        ("1.2", None, UsageError, "belongs to no set: it holds no release_lock.json"),
        ("1.2+split.1", "[]", WheelError, "cannot read the lock of"),
        ("1.2+split.1", lock_of("1.2+split.2").to_json(), WheelError, "has the lock of 1.2+split.2"),
        (
            "1.2+split.1",
            lock_of("1.2+split.1").to_json().replace('"schema": 2', '"schema": 3'),
            WheelError,
            "has the lock of 1.2+split.1 with schema 3",
        ),
    ],
)
def test_a_jaxlib_that_is_of_no_set(
    make_wheel: MakeWheel, name: str, text: str | None, error: type[PjrtWheelError], what: str
) -> None:
    """Upstream's has no lock; a renamed or newer one is not taken for what it is not."""
    files = {} if text is None else {"jaxlib/release_lock.json": text.encode()}
    wheel = make_wheel(files, name=f"jaxlib-{name}-cp312-cp312-{PLATFORM_TAG}.whl")
    with pytest.raises(error) as caught:
        read_lock(wheel)
    assert what in caught.value.what


def test_a_damaged_lock_is_refused(publish: Callable[..., Path]) -> None:
    """The directory is right, the compressed bytes are not."""
    (wheel,) = publish("1.2+split.1").glob("*.whl")
    with pytest.raises(WheelError) as caught:
        read_lock(damage_stream(wheel, "jaxlib/release_lock.json"))
    assert "Error -3 while decompressing" in str(caught.value)


def test_wheels_of_two_sets_under_one_version_are_refused(publish: Callable[..., Path], tmp_path: Path) -> None:
    """A plugin could carry only one of the locks."""
    folder = publish("1.2+split.1", "cp312")
    publish("1.2+split.1", "cp313", lock=lock_of("1.2+split.1", "cd" * 16))
    offer = find_offer(str(folder), tmp_path)
    with pytest.raises(WheelError, match="locks"):
        fetch_set(choose_set(offer, None, X86), ["cp312", "cp313"])


def test_a_release_that_is_not_pinned_here_is_named(
    root: Path, publish: Callable[..., Path], capsys: pytest.CaptureFixture[str], release: Release
) -> None:
    """The plugin's own inputs come from the release file of this repository."""
    folder = publish("0.1.2+split.1")
    options = ["--root", str(root), "--platform", "linux_x86_64", "--set", str(folder)]
    assert main(["build", "cpu", *options]) == UsageError.exit_code
    assert "unknown release: '0.1.2'" in capsys.readouterr().err
    assert main(["build", "cpu", *options, "--release", release.version]) == UsageError.exit_code
    assert f"has no jaxlib {release.version} for linux_x86_64" in capsys.readouterr().err

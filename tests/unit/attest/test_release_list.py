# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The signed list of releases: which one is valid now, and what whoever serves it can and cannot do about that."""

import shutil
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from package_index import NotingHandler, serve_folder
from pjrtwheel.attest.make import make_release
from pjrtwheel.attest.release_list import LIST_FOLDER, ListedRelease, sign_list
from pjrtwheel.attest.signature import load_public_key, load_signer
from pjrtwheel.cli import main
from pjrtwheel.errors import AttestError, PinError, UsageError
from pjrtwheel.publish.static_folder import StaticFolder
from release_under_test import ROOT
from signing_keys import make_key
from sound_wheels import TAG

Verify = Callable[..., tuple[int, str]]
TODAY = datetime.now(UTC).replace(microsecond=0)


@pytest.fixture
def site(tmp_path: Path, repository: Path, dist: Path) -> Path:
    """Return a folder with one signed release and a list of it, as `publish` and `pages` leave it."""
    make_key(tmp_path / "key")
    folder = tmp_path / "site"
    signer = load_signer(tmp_path / "key")
    make_release(repository, TAG, dist, folder / "files" / TAG, signer=signer, locks=False, environ={})
    sign(folder)
    return folder


@pytest.fixture
def verify(site: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Verify:
    """Return a function: arguments of `verify_release` → exit status, and the lines that decide."""
    monkeypatch.setenv("PJRTWHEEL_CACHE", str(site.parent / "cache"))

    def call(*arguments: str | Path, where: str = "") -> tuple[int, str]:
        options = ["--documents-only", "--key", str(site.parent / "key.pub"), *map(str, arguments)]
        status = main(["verify_release", where or str(site / "files" / TAG), *options])
        printed = capsys.readouterr()
        return status, printed.err or printed.out.partition("local\n")[2]

    return call


def sign(site: Path, *, days: int = 1, key: str = "key", forget: bool = False) -> int:
    """Sign the list as it is now, and return its version."""
    releases = StaticFolder(site, "").list_releases(load_public_key(site.parent / "key.pub"))
    signer, until = load_signer(site.parent / key), TODAY + timedelta(days=days)
    return sign_list(site / LIST_FOLDER, releases, signer, until, forget=forget)


def withdraw(site: Path, tag: str = TAG) -> Path:
    """Withdraw a release from a folder, and return the folder."""
    text = f'[[yanked]]\ntag = "{tag}"\nreason = "it miscompiles"\ndate = "2026-11-22"\n'
    (site / "yanked.toml").write_text(text, "utf-8")
    return site


def test_a_release_that_is_listed_needs_no_tag(site: Path, verify: Verify) -> None:
    """The list is next to it, or where it is said to be, also at an address."""
    signed = f"signed by {site.parent / 'key.pub'}\n"
    listed = f"{signed}in list 1, valid until {TODAY + timedelta(days=1):%Y-%m-%dT%H:%M:%SZ}\n"
    assert verify() == (0, listed)
    assert verify("--list", site) == verify("--list", site.as_uri()) == (0, listed)
    shutil.move(site / LIST_FOLDER, site.parent / LIST_FOLDER)
    status, error = verify()
    assert (status, "no signed list of releases" in error) == (2, True)
    assert verify("--tag", TAG) == (0, signed)
    assert verify("--list", site)[0] == 4


def test_what_is_withdrawn_is_refused_but_by_its_tag(site: Path, verify: Verify) -> None:
    """Whoever names the release has their reasons, and sees that of the owner."""
    withdraw(site)
    assert verify()[0] == 0  # not signed yet
    with pytest.raises(PinError, match="v9"):
        StaticFolder(withdraw(site, "v9"), "", closure=lambda _: ()).write_index()
    assert main(["pages", "folder", "--root", str(ROOT), "--site", str(withdraw(site))]) == UsageError.exit_code
    assert sign(site) == 2
    status, error = verify()
    assert (status, "was withdrawn" in error, "it miscompiles" in error) == (12, True, True)
    status, printed = verify("--tag", TAG)
    assert (status, printed.splitlines()[-1]) == (0, "withdrawn: it miscompiles")


def test_an_older_list_is_refused_by_who_saw_a_newer_one(site: Path, verify: Verify) -> None:
    """Rollback: the server takes the withdrawal back. Who never saw it gets the old list, until that expires."""
    shutil.copytree(site / LIST_FOLDER, site.parent / "old")
    withdraw(site)
    sign(site)
    assert verify()[0] == 12
    for place in (site / LIST_FOLDER, site / "files" / TAG / LIST_FOLDER, site.parent / "copy" / LIST_FOLDER):
        with serve_folder(site, NotingHandler) as address:
            shutil.copytree(site.parent / "old", place, dirs_exist_ok=True)
            (place / "2.targets.json").unlink(missing_ok=True)
            assert verify(where=f"{address}files/{TAG}")[0] == 12
            assert verify("--list", place.parent, "--tag", TAG)[0] == 12
    shutil.rmtree(site / "files" / TAG / LIST_FOLDER)
    shutil.rmtree(site.parent / "cache")
    assert verify()[0] == 0


def test_a_list_expires(site: Path, verify: Verify) -> None:
    """Freeze: a server that keeps the newest list back is found out when the old one ends."""
    sign(site, days=-1)
    status, error = verify("--tag", TAG)
    assert (status, "expired" in error) == (12, True)
    sign(site)
    assert verify()[0] == 0


def test_parts_of_two_lists_are_no_list(site: Path, verify: Verify) -> None:
    """Mix and match: each part is signed, but not with the others."""
    first = site / LIST_FOLDER / "1.targets.json"
    withdraw(site)
    sign(site)
    shutil.copy(first, site / LIST_FOLDER / "2.targets.json")
    assert verify()[0] == 12


def test_other_bytes_or_another_release_are_not_in_the_list(site: Path, verify: Verify) -> None:
    """Even with the same key: a release that was never listed, or made again later."""
    until = TODAY + timedelta(days=1)
    for releases in ({}, {TAG: ListedRelease(b"other", {})}, {f"{TAG}0": ListedRelease(b"", {})}):
        sign_list(site / LIST_FOLDER, releases, load_signer(site.parent / "key"), until, forget=True)
        assert verify()[0] == 12
        assert verify("--tag", TAG)[0] == 12


def test_the_list_of_somebody_else_is_refused(site: Path, verify: Verify) -> None:
    """Their key signs nothing into ours, and theirs in its place is not trusted."""
    make_key(site.parent / "other")
    with pytest.raises(UsageError, match="another key"):
        sign(site, key="other")
    shutil.rmtree(site / LIST_FOLDER)
    sign(site, key="other")
    status, error = verify()
    assert (status, "signed by another key" in error) == (12, True)


def test_the_owner_signs_nothing_that_somebody_else_wrote(site: Path, verify: Verify) -> None:
    """Whoever can write to the folder may remove a withdrawal, add a release, or put numbers into the last list."""
    withdraw(site)
    sign(site)
    (site / "yanked.toml").unlink()
    with pytest.raises(UsageError, match="--forget"):
        sign(site)
    assert verify()[0] == 12
    assert sign(site, forget=True) == 3
    assert verify()[0] == 0
    shutil.copytree(site / "files" / TAG, site / "files" / "v9")
    with pytest.raises(AttestError, match="not v9"):
        sign(site)
    shutil.rmtree(site / "files" / "v9")
    timestamp = site / LIST_FOLDER / "timestamp.json"
    text = timestamp.read_text("utf-8")
    for damaged in (text.replace('"version":3', '"version":9'), "{}", ""):
        timestamp.write_text(damaged, "utf-8")
        with pytest.raises(UsageError, match="damaged"):
            sign(site)

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Publishing to an index: what is there afterwards in every case, and how the command ends."""

import shutil
from base64 import b64encode
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from console_blocks import alike, shown
from pjrtwheel.errors import AttestError, PublishError, UsageError
from pjrtwheel.publish import upload_api
from release_folders import PLUGIN_TAG, WHEELS, write_release_folder
from upload_server import PASSWORD, USERNAME, Fault, UploadServer

Publish = Callable[..., Any]

ABACUS, BEAD = (name for name in WHEELS if not name.startswith("jaxlib-"))
BINDINGS = [name for name in WHEELS if name.startswith("jaxlib-")]
ORDER = [ABACUS, BEAD, *BINDINGS]
REFUSED, USAGE, ALTERED = PublishError.exit_code, UsageError.exit_code, AttestError.exit_code


def bytes_of(folder: Path, names: list[str]) -> dict[str, bytes]:
    """Return the wheels of a folder by name."""
    return {name: (folder / name).read_bytes() for name in names}


def test_a_release_arrives_whole_and_in_order(publish: Publish, server: UploadServer, folder: Path) -> None:
    """Plugins come before jaxlib, each file is read back before the next one is sent, documents stay here.

    A second run sends nothing, and reads everything back once more. Nothing is left in the cache.
    """
    before = sorted(folder.iterdir())
    printed = publish(folder)
    next_step = f"next: ./noxw verify_installs --index {server.url}simple/"
    assert (printed.status, printed.err, printed.out.splitlines()[-1]) == (0, "", next_step)
    assert (server.uploads, server.downloads) == (ORDER, ORDER)
    assert server.files == bytes_of(folder, ORDER)
    assert (publish(folder).status, server.uploads, server.downloads) == (0, ORDER, ORDER * 2)
    assert (sorted(folder.iterdir()), list((folder.parent / "cache/publish").iterdir())) == (before, [])


def test_a_dry_run_prints_the_plan_of_the_guide(
    publish: Publish, server: UploadServer, folder: Path, root: Path
) -> None:
    """Only sizes and names are others; nothing is sent."""
    page = shown(root / "docs/release/publish.md", "./noxw publish company")
    printed = publish(folder, "--dry-run")
    assert (printed.status, server.uploads) == (0, [])
    assert alike(page.replace(" MB", " kB").replace("jaxlib_cpu", "jaxlib_abacus"), printed.out.strip()), printed.out


def test_in_ci_a_dry_run_is_the_default(
    publish: Publish, server: UploadServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sending has to be asked for there."""
    monkeypatch.setenv("CI", "true")
    assert (publish(folder).status, server.uploads) == (0, [])
    assert (publish(folder, "--no-dry-run").status, server.uploads) == (0, ORDER)


def test_variants_go_only_where_they_are_taken(publish: Publish, server: UploadServer, tmp_path: Path) -> None:
    """Their plain wheel does instead, as with installers that know no variants."""
    plain, variant = (f"jaxlib_auto-1.2.3+split.1-py3-none-any{label}.whl" for label in ("", "-null"))
    folder = write_release_folder(tmp_path / "variants", [plain, variant, *WHEELS]).path
    printed = publish(folder)
    assert (printed.status, server.uploads) == (0, [*ORDER, plain])
    assert f"SHA256SUMS, {variant}" in printed.out


FAULTS = (*(Fault.FORBIDDEN, Fault.CONFLICT, Fault.TOO_LARGE, Fault.ELSEWHERE), *(Fault.BROKEN, Fault.CUT, Fault.SLOW))


@pytest.mark.parametrize("name", [ABACUS, BINDINGS[0]])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_failure_at_any_file_leaves_whole_files_and_is_resumed(
    publish: Publish, server: UploadServer, folder: Path, fault: Fault, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nothing after the file is sent; what is published is said, and the same command goes on."""
    server.faults[name] = fault
    monkeypatch.setattr(upload_api, "SILENCE_S", 0.2 if fault is Fault.SLOW else 20)
    printed = publish(folder)
    before = ORDER[: ORDER.index(name)]
    assert (printed.status, server.files) == (REFUSED, bytes_of(folder, before))
    assert [*dict.fromkeys(server.uploads)] == [*before, name]  # which twine sends several times to a broken server
    assert f"{len(before)} of 4 files" in printed.lines[-1]
    server.faults.clear()
    server.uploads.clear()
    assert (publish(folder).status, server.uploads) == (0, ORDER[len(before) :])
    assert server.files == bytes_of(folder, ORDER)


@pytest.mark.parametrize(("fault", "times", "sent"), [(Fault.BROKEN, 1, 2), (Fault.LOST_ANSWER, -1, 1)])
def test_what_fails_once_is_repeated(
    publish: Publish, server: UploadServer, folder: Path, fault: Fault, times: int, sent: int
) -> None:
    """A server that recovers gets the file again; one that has it is all right, whatever it answers."""
    server.faults[BEAD], server.times = fault, times
    assert (publish(folder).status, server.uploads) == (0, [ABACUS, *[BEAD] * sent, *BINDINGS])


def test_a_download_that_is_cut_ends_a_run(publish: Publish, server: UploadServer, folder: Path) -> None:
    """The same command goes on."""
    server.faults[BEAD], server.times = Fault.CUT_DOWNLOAD, 1
    printed = publish(folder)
    assert (printed.status, BEAD in printed.err) == (REFUSED, True)
    assert (publish(folder).status, server.files) == (0, bytes_of(folder, ORDER))


@pytest.mark.parametrize("name", [BEAD, BINDINGS[0]])
@pytest.mark.parametrize("fault", [Fault.ALTERED, Fault.LYING_DIGEST, Fault.HIDDEN])
def test_a_file_that_does_not_come_back_as_it_was_sent_is_found(
    publish: Publish, server: UploadServer, folder: Path, fault: Fault, name: str
) -> None:
    """Other bytes under the digest of ours, a digest of others, or none listed at all: nothing follows."""
    server.faults[name] = fault
    printed = publish(folder)
    assert (printed.status, list(server.files)) == (REFUSED, ORDER[: ORDER.index(name) + 1])
    assert name in printed.lines[0]


@pytest.mark.parametrize("digests", [True, False], ids=["digests", "no digests"])
def test_other_bytes_are_refused_before_anything_is_sent(
    publish: Publish, server: UploadServer, folder: Path, *, digests: bool
) -> None:
    """Whether the index says so, or the file has to be downloaded to see it."""
    server.files[BINDINGS[1]], server.digests = b"other", digests
    printed = publish(folder)
    assert (printed.status, server.uploads, server.files) == (REFUSED, [], {BINDINGS[1]: b"other"})
    assert BINDINGS[1] in printed.lines[1]


def test_a_plugin_alone_joins_the_jaxlib_that_is_there(publish: Publish, server: UploadServer, tmp_path: Path) -> None:
    """It was built for a published set, and requires that very version."""
    release = write_release_folder(tmp_path / "plugin", [ABACUS], requires=["jaxlib==1.2.3+split.1"])
    server.files[BINDINGS[0]] = b"published before"
    assert (publish(release.path).status, server.uploads) == (0, [ABACUS])


def test_limits_of_the_destination_are_held(command: Publish, server: UploadServer, folder: Path) -> None:
    """All that it would refuse is said at once, before anything is sent."""
    addresses = ("--upload-url", f"{server.url}upload/", "--index-url", f"{server.url}simple/")
    printed = command("publish", "public", folder, *addresses)
    assert (printed.status, server.uploads) == (REFUSED, [])
    refused = [line.split()[1] for line in printed.out.splitlines() if "is not ours at public" in line]
    assert refused == ["jaxlib", "jaxlib-abacus", "jaxlib-bead"]


def test_what_is_no_whole_release_is_refused(publish: Publish, server: UploadServer, tmp_path: Path) -> None:
    """Before the destination is asked: without its statement, of changes in no commit, altered, of two releases."""
    bare, dirty, altered = tmp_path / "bare", tmp_path / "dirty", tmp_path / "altered"
    write_release_folder(bare)
    (bare / "provenance.intoto.jsonl").unlink()
    sums = (bare / "SHA256SUMS").read_text("utf-8").splitlines(keepends=True)
    (bare / "SHA256SUMS").write_text("".join(line for line in sums if "provenance" not in line), "utf-8")
    write_release_folder(dirty, dirty=True)
    write_release_folder(altered)
    (altered / BEAD).write_bytes(b"altered")
    two = write_release_folder(tmp_path / "two", [*WHEELS, f"jaxlib_bead-1.2.2+split.1-{PLUGIN_TAG}.whl"]).path
    shutil.copytree(dirty, tmp_path / "dist", ignore=shutil.ignore_patterns("SHA256SUMS"))
    found = [publish(path).status for path in (bare, dirty, altered, two, tmp_path / "dist")]
    assert (found, server.requests) == ([ALTERED, USAGE, ALTERED, ALTERED, USAGE], [])


def test_credentials_go_to_their_host_and_into_no_message(
    command: Publish, server: UploadServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Those in an address are used, and cut out of it; another host that files are on does not get them."""
    monkeypatch.delenv("TWINE_USERNAME")
    monkeypatch.delenv("TWINE_PASSWORD")
    host = server.url.replace("http://", f"http://{USERNAME}:{PASSWORD}@")
    server.files_url = server.url.replace("127.0.0.1", "localhost")
    server.faults[BINDINGS[0]] = Fault.FORBIDDEN
    printed = command("publish", "company", folder, "--upload-url", f"{host}upload/", "--index-url", f"{host}simple/")
    assert printed.status == REFUSED
    signed = {text.split("/")[1]: "Authorization: Basic " in text for text in server.requests}
    assert signed == {"simple": True, "upload": True, "files": False}
    assert USERNAME not in printed.out + printed.err


def test_without_credentials_a_plan_can_be_made(
    publish: Publish, command: Publish, server: UploadServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By whoever may not upload, who needs the addresses; twine asks nobody, for a release must not wait for that."""
    monkeypatch.delenv("TWINE_USERNAME")
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    assert publish(folder, "--dry-run").status == 0
    assert command("publish", "company", folder, "--dry-run", "--index-url", f"{server.url}simple/").status == USAGE
    assert (publish(folder).status, server.uploads) == (REFUSED, [])
    server.files |= bytes_of(folder, ORDER)
    assert publish(folder).status == 0, "there is nothing to send"


def test_addresses_come_from_the_environment(
    command: Publish, server: UploadServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One variable for each setting of each destination."""
    monkeypatch.setenv("PJRTWHEEL_COMPANY_INDEX_URL", f"{server.url}simple/")
    monkeypatch.setenv("PJRTWHEEL_COMPANY_UPLOAD_URL", f"{server.url}upload/")
    assert (command("publish", "company", folder).status, server.uploads) == (0, ORDER)


def test_addresses_come_from_pypirc(
    command: Publish, server: UploadServer, folder: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Whatever twine's own variables say of another repository; one that cannot be read is named.

    A variable that is empty, as a workflow sets it for a secret that there is not, is no password.
    """
    path = tmp_path / "home" / ".pypirc"
    path.mkdir(parents=True)
    monkeypatch.setenv("TWINE_REPOSITORY_URL", "http://127.0.0.1:9/")
    for name in ("TWINE_USERNAME", "TWINE_PASSWORD"):
        monkeypatch.setenv(name, "")
    options = ("--index-url", f"{server.url}simple/", "--repository", "ours")
    printed = command("publish", "company", folder, *options)
    assert (printed.status, str(path) in printed.err) == (REFUSED, True)
    path.rmdir()
    section = f"[ours]\nrepository = {server.url}upload/\nusername = {USERNAME}\npassword = {PASSWORD}\n"
    path.write_text(f"[distutils]\nindex-servers = ours\n{section}")
    assert (command("publish", "company", folder, *options).status, server.uploads) == (0, ORDER)
    login = b64encode(f"{USERNAME}:{PASSWORD}".encode()).decode()
    assert {login in text for text in server.requests if text.startswith("/upload/")} == {True}


@pytest.mark.parametrize("text", [b"<html>", b"[]", b'{"meta": {"api-version": "9.0"}, "files": []}', b'{"files": 7}'])
def test_a_page_that_is_none_is_an_error(publish: Publish, server: UploadServer, folder: Path, text: bytes) -> None:
    """As one that was edited by hand, or of a portal that asks for a password."""
    server.text = text
    assert (publish(folder).status, server.uploads) == (REFUSED, [])

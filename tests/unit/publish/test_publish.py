# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Publishing to an index: what is there afterwards in every case, and what is said."""

from __future__ import annotations

import argparse
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from console_blocks import alike, shown
from pjrtwheel.cli.publish import configure_parser
from pjrtwheel.publish.plan import LocalFile
from pjrtwheel.publish.run import Publication
from release_folders import PLUGIN_TAG, SELECTOR_WHEEL, WHEELS, write_release_folder
from upload_server import PASSWORD, USERNAME, Fault, UploadServer

Publish = Callable[..., Any]

ABACUS, BEAD = (name for name in WHEELS if not name.startswith("jaxlib-"))
BINDINGS = [name for name in WHEELS if name.startswith("jaxlib-")]
ORDER = [ABACUS, BEAD, *BINDINGS]
RESUME = "run the same command again, which sends only what is missing"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the folder of a release."""
    return write_release_folder(tmp_path / "release").path


def bytes_of(folder: Path, names: list[str]) -> dict[str, bytes]:
    """Return the wheels of a folder by name."""
    return {name: (folder / name).read_bytes() for name in names}


def test_a_release_arrives_whole_and_in_order(publish: Publish, server: UploadServer, folder: Path) -> None:
    """Plugins come before jaxlib, each file is read back before the next one is sent, documents stay here."""
    printed = publish(folder)
    assert (printed.status, printed.err) == (0, "")
    assert (server.uploads, server.downloads) == (ORDER, ORDER)
    assert server.files == bytes_of(folder, ORDER)
    assert printed.out.splitlines()[-1] == f"v1.2.3+split.1 is at {server.url}simple/, read back as SHA256SUMS has it"


def test_the_plan_names_every_file_in_order(publish: Publish, server: UploadServer, folder: Path) -> None:
    """A dry run prints it, and sends nothing."""
    sizes = {name: f"{(folder / name).stat().st_size / 1000:.1f} kB" for name in ORDER}
    total = f"4 files, {sum((folder / name).stat().st_size for name in ORDER) / 1000:.1f} kB"
    printed = publish(folder, "--dry-run")
    assert printed.out.splitlines() == [
        f"v1.2.3+split.1 to company: {total}",
        f"to send: {total}, in this order",
        f"  1 send       {sizes[ABACUS]} jaxlib_abacus-1.2.3+split.1-cp312-abi3-",
        "                      manylinux_2_27_x86_64.whl",
        f"  2 send       {sizes[BEAD]} jaxlib_bead-1.2.3+split.1-cp312-abi3-",
        "                      manylinux_2_27_x86_64.whl",
        f"  3 send       {sizes[BINDINGS[0]]} {BINDINGS[0]}",
        f"  4 send       {sizes[BINDINGS[1]]} {BINDINGS[1]}",
        "left out, for company takes none: 4 documents",
        "nothing was sent: this is a dry run",
    ]
    assert (printed.status, server.uploads) == (0, [])


def test_the_guide_shows_what_the_plan_is(publish: Publish, folder: Path, root: Path) -> None:
    """Only sizes and names are others."""
    page = shown(root / "docs/release/publish.md", "./noxw -s publish -- company")
    printed = publish(folder, "--dry-run").out.strip()
    assert alike(page.replace(" MB", " kB").replace("jaxlib_cpu", "jaxlib_abacus"), printed), printed


def test_in_ci_a_dry_run_is_the_default(
    publish: Publish, server: UploadServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Sending has to be asked for there."""
    monkeypatch.setenv("CI", "true")
    assert (publish(folder).status, server.uploads) == (0, [])
    assert (publish(folder, "--no-dry-run").status, server.uploads) == (0, ORDER)


def test_a_second_run_changes_nothing(publish: Publish, server: UploadServer, folder: Path) -> None:
    """It reads everything back once more."""
    publish(folder)
    printed = publish(folder)
    assert (printed.status, server.uploads, server.downloads) == (0, ORDER, ORDER * 2)
    total = sum((folder / name).stat().st_size for name in ORDER)
    assert printed.out.splitlines() == [
        f"v1.2.3+split.1 to company: 4 files, {total / 1000:.1f} kB; nothing to send",
        "left out, for company takes none: 4 documents",
        "checking 4 files",
        f"v1.2.3+split.1 is at {server.url}simple/, read back as SHA256SUMS has it",
    ]


def test_digests_that_the_index_states_can_be_enough(publish: Publish, server: UploadServer, folder: Path) -> None:
    """On request nothing is downloaded, unless the index states none."""
    publish(folder, "--trust-index-hashes")
    assert server.downloads == []
    server.digests = False
    assert publish(folder, "--trust-index-hashes").status == 0
    assert sorted(server.downloads) == sorted(ORDER)


def test_the_selector_is_a_release_of_its_own(publish: Publish, server: UploadServer, tmp_path: Path) -> None:
    """One small wheel, with a tag of its own."""
    folder = write_release_folder(tmp_path / "select", [SELECTOR_WHEEL]).path
    printed = publish(folder)
    assert (printed.status, server.uploads) == (0, [SELECTOR_WHEEL])
    assert printed.out.startswith("select-v0.1.0 to company: 1 file")


def test_what_others_would_refuse_is_not_published(publish: Publish, server: UploadServer, tmp_path: Path) -> None:
    """A release without its statement, or that nobody could build again from its commit."""
    folder = write_release_folder(tmp_path / "bare").path
    (folder / "provenance.intoto.jsonl").unlink()
    sums = (folder / "SHA256SUMS").read_text("utf-8").splitlines(keepends=True)
    (folder / "SHA256SUMS").write_text("".join(line for line in sums if "provenance" not in line), "utf-8")
    printed = publish(folder)
    assert (printed.status, printed.lines[0]) == (12, f"{folder} has no provenance.intoto.jsonl")
    printed = publish(write_release_folder(tmp_path / "dirty", dirty=True).path)
    assert (printed.status, printed.lines[0]) == (2, "v1.2.3+split.1 was built with changes that are in no commit")
    assert server.uploads == []


def test_variants_go_only_where_they_are_taken(publish: Publish, server: UploadServer, tmp_path: Path) -> None:
    """Their plain wheel does instead, as with installers that know no variants."""
    plain, variant = (f"jaxlib_auto-1.2.3+split.1-py3-none-any{label}.whl" for label in ("", "-null"))
    folder = write_release_folder(tmp_path / "variants", [plain, variant, *WHEELS]).path
    printed = publish(folder)
    assert (printed.status, server.uploads) == (0, [*ORDER, plain])
    assert "left out, for company takes none: 1 wheel variant, 4 documents" in printed.out.splitlines()


ANSWERS = {
    Fault.FORBIDDEN: (
        "it answered 403 Forbidden: who asks may not do that",
        "check TWINE_USERNAME and TWINE_PASSWORD, or the section of .pypirc",
    ),
    Fault.CONFLICT: (
        "it answered 409 Conflict: it has a file of that name with other bytes, or takes none",
        "publish under another version",
    ),
    Fault.TOO_LARGE: (
        "it answered 413 Request Entity Too Large: the file is larger than it takes",
        "have its limit raised, and write it as file_limit into releases/destinations.toml",
    ),
    Fault.ELSEWHERE: ("it answered 302 Found: the address leads elsewhere", "check the address"),
    Fault.BROKEN: (
        "it answered 500 Internal Server Error: the server failed",
        "wait until the server works again",
    ),
    Fault.CUT: ("the connection was cut", "see that the server runs"),
    Fault.SLOW: (
        "it stayed silent for too long",
        "wait until it answers, or give it more seconds in PJRTWHEEL_COMPANY_TIMEOUT",
    ),
}
# How often one file is sent before publishing gives up: what a server may recover from is tried three times.
TRIES = dict.fromkeys(ANSWERS, 1) | dict.fromkeys((Fault.BROKEN, Fault.CUT, Fault.SLOW), 3)
STATES = {
    name: f"published so far: {number} of 4 files "
    f"({min(number, 2)} of 2 plugin wheels, {max(number - 2, 0)} of 2 of jaxlib)"
    for number, name in enumerate(ORDER)
}


@pytest.mark.parametrize("name", ORDER)
@pytest.mark.parametrize("fault", ANSWERS)
def test_a_failure_at_any_file_leaves_whole_files_and_is_resumed(
    publish: Publish, server: UploadServer, folder: Path, fault: Fault, name: str
) -> None:
    """Nothing after the file is sent; three lines say why, what is published, and how to go on, and that works."""
    server.faults[name] = fault
    printed = publish(folder, "--timeout", "0.2" if fault is Fault.SLOW else "20")
    before = ORDER[: ORDER.index(name)]
    cause, remedy = ANSWERS[fault]
    assert (printed.status, server.files) == (11, bytes_of(folder, before))
    assert server.uploads == [*before, *[name] * TRIES[fault]]
    assert [line.strip() for line in printed.lines] == [
        f"company did not take {name}",
        cause,
        f"{STATES[name]}; {remedy}, then {RESUME}",
    ]
    server.faults.clear()
    server.uploads.clear()
    assert (publish(folder).status, server.uploads) == (0, ORDER[len(before) :])
    assert server.files == bytes_of(folder, ORDER)


@pytest.mark.parametrize("fault", [Fault.BROKEN, Fault.CUT, Fault.LOST_ANSWER])
def test_what_fails_once_is_repeated(publish: Publish, server: UploadServer, folder: Path, fault: Fault) -> None:
    """A server that recovers gets the file again; one that had it already takes the same bytes."""
    server.faults[BEAD], server.times = fault, 1
    assert (publish(folder).status, server.uploads) == (0, [ABACUS, BEAD, BEAD, *BINDINGS])
    assert server.files == bytes_of(folder, ORDER)


def test_a_file_that_arrived_counts_though_no_answer_came(publish: Publish, server: UploadServer, folder: Path) -> None:
    """The index is asked whether it has the file before that is an error."""
    server.faults[BEAD] = Fault.LOST_ANSWER
    assert publish(folder).status == 0
    assert server.files == bytes_of(folder, ORDER)


def test_a_destination_that_is_down_gets_nothing(publish: Publish, server: UploadServer, folder: Path) -> None:
    """It is asked first what it has."""
    server.url = "http://127.0.0.1:9/"  # the port of the discard service, which nothing listens on
    printed = publish(folder)
    assert (printed.status, server.uploads) == (11, [])
    assert printed.lines[0] == "cannot read what company has of jaxlib"
    assert printed.lines[1].strip() == "it cannot be reached"


def test_bytes_that_changed_on_the_way_are_found(publish: Publish, server: UploadServer, folder: Path) -> None:
    """The index states the digest of what was sent, and serves something else: no jaxlib follows."""
    server.faults[BEAD] = Fault.ALTERED
    printed = publish(folder)
    assert (printed.status, list(server.files)) == (11, [ABACUS, BEAD])
    assert printed.lines[0] == f"company has other bytes than {BEAD}"
    assert printed.lines[1].strip().startswith("what it serves has the sha256 ")
    assert STATES[BEAD] in printed.lines[2]


@pytest.mark.parametrize("name", ORDER)
def test_a_digest_that_is_not_that_of_the_file_is_found(
    publish: Publish, server: UploadServer, folder: Path, name: str
) -> None:
    """Installers would refuse the file."""
    server.faults[name] = Fault.LYING_DIGEST
    printed = publish(folder)
    assert (printed.status, list(server.files)) == (11, ORDER[: ORDER.index(name) + 1])
    assert printed.lines[1].strip().startswith("it says that the sha256 is 0000000000000000...")


def test_a_file_that_is_never_listed_is_an_error(publish: Publish, server: UploadServer, folder: Path) -> None:
    """As where files are uploaded to one index and another one is read."""
    server.faults[ABACUS] = Fault.HIDDEN
    printed = publish(folder)
    assert (printed.status, list(server.files)) == (11, [ABACUS])
    assert printed.lines[0] == f"company does not list {ABACUS}"


def test_a_download_that_is_cut_is_repeated(publish: Publish, server: UploadServer, folder: Path) -> None:
    """Once is no reason to stop; always is."""
    server.faults[BEAD], server.times = Fault.CUT_DOWNLOAD, 1
    assert (publish(folder).status, server.downloads) == (0, [ABACUS, BEAD, BEAD, *BINDINGS])
    server.times = -1
    printed = publish(folder)
    assert (printed.status, printed.lines[0]) == (11, f"cannot download {BEAD} from company")
    assert server.files == bytes_of(folder, ORDER)


@pytest.mark.parametrize("digests", [True, False], ids=["digests", "no digests"])
def test_other_bytes_are_refused_before_anything_is_sent(
    publish: Publish, server: UploadServer, folder: Path, *, digests: bool
) -> None:
    """Whether the index says so, or the file has to be downloaded to see it."""
    server.files[BINDINGS[1]], server.digests = b"other", digests
    printed = publish(folder)
    assert (printed.status, server.uploads, server.files) == (11, [], {BINDINGS[1]: b"other"})
    assert [line.strip() for line in printed.lines[:2]] == [
        "v1.2.3+split.1 cannot be published to company; nothing was sent",
        f"{BINDINGS[1]} is at company with other bytes",
    ]
    _, *refused = printed.out.splitlines()  # this file alone, with its cause
    assert "".join("".join(refused).split()) == f"refused:{BINDINGS[1]}isatcompanywithotherbytes"


def test_a_foreign_wheel_of_the_release_is_refused(publish: Publish, server: UploadServer, folder: Path) -> None:
    """Installers would take it for one of ours; wheels of other versions and projects are nobody's business."""
    foreign = "jaxlib-1.2.3+split.1-cp314-cp314-manylinux_2_27_x86_64.whl"
    others = ["jaxlib-1.2.3-cp314-cp314-manylinux_2_27_x86_64.whl", "jaxlib-1.2.3.tar.gz"]
    server.files |= dict.fromkeys((foreign, *others), b"other")
    printed = publish(folder)
    assert (printed.status, server.uploads) == (11, [])
    assert printed.lines[1].strip() == f"{foreign} is at company, and not in this release"
    del server.files[foreign]
    assert publish(folder).status == 0


def test_a_foreign_plugin_that_an_extra_would_install_is_refused(
    publish: Publish, server: UploadServer, tmp_path: Path
) -> None:
    """No release with this jaxlib has it, and pip would take it for jaxlib[bead]."""
    needs = ("jaxlib-bead==1.2.3+split.1; extra == 'bead'", "other>=1")
    release = write_release_folder(tmp_path / "fewer", [*BINDINGS, ABACUS], requires=needs)
    server.files[BEAD] = b"other"
    printed = publish(release.path)
    assert (printed.status, server.uploads) == (11, [])
    assert printed.lines[1].strip() == f"{BEAD} is at company, and not in this release"
    del server.files[BEAD]
    assert publish(release.path).status == 0


def test_a_plugin_alone_joins_the_jaxlib_that_is_there(publish: Publish, server: UploadServer, tmp_path: Path) -> None:
    """It was built for a published set, and requires that very version."""
    release = write_release_folder(tmp_path / "plugin", [ABACUS], requires=["jaxlib==1.2.3+split.1"])
    server.files[BINDINGS[0]] = b"published before"
    assert (publish(release.path).status, server.uploads) == (0, [ABACUS])


def test_what_was_yanked_is_not_published_again(publish: Publish, server: UploadServer, folder: Path) -> None:
    """The same bytes would stay withdrawn."""
    publish(folder)
    server.yanked[ABACUS] = "wrong"
    printed = publish(folder)
    assert (printed.status, printed.lines[1].strip()) == (11, f"{ABACUS} was yanked at company: wrong")
    server.yanked |= dict.fromkeys(ORDER, "wrong")
    printed = publish(folder)
    assert printed.lines[1].strip() == f"{min(ORDER)} and 3 other files were yanked at company: wrong"


def test_limits_of_the_destination_are_held(command: Publish, server: UploadServer, folder: Path) -> None:
    """All that it would refuse is said at once, before anything is sent."""
    addresses = ("--upload-url", f"{server.url}upload/", "--index-url", f"{server.url}simple/")
    printed = command("publish", "public", folder, *addresses)
    assert (printed.status, server.uploads) == (11, [])
    refused = [line.split(":")[1].split()[0] for line in printed.out.splitlines() if "is not ours at public" in line]
    assert refused == ["jaxlib", "jaxlib-abacus", "jaxlib-bead"]
    assert max(map(len, printed.out.splitlines())) <= 80


def test_an_altered_folder_is_refused(publish: Publish, server: UploadServer, folder: Path) -> None:
    """It is held to SHA256SUMS before the destination is asked."""
    (folder / BEAD).write_bytes(b"altered")
    printed = publish(folder)
    assert (printed.status, server.requests) == (12, [])  # as verify_release does
    assert f"altered: {BEAD}" in printed.err
    (folder / "release.json").write_text("{")
    sums = (folder / "SHA256SUMS").read_text().replace("release.json", "other.json")
    (folder / "SHA256SUMS").write_text(sums)
    assert publish(folder).status == 12
    (folder / "SHA256SUMS").write_bytes(b"\xff")
    assert publish(folder).status == 12


@pytest.mark.parametrize("stopped_at", range(5))
def test_a_run_interrupted_after_any_file_is_resumed(
    publish: Publish, server: UploadServer, folder: Path, stopped_at: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Before the first file, between any two, and after the last one: the next run sends what is missing."""
    find = Publication.find_local

    def die(publication: Publication, file: LocalFile) -> Path:
        if len(server.uploads) == stopped_at:
            raise KeyboardInterrupt
        return find(publication, file)

    with monkeypatch.context() as patch:
        patch.setattr(Publication, "find_local", die)
        printed = publish(folder)
    assert (printed.status, server.files) == (130 if stopped_at < 4 else 0, bytes_of(folder, ORDER[:stopped_at]))
    assert (publish(folder).status, server.uploads) == (0, ORDER)
    assert server.files == bytes_of(folder, ORDER)


def test_a_plan_of_another_release_is_not_continued(
    publish: Publish, server: UploadServer, folder: Path, tmp_path: Path
) -> None:
    """A tag was moved, or the wheels were built again, after a part of them was sent."""
    server.faults[BEAD] = Fault.BROKEN
    publish(folder)
    other = write_release_folder(tmp_path / "other", WHEELS[:2], commit="2" * 40).path
    printed = publish(other)
    begun = "of 111111111111 with SHA256SUMS "
    assert (printed.status, list(server.files)) == (11, [ABACUS])
    assert printed.lines[0] == "v1.2.3+split.1 was begun at company as another release, and is not finished"
    assert begun in printed.lines[1]
    assert "this one of 222222222222 with SHA256SUMS " in printed.lines[1]
    server.files.clear()
    server.faults.clear()
    assert (publish(other).status, len(server.files)) == (0, 2)


def test_a_plan_of_which_nothing_arrived_binds_nobody(
    publish: Publish, command: Publish, server: UploadServer, folder: Path, tmp_path: Path
) -> None:
    """As after the first file was refused, or no address for uploads was given."""
    server.faults[ABACUS] = Fault.FORBIDDEN
    assert publish(folder).status == 11
    printed = command("publish", "company", folder, "--index-url", f"{server.url}simple/")
    assert (printed.status, printed.lines[0]) == (2, "where files for company are uploaded to is not known")
    server.faults.clear()
    assert publish(write_release_folder(tmp_path / "other", content=b"other").path).status == 0


def test_a_journal_that_is_damaged_is_named(
    publish: Publish, server: UploadServer, folder: Path, tmp_path: Path
) -> None:
    """It is ours, and may be removed."""
    server.faults[BEAD] = Fault.BROKEN
    publish(folder)
    (journal,) = (tmp_path / "cache" / "publish").glob("*.json")
    journal.write_text("{")
    printed = publish(folder)
    assert (printed.status, printed.lines[0], list(server.files)) == (11, f"{journal} is damaged", [ABACUS])


def test_a_finished_plan_is_forgotten(publish: Publish, folder: Path, tmp_path: Path) -> None:
    """Nothing is left in the cache but the lock; the folder of the release is as it was."""
    before = sorted(path.name for path in folder.iterdir())
    publish(folder)
    left = [path.suffix for path in (tmp_path / "cache" / "publish").iterdir()]
    assert (left, sorted(path.name for path in folder.iterdir())) == ([".lock"], before)


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
    assert printed.status == 11
    signed = {text.split("/")[1]: "Authorization: Basic " in text for text in server.requests}
    assert signed == {"simple": True, "upload": True, "files": False}
    assert USERNAME not in printed.out + printed.err


def test_no_credentials_are_an_error(
    publish: Publish, server: UploadServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Twine asks nobody: a release must not wait for an answer."""
    monkeypatch.delenv("TWINE_USERNAME")
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    printed = publish(folder)
    assert (printed.status, server.uploads) == (11, [])
    assert printed.lines[1].strip() == "there are no credentials for it"
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
    """Whatever twine's own variables say of another repository."""
    (tmp_path / "home").mkdir()
    section = f"[ours]\nrepository = {server.url}upload/\nusername = {USERNAME}\npassword = {PASSWORD}\n"
    (tmp_path / "home" / ".pypirc").write_text(f"[distutils]\nindex-servers = ours\n{section}")
    monkeypatch.setenv("TWINE_REPOSITORY_URL", "http://127.0.0.1:9/")
    options = ("--index-url", f"{server.url}simple/", "--repository", "ours")
    assert (command("publish", "company", folder, *options).status, server.uploads) == (0, ORDER)


@pytest.mark.parametrize(
    ("options", "line"),
    [
        ([], "the address of company is not known"),
        (["--index-url", "http://127.0.0.1:9/", "--timeout", "soon"], "the timeout of company is 'soon'"),
    ],
)
def test_missing_and_wrong_options_are_named(command: Publish, folder: Path, options: list[str], line: str) -> None:
    """Nothing is asked of any server."""
    printed = command("publish", "company", folder, *options)
    assert (printed.status, printed.lines[0]) == (2, line)


@pytest.mark.parametrize(
    ("stage", "remedy"),
    [
        ("stage", "--from-index-url, or in PJRTWHEEL_STAGE_INDEX_URL"),
        ("folder", "--from-site, or in PJRTWHEEL_FOLDER_SITE"),
        ("github", "--from-github-repository, or in PJRTWHEEL_GITHUB_GITHUB_REPOSITORY or GITHUB_REPOSITORY"),
    ],
)
def test_what_is_missing_of_a_stage_is_named_as_its_option(
    publish: Publish, folder: Path, stage: str, remedy: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """That of the destination has another name; each exists."""
    monkeypatch.delenv("GITHUB_REPOSITORY", raising=False)
    printed = publish(folder, "--from", stage)
    assert (printed.status, printed.lines[-1].strip()) == (2, f"give it with {remedy}")
    parser = argparse.ArgumentParser()
    configure_parser(parser)
    assert remedy.partition(",")[0] in parser.format_help()


def test_a_dry_run_needs_addresses_and_no_credentials(
    command: Publish, server: UploadServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What the real run would lack is said before; a plan may be made by whoever may not upload."""
    monkeypatch.delenv("TWINE_USERNAME")
    monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "keyring.backends.null.Keyring")
    index = ("--dry-run", "--index-url", f"{server.url}simple/")
    printed = command("publish", "company", folder, *index)
    assert (printed.status, [line.strip() for line in printed.lines]) == (
        2,
        [
            "where files for company are uploaded to is not known",
            "give it with --upload-url or --repository, or in PJRTWHEEL_COMPANY_UPLOAD_URL",
        ],
    )
    assert command("publish", "company", folder, *index, "--upload-url", f"{server.url}upload/").status == 0


def test_a_configuration_that_cannot_be_read_is_named(
    command: Publish, server: UploadServer, folder: Path, tmp_path: Path
) -> None:
    """In words, not as Python has them."""
    (tmp_path / "home" / ".pypirc").mkdir(parents=True)
    options = ("--index-url", f"{server.url}simple/", "--repository", "mine")
    printed = command("publish", "company", folder, *options)
    assert (printed.status, printed.lines[1].strip()) == (11, f"is a directory: {tmp_path / 'home' / '.pypirc'}")


def test_wheels_of_two_releases_are_no_release(publish: Publish, server: UploadServer, tmp_path: Path) -> None:
    """The folder is made again."""
    older = f"jaxlib_bead-1.2.2+split.1-{PLUGIN_TAG}.whl"
    printed = publish(write_release_folder(tmp_path / "two", [*WHEELS, older]).path)
    assert (printed.status, server.requests) == (12, [])
    assert printed.lines[0] == "the folder has wheels of v1.2.3+split.1, 1.2.2+split.1"


def test_a_folder_that_is_none_is_named(publish: Publish, tmp_path: Path, folder: Path) -> None:
    """As `dist/` itself, which has no SHA256SUMS."""
    shutil.copytree(folder, tmp_path / "dist", ignore=shutil.ignore_patterns("SHA256SUMS"))
    printed = publish(tmp_path / "dist")
    assert (printed.status, printed.lines[0]) == (
        2,
        f"{tmp_path / 'dist'} is no folder with a release: it has no SHA256SUMS",
    )


@pytest.mark.parametrize("text", [b"<html>", b"[]", b'{"meta": {"api-version": "9.0"}, "files": []}', b'{"files": 7}'])
def test_a_page_that_is_none_is_an_error(publish: Publish, server: UploadServer, folder: Path, text: bytes) -> None:
    """As one that was edited by hand, or of a portal that asks for a password."""
    server.text = text
    printed = publish(folder)
    assert (printed.status, server.uploads) == (11, [])
    assert printed.lines[0] == "cannot read what company has of jaxlib"
    assert printed.lines[1].strip().startswith("it answers with something else than the simple repository API")


def test_two_runs_do_not_publish_the_same_at_once(
    publish: Publish, server: UploadServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second one ends at once, and leaves the first one alone."""
    find = Publication.find_local
    inner: list[Any] = []

    def publish_again(publication: Publication, file: LocalFile) -> Path:
        if not inner:
            inner.append(publish(folder))
        return find(publication, file)

    monkeypatch.setattr(Publication, "find_local", publish_again)
    assert (publish(folder).status, server.uploads) == (0, ORDER)
    assert inner[0].status == 11
    assert inner[0].lines[0] == "v1.2.3+split.1 is being published to company by another run"

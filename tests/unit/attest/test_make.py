# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Making a release: what is in its folder and in its documents, and what stops it from being written."""

import json
import re
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel.attest.make import list_documents, make_release
from pjrtwheel.attest.release_folder import SUMS_FILENAME, ReleaseFolder, parse_sums, read_release_folder
from pjrtwheel.attest.release_set import find_release_set
from pjrtwheel.attest.signature import load_signer, parse_envelope
from pjrtwheel.attest.statement import BOM_FILENAME, STATEMENT_FILENAME
from pjrtwheel.errors import AttestError, PjrtWheelError, UsageError
from pjrtwheel.files import hash_file
from pjrtwheel.record.entries import RELEASE_FILENAME, format_entries, read_entries
from pjrtwheel.record.proofs import Level, Proof
from pjrtwheel.release.model import read_release
from pjrtwheel.wheel.unpack import read_metadata
from signing_keys import make_key
from sound_wheels import BINDINGS, COMMIT, ORIGIN, PLUGIN, TAG, WHEELS, make_dist, make_repository

VARIANTS = "jaxlib_auto-1.2.3+split.1-variants.json"
MADE = (BOM_FILENAME, RELEASE_FILENAME, STATEMENT_FILENAME)
GITHUB = {
    "GITHUB_SERVER_URL": "https://git.example.org",
    "GITHUB_REPOSITORY": "owner/name",
    "GITHUB_WORKFLOW_REF": f"owner/name/.github/workflows/release.yml@refs/tags/{TAG}",
    "GITHUB_RUN_ID": "17",
    "GITHUB_RUN_ATTEMPT": "2",
}


def remake(release: ReleaseFolder, name: str = "other", **options: Any) -> ReleaseFolder:
    """Make the same release once more, with other options."""
    folder = release.path.parent
    return make_release(
        folder / "repository", TAG, folder / "dist", folder / name, **{"environ": {}, "locks": False, **options}
    )


def statement_of(release: ReleaseFolder) -> dict[str, Any]:
    """Return the statement of a release as others read it."""
    return dict(json.loads(parse_envelope((release.path / STATEMENT_FILENAME).read_bytes()).payload))


def test_a_release_has_the_wheels_of_its_tag_and_checksums_of_all_files(release: ReleaseFolder, dist: Path) -> None:
    """The wheels are links, so that they take no room, and sha256sum agrees with what was written."""
    files = sorted([*WHEELS, VARIANTS, *MADE])
    assert sorted(path.name for path in release.path.iterdir()) == sorted([*files, SUMS_FILENAME])
    assert list(release.wheels) == WHEELS
    assert read_entries(release.path) == {name: read_entries(dist)[name] for name in WHEELS}
    assert all((release.path / name).samefile(dist / name) for name in [*WHEELS, VARIANTS])
    assert release.documents == (*sorted((VARIANTS, *MADE)), SUMS_FILENAME)
    assert list_documents(release.entries, {path.name for path in dist.iterdir()}) == release.documents
    done = subprocess.run(["sha256sum", "-c", SUMS_FILENAME], cwd=release.path, capture_output=True, check=True)
    assert sorted(done.stdout.decode().splitlines()) == [f"{name}: OK" for name in files]


def test_the_selector_is_a_release_of_its_own(repository: Path, dist: Path, tmp_path: Path) -> None:
    """It belongs to no JAX release."""
    release = make_release(repository, "select-v0.1.0", dist, tmp_path / "select", locks=False, environ={})
    assert (list(release.wheels), release.documents) == (
        ["jaxlib_select-0.1.0-py3-none-any.whl"],
        (*sorted(MADE), SUMS_FILENAME),
    )


@pytest.mark.parametrize(("build", "tag"), [(1, "v1.2.3"), (2, "v1.2.3+2")])
def test_a_set_without_a_label_has_its_number_in_the_tag_alone(tmp_path: Path, build: int, tag: str) -> None:
    """Its `jaxlib` has the number as build tag."""
    root = make_repository(tmp_path, label="", build=build)
    found = find_release_set(root, tag, make_dist(root, tmp_path / "dist"))
    assert found.entries[0].filename == f"jaxlib-1.2.3-{build}-cp312-cp312-manylinux_2_27_x86_64.whl"


def test_attestations_next_to_wheels_go_out_with_them(release: ReleaseFolder, dist: Path) -> None:
    """They are subjects as all other files; those of other wheels stay."""
    added = {f"{PLUGIN}.publish.attestation", f"{PLUGIN}.provenance"}
    for name in (*added, "other.whl.publish.attestation"):
        (dist / name).write_text("{}")
    other = remake(release)
    assert other.digests.keys() - release.digests.keys() == added
    assert {subject["name"] for subject in statement_of(other)["subject"]} == other.digests.keys() - {
        STATEMENT_FILENAME
    }


def test_a_release_is_replaced_whole(release: ReleaseFolder) -> None:
    """Nothing of the one before stays, and no staging folder either."""
    before = {path.name for path in release.path.parent.iterdir()}
    (release.path / "old.txt").touch()
    assert remake(release, release.path.name) == release
    assert {path.name for path in release.path.parent.iterdir()} == before


def test_links_in_dist_become_the_files_behind_them(release: ReleaseFolder, dist: Path, tmp_path: Path) -> None:
    """Others unpack a release elsewhere, where a symbolic link leads nowhere."""
    aside = tmp_path / "aside.whl"
    (dist / PLUGIN).rename(aside)
    (dist / PLUGIN).symlink_to(aside)
    assert not (remake(release).path / PLUGIN).is_symlink()


def test_a_damaged_dist_leaves_no_release(repository: Path, dist: Path, tmp_path: Path) -> None:
    """A release is there whole or not at all; a wheel may be altered, or missing."""
    for damage in (lambda path: path.write_bytes(b"other"), Path.unlink):
        damage(dist / PLUGIN)
        with pytest.raises(AttestError, match=PLUGIN.replace("+", r"\+")):
            make_release(repository, TAG, dist, tmp_path / "out" / TAG, locks=False, environ={})
        assert not list((tmp_path / "out").glob("*"))


def test_nothing_else_is_overwritten(repository: Path, dist: Path, tmp_path: Path) -> None:
    """A folder with other files stays as it is."""
    output = tmp_path / "home"
    output.mkdir()
    (output / "thesis.txt").write_text("years of work", "utf-8")
    with pytest.raises(UsageError):
        make_release(repository, TAG, dist, output, locks=False, environ={})
    assert [path.name for path in output.iterdir()] == ["thesis.txt"]


@pytest.mark.parametrize(
    ("tag", "named"), [("v1.2.3", "v1.2.3+split.1, select-v0.1.0"), ("select-v9.9.9", "select-v0.1.0")]
)
def test_a_tag_without_wheels_is_refused_with_what_there_is(repository: Path, dist: Path, tag: str, named: str) -> None:
    """A tag is compared as a whole: no part of it is guessed."""
    with pytest.raises(UsageError) as caught:
        find_release_set(repository, tag, dist)
    assert named in f"{caught.value.cause} {caught.value.remedy}"


def copy_plugin(folder: Path) -> None:
    """Take the plugin of a release out of the link to that of `dist/`."""
    data = (folder / PLUGIN).read_bytes()
    (folder / PLUGIN).unlink()
    (folder / PLUGIN).write_bytes(data)


@pytest.mark.parametrize(
    ("damage", "cause"),
    [
        (lambda folder: (folder / PLUGIN).write_bytes(b"zip"), f"altered: {PLUGIN}"),
        (lambda folder: (folder / PLUGIN).unlink(), f"missing: {PLUGIN}"),
        (lambda folder: (folder / "extra.whl").touch(), "not listed: extra.whl"),
        (lambda folder: (folder / "link.json").symlink_to("release.json"), "no regular file: link.json"),
        (
            lambda folder: (folder / f"{PLUGIN}.metadata").write_bytes(read_metadata(folder / PLUGIN) + b"\n"),
            f"not the METADATA of its wheel: {PLUGIN}.metadata",
        ),
        (lambda folder: (folder / "release.json.metadata").touch(), "not listed: release.json.metadata"),
    ],
)
def test_damage_of_a_release_is_named(release: ReleaseFolder, damage: Callable[[Path], object], cause: str) -> None:
    """A file that is altered, missing or added, and what is no file."""
    copy_plugin(release.path)
    damage(release.path)
    with pytest.raises(PjrtWheelError) as caught:
        read_release_folder(release.path)
    assert caught.value.cause == cause


def test_metadata_may_lie_next_to_its_wheel(release: ReleaseFolder) -> None:
    """As indexes and GitHub releases have it; it is no document of the release, and none without its wheel."""
    for name in release.wheels:
        (release.path / f"{name}.metadata").write_bytes(read_metadata(release.path / name))
    assert read_release_folder(release.path) == release
    (release.path / PLUGIN).unlink()
    with pytest.raises(PjrtWheelError) as caught:
        read_release_folder(release.path, documents_only=True)
    assert caught.value.cause == f"not listed: {PLUGIN}.metadata"


def test_the_statement_says_what_the_release_is_made_of(release: ReleaseFolder, tmp_path: Path) -> None:
    """All files with their digests, all pinned inputs, the commit, and what each wheel was built with."""
    digests = parse_sums((release.path / SUMS_FILENAME).read_bytes())
    builds = [("jaxlib", "linux_x86_64"), ("jaxlib-auto", "any"), ("jaxlib-cpu", "linux_x86_64")]
    pins = ["plugin.cpu.linux_x86_64", *(f"bindings.{tag}.linux_x86_64" for tag in BINDINGS)]
    urls = ["upstream-cpu@1.2.3?file_name=upstream_cpu-1.2.3-py3-none-manylinux_2_27_x86_64.whl"]
    urls += [f"jaxlib@1.2.3?file_name=jaxlib-1.2.3-{tag}-{tag}-manylinux_2_27_x86_64.whl" for tag in BINDINGS]
    pin_file = tmp_path / "repository" / "releases" / "1.2.3.toml"
    assert statement_of(release) == {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": [
            {"name": name, "digest": {"sha256": digests[name]}}
            for name in sorted(digests)
            if name != STATEMENT_FILENAME
        ],
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": "urn:pjrtwheel:build:1",
                "externalParameters": {
                    "tag": TAG,
                    "set": "1.2.3+split.1",
                    "release": "1.2.3",
                    "builds": [
                        {"distribution": name, "platform": platform, "provider": "none"}
                        if platform == "any"
                        else {"distribution": name, "platform": platform, "provider": "prebuilt", "compressionLevel": 6}
                        for name, platform in builds
                    ],
                },
                "resolvedDependencies": [
                    {"name": "repository", "digest": {"gitCommit": COMMIT}, "annotations": {"dirty": False}},
                    {"name": "releases/1.2.3.toml", "digest": {"sha256": hash_file(pin_file)}},
                    {"name": "shared-pins", "digest": {"sha256": read_release(pin_file).shared_digest}},
                    *(
                        {"name": key, "digest": {"sha256": f"{number}" * 64}, "uri": f"pkg:pypi/{url}"}
                        for number, (key, url) in enumerate(zip(pins, urls, strict=True))
                    ),
                ],
            },
            "runDetails": {
                "builder": {"id": "urn:pjrtwheel:builder:local", "version": {"pjrtwheel": "0.1.0"}},
                "metadata": {"finishedOn": "2026-11-20T10:00:00Z"},
            },
        },
    }
    assert (release.tag, release.commit) == (TAG, COMMIT)


def test_a_workflow_names_itself_and_its_run(release: ReleaseFolder) -> None:
    """The builder is what a consumer compares with the workflow that is trusted."""
    predicate = statement_of(remake(release, environ={**GITHUB, "SOURCE_DATE_EPOCH": "1"}))["predicate"]
    details = predicate["runDetails"]
    assert details["builder"]["id"] == f"https://git.example.org/{GITHUB['GITHUB_WORKFLOW_REF']}"
    assert details["metadata"] == {
        "finishedOn": "1970-01-01T00:00:01Z",
        "invocationId": "https://git.example.org/owner/name/actions/runs/17/attempts/2",
    }
    repository = predicate["buildDefinition"]["resolvedDependencies"][0]
    assert repository["uri"] == f"git+https://git.example.org/owner/name@refs/tags/{TAG}"


def test_two_runs_give_the_same_bytes(release: ReleaseFolder, tmp_path: Path) -> None:
    """That holds for a signed one as well."""
    make_key(tmp_path / "key")
    signer = load_signer(tmp_path / "key")
    folders = [release, remake(release), remake(release, "a", signer=signer), remake(release, "b", signer=signer)]
    first, second, third, fourth = ({path.name: path.read_bytes() for path in one.path.iterdir()} for one in folders)
    assert first == second
    assert third == fourth
    assert {name for name in first if first[name] != third[name]} == {STATEMENT_FILENAME, SUMS_FILENAME}


def test_the_bill_of_materials_lists_the_wheels_and_what_they_are_made_of(release: ReleaseFolder) -> None:
    """Inputs of one project that differ in their files are listed one by one; what is equal is listed once."""
    document = json.loads((release.path / BOM_FILENAME).read_bytes())
    digests = {entry.filename: entry.sha256 for entry in release.entries}
    listed = {part["bom-ref"]: (part["name"], part["hashes"][0]["content"]) for part in document["components"]}
    needs = {entry["ref"]: entry.get("dependsOn", []) for entry in document["dependencies"]}
    found = {listed[ref]: [listed[part] for part in needs[ref]] for ref in needs[f"release:{TAG}"]}
    inputs = {name: [("jaxlib", str(number) * 64)] for number, name in enumerate(sorted(digests)[:2], 1)}
    inputs[PLUGIN] = [("upstream-cpu", "0" * 64)]
    assert found == {
        (entry.distribution, digests[name]): inputs.get(name, []) for name, entry in release.wheels.items()
    }
    assert len(document["components"]) == 4 + 3
    assert "timestamp" not in document["metadata"]


def rebuild(dist: Path, project: str, **origin: Any) -> None:
    """Say of the wheels of one project that they were built from somewhere else."""
    entries = read_entries(dist)
    for name, entry in entries.items():
        if entry.distribution == project:
            entries[name] = replace(entry, built=replace(entry.built, **origin))
    (dist / RELEASE_FILENAME).write_text(format_entries(entries), "utf-8")


def test_the_commit_is_the_one_that_all_wheels_were_built_from(repository: Path, dist: Path, tmp_path: Path) -> None:
    """Wherever they were proven; a person may demand which one it is."""
    proof = Proof(Level.STATIC, None, (), replace(ORIGIN, commit="d" * 40))
    entries = {name: replace(entry, proof=proof) for name, entry in read_entries(dist).items()}
    (dist / RELEASE_FILENAME).write_text(format_entries(entries), "utf-8")
    for wanted in ("", COMMIT):
        assert (
            make_release(repository, TAG, dist, tmp_path / "any", commit=wanted, locks=False, environ={}).commit
            == COMMIT
        )
    with pytest.raises(UsageError) as caught:
        make_release(repository, TAG, dist, tmp_path / "out", commit="d" * 40, locks=False, environ={})
    assert COMMIT[:12] in caught.value.cause
    rebuild(dist, "jaxlib-cpu", dirty=True)  # because nobody could build all of it again
    statement = make_release(repository, TAG, dist, tmp_path / "dirty", locks=False, environ={}).statement
    assert (statement.commit, statement.dirty) == (COMMIT, True)
    for commit in ("d" * 40, None):
        rebuild(dist, "jaxlib-cpu", commit=commit)
        with pytest.raises(UsageError) as caught:
            make_release(repository, TAG, dist, tmp_path / "out", locks=False, environ={})
        assert {COMMIT[:12], (commit or "no commit")[:12]} <= set(re.split(r", | from ", caught.value.cause))
    assert not (tmp_path / "out").exists()


def test_wheels_of_one_build_that_differ_in_level_are_refused(repository: Path, tmp_path: Path) -> None:
    """One set of options builds them again."""
    dist = make_dist(repository, tmp_path / "dist", levels={BINDINGS[0]: 9})
    with pytest.raises(AttestError, match="jaxlib for linux_x86_64"):
        make_release(repository, TAG, dist, tmp_path / "out", locks=False, environ={})

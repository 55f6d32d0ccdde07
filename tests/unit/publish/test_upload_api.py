# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""One upload to an index, by itself."""

from dataclasses import replace
from pathlib import Path

import pytest

from pjrtwheel.errors import PublishError
from pjrtwheel.fetch.listing import IndexFile
from pjrtwheel.publish.upload_api import UploadIndex
from pjrtwheel.wheel.names import ATTESTATION_SUFFIX
from release_folders import WHEELS, write_release_folder
from upload_server import PASSWORD, USERNAME, UploadServer


def open_at(server: UploadServer) -> UploadIndex:
    """Return the place."""
    login, upload_url = (USERNAME, PASSWORD), f"{server.url}upload/"
    return UploadIndex("company", f"{server.url}simple/", upload_url=upload_url, uploader=login)


@pytest.mark.parametrize(("takes", "carried"), [(True, {WHEELS[0]: [{"version": 1}]}), (False, {})])
def test_an_attestation_goes_with_its_wheel(
    server: UploadServer, tmp_path: Path, *, takes: bool, carried: dict[str, object]
) -> None:
    """Where the destination takes any, and where one lies next to the wheel."""
    release = write_release_folder(tmp_path / "release")
    (release.path / f"{WHEELS[0]}{ATTESTATION_SUFFIX}").write_text('{"version": 1}')
    place = replace(open_at(server), attestations=takes)
    for name in WHEELS[:2]:
        place.upload(release.path / name, release.digests[name])
    assert (server.uploads, server.attestations) == (list(WHEELS[:2]), carried)


def test_a_file_that_changed_meanwhile_is_not_sent(server: UploadServer, tmp_path: Path) -> None:
    """Between the check of the folder and the upload hours may pass, and an index forgets nothing."""
    release = write_release_folder(tmp_path / "release")
    (release.path / WHEELS[0]).unlink()
    (release.path / WHEELS[0]).write_bytes((release.path / WHEELS[1]).read_bytes())
    with pytest.raises(PublishError, match="changed"):
        open_at(server).upload(release.path / WHEELS[0], release.digests[WHEELS[0]])
    assert (server.uploads, server.files) == ([], {})


def test_a_download_ends_where_the_file_should(server: UploadServer, tmp_path: Path) -> None:
    """A server that goes on and on does not fill the disk."""
    server.files["a.whl"] = bytes(8 << 20)
    open_at(server).download(IndexFile("a.whl", "", 10, url=f"{server.url}files/a.whl"), tmp_path / "a.whl")
    assert (tmp_path / "a.whl").stat().st_size == 1 << 20


def test_a_full_disk_is_called_that(server: UploadServer) -> None:
    """With the file that was being written."""
    server.files["a.whl"] = bytes(8 << 20)
    found = IndexFile("a.whl", "", 8 << 20, url=f"{server.url}files/a.whl")
    with pytest.raises(PublishError) as caught:
        open_at(server).download(found, Path("/dev/full"))
    assert caught.value.cause == "the disk is full: /dev/full"

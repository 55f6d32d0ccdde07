# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""One upload to an index, by itself."""

from __future__ import annotations

from pathlib import Path

import pytest

from pjrtwheel.publish.upload_api import Credentials, UploadIndex
from pjrtwheel.wheel.names import ATTESTATION_SUFFIX
from release_folders import WHEELS, write_release_folder
from upload_server import PASSWORD, USERNAME, UploadServer


@pytest.mark.parametrize(("takes", "carried"), [(True, {WHEELS[0]: [{"version": 1}]}), (False, {})])
def test_an_attestation_goes_with_its_wheel(
    server: UploadServer, tmp_path: Path, *, takes: bool, carried: dict[str, object]
) -> None:
    """Where the destination takes any, and where one lies next to the wheel."""
    release = write_release_folder(tmp_path / "release")
    (release.path / f"{WHEELS[0]}{ATTESTATION_SUFFIX}").write_text('{"version": 1}')
    uploader = Credentials(USERNAME, PASSWORD)
    urls = (f"{server.url}simple/", f"{server.url}upload/")
    place = UploadIndex("company", urls[0], upload_url=urls[1], uploader=uploader, attestations=takes)
    for name in WHEELS[:2]:
        place.upload(release.path / name, release.digests[name])
    assert (server.uploads, server.attestations) == (list(WHEELS[:2]), carried)

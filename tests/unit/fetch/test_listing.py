# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What an index lists, from a folder, from pages on the disk, and over HTTP from this machine."""

import hashlib
import io
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import requests
from requests.adapters import HTTPAdapter

from folders import write_files
from package_index import QuietHandler, serve_folder
from pjrtwheel.errors import FetchError, PublishError
from pjrtwheel.fetch import listing
from pjrtwheel.fetch.listing import IndexFile, download_file, list_wheels, read_document
from pjrtwheel.fetch.settings import IndexSettings, parse_settings
from pjrtwheel.publish.upload_api import UploadIndex

NAME = "abacus_pjrt-1.2-py3-none-any.whl"
DIGEST = "ab" * 32


class JsonHandler(QuietHandler):
    """A server whose pages are JSON."""

    def guess_type(self, path: Any) -> str:
        """Name the type of PEP 691."""
        return "application/vnd.pypi.simple.v1+json" if str(path).endswith(".html") else super().guess_type(path)


@pytest.fixture(params=[QuietHandler])
def index(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """Return the address of an index on this machine, and the folder that is served there."""
    with serve_folder(tmp_path, request.param) as address:
        yield f"{address}simple/", tmp_path


@pytest.mark.parametrize("index", [JsonHandler], indirect=True)
def test_pages_in_json(index: tuple[str, Path]) -> None:
    """PEP 691: digest, length and withdrawal come with the list; source archives are passed over."""
    url, folder = index
    files = [
        {
            "filename": NAME,
            "url": f"../{NAME}",
            "hashes": {"sha256": DIGEST},
            "size": 7,
            "yanked": "broken",
            "requires-python": ">=3.12",
            "core-metadata": {"sha256": DIGEST[::-1]},
        },
        {"filename": "abacus-pjrt-1.2.tar.gz", "url": "../a.tar.gz", "hashes": {}, "size": 7},
    ]
    body = {"meta": {"api-version": "1.1"}, "name": "abacus-pjrt", "versions": ["1.2"], "files": files}
    write_files(folder, {"simple/abacus-pjrt/index.html": json.dumps(body)})
    more = {"url": f"{url}{NAME}", "requires_python": ">=3.12", "metadata_sha256": DIGEST[::-1]}
    assert list_wheels("abacus-pjrt", IndexSettings((url,))) == (IndexFile(NAME, DIGEST, 7, yanked="broken", **more),)


def test_pages_in_html(index: tuple[str, Path]) -> None:
    """PEP 503: the digest is in the link, and no length."""
    url, folder = index
    page = f'<a href="../../files/{NAME}#sha256={DIGEST}">{NAME}</a>'
    write_files(folder, {"simple/abacus-pjrt/index.html": page, f"files/{NAME}": "12345"})
    address = f"{url.removesuffix('simple/')}files/{NAME}"
    assert list_wheels("abacus-pjrt", IndexSettings((url,))) == (IndexFile(NAME, DIGEST, 0, url=address),)


def test_a_page_offers_files_of_its_project_alone(index: tuple[str, Path]) -> None:
    """A wheel of ours on the page of another project is nobody's, and a server does not name files of this machine."""
    url, folder = index
    links = [f'<a href="{name}#sha256={DIGEST}">{name}</a>' for name in (NAME, "jaxlib_cpu-2.0-py3-none-any.whl")]
    write_files(folder, {"simple/abacus-pjrt/index.html": "".join(links), NAME: "12345"})
    assert [file.filename for file in list_wheels("abacus-pjrt", IndexSettings((url,)))] == [NAME]
    page = f'<a href="{(folder / NAME).as_uri()}#sha256={DIGEST}">{NAME}</a>'
    write_files(folder, {"simple/abacus-pjrt/index.html": page})
    with pytest.raises(FetchError, match=f"leads to files of this machine: {NAME}"):
        list_wheels("abacus-pjrt", IndexSettings((url,)))


def test_index_without_digests_is_refused(index: tuple[str, Path]) -> None:
    """What has no digest cannot be pinned without a download."""
    url, folder = index
    write_files(folder, {"simple/abacus-pjrt/index.html": f'<a href="{NAME}">{NAME}</a>'})
    with pytest.raises(FetchError, match=f"the package index gives no sha256 for {NAME}"):
        list_wheels("abacus-pjrt", IndexSettings((url,)))


def test_index_that_cannot_be_reached() -> None:
    """The error has nobody's password."""
    with pytest.raises(FetchError) as caught:
        list_wheels("abacus-pjrt", IndexSettings(("http://me:secret@127.0.0.1:9/simple/",)))
    assert caught.value.cause == "http://127.0.0.1:9/simple/: Connection refused"


@pytest.mark.parametrize("target", ["http://a/other/", "HTTP://me:secret@b/", "https://b/", "//b/", "other/"])
def test_no_server_leads_from_https_to_http(target: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is on the way could read and change it: a page, a file, or what is published; no password is said."""
    answer = requests.Response()
    answer.status_code, answer.url, answer.headers["Location"] = 302, "http://a/simple/", target
    assert listing.DownloadSession().get_redirect_target(answer) == target
    answer.url, answer.raw = "https://a/simple/", io.BytesIO()
    if not target.lower().startswith("http:"):
        assert listing.DownloadSession().get_redirect_target(answer) == target
        return
    monkeypatch.setattr(HTTPAdapter, "send", lambda *_, **__: answer)
    for ask in (lambda: list_wheels("a", IndexSettings(("https://a/",))), lambda: read_document("https://a/b")):
        with pytest.raises(FetchError) as caught:
            ask()
        assert re.search(r"it leads from https to http: http://[ab]/", caught.value.cause)
    with pytest.raises(PublishError):
        UploadIndex("stage", "https://a/simple/").list_files(["a"])


def test_folders_and_pages_on_the_disk(tmp_path: Path) -> None:
    """As pip's --find-links, and an index with a file: URL; what both have is listed once."""
    content = b"a wheel"
    expected = IndexFile(NAME, hashlib.sha256(content).hexdigest(), len(content), url=(tmp_path / NAME).as_uri())
    for name in (NAME, "abacus-1.2-py3-none-any.whl"):
        (tmp_path / name).write_bytes(content)
    write_files(tmp_path, {"simple/abacus-pjrt/index.html": f'<a href="../../{NAME}">{NAME}</a>'})
    settings = IndexSettings(((tmp_path / "simple").as_uri(),), (tmp_path,))
    assert list_wheels("abacus-pjrt", settings) == (expected,)


def test_two_places_with_different_bytes_under_one_name(tmp_path: Path) -> None:
    """Neither is taken: which one pip would bring depends on the machine."""
    write_files(tmp_path, {f"a/{NAME}": "a", f"b/{NAME}": "b"})
    with pytest.raises(FetchError, match=f"two package indexes offer different bytes as {NAME}"):
        list_wheels("abacus-pjrt", IndexSettings((), (tmp_path / "a", tmp_path / "b")))


def test_settings_are_those_of_pip() -> None:
    """Those of the command go before those of all, the environment goes before both; other commands do not count."""
    text = (
        "download.extra-index-url='https://two/simple file:///three'\n"
        "global.index-url='https://one/simple'\n"
        "global.extra-index-url='https://six/simple'\n"
        "install.index-url='https://four/simple'\n"
        ":env:.index-url='https://five/simple'\n"
        ":env:.find-links='/wheels file:///more%20wheels'\n"
        ":env:.cert='/ca.pem'\n"
    )
    assert parse_settings(text) == IndexSettings(
        ("https://five/simple", "https://two/simple", "file:///three"),
        (Path("/wheels"), Path("/more wheels")),
        "/ca.pem",
    )


def test_a_file_comes_from_the_disk_and_from_a_server(
    index: tuple[str, Path], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole, either way; it ends soon after the bytes that were expected, and is no document if it is too large."""
    url, folder = index
    write_files(folder, {"simple/a.txt": "a line", "simple/large": bytes(5 << 20)})
    for address in ((folder / "simple/a.txt").as_uri(), f"{url}a.txt"):
        assert download_file(address, tmp_path / "to", 6).read_bytes() == read_document(address) == b"a line"
    assert download_file(f"{url}large", tmp_path / "to", 6).stat().st_size == 1 << 20
    monkeypatch.setattr(listing, "_LARGEST_DOCUMENT", 2 << 20)
    with pytest.raises(FetchError):
        read_document(f"{url}large")


def test_what_is_not_there_is_named_without_the_login(index: tuple[str, Path], tmp_path: Path) -> None:
    """An address may carry one, and a message may end up in a public log."""
    url = index[0].replace("//", "//me:secret@") + "b.txt"
    for address in (url, (tmp_path / "b.txt").as_uri()):
        for read in (read_document, lambda address: download_file(address, tmp_path / "to", 1)):
            with pytest.raises(FetchError) as caught:
                read(address)
            assert "b.txt" in caught.value.what
            assert "secret" not in str(caught.value)

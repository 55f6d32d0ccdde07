# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Files by their address: from the disk and over HTTP, and nothing of a login where they are not there."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from functools import partial
from http.server import ThreadingHTTPServer
from pathlib import Path

import pytest

from package_index import QuietHandler
from pjrtwheel.errors import FetchError
from pjrtwheel.fetch import download as fetch_download
from pjrtwheel.fetch.download import download_file, read_document

TEXT = b"a line\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with one file."""
    path = tmp_path / "served"
    path.mkdir()
    (path / "a.txt").write_bytes(TEXT)
    return path


@pytest.fixture
def host(folder: Path) -> Iterator[str]:
    """Return host and port of a server of the folder."""
    with ThreadingHTTPServer(("127.0.0.1", 0), partial(QuietHandler, directory=str(folder))) as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        yield f"127.0.0.1:{server.server_port}"
        server.shutdown()


def download(url: str, folder: Path) -> bytes:
    """Return what a download wrote."""
    return download_file(url, folder / "downloaded", len(TEXT)).read_bytes()


def test_a_file_comes_from_the_disk_and_from_a_server(folder: Path, host: str) -> None:
    """Whole, either way."""
    for base in (folder.as_uri(), f"http://{host}"):
        assert download(f"{base}/a.txt", folder) == read_document(f"{base}/a.txt") == TEXT


def test_no_server_fills_the_disk(folder: Path, host: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A file ends soon after the bytes that were expected, and nothing larger than documents are is read as one."""
    (folder / "a.txt").write_bytes(bytes(5 << 20))
    assert len(download(f"http://{host}/a.txt", folder)) == 1 << 20
    monkeypatch.setattr(fetch_download, "_LARGEST_DOCUMENT", 2 << 20)
    with pytest.raises(FetchError) as caught:
        read_document(f"http://{host}/a.txt")
    assert caught.value.cause == "it has more than 2 MiB, as no document of a release"


@pytest.mark.parametrize(("read", "verb"), [(download, "download"), (lambda url, _: read_document(url), "read")])
def test_what_is_not_there_is_named_without_the_login(
    read: Callable[[str, Path], bytes], verb: str, folder: Path, host: str
) -> None:
    """An address may carry one, and a message may end up in a public log."""
    with pytest.raises(FetchError) as caught:
        read(f"http://me:secret@{host}/b.txt", folder)
    assert (caught.value.what, caught.value.cause) == (
        f"cannot {verb} http://{host}/b.txt",
        "404 Client Error: File not found",
    )
    with pytest.raises(FetchError, match=f"cannot {verb} file:"):
        read((folder / "b.txt").as_uri(), folder)

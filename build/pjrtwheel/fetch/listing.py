# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""List the wheels of a project on the index that the machine's own pip is configured for, and download by address.

The simple repository API (PEP 503, PEP 691) gives every file's name and sha256. pip takes no wheel variants and no
documents, so these are downloaded by their address, which may be a `file:` one.
"""

import re
import urllib.parse
import urllib.request
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

import requests
from packaging.utils import canonicalize_name
from pypi_simple import DistributionPackage, NoSuchProjectError, ProjectPage, PyPISimple

from pjrtwheel.errors import FetchError
from pjrtwheel.fetch.settings import IndexSettings, local_path, without_login
from pjrtwheel.files import hash_file

_SECONDS = 60
_SHOWN = 300  # characters of an error
CHUNK = 1 << 20
_LARGEST_DOCUMENT = 64 << 20
_NUMBER = re.compile(r"\[Errno -?\d+\] ")


@dataclass(frozen=True, slots=True)
class IndexFile:
    """One file that an index, or another destination of releases, offers.

    Attributes:
        filename: File name.
        sha256: Hexadecimal digest; empty where it is not stated.
        size: Length in bytes; 0 where it is not stated.
        yanked: Why it was withdrawn (PEP 592), empty without a reason; None if it was not.
        url: Where it can be downloaded from; it may have a user's name and password.
        requires_python: Its Requires-Python, as far as the index states it.
        metadata_sha256: Digest of its METADATA, if that is at its address and `.metadata` (PEP 658).
    """

    filename: str
    sha256: str
    size: int
    yanked: str | None = None
    url: str = ""
    requires_python: str = ""
    metadata_sha256: str = ""


class DownloadSession(requests.Session):
    """A session that is not led from https to http, where anybody on the way may read and change what is asked for."""

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        """Return where an answer leads, if anywhere."""
        target = super().get_redirect_target(resp)
        if target and resp.url.startswith("https:") and urllib.parse.urlsplit(target).scheme == "http":
            raise requests.exceptions.InvalidSchema(f"it leads from https to http: {without_login(target)}")
        return target


def list_wheels(project: str, settings: IndexSettings) -> tuple[IndexFile, ...]:
    """Return every wheel of a project that the indexes and folders offer, in order of name; none for an unknown one.

    Raises:
        FetchError: An index cannot be read, gives no sha256, or two of them offer different bytes under one name.
    """
    found: dict[str, IndexFile] = {}
    for file in (*_list_urls(project, settings), *_list_folders(project, settings.folders)):
        if found.setdefault(file.filename, file).sha256 != file.sha256:
            raise FetchError(
                f"two package indexes offer different bytes as {file.filename}",
                remedy="configure pip for one of them (pip config list)",
            )
    return tuple(found[name] for name in sorted(found))


def list_digests(project: str, settings: IndexSettings) -> set[str] | None:
    """Return the sha256 of every file that the main index has of a project; None where it does not have the project.

    Raises:
        FetchError: The index cannot be read.
    """
    with _asking(project, settings.urls[0], settings) as session:
        page = _read_page(project, settings.urls[0], session)
    return None if page is None else {package.digests.get("sha256", "") for package in page}


def _list_urls(project: str, settings: IndexSettings) -> Iterator[IndexFile]:
    for url in settings.urls:
        with _asking(project, url, settings) as session:
            for package in _read_page(project, url, session) or ():
                # A page may list anything; like pip, take what bears the name of the project alone.
                named = canonicalize_name(package.filename.partition("-")[0]) == project
                if named and package.package_type == "wheel":
                    if local_path(package.url) and not local_path(url):
                        raise FetchError(f"{without_login(url)} leads to files of this machine: {package.filename}")
                    yield _describe(package)


@contextmanager
def _asking(project: str, url: str, settings: IndexSettings) -> Iterator[requests.Session]:
    """Yield a session for questions about a project, whose errors become one of ours."""
    try:
        with DownloadSession() as session:
            session.verify = settings.certificate or True
            yield session
    except requests.RequestException as error:
        raise FetchError(
            f"the package index cannot be asked for {project}",
            cause=f"{without_login(url)}: {describe_failure(error)}",
            remedy="check the address; that of pip is in its configuration: python3 -m pip config list",
        ) from error


def describe_failure(error: OSError | requests.RequestException) -> str:
    """Return what went wrong in a few words: of a connection that failed, `requests` tells its whole history."""
    text = _NUMBER.sub("", str(error))
    if isinstance(error, requests.ConnectionError):
        last = text.rpartition(": ")[2].rstrip("\"')")
        return f"{last})" if "(" in last else last
    return text.partition(" for url: ")[0][:_SHOWN]  # which may carry a user's name and password


def _read_page(project: str, url: str, session: requests.Session) -> list[DistributionPackage] | None:
    """Return what one index has of a project, if it knows it; an index on the disk is a folder of pages."""
    if folder := local_path(url):
        page = folder / project / "index.html"
        return ProjectPage.from_html(project, page.read_bytes(), page.as_uri()).packages if page.is_file() else None
    try:
        with PyPISimple(url, session=session) as client:
            return client.get_project_page(project, timeout=_SECONDS).packages
    except NoSuchProjectError:
        return None


def _describe(package: DistributionPackage) -> IndexFile:
    file = describe_package(package)
    if path := local_path(package.url):
        return replace(describe_file(path, path.as_uri()), yanked=file.yanked)
    if not file.sha256:
        raise FetchError(
            f"the package index gives no sha256 for {package.filename}",
            remedy="use an index that does, as PEP 503 recommends",
        )
    return file


def describe_package(package: DistributionPackage) -> IndexFile:
    """Return a file as a page of an index has it."""
    return IndexFile(
        package.filename,
        package.digests.get("sha256", ""),
        package.size or 0,
        (package.yanked_reason or "") if package.is_yanked else None,
        package.url,
        package.requires_python or "",
        (package.metadata_digests or {}).get("sha256", ""),
    )


def _list_folders(project: str, folders: Iterable[Path]) -> Iterator[IndexFile]:
    for folder in folders:
        for path in sorted(folder.glob("*.whl")):
            if path.name.partition("-")[0].replace("_", "-").lower() == project:
                yield describe_file(path, path.absolute().as_uri())


def describe_file(path: Path, url: str) -> IndexFile:
    """Return a file on this disk as an index offers it under an address."""
    return IndexFile(path.name, hash_file(path), path.stat().st_size, url=url)


def download_file(url: str, target: Path, size: int, certificate: str = "") -> Path:
    """Write what is behind a URL to a file; the caller compares its hash.

    Where there are more bytes than expected, the download ends soon after them, so that no server fills the disk.

    Raises:
        FetchError: There is nothing, or the connection broke.
    """
    return save_chunks(_read_chunks(url, certificate), target, size)


def save_chunks(chunks: Iterable[bytes], target: Path, size: int) -> Path:
    """Write chunks to a file; where there are more bytes than expected, end soon after them."""
    with target.open("wb") as file:
        for chunk in chunks:
            file.write(chunk)
            if file.tell() > size:
                break
    return target


def read_document(url: str, certificate: str = "") -> bytes:
    """Return what is behind a URL.

    Raises:
        FetchError: There is none, it cannot be asked for, or it is larger than any document.
    """
    data = b""
    for chunk in _read_chunks(url, certificate):
        data += chunk
        if len(data) > _LARGEST_DOCUMENT:
            cause = f"it has more than {_LARGEST_DOCUMENT >> 20} MiB, as no document of a release"
            raise FetchError(f"cannot read {without_login(url)}", cause=cause)
    return data


def _read_chunks(url: str, certificate: str) -> Iterator[bytes]:
    try:
        if path := local_path(url):
            with path.open("rb") as file:
                yield from iter(partial(file.read, CHUNK), b"")
        else:
            with (
                DownloadSession() as session,
                session.get(url, timeout=_SECONDS, verify=certificate or True, stream=True) as answer,
            ):
                answer.raise_for_status()
                yield from answer.iter_content(CHUNK)
    except (OSError, requests.RequestException) as error:
        raise FetchError(f"cannot read {without_login(url)}", cause=describe_failure(error)) from error

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which index is asked: that of the machine's own pip, or one by its address; and what an address is."""

import ast
import subprocess
import sys
import urllib.parse
import urllib.request
from dataclasses import dataclass
from pathlib import Path

from pypi_simple import PYPI_SIMPLE_ENDPOINT

from pjrtwheel.errors import FetchError, UsageError

# Of pip's configuration, each going before the one before it.
_SECTIONS = ("global", "download", ":env:")


@dataclass(frozen=True, slots=True)
class IndexSettings:
    """Where pip looks for packages.

    Attributes:
        urls: Indexes, the first one being the main one; a `file:` URL for one on this disk.
        folders: Folders of wheels (`--find-links`).
        certificate: File of certificates to trust; empty for the system's.
    """

    urls: tuple[str, ...]
    folders: tuple[Path, ...] = ()
    certificate: str = ""


def parse_settings(text: str) -> IndexSettings:
    r"""Turn what `pip config list` prints into the settings, as `pip download` has them.

    >>> parse_settings("global.find-links='/srv/wheels'\n:env:.no-index='1'")
    IndexSettings(urls=(), folders=(PosixPath('/srv/wheels'),), certificate='')
    """
    sections: dict[str, dict[str, str]] = {}
    for line in text.splitlines():
        key, _, value = line.partition("=")
        section, _, option = key.rpartition(".")
        sections.setdefault(section, {})[option] = str(ast.literal_eval(value))
    found = {name: value for section in _SECTIONS for name, value in sections.get(section, {}).items()}
    urls = [found.get("index-url", PYPI_SIMPLE_ENDPOINT), *found.get("extra-index-url", "").split()]
    no_index = found.get("no-index", "") not in {"", "0", "false", "no", "off"}
    links = found.get("find-links", "").split()
    return IndexSettings(
        () if no_index else tuple(urls), tuple(local_path(link) or Path(link) for link in links), found.get("cert", "")
    )


def read_settings() -> IndexSettings:
    """Ask this Python's pip where it looks for packages.

    Raises:
        FetchError: It cannot be asked.
    """
    command = [sys.executable, "-P", "-m", "pip", "config", "list", "--disable-pip-version-check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise FetchError("pip does not say which index it is configured for", cause=done.stderr.strip()[-200:])
    return parse_settings(done.stdout)


def settings_for(url: str) -> IndexSettings:
    """Return the settings for an index that a person named, with the certificates that pip trusts."""
    return IndexSettings((url,), certificate=read_settings().certificate)


def is_address(where: str, schemes: tuple[str, ...] = ("https://", "http://", "file://")) -> bool:
    """Return whether a person named an address; otherwise it is a path.

    Raises:
        UsageError: It is an address of a kind that is not read.
    """
    if "://" in where and not where.startswith(schemes):
        raise UsageError(
            f"unknown kind of address: {where!r}", remedy=f"it begins with {', '.join(schemes[:-1])} or {schemes[-1]}"
        )
    return "://" in where


def without_login(url: str) -> str:
    """Return a URL as it may be shown: it may carry a user's name and password."""
    parts = urllib.parse.urlsplit(url)
    return parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()


def local_path(url: str) -> Path | None:
    """Return the path that a `file:` URL names; nothing for any other URL."""
    parts = urllib.parse.urlsplit(url)
    return Path(urllib.request.url2pathname(parts.path)) if parts.scheme == "file" else None

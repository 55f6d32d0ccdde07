# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""How servers are spoken to: credentials out of an address, to one host only, and no waiting without end."""

from __future__ import annotations

import urllib.parse
from dataclasses import dataclass, field
from typing import Any

import requests
from requests.adapters import HTTPAdapter
from requests.auth import AuthBase, HTTPBasicAuth


@dataclass(frozen=True, slots=True)
class Credentials:
    """Who reads or uploads, as an address states it; empty where it states none."""

    username: str = ""
    password: str = field(default="", repr=False)


NOBODY = Credentials()


class SameHost(AuthBase):
    """Credentials that are sent to one host only: an index may link to files on others."""

    def __init__(self, url: str, credentials: Credentials) -> None:
        """Remember the host of an address, and how it is spoken to: not in clear text where that is not asked for."""
        self._host = urllib.parse.urlsplit(url)[:2]
        self._basic = HTTPBasicAuth(credentials.username, credentials.password)

    def __call__(self, request: requests.PreparedRequest) -> requests.PreparedRequest:
        """Sign a request if it is for that host."""
        same = urllib.parse.urlsplit(request.url or "")[:2] == self._host
        return self._basic(request) if same else request


class Impatient(HTTPAdapter):
    """Give up when a server stays silent for some seconds, which twine would wait for without end."""

    def __init__(self, seconds: float) -> None:
        """Remember the limit."""
        super().__init__()
        self._seconds = seconds

    def send(self, request: requests.PreparedRequest, *args: Any, **options: Any) -> requests.Response:
        """Send a request within the limit."""
        return super().send(request, *args, **{**options, "timeout": self._seconds})


def split_credentials(url: str) -> tuple[str, Credentials]:
    """Return an address without the credentials in it, which are for no message, and these.

    Addresses of one place are written in one way: with the host in small letters, and a slash at the end.

    >>> split_credentials("https://me:p%40ss@Example.org:8080/simple")[0]
    'https://example.org:8080/simple/'
    """
    parts = urllib.parse.urlsplit(url)
    _, _, host = parts.netloc.rpartition("@")
    named = Credentials(urllib.parse.unquote(parts.username or ""), urllib.parse.unquote(parts.password or ""))
    path = f"{parts.path.rstrip('/')}/" if host else parts.path
    return parts._replace(netloc=host.lower(), path=path).geturl(), named


def limit_silence(session: requests.Session, seconds: float) -> None:
    """Give up every request of a session after some seconds without a byte."""
    for scheme in ("http://", "https://"):
        session.mount(scheme, Impatient(seconds))

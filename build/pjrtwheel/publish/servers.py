# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""How servers are spoken to, and what their answers, or their silence, mean for whoever publishes.

Credentials in an address go to its host only and into no message.
"""

import urllib.parse
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import requests
from twine.exceptions import NonInteractive, TwineException

from pjrtwheel.errors import PublishError, printable
from pjrtwheel.fetch.listing import describe_failure
from pjrtwheel.files import FULL

_CREDENTIALS = "uploads: check TWINE_USERNAME and TWINE_PASSWORD or .pypirc; reading: the address or .netrc"
# Status → what it means, and what to do.
_MEANINGS = {
    401: ("it does not know who asks", _CREDENTIALS),
    403: ("who asks may not do that", _CREDENTIALS),
    404: ("there is nothing at this address", "check the address"),
    409: ("it has a file of that name with other bytes, or takes none", "publish under another version"),
    413: (
        "the file is larger than it takes",
        "have its limit raised, and write it as file_limit into releases/destinations.toml",
    ),
}


Credentials = tuple[str, str]  # user and password


def same_host(url: str, other: str) -> bool:
    """Return whether two addresses are of one host that is spoken to in one way.

    >>> same_host("https://example.org/a.whl", "https://example.org/simple/"), same_host("http://a/", "https://a/")
    (True, False)
    """
    return urllib.parse.urlsplit(url)[:2] == urllib.parse.urlsplit(other)[:2]


def split_credentials(url: str) -> tuple[str, Credentials | None]:
    """Return an address without the credentials in it, which are for no message, and these if there are any.

    Addresses of one place are written in one way: with the host in small letters, and a slash at the end.

    >>> split_credentials("https://me:p%40ss@Example.org:8080/simple")[0]
    'https://example.org:8080/simple/'
    """
    parts = urllib.parse.urlsplit(url)
    _, _, host = parts.netloc.rpartition("@")
    named = urllib.parse.unquote(parts.username or ""), urllib.parse.unquote(parts.password or "")
    path = f"{parts.path.rstrip('/')}/" if host else parts.path
    return parts._replace(netloc=host.lower(), path=path).geturl(), named if any(named) else None


def explain_answer(what: str, answer: requests.Response) -> PublishError:
    """Turn an answer that is no success into an error."""
    said = f"it answered {answer.status_code} {printable(answer.reason or '')}".rstrip()
    if answer.is_redirect:
        return PublishError(what, cause=f"{said}: the address leads elsewhere", remedy="check the address")
    page = "html" in answer.headers.get("Content-Type", "")  # which is for a browser
    meaning, remedy = _MEANINGS.get(answer.status_code, ("" if page else printable(answer.text), ""))
    return PublishError(what, cause=f"{said}: {meaning}".rstrip(": "), remedy=remedy)


@contextmanager
def explained(what: str, target: Path | None = None) -> Iterator[None]:
    """Turn errors of the network, of twine and of this disk into a `PublishError` that begins with `what`.

    Args:
        what: Begins the error.
        target: The file that is written meanwhile, if one is: a full disk does not say which.
    """
    try:
        yield
    except NonInteractive as error:
        raise PublishError(what, cause="there are no credentials for it", remedy=_CREDENTIALS) from error
    except TwineException as error:
        if isinstance(error.__context__, OSError):  # of .pypirc
            raise _explain_system(what, error.__context__) from error
        raise PublishError(what, cause=printable(str(error))) from error
    except requests.RequestException as error:
        raise _explain_request(what, error) from error
    except OSError as error:
        raise _explain_system(what, error, target) from error


def _explain_request(what: str, error: requests.RequestException) -> PublishError:
    if isinstance(error, requests.HTTPError) and error.response is not None:  # of a page
        return explain_answer(what, error.response)
    remedy = "check the address, that the server runs, and its certificate, which REQUESTS_CA_BUNDLE can name"
    return PublishError(what, cause=describe_failure(error), remedy=remedy)


def _explain_system(what: str, error: OSError, path: Path | None = None) -> PublishError:
    words = "the disk is full" if error.errno in FULL else (error.strerror or "the system refused it").lower()
    place = error.filename or path
    remedy = "free some space there" if error.errno in FULL else "check the path, and its permissions"
    return PublishError(what, cause=f"{words}: {place}" if place else words, remedy=remedy)

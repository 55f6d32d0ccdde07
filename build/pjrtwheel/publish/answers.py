# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a server's answer, or its silence, means for whoever publishes: the bytes, or cause and remedy of an error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import requests
from pypi_simple import UnsupportedContentTypeError, UnsupportedRepoVersionError
from twine.exceptions import NonInteractive, TwineException

from pjrtwheel.errors import PublishError

# How long to wait before a request is repeated that the server or the network failed.
RETRY_WAITS_S = (1.0, 4.0)
_CHUNK = 1 << 20
_SHOWN = 200
_CREDENTIALS = "check TWINE_USERNAME and TWINE_PASSWORD, or the section of .pypirc"


class PassingError(PublishError):
    """What may have passed when the request is repeated: a server or a network that failed."""


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


def explain_answer(what: str, answer: requests.Response) -> PublishError:
    """Turn an answer that is no success into an error."""
    said = f"it answered {answer.status_code} {printable(answer.reason or '')}".rstrip()
    if answer.is_redirect:
        return PublishError(what, cause=f"{said}: the address leads elsewhere", remedy="check the address")
    if answer.status_code in {408, 429}:
        return PassingError(what, cause=f"{said}: it is asked too often, or slowly", remedy="wait some minutes")
    if answer.status_code >= 500:
        return PassingError(what, cause=f"{said}: the server failed", remedy="wait until the server works again")
    meaning, remedy = _MEANINGS.get(answer.status_code, (_said_text(answer), ""))
    return PublishError(what, cause=f"{said}: {meaning}".rstrip(": "), remedy=remedy)


@contextmanager
def explained(what: str) -> Iterator[None]:
    """Turn errors of the network, of twine and of unreadable pages into a `PublishError` that begins with `what`."""
    try:
        yield
    except requests.HTTPError as error:  # of a page
        if error.response is None:
            raise PublishError(what) from error
        raise explain_answer(what, error.response) from error
    except requests.Timeout as error:
        remedy = "wait until it answers, or give it longer with --timeout"
        raise PassingError(what, cause="it stayed silent for too long", remedy=remedy) from error
    except requests.exceptions.SSLError as error:
        remedy = "name its certificates in REQUESTS_CA_BUNDLE"
        raise PublishError(what, cause="its certificate is not trusted", remedy=remedy) from error
    except (requests.ConnectionError, requests.exceptions.ChunkedEncodingError) as error:
        cut = any(sign in repr(error) for sign in ("IncompleteRead", "RemoteDisconnected", "reset", "Broken pipe"))
        cause = "the connection was cut" if cut else "it cannot be reached"
        raise PassingError(what, cause=cause, remedy="see that the server runs") from error
    except NonInteractive as error:
        raise PublishError(what, cause="there are no credentials for it", remedy=_CREDENTIALS) from error
    except TwineException as error:
        raise PublishError(what, cause=printable(str(error))) from error
    except (UnsupportedContentTypeError, UnsupportedRepoVersionError, requests.RequestException, ValueError) as error:
        cause = f"it answers with something else than the simple repository API ({type(error).__name__})"
        raise PublishError(what, cause=cause, remedy="check the address: it usually ends in /simple/") from error


def save_answer(what: str, answer: requests.Response, target: Path, size: int) -> None:
    """Write the bytes of an answer, which was asked for as a stream, to a file.

    Args:
        what: Begins the error.
        answer: The answer.
        target: The file.
        size: How many bytes there should be, negative if that is not known. Where there are more, the download ends
            soon after them, so that no server fills the disk; the file's hash is another one then.

    Raises:
        PublishError: It is no success; the error begins with `what`.
    """
    if not answer.ok:
        raise explain_answer(what, answer)
    written = 0
    with target.open("wb") as stream:
        for chunk in answer.iter_content(_CHUNK):
            written += stream.write(chunk)
            if 0 <= size < written:
                return


def _said_text(answer: requests.Response) -> str:
    """Return what a server says in plain words; a page is for a browser."""
    return "" if "html" in answer.headers.get("Content-Type", "") else printable(answer.text)


def printable(text: str) -> str:
    """Return untrusted text as a part of one line of a terminal."""
    return "".join(letter if letter.isprintable() else " " for letter in text)[:_SHOWN].strip()

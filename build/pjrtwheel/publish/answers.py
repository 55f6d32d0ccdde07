# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a server's answer, or its silence, means for whoever publishes: the bytes, or cause and remedy of an error."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import requests
from twine.exceptions import NonInteractive, TwineException

from pjrtwheel.errors import PublishError, printable
from pjrtwheel.files import FULL

# How long to wait before a request is repeated that the server or the network failed.
RETRY_WAITS_S = (1.0, 4.0)
_CHUNK = 1 << 20
# Addresses that no request can be made of.
_NO_ADDRESS = (requests.exceptions.MissingSchema, requests.exceptions.InvalidSchema, requests.exceptions.InvalidURL)


@dataclass(frozen=True, slots=True)
class Advice:
    """What helps with a server, in the words of whoever asks it.

    Attributes:
        credentials: Where its credentials are to be looked at.
        patience: What to do when it stays silent.
    """

    credentials: str
    patience: str = "wait until it answers"


class PassingError(PublishError):
    """What may have passed when the request is repeated: a server or a network that failed."""


# Status → what it means, and what to do.
_MEANINGS = {
    401: ("it does not know who asks", ""),
    403: ("who asks may not do that", ""),
    404: ("there is nothing at this address", "check the address"),
    409: ("it has a file of that name with other bytes, or takes none", "publish under another version"),
    413: (
        "the file is larger than it takes",
        "have its limit raised, and write it as file_limit into releases/destinations.toml",
    ),
}


def explain_answer(what: str, answer: requests.Response, advice: Advice) -> PublishError:
    """Turn an answer that is no success into an error."""
    said = f"it answered {answer.status_code} {printable(answer.reason or '')}".rstrip()
    if answer.is_redirect:
        return PublishError(what, cause=f"{said}: the address leads elsewhere", remedy="check the address")
    if answer.status_code in {408, 429}:
        return PassingError(what, cause=f"{said}: it is asked too often, or slowly", remedy="wait some minutes")
    if answer.status_code >= 500:
        return PassingError(what, cause=f"{said}: the server failed", remedy="wait until the server works again")
    meaning, remedy = _MEANINGS.get(answer.status_code, (_said_text(answer), ""))
    remedy = advice.credentials if answer.status_code in {401, 403} else remedy
    return PublishError(what, cause=f"{said}: {meaning}".rstrip(": "), remedy=remedy)


@contextmanager
def explained(what: str, advice: Advice, target: Path | None = None) -> Iterator[None]:
    """Turn errors of the network, of twine and of this disk into a `PublishError` that begins with `what`.

    Args:
        what: Begins the error.
        advice: What helps with this server.
        target: The file that is written meanwhile, if one is: a full disk does not say which.
    """
    try:
        yield
    except requests.exceptions.InvalidJSONError:  # whoever asked knows what should have been there
        raise
    except TwineException as error:
        raise _explain_twine(what, error, advice) from error
    except requests.RequestException as error:
        raise _explain_request(what, error, advice) from error
    except OSError as error:
        raise explain_system(what, error, target) from error


def _explain_twine(what: str, error: TwineException, advice: Advice) -> PublishError:
    if isinstance(error, NonInteractive):
        return PublishError(what, cause="there are no credentials for it", remedy=advice.credentials)
    if isinstance(error.__context__, OSError):  # of .pypirc
        return explain_system(what, error.__context__)
    return PublishError(what, cause=printable(str(error)))


def _explain_request(what: str, error: requests.RequestException, advice: Advice) -> PublishError:
    if isinstance(error, requests.HTTPError) and error.response is not None:  # of a page
        return explain_answer(what, error.response, advice)
    if isinstance(error, requests.Timeout):
        return PassingError(what, cause="it stayed silent for too long", remedy=advice.patience)
    if isinstance(error, requests.exceptions.SSLError):
        remedy = "name its certificates in REQUESTS_CA_BUNDLE"
        return PublishError(what, cause="its certificate is not trusted", remedy=remedy)
    if isinstance(error, (requests.ConnectionError, requests.exceptions.ChunkedEncodingError)):
        cut = any(sign in repr(error) for sign in ("IncompleteRead", "RemoteDisconnected", "reset", "Broken pipe"))
        cause = "the connection was cut" if cut else "it cannot be reached"
        return PassingError(what, cause=cause, remedy="see that the server runs")
    if isinstance(error, _NO_ADDRESS):
        return PublishError(what, cause="its address is none of a web server", remedy="check the address")
    cause = "its answer cannot be read, or leads elsewhere again and again"
    return PublishError(what, cause=cause, remedy="check the address")


def explain_system(what: str, error: OSError, path: Path | None = None) -> PublishError:
    """Turn what the system of this machine refused into an error; `path` is the file if the system does not say it."""
    words = "the disk is full" if error.errno in FULL else (error.strerror or "the system refused it").lower()
    place = error.filename or path
    remedy = "free some space there" if error.errno in FULL else "check the path, and its permissions"
    return PublishError(what, cause=f"{words}: {place}" if place else words, remedy=remedy)


def save_answer(what: str, answer: requests.Response, target: Path, size: int, advice: Advice) -> None:
    """Write the bytes of an answer, which was asked for as a stream, to a file.

    Args:
        what: Begins the error.
        answer: The answer.
        target: The file.
        size: How many bytes there should be, negative if that is not known. Where there are more, the download ends
            soon after them, so that no server fills the disk; the file's hash is another one then.
        advice: What helps with this server.

    Raises:
        PublishError: It is no success; the error begins with `what`.
    """
    if not answer.ok:
        raise explain_answer(what, answer, advice)
    written = 0
    with target.open("wb") as stream:
        for chunk in answer.iter_content(_CHUNK):
            written += stream.write(chunk)
            if 0 <= size < written:
                return


def _said_text(answer: requests.Response) -> str:
    """Return what a server says in plain words; a page is for a browser."""
    return "" if "html" in answer.headers.get("Content-Type", "") else printable(answer.text)

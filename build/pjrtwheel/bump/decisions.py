# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a bump leaves to a person: each with the file to edit, and what to write there."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.backend import Backend
from pjrtwheel.errors import PjrtWheelError
from pjrtwheel.pin.text import XLA_FILE
from pjrtwheel.pin.upstream import UnboundedError
from pjrtwheel.release.checks import describe_commits, describe_contradiction
from pjrtwheel.release.model import OVERRIDES_FILE, Release
from pjrtwheel.verify.checkers import UNDECLARED


@dataclass(frozen=True, slots=True)
class Decision:
    """What a person has to decide: the file to edit, what is open, and why, and what can be written there."""

    path: str
    question: str
    edit: str

    def __str__(self) -> str:
        """Return an item of a list to tick off."""
        return f"- [ ] `{self.path}`: {self.question}. To write: {self.edit}"


def decide(release: Release, backends: Iterable[str]) -> Iterator[Decision]:
    """Yield what is open of a pinned release: backends without a library, and inputs that do not go together."""
    for name in backends:
        causes = sorted({entry.cause for entry in release.absent if entry.key.startswith(f"plugin.{name}.")})
        if causes and not release.platforms(name):
            yield Decision(
                OVERRIDES_FILE,
                f"{name} has no library: {'; '.join(causes)}. Leave it out, or take another version's",
                f'["{release.version}".{name}] with version = "..." and reason = "..."',
            )
    if commits := describe_commits(release):
        question = f"{commits}. Take them as they are, or wait for others"
        edit = f"nothing by hand: ./noxw pin {release.version} reads it again"
        yield Decision(f"releases/{release.version}.toml", question, edit)
    if release.xla is None:
        question = "nobody has written down which commit of XLA the release was made from; --xla source needs it"
        yield Decision(XLA_FILE, question, f'["{release.version}"] with commit, sha256, bazel, verified, origin')
    elif question := describe_contradiction(release):
        yield Decision(XLA_FILE, question, "verified = true, once it was read in JAX's tree at the tag")


def decide_failure(error: PjrtWheelError, name: str, backends: Mapping[str, Backend]) -> Iterator[Decision]:
    """Yield what a step on a backend of this name, if any, failed for want of."""
    if isinstance(error, UnboundedError):
        for backend in backends.values():
            if f'upstream = "{error.upstream}"' in backend.path.read_text("utf-8"):
                yield Decision(
                    _path(backend), error.what, f'bounds = {{ {error.project} = ">=...,<..." }}, with its upstream'
                )
    elif UNDECLARED in error.cause and name in backends:
        needed = re.findall(rf"needs (.+), {re.escape(UNDECLARED)}", error.cause)
        question = f"the libraries of {name} need {'; '.join(needed)}, which is neither in the wheel nor part of Linux"
        yield Decision(_path(backends[name]), question, "external = [...] with those of the vendor's installation")


def _path(backend: Backend) -> str:
    return Path("plugins", backend.name, backend.path.name).as_posix()

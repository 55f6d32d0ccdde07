# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The pages about the sessions of nox, and about the commands that no session runs."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from pjrtwheel.backend import load_backends
from pjrtwheel.cli import COMMANDS, PROGRAM, make_parser
from pjrtwheel.reference.arguments import render_arguments
from pjrtwheel.reference.markdown import code, paragraph, plain, render_table
from pjrtwheel.reference.sessions import ENVIRONMENT, Session, load_noxfile, load_sessions

_HEAD = """\
# Sessions of nox

`./noxw -s SESSION -- ARGUMENTS` runs one; `./noxw -l` lists them. Arguments of a session come after `--`. Paths in them
are relative to the folder that it is called in. `--debug` shows the traceback of an error.
"""
_TITLES = {
    "wheel": "Make wheels and what goes with them",
    "proof": "Prove and inspect",
    "release": "Release",
    "update": "Update what is pinned or generated",
    "tidy": "Tidy up",
    "debian": "Run in a Debian root",
    "": "Check, test and measure",
}
_COMMANDS_ABOUT = (
    f"`{PROGRAM} COMMAND` with `PYTHONPATH=build`; most have a session of nox ([sessions](sessions.md)). Those here "
    "are called by the build, by workflows, or by hand."
)


def render_sessions(root: Path) -> str:
    """Return the page of all sessions, by tag; those that run one program are explained together."""
    sessions = list(load_sessions(root).values())
    backends = list(load_backends(root))
    own = [session for session in sessions if not session.name.startswith(ENVIRONMENT)]
    parts = [_HEAD]
    for tag in dict.fromkeys([*_TITLES, *(session.tag for session in own)]):
        parts.append(f"## {_TITLES.get(tag, tag)}\n")
        tagged = [session for session in own if session.tag == tag]
        groups: dict[str, list[Session]] = {session.program or session.name: [] for session in tagged}
        for session in tagged:
            groups[session.program or session.name].append(session)
        parts += itertools.chain.from_iterable(_render_group(group, backends) for group in groups.values())
    parts += ["## Environments\n", *_render_environments(sessions)]
    return "\n".join(parts) + "\n"


def _render_group(group: Sequence[Session], backends: Sequence[str]) -> Iterator[str]:
    """Yield a heading, what the sessions say of themselves, and their arguments."""
    summaries = _merge_backends(group, backends)
    yield f"### {', '.join(map(code, summaries))}\n"
    if len(summaries) == 1:
        yield paragraph(plain(next(iter(summaries.values())))) + "\n"
    else:
        yield (
            render_table(("session", "what it does"), ((code(name), plain(text)) for name, text in summaries.items()))
            + "\n"
        )
    first = group[0]
    given = [word for session in group for word in _words(session)]
    if first.parser is not None and (table := render_arguments(first.parser, given)):
        yield table + "\n"
    elif first.pytest:
        yield "Arguments after `--` are pytest's.\n"
    elif first.choices:
        yield paragraph(f"Names: {', '.join(map(code, first.choices))}.") + "\n"


def _words(session: Session) -> Sequence[str]:
    """Return what a session gives itself: its first argument, and options without their values."""
    first = session.given[:1]
    return [*first, *(word for word in session.given[1:] if word.startswith("-"))]


def _merge_backends(group: Iterable[Session], backends: Sequence[str]) -> dict[str, str]:
    """Return name → summary, with one entry for the sessions that every backend has.

    >>> _merge_backends([Session("smoke_cpu", "", "cpu."), Session("smoke_tpu", "", "tpu.")], ["cpu", "tpu"])
    {'smoke_BACKEND': 'BACKEND.'}
    """
    merged = {}
    ends = {session.name.rpartition("_")[2] for session in group}
    for session in group:
        end = session.name.rpartition("_")[2]
        if end in backends and ends.issuperset(backends):
            merged[session.name.replace(end, "BACKEND")] = session.summary.replace(end, "BACKEND")
        else:
            merged[session.name] = session.summary
    return merged


def _render_environments(sessions: Iterable[Session]) -> Iterator[str]:
    yield "Sessions that need one make it; it is made again when its lock in `build/` changes.\n"
    yield render_table(
        ("session", "what it does"),
        ((code(entry.name), entry.summary) for entry in sessions if entry.name.startswith(ENVIRONMENT)),
    )


def render_commands(root: Path) -> str:
    """Return the page of the commands that no session runs."""
    with_session = {arguments[0] for _, _, arguments in load_noxfile(root).COMMANDS.values()}
    parts = ["# Commands without a session\n", paragraph(_COMMANDS_ABOUT) + "\n"]
    for name, summary in COMMANDS.items():
        if name not in with_session:
            parts += [f"## {code(name)}\n", paragraph(f"{summary[0].upper()}{summary[1:]}.") + "\n"]
            if table := render_arguments(make_parser(name)):
                parts.append(table + "\n")
    return "\n".join(parts).rstrip("\n") + "\n"

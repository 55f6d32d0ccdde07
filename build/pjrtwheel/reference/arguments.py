# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The arguments that a parser takes, as rows of a table."""

from __future__ import annotations

import argparse
from collections.abc import Collection

from pjrtwheel.reference.markdown import code, plain, render_table

_EVERYWHERE = frozenset({"--help", "--root"})  # which repository it is, a session says itself
_REPEATED = frozenset({"_AppendAction", "_ExtendAction"})  # argparse's own names


def list_arguments(parser: argparse.ArgumentParser, given: Collection[str] = ()) -> list[argparse.Action]:
    """Return what people may say, in order: without what is given for them, unless it may be repeated."""
    words = {word.partition("=")[0] for word in given}
    named = any(not word.startswith("-") for word in words)
    return [
        action
        for action in parser._actions  # noqa: SLF001 - a parser has no other list of them
        if action.help != argparse.SUPPRESS
        and _EVERYWHERE.isdisjoint(action.option_strings)
        and (_is_repeated(action) or words.isdisjoint(action.option_strings))
        and (action.option_strings or not named)
    ]


def _is_repeated(action: argparse.Action) -> bool:
    return type(action).__name__ in _REPEATED


def render_arguments(parser: argparse.ArgumentParser, given: Collection[str] = ()) -> str:
    """Return a table of what `list_arguments` lists; empty if there is nothing."""
    rows = [(code(_name(action)), _explain(parser, action)) for action in list_arguments(parser, given)]
    return render_table(("argument", "meaning"), rows) if rows else ""


def _metavar(action: argparse.Action) -> str:
    if action.metavar:
        return str(action.metavar)
    if action.choices is not None:
        return "|".join(map(str, action.choices))
    return action.dest.upper()


def _name(action: argparse.Action) -> str:
    """Return the argument as one types it, such as `--proofs FILE...`."""
    value = _metavar(action)
    match action.nargs:
        case 0:
            value = ""
        case "?":
            value = f"[{value}]"
        case "*":
            value = f"[{value}...]"
        case "+" | argparse.REMAINDER:
            value = f"{value}..."
        case int(number):
            value = " ".join([value] * number)
    if not action.option_strings:
        return value
    return f"{', '.join(action.option_strings)} {value}".strip()


def _explain(parser: argparse.ArgumentParser, action: argparse.Action) -> str:
    """Return the help of an argument with what argparse fills in, and whether it is required or may be repeated."""
    text = plain((action.help or "") % (vars(action) | {"prog": parser.prog}))
    notes = ["required"] if action.option_strings and action.required else []
    notes += ["may be repeated"] if _is_repeated(action) and "repeat" not in text else []
    return "; ".join([text, *notes])

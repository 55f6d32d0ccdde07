# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The parsers of the two command lines, for the pages that sphinx-argparse-cli makes of them."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping

from jaxlib_select import cli as select
from pjrtwheel import cli as tooling
from pjrtwheel.cli.commands import COMMANDS


def tooling_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands of the tooling, for the page about them."""
    return _join("./noxw", COMMANDS, tooling.make_parser)


def select_parser() -> argparse.ArgumentParser:
    """Return the parser of all commands of `jaxlib-select`, for the page about them."""
    return _join(select.PROGRAM, select.COMMANDS, select.make_parser)


def _join(
    program: str, commands: Mapping[str, str], make_parser: Callable[[str], argparse.ArgumentParser]
) -> argparse.ArgumentParser:
    """Make one parser out of those of commands, which a program imports only as they are asked for."""
    joined = argparse.ArgumentParser(prog=program, usage=f"{program} COMMAND ...", add_help=False)
    subparsers = joined.add_subparsers()
    for name, summary in commands.items():
        parser = make_parser(name)
        for action in parser._actions:  # noqa: SLF001 - a parser has no other list of them
            if not {"--help", "--root"}.isdisjoint(action.option_strings):  # every command has them
                action.help = argparse.SUPPRESS
        about = f"{summary[0].upper()}{summary[1:]}."
        subparsers.add_parser(name, parents=[parser], add_help=False, prog=parser.prog, description=about)
    return joined

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The reference of two command lines: `{commands} PROGRAM NAME...` on a page describes these commands of a program."""

from __future__ import annotations

import argparse
from typing import ClassVar

from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from jaxlib_select import cli as select
from pjrtwheel import cli as tooling

_PROGRAMS = {tooling.PROGRAM: tooling.make_parser, select.PROGRAM: select.make_parser}
_EVERYWHERE = {"--help", "--root"}  # every command has them
_WIDTH = 80
_PLAIN = {"positional arguments", "options"}  # titles that say nothing


class Commands(SphinxDirective):
    """What the parser of each command says: one section with its summary, its usage and its options."""

    required_arguments: ClassVar[int] = 1
    final_argument_whitespace: ClassVar[bool] = True

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        program, *names = self.arguments[0].split()
        return [self._describe(name, _PROGRAMS[program](name)) for name in names]

    def _describe(self, name: str, parser: argparse.ArgumentParser) -> nodes.section:
        summary = parser.description or name
        found = nodes.section("", nodes.title(name, name), names=[name])
        self.state.document.note_implicit_target(found)
        found += nodes.paragraph(text=f"{summary[0].upper()}{summary[1:]}.")
        if (usage := _usage(parser)) != parser.prog:
            found += nodes.literal_block(text=usage, language="none")
        formatter = argparse.HelpFormatter(parser.prog)
        listed = nodes.definition_list(classes=["options"])
        for group in parser._action_groups:  # noqa: SLF001 - a parser has no other list of them
            shown = [one for one in group._group_actions if _EVERYWHERE.isdisjoint(one.option_strings)]  # noqa: SLF001
            if shown and group.title not in _PLAIN:
                found += [listed, nodes.paragraph(text=f"{str(group.title).capitalize()}:")]
                listed = nodes.definition_list(classes=["options"])
            for action in shown:
                term = nodes.literal(text=formatter._format_action_invocation(action))  # noqa: SLF001
                about = nodes.definition("", _paragraph(formatter._expand_help(action)))  # noqa: SLF001
                listed += nodes.definition_list_item("", nodes.term("", "", term), about)
        found += listed
        if parser.epilog:
            found += _paragraph(parser.epilog)
        return found


def _paragraph(text: str) -> nodes.paragraph:
    """Return a paragraph, with what is between backticks as code."""
    parts = (nodes.literal(text=part) if i % 2 else nodes.Text(part) for i, part in enumerate(text.split("`")))
    return nodes.paragraph("", "", *parts)


def _usage(parser: argparse.ArgumentParser) -> str:
    """Return the command with what it cannot do without; the options are below it."""
    groups = [group for group in parser._mutually_exclusive_groups if group.required]  # noqa: SLF001
    grouped = [action for group in groups for action in group._group_actions]  # noqa: SLF001
    wanted = [one for one in parser._actions if one.required or not one.option_strings or one in grouped]  # noqa: SLF001
    formatter = argparse.HelpFormatter(parser.prog, width=_WIDTH)
    formatter.add_usage(None, wanted, groups, prefix="")
    return formatter.format_help().strip()


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("commands", Commands)
    return {"parallel_read_safe": True}

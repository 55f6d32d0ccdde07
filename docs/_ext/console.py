# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The reference of two command lines: `{commands}` describes commands of a program, which are its content."""

import argparse
from pathlib import Path

import jinja2
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from jaxlib_select import cli as select
from pjrtwheel import cli as tooling

_PROGRAMS = {module.PROGRAM: (module.make_parser, module.COMMANDS) for module in (tooling, select)}
_TEXT = Path(__file__).with_name("command.md.jinja").read_text("utf-8")


class Commands(SphinxDirective):
    """What the parser of each command says, in a section of its own.

    Without content: a table of all commands, whose links make the build fail where a command has no section.
    """

    has_content, required_arguments = True, 1

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        make_parser, known = _PROGRAMS[self.arguments[0]]
        parsers = {name: make_parser(name) for name in " ".join(self.content).split() or known}
        template = jinja2.Template(_TEXT, autoescape=True, trim_blocks=True)
        text = template.render(commands=parsers, find_usage=find_usage, summary=not self.content)
        return self.parse_text_to_nodes(text, allow_section_headings=True)


def find_usage(parser: argparse.ArgumentParser) -> str:
    """Return a command with all that it cannot do without."""
    groups = [group for group in parser._mutually_exclusive_groups if group.required]  # noqa: SLF001 - no other list
    grouped = [action for group in groups for action in group._group_actions]  # noqa: SLF001
    wanted = [one for one in parser._actions if one.required or not one.option_strings or one in grouped]  # noqa: SLF001
    formatter = argparse.HelpFormatter(parser.prog, width=80)
    formatter.add_usage(None, wanted, groups, prefix="")
    return formatter.format_help().strip()


def setup(app: Sphinx) -> None:
    """Register the directive."""
    app.add_directive("commands", Commands)

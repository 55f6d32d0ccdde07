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

_PROGRAMS = {tooling.PROGRAM: tooling.make_parser, select.PROGRAM: select.make_parser}
_TEXT = Path(__file__).with_name("command.md.jinja").read_text("utf-8")


class Commands(SphinxDirective):
    """A table of some commands, then what the parser of each says, in a section of its own."""

    has_content = True

    def run(self) -> list[nodes.Node]:
        """Return the sections."""
        program, *names = " ".join(self.content).split()
        template = jinja2.Template(_TEXT, autoescape=True, trim_blocks=True)
        text = template.render(commands={name: _PROGRAMS[program](name) for name in names}, find_usage=find_usage)
        table, heading, sections = text.partition("### ")
        self.state_machine.node.extend(self.parse_text_to_nodes(table))  # sections are put there while they are parsed
        return self.parse_text_to_nodes(heading + sections, allow_section_headings=True)


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

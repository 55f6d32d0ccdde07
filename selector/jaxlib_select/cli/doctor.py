# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`doctor`: say what JAX will find and use in an environment, and list the problems.

Exit status 1: JAX fails, lacks a part of what it uses here, or would silently run on the CPU while an accelerator is
present.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from dataclasses import replace

from jaxlib_select.cli import arguments
from jaxlib_select.cli.terminal import describe_terminal, dress
from jaxlib_select.doctor.confirm import ask_jax, compare
from jaxlib_select.doctor.examine import examine_here
from jaxlib_select.doctor.report import ERROR, Report, sort_findings
from jaxlib_select.installed.plugins import NOT_IMPORTED


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    arguments.add_python(parser)
    arguments.add_machine(parser)
    arguments.add_installer(parser)
    parser.add_argument("--import", dest="ask", action="store_true", help="also start JAX, and compare with that")
    parser.add_argument("--json", action="store_true", help="print the report as JSON")


def execute(args: argparse.Namespace) -> int:
    """Examine, print the report, and return its status."""
    environment, machine = arguments.environment_from(args), arguments.machine_from(args)
    options, described = arguments.options_from(args), bool(args.machine)
    report = examine_here(
        environment, machine, options=options, kind=args.installer, described=described, provider=args.provider
    )
    if args.ask:
        report = _confirmed(report)
    if args.json:
        print(json.dumps(report.to_json(), indent=2))
    else:
        lines = report.to_text().splitlines()
        if not (report.exit_code or described):
            lines.append(f"next: {arguments.check_command(environment)}")
        terminal = describe_terminal(sys.stdout, os.environ)
        print("\n".join(dress(lines, terminal, well=not report.exit_code)))
    return report.exit_code


def _confirmed(report: Report) -> Report:
    """Add what JAX itself says, unless a finding has said it."""
    jax = ask_jax(report.environment.python, os.environ)
    explained = any(finding.level == ERROR for finding in report.findings)
    known = {plugin.module for plugin in report.plugins if plugin.location is None or plugin.answer.find(NOT_IMPORTED)}
    complaints = tuple(said for said in jax.complaints if not any(module in said for module in known))
    found = compare(report.prediction, replace(jax, complaints=complaints), renewal=report.renewal, explained=explained)
    return replace(report, findings=sort_findings([*report.findings, *found]))

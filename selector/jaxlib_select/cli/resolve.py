# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`resolve`: decide which package runs on a machine, and give a reason for each; of several packages JSON is a list."""

from __future__ import annotations

import argparse
import json
import os
import shlex
import sys
from collections.abc import Sequence

from jaxlib_select.choose.decision import Decision
from jaxlib_select.choose.resolve import resolve
from jaxlib_select.cli import arguments
from jaxlib_select.cli.terminal import describe_terminal, dress, say
from jaxlib_select.errors import UsageError


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("packages", nargs="+", metavar="PACKAGE", help="such as jax, torch, jax==0.11.2 or 'jax<0.12'")
    arguments.add_machine(parser)
    arguments.add_backend(parser)
    arguments.add_sources(parser)
    parser.set_defaults(python=None)
    parser.add_argument("--json", action="store_true", help="print the decision as JSON")


def execute(args: argparse.Namespace) -> int:
    """Decide, print the decisions, and warn on stderr."""
    policy, machine = arguments.policy_from(args), arguments.machine_from(args)
    decisions = [resolve(package, machine, policy) for package in args.packages]
    if args.json:
        documents = [decision.to_json() for decision in decisions]
        print(json.dumps(documents if len(documents) > 1 else documents[0], indent=2))
        return 0
    terminal = describe_terminal(sys.stdout, os.environ)
    answers = [dress(_format_decision(decision), terminal, well=not decision.warnings) for decision in decisions]
    print("\n\n".join(map("\n".join, answers)), flush=True)
    if not args.machine:
        print(f"next        {_next_command(args, decisions)}", flush=True)
    for warning in dict.fromkeys(warning for decision in decisions for warning in decision.warnings):
        say(f"warning: {warning}")
    if arguments.options_from(args):
        say("note: resolve does not read the index or folder; install does, and names what is missing")
    return 0


def _next_command(args: argparse.Namespace, decisions: Sequence[Decision]) -> str:
    """Return the command to run next: to install, or to make an environment whose Python the release supports."""
    try:
        arguments.check_python(decisions, arguments.environment_from(args))
    except UsageError as error:
        say(f"warning: {'; '.join(filter(None, (error.what, error.note)))}")
        return error.remedy or _install_command(args)
    return _install_command(args)


def _install_command(args: argparse.Namespace) -> str:
    """Return the command that installs what was asked about, for this machine."""
    backends = [f"--backend={value}" for value in args.backend]
    provider = ["--provider", args.provider] if args.provider else []
    sources = arguments.options_from(args)
    return shlex.join(["jaxlib-select", "install", *args.packages, *backends, *provider, *sources])


def _format_decision(decision: Decision) -> list[str]:
    """Return what a person wants to read about a decision: the backend and why, what to install, and why no other."""
    shown = [entry for entry in decision.candidates if entry.chosen or not entry.absent]
    absent = ", ".join(entry.backend for entry in decision.candidates if entry not in shown)
    width = max(len(candidate.backend) for candidate in shown)
    reasons = [(candidate.chosen, f"{candidate.backend:<{width}}  {candidate.reason}") for candidate in shown]
    return [
        *(f"chosen      {reason}" for chosen, reason in reasons if chosen),
        *(f"install     {requirement}" for requirement in decision.requirements),
        *(f"constraint  {constraint}" for constraint in decision.constraints),
        *([f"index       {decision.index_url}"] if decision.index_url else []),
        *(f"set         {name}={value}" for name, value in decision.environment.items()),
        *(f"rejected    {reason}" for chosen, reason in reasons if not chosen),
        *([f"rejected    {absent}: no such hardware was found"] if absent else []),
    ]

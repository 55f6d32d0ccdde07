# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`install`: install packages with the backend that runs here, and remove other backends."""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Sequence
from dataclasses import replace

from jaxlib_select.apply.installer import (
    Installer,
    accelerator_families,
    make_plan,
    run_installer,
    show,
    uv_installer,
)
from jaxlib_select.apply.pylock import check_machine, lock_environment_of
from jaxlib_select.apply.resolution import find_wheels, only_wheels, show_wheels
from jaxlib_select.choose.decision import Decision
from jaxlib_select.choose.resolve import resolve
from jaxlib_select.cli import arguments
from jaxlib_select.cli.terminal import say
from jaxlib_select.doctor.examine import examine_here, facts_for, find_project
from jaxlib_select.doctor.report import NOTE
from jaxlib_select.installed.environment import Environment, other_environment
from jaxlib_select.installed.plugins import find_plugins
from jaxlib_select.machine.model import Machine


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("packages", nargs="+", metavar="PACKAGE", help="such as jax, torch, jax==0.11.2 or 'jax<0.12'")
    arguments.add_backend(parser)
    arguments.add_machine(parser)
    arguments.add_python(parser)
    arguments.add_installer(parser)
    parser.add_argument("--dry-run", action="store_true", help="print the commands, but run none")
    parser.add_argument("--json", action="store_true", help="print decisions and commands as JSON")


def execute(args: argparse.Namespace) -> int:
    """Decide, install, remove other backends, and examine the result."""
    machine, policy = arguments.machine_from(args), arguments.policy_from(args)
    decisions = [resolve(package, machine, policy) for package in args.packages]
    environment = arguments.environment_from(args)
    arguments.check_python(decisions, environment)
    installer = arguments.installer_from(args, environment)
    if args.machine:
        command = show(["jaxlib-select", "resolve", args.packages[0], "--machine", args.machine])
        check_machine(lock_environment_of(environment), machine, f"install there; what: {command}")
    if not args.dry_run:
        sys.stderr.writelines(f"{line}\n" for line in show_wheels(find_wheels(decisions, installer)))
    installed = facts_for(environment)
    plugins = find_plugins(environment, os.environ, installed)
    families = accelerator_families(*arguments.facts_of(decisions), installed)
    wheels_only = only_wheels(text for decision in decisions for text in decision.requirements)
    careful = replace(installer, sources=(*installer.sources, *wheels_only))
    steps = make_plan(decisions, environment, plugins, careful, families=families)
    _print(args, decisions, steps)
    _warn_of_project(environment, decisions, installer)
    if args.dry_run:
        return 0
    for step in steps:
        run_installer(step)
    return check_result(environment, machine, installer.sources, policy.provider, described=bool(args.machine))


def check_result(
    environment: Environment, machine: Machine, options: Sequence[str], provider: str, *, described: bool
) -> int:
    """Print what JAX uses after an installation, and its problems; return 1 if there is an error."""
    report = examine_here(
        other_environment(environment.python), machine, options=options, described=described, provider=provider
    )
    if "jax" not in report.versions:
        return 0
    for finding in report.findings:
        if finding.level != NOTE:
            say(finding.to_text())
    print(f"JAX {report.versions['jax']}: {report.headline}", file=sys.stderr)
    if report.exit_code == 0:
        print(f"next: {arguments.check_command(environment)}", file=sys.stderr)
    return report.exit_code


def _warn_of_project(environment: Environment, decisions: Sequence[Decision], installer: Installer) -> None:
    """Warn if the environment is of a uv project, whose next `uv run` undoes the installation."""
    if (project := find_project(environment)) is not None:
        wanted = [text for decision in decisions for text in (*decision.requirements, *decision.constraints)]
        command = replace(uv_installer(environment.python), sources=installer.sources, project=project).install(wanted)
        say(f"warning: the next 'uv run' undoes this; to keep it in the project:\n  {show(command)}")


def _print(args: argparse.Namespace, decisions: Sequence[Decision], steps: Sequence[Sequence[str]]) -> None:
    """Print the commands; warnings go to stderr."""
    if args.json:
        document = {"decisions": [decision.to_json() for decision in decisions], "commands": steps}
        print(json.dumps(document, indent=2))
    else:
        lines: list[str] = [show(step) for step in steps]
        variables = {name: value for decision in decisions for name, value in decision.environment.items()}
        lines += [f"set {name}={value}" for name, value in variables.items()]
        print("\n".join(lines), flush=True)
    for warning in [warning for decision in decisions for warning in decision.warnings]:
        say(f"warning: {warning}")

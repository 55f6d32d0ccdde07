# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`apply`: make an environment match a lock: install its packages, and remove other backends."""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import replace
from pathlib import Path

from jaxlib_select.apply.installer import accelerator_families, find_installer, other_backends, run_installer, show
from jaxlib_select.apply.locations import sources_in
from jaxlib_select.apply.lock_file import apply_lock, choose_group, read_lock, versions_of, write_again
from jaxlib_select.apply.pylock import lock_environment_of
from jaxlib_select.cli import arguments
from jaxlib_select.cli.install import check_result
from jaxlib_select.doctor.examine import facts_for
from jaxlib_select.errors import LockError, UsageError
from jaxlib_select.facts import OURS, facts_about
from jaxlib_select.installed.plugins import find_plugins


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument(
        "lock", nargs="?", type=Path, default=Path("pylock.toml"), metavar="LOCK", help="default: pylock.toml"
    )
    parser.add_argument("--group", metavar="BACKEND", help="install this backend of the lock, not its default")
    parser.add_argument("--force", action="store_true", help="install even if somebody edited the lock")
    parser.add_argument("--dry-run", action="store_true", help="print the commands, but run none")
    arguments.add_machine(parser)
    arguments.add_python(parser)
    arguments.add_installer(parser)


def execute(args: argparse.Namespace) -> int:
    """Install from the lock, remove other backends, and examine the result."""
    lock = read_lock(args.lock)
    if lock.edited and not args.force:
        raise LockError(
            f"{lock.path} was changed by hand since it was written",
            remedy=f"install it as it is: --force, or write it again: {write_again(lock)}",
        )
    group = choose_group(lock, args.group)
    environment = arguments.environment_from(args)
    misfits = lock.environment.differences(lock_environment_of(environment))
    if misfits:
        raise UsageError(
            f"{lock.path} does not fit {environment.python}",
            cause="; ".join(misfits),
            remedy=f"name the interpreter of another environment: --python PYTHON, or run: {write_again(lock)}",
        )
    found = find_installer(environment, os.environ, kind=args.installer)
    installer = replace(found, sources=arguments.options_from(args))
    versions, installed = versions_of(lock, group), facts_for(environment)
    release = (versions.get("jax") or versions.get("jaxlib") or "").partition("+")[0]
    families = accelerator_families(facts_about(release), installed)
    ours = release if lock.evidence.provider == OURS else ""
    others = other_backends(versions, environment, find_plugins(environment, os.environ, installed), families, ours)
    removal = [installer.uninstall(others)] if others else []
    with apply_lock(lock, group, environment, installer) as (commands, made):
        print("\n".join(show(step) for step in (*commands, *removal)), flush=True)
        if args.dry_run:
            for file in made:
                print(f"note: this makes {file} from {lock.path}, and removes it afterwards", file=sys.stderr)
            return 0
        for step in (*commands, *removal):
            run_installer(step)
    sources = installer.sources or sources_in(lock.evidence.arguments)
    return check_result(
        environment, arguments.machine_from(args), sources, lock.evidence.provider, described=bool(args.machine)
    )

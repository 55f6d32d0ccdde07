# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`lock`: write a lock file for other machines, or compare one with this machine.

Exit status 1 of `lock --check`: they do not.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from jaxlib_select.apply.formats import (
    FORMATS,
    PYLOCK,
    REQUIREMENTS,
    UV,
    format_of,
    write_requirements,
    write_toml,
    write_uv_snippet,
)
from jaxlib_select.apply.groups import Choices, make_choices
from jaxlib_select.apply.installer import Installer, show
from jaxlib_select.apply.locations import make_relative, pack_arguments
from jaxlib_select.apply.lock_file import find_differences, read_lock, write_text
from jaxlib_select.apply.pylock import Group, LockEnvironment, build_document, check_machine, lock_environment_of
from jaxlib_select.apply.resolution import find_wheels, resolve_group
from jaxlib_select.choose.decision import Decision
from jaxlib_select.choose.policy import Policy, from_arguments
from jaxlib_select.choose.resolve import resolve
from jaxlib_select.cli import arguments
from jaxlib_select.cli.terminal import say
from jaxlib_select.errors import InstallError, LockError, UsageError

_APPLY = ("jaxlib-select", "apply")


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.add_argument("packages", nargs="*", metavar="PACKAGE", help="one, such as jax, jax==0.11.2 or 'jax<0.12'")
    parser.add_argument(
        "-o", "--output", type=Path, metavar="FILE", help="default: pylock.toml, requirements.txt, or stdout for uv"
    )
    parser.add_argument("--format", choices=FORMATS, help="default: by the name of the file, else pylock")
    parser.add_argument(
        "--groups", metavar="LIST", help="backends for other machines, such as cpu,cuda12 (default: all)"
    )
    parser.add_argument(
        "--check",
        nargs="?",
        type=Path,
        const=Path("pylock.toml"),
        metavar="FILE",
        help="compare a lock with this machine (default: pylock.toml)",
    )
    arguments.add_backend(parser)
    arguments.add_machine(parser)
    arguments.add_python(parser)
    arguments.add_installer(parser)
    parser.add_argument("--json", action="store_true", help="print the decision, or the differences, as JSON")


def execute(args: argparse.Namespace) -> int:
    """Write a lock, or check one."""
    if args.check is not None:
        return _check(args)
    form = args.format or (format_of(args.output) if args.output is not None else PYLOCK)
    if args.output is not None and not args.output.absolute().parent.is_dir():
        raise LockError(f"cannot write {args.output}", cause=f"there is no folder {args.output.absolute().parent}")
    wanted = args.groups.split(",") if args.groups is not None else None
    choices = make_choices(
        _the_package(args.packages), arguments.machine_from(args), arguments.policy_from(args), wanted
    )
    for warning in choices.decision.warnings:
        say(f"warning: {warning}")
    text, path, command = _write(args, form, choices)
    if path is None:
        print(text, end="")
        return 0
    write_text(path, text)
    decision = choices.decision
    said = f"{path}: {decision.group} by default"
    said += f"\nnext: {show(command)}" if command else ""
    print(json.dumps(decision.to_json(), indent=2) if args.json else said)
    return 0


def _the_package(packages: Sequence[str]) -> str:
    """Return what the lock is about: its groups are the backends of one package."""
    if len(packages) != 1:
        raise UsageError(f"a lock is about one package, not {len(packages)}", remedy="as in: jaxlib-select lock jax")
    return packages[0]


def _write(args: argparse.Namespace, form: str, choices: Choices) -> tuple[str, Path | None, Sequence[str]]:
    """Return the text of the lock, its place (none is standard output), and the command that installs from it."""
    if form == UV:
        return write_uv_snippet(choices.decisions, arguments.options_from(args)), args.output, ()
    environment = arguments.environment_from(args)
    arguments.check_python(choices.decisions, environment)
    wanted = lock_environment_of(environment)
    check_machine(
        wanted,
        choices.machine,
        "write the lock on a machine of that platform, or one that every tool resolves: --format uv",
    )
    installer = arguments.installer_from(args, environment)
    find_wheels([choices.decision], installer)
    path = args.output or Path("requirements.txt" if form == REQUIREMENTS else "pylock.toml")
    folder = path.absolute().parent
    if form == REQUIREMENTS:
        group = _resolve_aloud(choices.decision, installer)
        text = write_requirements(group, installer.only_from(choices.decision.index_url).sources)
        return text, path, installer.install(("-r", str(path)))
    asked = [word for value in args.backend for word in ("--backend", value)]
    asked += ["--groups", args.groups] if args.groups else []
    asked += ["--provider", args.provider] if args.provider else []
    # What to say again when the lock is to be written again: not for which machine, nor for which Python.
    evidence = choices.evidence(wanted, pack_arguments((*asked, *installer.sources), folder))
    groups = _relative(_resolve(choices, installer, strict=args.groups is not None), folder)
    return write_toml(build_document(groups, choices.decision.group, evidence, wanted)), path, (*_APPLY, str(path))


def _resolve(choices: Choices, installer: Installer, *, strict: bool) -> list[Group]:
    """Resolve every group; one that nobody asked for by name may be missing from the index."""
    groups, absent = [_resolve_aloud(choices.decision, installer)], {}
    for other in choices.others:
        named = strict and other.group == other.backend
        try:
            groups.append(_resolve_aloud(other, installer, quiet=not named))
        except InstallError as error:
            if named:
                raise
            absent[other.group] = error
    if absent:
        causes = "; ".join(dict.fromkeys(error.what for error in absent.values()))
        say(f"warning: no groups {', '.join(absent)}: {causes}")
    return groups


def _resolve_aloud(decision: Decision, installer: Installer, *, quiet: bool = False) -> Group:
    """Resolve a group, and say so: it may take minutes."""
    print(f"resolving {decision.group} with {installer.kind} ...", file=sys.stderr, flush=True)
    return resolve_group(decision, installer, quiet=quiet)


def _relative(groups: Sequence[Group], folder: Path) -> list[Group]:
    """Write files below the lock's folder as relative paths, and warn of other files, which only this machine has."""
    found, elsewhere = [], 0
    for group in groups:
        packages, count = make_relative(group.packages, folder)
        elsewhere += count
        found.append(replace(group, packages=tuple(packages)))
    if elsewhere:
        what = f"{elsewhere} files of the lock are in folders of this machine"
        say(f"warning: {what}; to take it elsewhere, put them below {folder} first")
    return found


def _check(args: argparse.Namespace) -> int:
    lock = read_lock(args.check)
    policy = (
        arguments.policy_from(args)
        if args.backend
        else Policy((from_arguments([lock.evidence.asked]),), lock.evidence.provider)
    )
    machine = arguments.machine_from(args)
    decision = resolve(lock.evidence.package, machine, policy)
    here = LockEnvironment(machine.platform, ".".join(map(str, arguments.environment_from(args).version[:2])))
    differences = find_differences(lock, decision, here)
    if args.json:
        backend = lock.groups[lock.default].backend
        document = {"lock": str(lock.path), "backend": backend, "wanted": decision.backend, "differences": differences}
        print(json.dumps(document, indent=2))
    else:
        agree = f"{lock.path} and this machine agree: {lock.default}\nnext: {show((*_APPLY, str(lock.path)))}"
        print("\n".join(differences) or agree)
    return 1 if differences else 0

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`release`: all wheels of a release, `jaxlib-select`, `jaxlib-auto` and the index, with the plan first."""

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.backend import check_files, load_backends
from pjrtwheel.build import check_writable
from pjrtwheel.cli import add_options, find_function, make_parser
from pjrtwheel.console import print_text
from pjrtwheel.errors import PjrtWheelError
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.files import display_path
from pjrtwheel.platforms import host_platform
from pjrtwheel.program import require_text
from pjrtwheel.release.known import load_release
from pjrtwheel.release_plan import ReleasePlan, plan_release
from pjrtwheel.sets.tags import tag_of


@dataclass(frozen=True, slots=True)
class PlannedCommand:
    """One command of the tooling.

    Attributes:
        session: The session that runs it alone.
        what: What it makes, such as `linux_x86_64`.
        command: Name of the subcommand.
        arguments: Its arguments, but for those that all steps have.
    """

    session: str
    what: str
    command: str
    arguments: tuple[str, ...] = ()


def configure_parser(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = "Run again after a failure, it goes on: what is done is found in the cache."
    parser.add_argument("version", type=require_text, metavar="VERSION", help="JAX release, such as 0.11.2")
    add_options(parser, "--root", "--dist")
    parser.add_argument("--no-smoke", action="store_true", help="do not prove the wheels in clean environments")
    parser.add_argument("--dry-run", action="store_true", help="print the plan, and build nothing")


def execute(args: argparse.Namespace) -> int:
    """Print the plan and, unless that is all, follow it step by step; the first that fails ends it."""
    root = args.root.resolve()
    dist = (args.dist or (root if os.access(root, os.W_OK) else Path.cwd()) / "dist").resolve()
    plan = _make_plan(root, args.version, dist)
    print_text("\n".join(plan.lines()))
    if args.dry_run:
        print("nothing was built: this is a dry run")
        return 0
    run_steps(list_steps(plan, smoke_tests=not args.no_smoke), root, dist)
    print(f"next: ./noxw release_check --tag {tag_of(plan.release)} --dist {display_path(dist)}")
    return 0


def _make_plan(root: Path, version: str, dist: Path) -> ReleasePlan:
    release, backends = load_release(root, version), tuple(load_backends(root).values())
    for backend in backends:
        check_files(backend)
    for folder in (dist, cache_root(os.environ)):
        check_writable(folder)
    return plan_release(release, backends, dist=dist, host=host_platform())


def list_steps(plan: ReleasePlan, *, smoke_tests: bool) -> Iterator[PlannedCommand]:
    """Yield the commands that make a release: wheels, then what is made of them, and the index of all."""
    version = ("--release", plan.release.version)
    proofs = () if smoke_tests else ("--no-smoke",)
    for build in plan.builds:
        session, which = ("build_all", "--all") if build.backends else ("build_jaxlib", "--bindings-only")
        options = (*version, "--platform", build.platform, *proofs)
        yield PlannedCommand(session, build.platform, "build", (which, *options))
    yield PlannedCommand("select", "jaxlib-select", "select")
    yield PlannedCommand("auto", "jaxlib-auto", "auto", version)
    yield PlannedCommand("index", "index", "index")


def run_steps(steps: Iterator[PlannedCommand] | Sequence[PlannedCommand], root: Path, dist: Path) -> None:
    """Run the steps one after the other.

    Raises:
        PjrtWheelError: One failed, with its own exit status; the message says what is done and how to go on.
    """
    planned = list(steps)
    done: list[PlannedCommand] = []
    for number, step in enumerate(planned, 1):
        print(f"step {number} of {len(planned)}: {step.what} (./noxw {step.session})", flush=True)
        start = time.monotonic()
        try:
            _run(step, root, dist)
        except PjrtWheelError as error:
            raise _explain(error, step, [entry.what for entry in done], len(planned)) from error
        print(f"step {number} of {len(planned)}: {step.what} is done, {time.monotonic() - start:.0f} s", flush=True)
        done.append(step)
    print(f"all of it is in {display_path(dist)}")


def _run(step: PlannedCommand, root: Path, dist: Path) -> None:
    parsed = make_parser(step.command).parse_all([*step.arguments, "--root", str(root), "--dist", str(dist)])
    find_function("execute", step.command)(parsed)


def _explain(error: PjrtWheelError, step: PlannedCommand, done: Sequence[str], total: int) -> PjrtWheelError:
    """Return the error of a step that also says what is done, and how to go on."""
    finished = f"done: {', '.join(done)}" if done else "nothing is done"
    resume = f"{finished} ({len(done)} of {total}); to go on, run the same command again, which finds that in the cache"
    explained = PjrtWheelError(
        f"{step.what}: {error.what}",
        cause=error.cause,
        remedy=error.remedy or resume,
        note="; ".join(filter(None, (error.note, resume if error.remedy else ""))),
    )
    explained.exit_code = error.exit_code
    return explained

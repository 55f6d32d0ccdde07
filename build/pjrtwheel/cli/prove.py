# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`smoke`, `probe` and `conformance`: what wheels and libraries do when they run."""

import argparse
import json
import os
import sys
import tempfile
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from pjrtwheel import tables
from pjrtwheel.backend import IS_INSTALLED, Backend, find_backend, load_backends
from pjrtwheel.cli import check_files
from pjrtwheel.conformance.clients import HOW_TO_GET, find_python, find_test_files, run_clients
from pjrtwheel.conformance.comparison import format_report, load_expected
from pjrtwheel.dist_folder.folder import add_proofs
from pjrtwheel.environment.interpreters import Interpreter, find_interpreters, probe
from pjrtwheel.environment.venv import create_environment, requirement_group
from pjrtwheel.errors import ElfError, ProofError, UsageError
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.files import hash_file
from pjrtwheel.platforms import host_platform
from pjrtwheel.probe.plugin import ProbeOutcome, probe_file
from pjrtwheel.prove.inputs import load_inputs
from pjrtwheel.prove.on_every_python import combine, find_cause, raise_failures
from pjrtwheel.prove.on_python import Evidence, can_prove, prove_python, prove_unpacked, untried
from pjrtwheel.prove.proof_file import write_proof_file
from pjrtwheel.record.entries import RELEASE_FILENAME
from pjrtwheel.record.origin import find_origin, find_signer
from pjrtwheel.record.proofs import Outcome, Proof, PythonProof
from pjrtwheel.sets.finished import FinishedSet, find_set, find_set_of


def configure_parser_smoke(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = "The code of the wheels runs: name only those that you trust."
    plugin = parser.add_mutually_exclusive_group()
    plugin.add_argument("wheel", nargs="?", type=Path, metavar="WHEEL", help="a plugin's wheel of this tooling")
    plugin.add_argument("--dist", type=Path, metavar="DIR", help="or the folder that has it (default: dist)")
    parser.add_argument("--backend", metavar="NAME|DIR", help="the backend, or its directory (default: as WHEEL says)")
    filled = "virtual environment with everything installed; proves at the highest level available here"
    parser.add_argument("--environment", type=Path, metavar="DIR", help=filled)
    proofs = "write the proofs there, for `merge --proofs`, and record nothing"
    parser.add_argument("--proofs", type=Path, metavar="FILE", help=proofs)
    parser.add_argument(
        "--signed-off-by", metavar="NAME", help="with --proofs: who vouches for them (default: git's user)"
    )


def execute_smoke(args: argparse.Namespace) -> int:
    """Run every program on every Python that is here, and say what each showed."""
    finished = _find_finished(args)
    shown = []
    for proof in _prove_on_device(args, finished):
        emulated = " (emulated)" if proof.emulated else ""
        print(f"{proof.python} {proof.interpreter}: {proof.summary}, level {proof.level}{emulated}")
        for result in proof.results:
            said = find_cause(result.detail) if result.outcome is Outcome.FAILED else result.detail
            print(f"  {result.program:<16}{result.outcome:<19}{result.seconds:6.1f} s  {said}".rstrip())
        for reason in proof.missed:
            print(f"  not shown: {reason}")
        shown.append(proof)
    if not any(proof.results for proof in shown):
        raise ProofError("nothing was proven: no program ran", remedy="name the jaxlib wheel of the set as well")
    raise_failures(shown, cache_root() / f"proofs/{finished.plugin.stem}.failed.txt", finished.backend, {})
    print(f"passed: no program failed with {finished.plugin.name} and jaxlib {finished.bindings.name.version}")
    return 0


def _find_finished(args: argparse.Namespace) -> FinishedSet:
    """Return the set of the wheel that is named, or of a backend."""
    backend = find_backend(args.root, args.backend) if args.backend else None
    where, platform, cache = {"release": args.release, "where": args.set}, host_platform(), cache_root()
    if args.wheel:
        check_files([args.wheel])
        return find_set_of(args.root, args.wheel, backend, platform, cache, **where)
    if backend is None:
        raise UsageError("nothing to prove", remedy="name a plugin's wheel, or its backend with --backend")
    dist = args.dist or (Path.cwd() if IS_INSTALLED else args.root) / "dist"
    return find_set(args.root, dist, backend, platform, cache, **where)


def _prove_on_device(args: argparse.Namespace, finished: FinishedSet) -> Iterable[PythonProof]:
    """Prove a plugin's wheels on this machine's accelerator, and record what all Pythons showed."""
    backend, release, cache = finished.backend, finished.release, cache_root()
    dist = finished.plugin.parent
    signer = find_signer(args.root, args.signed_off_by) if args.proofs else ""
    inputs = load_inputs(args.root, release, backend)
    found = _find_pythons(args.environment, release.pythons(host_platform().name))
    wheels = finished.fetch([tag for tag, python in found.items() if python])
    pythons = {tag: python for tag, python in found.items() if python and can_prove(wheels, tag)}
    if not pythons:
        raise ProofError(
            f"no Python on this machine for which there is a jaxlib wheel (looked for {', '.join(found)})",
            remedy="install CPython 3.12 or newer, or build the jaxlib wheel for the one that is here",
        )
    # At once: while programs run, the repository and the folder may move on.
    origin, digests = find_origin(args.root, os.environ), {wheel.name: hash_file(wheel) for wheel in wheels}
    evidence: dict[str, Evidence] = {tag: untried(tag, python) for tag, python in found.items()}
    for tag, python in pythons.items():
        evidence[tag] = (
            prove_unpacked(python, wheels, inputs)
            if args.environment
            else prove_python(tag, python, wheels, inputs, cache=cache, on_device=True)
        )
        yield evidence[tag].python
    failed = any(shown.python.failures() for shown in evidence.values())
    kept = [wheel for wheel in wheels if (dist / wheel.name).is_file()]  # the jaxlib may be somebody else's
    combined = {} if failed else combine(kept, evidence, backend, origin)
    proofs = {name: proof for name, proof in combined.items() if any(python.results for python in proof.pythons)}
    if args.proofs and proofs:
        write_proof_file(args.proofs, proofs, digests, signed_off_by=signer, date=origin.date)
    elif args.proofs:
        why = "a program failed" if failed else f"nothing ran that shows something of a wheel in {dist}"
        raise ProofError(f"not written: {args.proofs}", cause=why)
    elif proofs and (dist / RELEASE_FILENAME).is_file():
        _record(proofs, digests, dist)


def _find_pythons(environment: Path | None, tags: Sequence[str]) -> dict[str, Interpreter | None]:
    """Return the Pythons of this machine by tag, or that of an environment alone."""
    if environment is None:
        return find_interpreters(tags)
    python = probe(environment / "bin" / "python")
    if python is None or python.tag not in tags:
        raise UsageError(
            f"no Python of the release in {environment}",
            cause=f"it has {python.version if python else 'no bin/python that runs here'}",
            remedy=f"make it with one of: {', '.join(tags)}",
        )
    return {**dict.fromkeys(tags), python.tag: python}


def _record(proofs: Mapping[str, Proof], digests: Mapping[str, str], dist: Path) -> None:
    """Put proofs into the `release.json` of a folder."""
    unlisted = add_proofs(proofs, digests, dist)
    if len(unlisted) < len(proofs):
        print(f"recorded in {dist / 'release.json'}", file=sys.stderr, flush=True)
    for name in unlisted:
        print(f"warning: not recorded, not described in {dist / 'release.json'}: {name}", file=sys.stderr, flush=True)


def configure_parser_probe(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = "The library's code runs, in a process of its own: name only files that you trust."
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help="plugin libraries, or wheels with one")
    parser.add_argument("--device", action="store_true", help="fail if the device is absent")
    parser.add_argument("--json", action="store_true", help="print every check, as JSON")


def execute_probe(args: argparse.Namespace) -> int:
    """Run the checks on each file, say what they showed, and fail when a check failed or a library did not open."""
    check_files(args.files, "libraries", "*.so")
    backends = tuple(load_backends(args.root).values())
    results = {str(file): probe_file(file, backends, device=args.device) for file in args.files}
    if args.json:
        print(json.dumps(tables.write(results), indent=2))
    else:
        for name, result in results.items():
            print(Path(name).name)
            verdict = f"PJRT {result.pjrt_api or 'not read'}: {result.summary()}"
            print(textwrap.fill(verdict, 80, initial_indent="  ", subsequent_indent="    ", break_long_words=False))
            print(textwrap.indent(result.output, "  | "), end="\n" if result.output else "")
    outcomes = {result.outcome for result in results.values()}
    if ProbeOutcome.UNFIT in outcomes:
        return ElfError.exit_code
    return 0 if outcomes <= {ProbeOutcome.PASSED, ProbeOutcome.NO_DEVICE} else ProofError.exit_code


def configure_parser_conformance(parser: argparse.ArgumentParser) -> None:
    """Declare the arguments."""
    parser.epilog = f"{HOW_TO_GET}. JAX_NUM_GENERATED_CASES and other variables of JAX hold for both clients."
    parser.add_argument("tests", type=Path, metavar="PATH_TO_JAX_TESTS", help="JAX's folder tests/")
    parser.add_argument("files", nargs="*", metavar="FILE", help="test files in it, such as lax_test (default: all)")
    parser.add_argument("--backend", required=True, help="the plugin to compare")
    parser.add_argument("--environment", type=Path, metavar="PYTHON", help="use this environment, not a fresh one")
    parser.add_argument("--jobs", type=int, default=1, metavar="N", help="files at a time (default: 1)")


def execute_conformance(args: argparse.Namespace) -> int:
    """Run the files, print the comparison, and fail when a difference is not in the list of expected ones."""
    backend = find_backend(args.root, args.backend)
    expected = load_expected(args.root, backend.name)
    test_files = find_test_files(args.tests, args.files)
    if args.environment and (args.set or args.release):
        raise UsageError("there is no use for --set and --release with --environment", remedy="leave them out")
    with tempfile.TemporaryDirectory(prefix="conformance-") as scratch:
        python = args.environment or _install(args, backend, Path(scratch))
        comparisons = run_clients(python, test_files, backend, expected, jobs=args.jobs)
    print(format_report(comparisons))
    return ProofError.exit_code if any(comparison.unexpected() for comparison in comparisons) else 0


def _install(args: argparse.Namespace, backend: Backend, scratch: Path) -> Path:
    """Make an environment with the wheels of a set, and return its Python."""
    dist, cache = args.dist or args.root / "dist", cache_root()
    found = find_set(args.root, dist, backend, host_platform(), cache, release=args.release, where=args.set)
    interpreter = find_python(found.release)
    requirements = [f"jax=={found.release.version}", *requirement_group(args.root, "conformance")]
    wheels = found.fetch_pair(interpreter.tag)
    return create_environment(interpreter, requirements, wheels, target=scratch / "venv", cache=cache)

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Feed mutated inputs to every reader of untrusted input: each must give a result or one of the tool's own errors.

    ./noxw fuzz [--inputs N] [--seed N] [--reader NAME [--only NUMBER]]

An input follows from the seed, its reader and its number alone, so `--only` repeats the one that a run reported, with
its traceback; `--write FILE` keeps it.
"""

from __future__ import annotations

import argparse
import os
import resource
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from fuzz_mutation import mutate
from fuzz_readers import Reader, all_readers

SEED = 20261122
SECONDS = 10  # for one input; the slowest sample takes a few milliseconds
MEMORY = 4 << 30
CHUNK = 2_000
SHOWN = 5


class Hang(BaseException):
    """A reader did not come to an end; no `Exception`, which readers turn into errors of their own."""


@dataclass(frozen=True, slots=True)
class Failure:
    """An input that ended otherwise than it may: its number, and what was raised."""

    number: int
    error: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of some inputs of one reader."""

    read: int
    refused: int
    failures: tuple[Failure, ...]

    def __add__(self, other: Outcome) -> Outcome:
        """Return both together."""
        return Outcome(self.read + other.read, self.refused + other.refused, self.failures + other.failures)


def try_inputs(name: str, reader: Reader, numbers: Sequence[int], seed: int) -> Outcome:
    """Give a reader the inputs of these numbers."""
    counts: Counter[str] = Counter()
    failures = []
    for number in numbers:
        data = mutate(reader.samples, f"{seed}/{name}/{number}")
        try:
            with _time_limit():
                reader.read(data)
            counts["read"] += 1
        except reader.refusals:
            counts["refused"] += 1
        except (Exception, Hang) as error:  # noqa: BLE001 - that is what is looked for
            failures.append(Failure(number, f"{type(error).__name__}: {error}"[:200]))
    return Outcome(counts["read"], counts["refused"], tuple(failures))


@contextmanager
def _time_limit() -> Iterator[None]:
    """Raise where the reader of an input does not come to an end."""

    def stop(_signal: int, _frame: object) -> NoReturn:
        raise Hang(f"not done after {SECONDS} s")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _try_chunk(name: str, first: int, last: int, seed: int) -> Outcome:
    """Do the same in a process of its own, with a limit on its memory."""
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, resource.RLIM_INFINITY))
    with tempfile.TemporaryDirectory(dir=fast_folder()) as scratch:
        return try_inputs(name, all_readers(Path(scratch))[name], range(first, last), seed)


def fast_folder() -> str | None:
    """Return a folder in memory where there is one."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - folders of random names inside it


def run(inputs: int, seed: int, readers: dict[str, Reader]) -> bool:
    """Try all readers on all cores, print a row for each, and return whether every input ended as it may."""
    total = sum(reader.share for reader in readers.values())
    good = True
    print(f"{'reader':<14}{'inputs':>9}{'read':>9}{'refused':>9}{'failed':>8}{'seconds':>9}", flush=True)
    with ProcessPoolExecutor() as pool:
        for name, reader in readers.items():
            start, number = time.perf_counter(), inputs * reader.share // total
            chunks = [(first, min(first + CHUNK, number)) for first in range(0, number, CHUNK)]
            tasks = [pool.submit(_try_chunk, name, first, last, seed) for first, last in chunks]
            outcome = sum((task.result() for task in tasks), Outcome(0, 0, ()))
            failed, seconds = len(outcome.failures), time.perf_counter() - start
            print(f"{name:<14}{number:>9}{outcome.read:>9}{outcome.refused:>9}{failed:>8}{seconds:>9.1f}", flush=True)
            print_failures(name, outcome.failures, seed)
            good &= not failed
    return good


def print_failures(name: str, failures: Sequence[Failure], seed: int) -> None:
    """Print the first failure of each kind, and the command that repeats it."""
    kinds = {failure.error.partition(":")[0]: failure for failure in reversed(failures)}
    for failure in list(kinds.values())[:SHOWN]:
        print(f"  {failure.error}\n  again: ./noxw fuzz --seed {seed} --reader {name} --only {failure.number}")


def repeat(name: str, number: int, seed: int, keep: Path | None) -> None:
    """Give a reader one input again, and let its error pass."""
    with tempfile.TemporaryDirectory() as scratch:
        reader = all_readers(Path(scratch))[name]
        data = mutate(reader.samples, f"{seed}/{name}/{number}")
        print(f"{name} {number}: {len(data)} bytes: {data[:200]!r}")
        if keep:
            keep.write_bytes(data)
        try:
            print(f"read: {reader.read(data)!r}"[:500])
        except reader.refusals as error:
            print(f"refused: {type(error).__name__}: {error}")


def make_parser(readers: Iterable[str] | None = None) -> argparse.ArgumentParser:
    """Return the parser of this program's arguments; without the names of readers it takes any."""
    parser = argparse.ArgumentParser(description="feed mutated inputs to the readers of untrusted input")
    parser.add_argument("--inputs", type=int, default=1_000_000, help="how many, over all readers (default: a million)")
    parser.add_argument("--seed", type=int, default=SEED, help=f"another seed gives other inputs (default: {SEED})")
    parser.add_argument("--reader", choices=readers, metavar="NAME", help="this one alone")
    parser.add_argument("--only", type=int, metavar="NUMBER", help="one input of this reader, with its traceback")
    parser.add_argument("--write", type=Path, metavar="FILE", help="where to keep that input")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Try the readers, or one input again; 1 if an input ended otherwise than it may."""
    with tempfile.TemporaryDirectory() as scratch:
        readers = all_readers(Path(scratch))
    parser = make_parser(readers)
    args = parser.parse_args(argv)
    if args.only is not None and args.reader is None:
        parser.error("--only needs --reader")
    if args.only is not None:
        repeat(args.reader, args.only, args.seed, args.write)
        return 0
    chosen = {args.reader: readers[args.reader]} if args.reader else readers
    return 0 if run(args.inputs, args.seed, chosen) else 1


if __name__ == "__main__":
    sys.exit(main())

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Mutated inputs for every reader of untrusted input: each must give a result or one of the tool's own errors.

An input follows from the seed, its reader and its number alone. `./noxw fuzz` has a million, FUZZ_SEED in the
environment gives other ones.
"""

import faulthandler
import os
import resource
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from fuzz_mutation import mutate
from fuzz_readers import Reader, all_readers

INPUTS = int(os.environ.get("FUZZ_INPUTS", "4000"))
SEED = os.environ.get("FUZZ_SEED", "20261122")
SECONDS = 10  # for one input; the slowest sample takes a few milliseconds
MEMORY = 4 << 30
with tempfile.TemporaryDirectory() as folder:
    NAMES = tuple(all_readers(Path(folder)))


@pytest.fixture
def reader(request: pytest.FixtureRequest) -> Iterator[Reader]:
    """Return the reader of a name, which has little memory, and a folder in memory where there is one."""
    fast = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # noqa: S108 - folders of random names inside it
    before = resource.getrlimit(resource.RLIMIT_AS)
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, before[1]))
    with tempfile.TemporaryDirectory(dir=fast) as scratch:
        yield all_readers(Path(scratch))[request.param]
    resource.setrlimit(resource.RLIMIT_AS, before)


@pytest.mark.parametrize("reader", NAMES, indirect=True)
def test_every_reader_reads_its_samples(reader: Reader) -> None:
    """Mutations of an input that is refused anyway would show nothing."""
    for sample in reader.samples:
        reader.read(sample)


@pytest.mark.parametrize(("reader", "name"), [(name, name) for name in NAMES], indirect=["reader"], ids=NAMES)
def test_readers_give_a_result_or_one_of_our_errors(reader: Reader, name: str) -> None:
    """The failure names the input; a reader that does not end ends the process, with a traceback."""
    for number in range(INPUTS * reader.share // 1000):
        data = mutate(reader.samples, f"{SEED}/{name}/{number}")
        faulthandler.dump_traceback_later(SECONDS, exit=True)
        try:
            reader.read(data)
        except reader.refusals:
            pass
        except Exception as error:
            error.add_note(f"input {number} of {name} with seed {SEED}: {data!r}")
            raise
    faulthandler.cancel_dump_traceback_later()

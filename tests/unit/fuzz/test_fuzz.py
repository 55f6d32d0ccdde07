# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A short form of `./noxw fuzz`, with the same first inputs, and the machinery itself."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

import fuzz
from fuzz_mutation import mutate
from fuzz_readers import Reader, all_readers

INPUTS = 4_000


@pytest.fixture(scope="module")
def readers() -> Iterator[dict[str, Reader]]:
    """Return all readers."""
    with tempfile.TemporaryDirectory(dir=fuzz.fast_folder()) as scratch:
        yield all_readers(Path(scratch))


def give_way(data: bytes) -> None:
    """Read what has an even length, refuse what begins with an A, and fail over everything else."""
    if data.startswith(b"A"):
        raise ValueError("refused")
    if len(data) % 2:
        raise KeyError("lost")


def test_every_reader_reads_its_samples(readers: dict[str, Reader]) -> None:
    """Mutations of an input that is refused anyway would show nothing."""
    for reader in readers.values():
        for sample in reader.samples:
            reader.read(sample)


def test_readers_give_a_result_or_one_of_our_errors(readers: dict[str, Reader]) -> None:
    """Four thousand mutated inputs; `./noxw fuzz` has a million, and the command that repeats one."""
    shares = {name: range(INPUTS * reader.share // 1000) for name, reader in readers.items()}
    outcomes = {name: fuzz.try_inputs(name, readers[name], share, fuzz.SEED) for name, share in shares.items()}
    assert {name: outcome.failures for name, outcome in outcomes.items() if outcome.failures} == {}
    assert sum(outcome.read + outcome.refused for outcome in outcomes.values()) == INPUTS


def test_other_errors_are_failures_with_their_number(capsys: pytest.CaptureFixture[str]) -> None:
    """The number leads back to the input, and the command that is printed names it."""
    reader = Reader(give_way, (b"AB",), (ValueError,), 1000)
    outcome = fuzz.try_inputs("demo", reader, range(100), 7)
    assert outcome.read + outcome.refused + len(outcome.failures) == 100
    assert {failure.error for failure in outcome.failures} == {"KeyError: 'lost'"}
    first = outcome.failures[0].number
    assert len(mutate((b"AB",), f"7/demo/{first}")) % 2
    fuzz.print_failures("demo", outcome.failures, 7)
    assert capsys.readouterr().out == (
        f"  KeyError: 'lost'\n  again: ./noxw fuzz --seed 7 --reader demo --only {first}\n"
    )


def test_a_reader_that_does_not_end_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    """An endless loop is reported like any other error."""
    monkeypatch.setattr(fuzz, "SECONDS", 1)

    def loop(_data: bytes) -> None:
        try:
            while True:
                pass
        except OSError as error:  # as readers do, which turn it into a refusal
            raise ValueError("damaged") from error

    (failure,) = fuzz.try_inputs("demo", Reader(loop, (b"A",), (ValueError,), 1000), range(1), 7).failures
    assert failure == fuzz.Failure(0, "Hang: not done after 1 s")


def test_one_input_can_be_repeated_and_kept(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """`--only` shows what became of it."""
    assert fuzz.main(["--reader", "record", "--only", "0", "--write", str(tmp_path / "input")]) == 0
    shown = capsys.readouterr().out
    assert repr((tmp_path / "input").read_bytes()[:20])[:-1] in shown
    assert "\nread: " in shown or "\nrefused: " in shown

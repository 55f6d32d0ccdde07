# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A set that is not proven is recorded as such, with its revision; failures are named and kept."""

import platform
from dataclasses import replace
from pathlib import Path

import pytest

from pjrtwheel.backend import find_backend
from pjrtwheel.errors import ProofError
from pjrtwheel.probe.plugin import ProbeOutcome, ProbeResult
from pjrtwheel.prove import on_every_python
from pjrtwheel.prove.on_every_python import FailedProofError, find_cause, platform_of, prove, raise_failures
from pjrtwheel.record.origin import Origin
from pjrtwheel.record.proofs import Level, Outcome, ProgramResult, PythonProof, ResultKind
from pjrtwheel.wheel.report import BuiltWheel, Report
from release_entries import NO_PROOF
from release_under_test import BACKENDS, release_under_test

ORIGIN = Origin("c" * 40, dirty=False, version="1.2", date="1970-01-01T00:00:00Z")


@pytest.mark.parametrize(
    ("outcome", "level"), [(ProbeOutcome.PASSED, Level.LOAD), (ProbeOutcome.NOT_OPENED, Level.STATIC)]
)
def test_what_was_only_opened_is_recorded_as_such(
    root: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    outcome: ProbeOutcome,
    level: Level,
) -> None:
    """With what the library says of itself, and from where and when that is; that it does not open is said."""
    opened = ProbeResult(outcome, "no bead", "0.115" if level is Level.LOAD else "", attributes={"beads": "10"})
    monkeypatch.setattr(on_every_python, "probe_file", lambda *_, **__: opened)
    tag = f"cp312-abi3-linux_{platform.machine()}"
    wheel = f"jaxlib_cpu-1-{tag}.whl"
    report = Report(wheel, "00", 1, "ff", (), "prebuilt")
    proofs = prove(
        [BuiltWheel(tmp_path / wheel, report)],
        root=root,
        release=release_under_test(),
        backend=find_backend(root, "cpu"),
        origin=ORIGIN,
        cache=tmp_path / "cache",
        smoke_tests=False,
    )
    proof = proofs[wheel]
    assert (proof.backend, proof.level, "no bead" in capsys.readouterr().err) == ("cpu", level, level is Level.STATIC)
    assert (proof.pjrt_api, proof.pjrt_attributes) == (
        ("0.115", {"beads": "10"}) if level is Level.LOAD else (None, {})
    )
    assert proof.origin == ORIGIN


@pytest.mark.parametrize("changed", [False, True])
def test_evidence_from_uncommitted_changes_is_gathered_again(
    root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], *, changed: bool
) -> None:
    """At a commit: no release could count what was kept of a checkout with changes."""
    monkeypatch.setattr(on_every_python, "find_interpreters", lambda _tags: {})
    monkeypatch.setattr(on_every_python, "_kept_path", lambda *_: tmp_path / "proofs.json")
    wheel = f"jaxlib-1-cp312-cp312-linux_{platform.machine()}.whl"
    built = [BuiltWheel(tmp_path / wheel, Report(wheel, "00", 1, "ff", (), "prebuilt"))]
    first, second = (
        prove(built, root=root, release=release_under_test(), backend=None, origin=origin, cache=tmp_path)
        for origin in (replace(ORIGIN, dirty=changed), ORIGIN)
    )
    assert (first[wheel].origin.dirty, second[wheel].origin) == (changed, ORIGIN)
    assert ("proven before" in capsys.readouterr().err) is not changed


def test_failures_are_named_and_kept_in_full(tmp_path: Path) -> None:
    """With both ways out; the whole output is in the file that it names, and what passed comes along."""
    log, untried = tmp_path / "proofs" / "failed.txt", PythonProof("cp314", "", (), "none")
    cpu, proofs = BACKENDS["cpu"], {"a.whl": NO_PROOF}
    raise_failures([untried], log, cpu, proofs)
    assert not log.exists()
    fft = ProgramResult("fft", Outcome.FAILED, Level.DEVICE, 1.0, "Traceback\n  in check\nAssertionError: 1 != 2")
    silent = replace(fft, program="jit", detail="")
    with pytest.raises(FailedProofError) as caught:
        raise_failures([PythonProof("cp312", "3.12.1", (fft, silent)), untried], log, cpu, proofs)
    assert caught.value.what == "2 programs failed: fft on Python 3.12.1, jit on Python 3.12.1"
    assert caught.value.cause == f"AssertionError: 1 != 2 (the whole output is in {log})"
    assert [way in caught.value.remedy for way in ("[smoke.fails.fft]", str(cpu.path), "--keep")] == [True] * 3
    assert caught.value.proofs == proofs
    assert log.read_text().startswith("fft on Python 3.12.1\nTraceback\n  in check\nAssertionError: 1 != 2\n")
    wrapped = replace(cpu, path=Path("cpu/backend.toml"))  # as a wheel describes it
    with pytest.raises(FailedProofError) as caught:
        raise_failures([PythonProof("cp312", "3.12.1", (fft,))], log, wrapped, {})
    assert "[smoke.fails.fft] in wrap --save DIR" in caught.value.remedy
    start = replace(silent, kind=ResultKind.CHECK)
    with pytest.raises(FailedProofError, match="it left no output") as caught:
        raise_failures([PythonProof("cp312", "3.12.1", (start,))], log, cpu, proofs)
    assert "smoke.fails" not in caught.value.remedy, "a library that does not open fails nothing as expected"


CRASHED = """killed by SIGSEGV
Fatal Python error: Segmentation fault

Current thread 0x00007f (most recent call first):
  File "fft.py", line 3 in check

Extension modules: numpy, jaxlib (total: 2)"""
RAISED = """Traceback (most recent call last):
  File "fft.py", line 3, in check
    f(x)
ValueError: before it

During handling of the above exception, another exception occurred:

Traceback (most recent call last):
  File "fft.py", line 5, in check
    ~^^^
jax.errors.JaxRuntimeError: INTERNAL: no bead
jaxlib/py_client.cc:425"""


@pytest.mark.parametrize(
    ("text", "cause"),
    [
        (RAISED, "jax.errors.JaxRuntimeError: INTERNAL: no bead"),
        (CRASHED, "killed by SIGSEGV"),
        ("exit status 3\nit is broken", "it is broken"),
    ],
    ids=["raised", "crashed", "ended"],
)
def test_the_line_that_says_the_most_is_shown(text: str, cause: str) -> None:
    """Libraries write below an exception where in their source it began, which says nothing to users."""
    assert find_cause(text) == cause


@pytest.mark.parametrize(
    "names",
    [
        [],
        ["a-1-py3-none-any.whl"],
        ["a-1-cp312-abi3-linux_x86_64.whl", "a-1-cp312-abi3-linux_aarch64.whl"],
        ["a-1+split.2-cp312-abi3-linux_x86_64.whl", "a-1+split.1-cp312-abi3-linux_x86_64.whl"],
    ],
    ids=["none", "unknown", "several", "two sets"],
)
def test_a_set_is_for_one_platform_and_of_one_version(names: list[str]) -> None:
    """An installer would take one of them, or find no solution."""
    with pytest.raises(ProofError, match="wheels of one set must"):
        platform_of(map(Path, names))

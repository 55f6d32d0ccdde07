# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is read from finished wheels, and what JAX's tests say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from pjrtwheel.backend import load_backends
from pjrtwheel.bump.comparison import FinishedPlugin
from pjrtwheel.bump.wheels import judge_tests, read_plugins, sizes_of
from pjrtwheel.conformance.comparison import Expected, compare, listed_backends, load_subset
from pjrtwheel.conformance.run_file import Case, CaseOutcome
from pjrtwheel.record.entries import Entry
from pjrtwheel.release.model import Release
from release_entries import NO_PROOF, entry_of

PASSED, FAILED = Case("a", CaseOutcome.PASSED), Case("a", CaseOutcome.FAILED, "wrong")


def entry(filename: str, size: int = 1, pjrt_api: str | None = None) -> Entry:
    """Return an entry of release.json."""
    return entry_of(filename, size=size, proof=replace(NO_PROOF, pjrt_api=pjrt_api))


def test_sizes_are_those_of_our_wheels_of_the_release(root: Path, after: Release) -> None:
    """By platform; the selector's wheel, other releases and other sets of the release are left out."""
    entries = [
        entry("jaxlib-1.2-1-cp315-cp315-manylinux_2_27_x86_64.whl", 80),
        entry("jaxlib-1.2-1-cp316-cp316-manylinux_2_27_x86_64.whl", 90),
        entry("jaxlib-1.2-1-cp315-cp315-macosx_11_0_arm64.whl", 60),
        entry("jaxlib-1.1-1-cp315-cp315-manylinux_2_27_x86_64.whl", 1),
        entry("jaxlib_cpu-1.2+split.1-cp312-abi3-manylinux_2_27_aarch64.whl", 50),
        entry("jaxlib_select-1.2-py3-none-any.whl", 2),
    ]
    assert sizes_of(entries, after, load_backends(root).values()) == {
        "jaxlib linux_x86_64": [80, 90],
        "jaxlib macos_arm64": [60],
    }


def test_plugins_are_read_from_their_wheels(
    root: Path, after: Release, make_elf: Callable[..., bytes], make_wheel: Callable[..., Path]
) -> None:
    """The symbols come from the library; a wheel without one, as that of the TPU, has none."""
    backends = load_backends(root)
    cpu = backends["cpu"]
    library = make_elf(exports=("GetPjrtApi", "Another"))
    name = "jaxlib_cpu-1.2-cp312-abi3-manylinux_2_27_x86_64.whl"
    wheel = make_wheel({f"{cpu.package}/{cpu.library}": library}, name=name)
    entries = [entry(name, pjrt_api="0.116"), entry("jaxlib_tpu-1.2-cp312-abi3-manylinux_2_31_x86_64.whl")]
    assert list(read_plugins(entries, after, backends.values(), wheel.parent)) == [
        FinishedPlugin("jaxlib-cpu linux_x86_64", "0.116", ("Another", "GetPjrtApi")),
        FinishedPlugin("jaxlib-tpu linux_x86_64", "", ()),
    ]


def test_cases_without_a_listed_reason_speak_against_a_release() -> None:
    """So does a file that compares nothing; what is listed does not."""
    worse = compare("a_test.py", {"a": PASSED}, {"a": FAILED}, [])
    listed = compare("a_test.py", {"a": PASSED}, {"a": FAILED}, [Expected("a", CaseOutcome.FAILED, "Known.")])
    broken = Case("b_test.py::import", CaseOutcome.FAILED, "no such module")
    unusable = compare("b_test.py", {broken.name: broken}, {broken.name: broken}, [])
    assert judge_tests([listed]) is None
    assert str(judge_tests([worse, listed])) == "1 case worse than on the built-in client, for no listed reason"
    assert str(judge_tests([unusable])) == "b_test.py cannot be imported with this JAX"


def test_backends_with_a_list_of_differences_say_which_files_to_run(root: Path) -> None:
    """Each is a test file of JAX's; others have none."""
    listed = {backend: load_subset(root, backend) for backend in listed_backends(root)}
    assert listed
    assert all(files and all(name.endswith("_test.py") for name in files) for files in listed.values())
    assert load_subset(root, "tpu") == ()

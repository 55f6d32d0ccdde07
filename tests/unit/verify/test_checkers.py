# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the community's checkers say becomes problems."""

import json
from pathlib import Path
from typing import Any

import pytest

from pjrtwheel.errors import VerifyError
from pjrtwheel.verify.checkers import (
    check_contents,
    check_stable_abi,
    check_twine,
    compare_platforms,
    judge_platforms,
    read_abi3_report,
    run_tool,
)
from small_libraries import build_elf


@pytest.mark.parametrize(
    ("claimed", "proven", "problems"),
    [
        ("manylinux_2_27_x86_64", "manylinux_2_27_x86_64", 0),
        ("manylinux_2_27_x86_64", "manylinux_2_17_x86_64", 0),
        ("manylinux_2_17_x86_64", "manylinux_2_27_x86_64", 1),
        ("manylinux2014_x86_64", "manylinux_2_17_x86_64", 0),
        ("manylinux2010_x86_64", "manylinux_2_17_x86_64", 1),
        ("manylinux_2_9_x86_64", "manylinux_2_17_x86_64", 1),
        ("manylinux_2_27_x86_64", "manylinux_2_27_aarch64", 1),
        ("musllinux_1_2_x86_64", "manylinux_2_17_x86_64", 1),
        ("manylinux_2_27_x86_64", "linux_x86_64", 1),
        ("linux_x86_64", "manylinux_2_17_x86_64", 1),
    ],
)
def test_a_claim_holds_when_it_asks_for_enough(claimed: str, proven: str, problems: int) -> None:
    """A tag may ask for a newer libc than is needed, never for an older one, another family or architecture."""
    assert len(list(compare_platforms([claimed], proven))) == problems


TAG = "manylinux_2_27_x86_64"
ANSWER: dict[str, Any] = {
    "overall_tag": "linux_x86_64",
    "sym_tag": TAG,
    "pyfpe": False,
    "ucs2": False,
    "unsupported_isa": False,
    "external_libs": {"libsycl.so.8": None, "libdrm.so.2": "/usr/lib/libdrm.so.2"},
    "policy_upgrades": {TAG: {"libs_to_eliminate": ["libsycl.so.8"]}},
}


NEEDED = ["libsycl.so.8"]
PRIVATE = {TAG: {"libs_to_eliminate": NEEDED, "blacklisted_symbols": {"libz": ["x"]}}}
ORDINARY = {"overall_tag": TAG, "external_libs": {}, "policy_upgrades": {}}


@pytest.mark.parametrize(
    ("changes", "external", "values"),
    [
        ({}, NEEDED, []),
        ({}, [], ["libsycl.so.8", "linux_x86_64"]),
        ({"sym_tag": "manylinux_2_34_x86_64"}, NEEDED, ["manylinux_2_34_x86_64"]),
        ({"unsupported_isa": True}, NEEDED, ["linux_x86_64"]),
        ({"policy_upgrades": PRIVATE}, NEEDED, ["linux_x86_64"]),
        (ORDINARY, NEEDED, []),
        (ORDINARY, [], []),
    ],
    ids=["declared", "undeclared", "symbols", "instructions", "private symbols", "declared for nothing", "ordinary"],
)
def test_declared_libraries_do_not_stand_in_the_way(
    changes: dict[str, Any], external: list[str], values: list[str]
) -> None:
    """What an installation brings is allowed by name; all other rules of the tag still hold."""
    problems = list(judge_platforms({**ANSWER, **changes}, [TAG], NEEDED, external))
    assert [value in text for (_, text), value in zip(problems, values, strict=True)] == [True] * len(values)


def test_auditwheel_without_an_answer() -> None:
    """A wheel it cannot judge is a problem."""
    assert len(list(judge_platforms({"error": "no libc"}, [TAG], [], []))) == 1


def test_abi3_violations_are_named() -> None:
    """What is outside the stable ABI or too new is listed, and what was left out.

    The checker takes what a module exports under PEP 793 for something it uses; all else it says still counts.
    """
    bad = {
        "is_abi3": False,
        "is_abi3_baseline_compatible": False,
        "baseline": "3.12",
        "non_abi3_symbols": ["_PyBytes_Resize"],
        "future_abi3_objects": {"PyLong_AsInt32": "3.14"},
    }
    good = {**bad, "is_abi3": True, "is_abi3_baseline_compatible": True}
    hook = {**good, "is_abi3": False, "non_abi3_symbols": ["PyModExport_a"], "future_abi3_objects": {}}
    worse = {**hook, "non_abi3_symbols": ["PyModExport_a", "_PyBytes_Resize"]}
    results = {"a/bad.abi3.so": bad, "a/lib.so": good, "a/a.abi3t.so": hook, "a/b.abi3t.so": worse}
    text = json.dumps({"specs": {f"/s/{name}": {"object": {"result": found}} for name, found in results.items()}})
    assert list(read_abi3_report(text, {f"/s/{name}": name for name in (*results, "a/lost.so")})) == [
        ("a/lost.so", "was not audited"),
        ("a/bad.abi3.so", "is not within the stable ABI of 3.12: PyLong_AsInt32, _PyBytes_Resize"),
        ("a/b.abi3t.so", "is not within the stable ABI of 3.12: _PyBytes_Resize"),
    ]


def test_modules_of_one_python_are_not_audited(tmp_path: Path) -> None:
    """They may use all of their CPython; a wheel with nothing else makes no promise."""
    member = "a/_solver.cpython-312-x86_64-linux-gnu.so"
    assert list(check_stable_abi({member: tmp_path / "missing.so"}, "cp312")) == []


def test_abi3audit_reads_unpacked_modules(tmp_path: Path) -> None:
    """What it says is about the member, whatever the unpacked file is called; without an answer there is a problem."""
    (tmp_path / "0001.so").write_bytes(build_elf(exports=("PyInit_a",)))
    assert list(check_stable_abi({"a/a.abi3.so": tmp_path / "0001.so"}, "cp312")) == []
    assert len(list(check_stable_abi({"a/b.abi3.so": tmp_path / "missing.so"}, "cp312"))) == 1


def test_a_checker_that_is_missing_is_an_error() -> None:
    """A missing checker never passes for a clean result."""
    with pytest.raises(VerifyError, match="the checker no-such-checker is not installed"):
        run_tool("no_such_checker")


@pytest.mark.parametrize("check", [check_contents, check_twine])
def test_a_checker_complains_about_rubbish(check: object, tmp_path: Path) -> None:
    """The real checkers run, and what they say arrives."""
    wheel = tmp_path / "thing-1.0-py3-none-any.whl"
    wheel.write_bytes(b"no zip")
    assert callable(check)
    assert list(check(wheel))

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Deciding what to pin, and the text of a release file."""

from __future__ import annotations

from pathlib import Path

import pytest

from pjrtwheel.backend import load_backends
from pjrtwheel.errors import PinError
from pjrtwheel.pin import Wanted, check_unchanged, find_xla, pip_arguments, plan_inputs, render_release
from pjrtwheel.release import DEFAULT_RELEASE, Pin, XlaSource, load_release, parse_release

XLA = XlaSource("c0ffee", "ab" * 32, "7.7.0", verified=False, origin='a "quoted" place')
FIRST = Pin("bindings.cp313.linux_x86_64", "jaxlib", "1.2.3", "jaxlib-1.2.3-cp313-cp313-linux_x86_64.whl", "cd" * 32, 5)
SECOND = Pin("header.pjrt_c_api", "pjrt-header", "7", "pjrt_header-7-py3-none-any.whl", "ef" * 32, 6)
INPUTS = """
[[input]]
key = "bindings.{python}.{platform}"
project = "jaxlib"
version = "{release}"
pythons = ["cp312", "cp313"]
platforms = ["linux_x86_64"]

[[input]]
key = "header.pjrt_c_api"
project = "pjrt-header"
version = "7"
platforms = ["linux_x86_64"]
"""


def test_plan_fills_in_release_python_and_platform() -> None:
    """One entry stands for a file per platform and Python; an entry without Pythons for one file."""
    assert plan_inputs(INPUTS, [], "1.2.3") == (
        Wanted("bindings.cp312.linux_x86_64", "jaxlib", "1.2.3", "linux_x86_64", "cp312"),
        Wanted("bindings.cp313.linux_x86_64", "jaxlib", "1.2.3", "linux_x86_64", "cp313"),
        Wanted("header.pjrt_c_api", "pjrt-header", "7", "linux_x86_64"),
    )


def test_plan_takes_each_backends_library_from_its_own_file(root: Path) -> None:
    """A new backend directory adds its pins without any list being edited."""
    backends = load_backends(root)
    keys = {wanted.key for wanted in plan_inputs("input = []", backends.values(), "1.2.3")}
    assert keys == {f"plugin.{b.name}.{platform}" for b in backends.values() for platform in b.prebuilt.platforms}


def test_release_in_the_repository_has_exactly_what_is_planned(root: Path) -> None:
    """Whoever changes inputs.toml or a backend's provider has to pin again."""
    text = (root / "releases" / "inputs.toml").read_text("utf-8")
    planned = plan_inputs(text, load_backends(root).values(), DEFAULT_RELEASE)
    pins = load_release(root).pins.values()
    assert sorted((w.key, w.project, w.version) for w in planned) == [(p.key, p.project, p.version) for p in pins]


def test_release_in_the_repository_was_written_by_the_command(root: Path) -> None:
    """The file is byte for byte what the command writes, so it was not edited by hand."""
    release = load_release(root)
    xla = find_xla((root / "releases" / "xla.toml").read_text("utf-8"), release.version)
    assert release.path.read_text("utf-8") == render_release(release.version, release.build, xla, release.pins.values())


def test_text_is_read_back_as_it_was_written() -> None:
    """Writing and reading are each other's inverse, quotes included."""
    release = parse_release(render_release("1.2.3", 4, XLA, [FIRST, SECOND]), Path("releases/1.2.3.toml"))
    assert (release.version, release.build, release.xla) == ("1.2.3", 4, XLA)
    assert release.pins == {FIRST.key: FIRST, SECOND.key: SECOND}


def test_order_of_the_answers_does_not_change_the_text() -> None:
    """The digest of the file depends on what is pinned alone."""
    assert render_release("1.2.3", 4, XLA, [FIRST, SECOND]) == render_release("1.2.3", 4, XLA, [SECOND, FIRST])


def test_xla_of_an_unknown_release_is_refused() -> None:
    """A release whose XLA revision nobody wrote down cannot be pinned."""
    with pytest.raises(PinError) as caught:
        find_xla('["1.2.3"]\ncommit = "c0ffee"\n', "9.9.9")
    assert str(caught.value).splitlines()[:2] == [
        "no XLA revision is known for release '9.9.9'",
        "releases/xla.toml has: 1.2.3",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [("[[input", "not a TOML file"), ("[[input]]\nkey = 'x'\n", "lacks or misspells 'platforms'")],
    ids=["no TOML", "missing key"],
)
def test_malformed_inputs_are_refused(text: str, message: str) -> None:
    """A mistake in the hand-kept file is named before the index is asked."""
    with pytest.raises(PinError, match=message):
        plan_inputs(text, [], "1.2.3")


def test_replaced_file_is_refused() -> None:
    """The same file name with other bytes is never pinned over the old hash."""
    replaced = Pin(FIRST.key, FIRST.project, FIRST.version, FIRST.filename, "00", 5)
    with pytest.raises(PinError) as caught:
        check_unchanged({FIRST.key: FIRST, SECOND.key: SECOND}, [replaced, SECOND])
    assert caught.value.what == f"the package index offers other bytes than were pinned for {FIRST.filename}"


def test_pip_is_asked_for_another_platform_and_python() -> None:
    """Pip gets the target's tags, newest first, and never looks at this interpreter's."""
    arguments = pip_arguments(Wanted("k", "jaxlib", "1.2.3", "linux_aarch64", "cp314"), Path("d"))
    assert arguments[:3] == ("download", "--quiet", "--no-deps")
    assert arguments[5] == "--platform=manylinux_2_40_aarch64"
    assert arguments[-5:] == (
        "--python-version=314",
        "--abi=cp314",
        "--implementation=cp",
        "--dest=d",
        "jaxlib==1.2.3",
    )

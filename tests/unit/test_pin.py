# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The text of a release file, and what pip is asked for it."""

from __future__ import annotations

from fnmatch import fnmatchcase
from pathlib import Path

import pytest

from pjrtwheel.backend import load_backends
from pjrtwheel.errors import PinError
from pjrtwheel.pin import check_unchanged, find_xla, keep_pins, pip_arguments, render_release
from pjrtwheel.release.model import Pin, XlaSource, load_release, parse_release
from pjrtwheel.release.planned import WantedFile, plan_inputs

XLA = XlaSource("c0ffee", "ab" * 32, "7.7.0", verified=False, origin='a "quoted" place')
FIRST = Pin("bindings.cp313.linux_x86_64", "jaxlib", "1.2.3", "jaxlib-1.2.3-cp313-cp313-linux_x86_64.whl", "cd" * 32, 5)
SECOND = Pin("header.pjrt_c_api", "pjrt-header", "7", "pjrt_header-7-py3-none-any.whl", "ef" * 32, 6)


def test_release_in_the_repository_has_exactly_what_is_planned(root: Path) -> None:
    """Whoever changes inputs.toml or a backend's provider has to pin again."""
    text = (root / "releases" / "inputs.toml").read_text("utf-8")
    release = load_release(root)
    planned = plan_inputs(text, load_backends(root).values(), release.version)
    pins = release.pins.values()
    assert sorted((w.key, w.project) for w in planned) == [(p.key, p.project) for p in pins]
    versions = {pin.key: pin.version for pin in pins}
    assert [w for w in planned if not fnmatchcase(versions[w.key], w.version)] == []


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


def test_malformed_xla_revision_is_named_by_its_key() -> None:
    """The file is kept by hand."""
    with pytest.raises(PinError, match=r'"1\.2\.3" lacks sha256, bazel, verified, origin'):
        find_xla('["1.2.3"]\ncommit = "c0ffee"\n', "1.2.3")


def test_replaced_file_is_refused() -> None:
    """The same file name with other bytes is never pinned over the old hash."""
    replaced = Pin(FIRST.key, FIRST.project, FIRST.version, FIRST.filename, "00", 5)
    with pytest.raises(PinError) as caught:
        check_unchanged({FIRST.key: FIRST, SECOND.key: SECOND}, [replaced, SECOND])
    assert caught.value.what == f"the package index offers other bytes than were pinned for {FIRST.filename}"


def test_pins_that_are_still_wanted_are_kept() -> None:
    """A series keeps the version it was pinned at; another project or version has to be asked for."""
    wanted = [
        WantedFile(FIRST.key, "jaxlib", "1.2.*", "linux_x86_64", "cp313"),
        WantedFile(SECOND.key, "pjrt-header", "8", "linux_x86_64"),
        WantedFile("tool.beads.linux_x86_64", "beads", "1", "linux_x86_64"),
    ]
    assert keep_pins({FIRST.key: FIRST, SECOND.key: SECOND}, wanted) == {FIRST.key: FIRST}
    assert keep_pins({FIRST.key: FIRST}, [WantedFile(FIRST.key, "other", "1.2.3", "linux_x86_64", "cp313")]) == {}


def test_pip_is_asked_for_another_platform_and_python() -> None:
    """Pip gets the target's tags, newest first, and never looks at this interpreter's."""
    arguments = pip_arguments(WantedFile("k", "jaxlib", "1.2.3", "linux_aarch64", "cp314"), Path("d"))
    assert arguments[:3] == ("download", "--quiet", "--no-deps")
    assert arguments[5] == "--platform=manylinux_2_40_aarch64"
    assert arguments[-5:] == (
        "--python-version=314",
        "--abi=cp314",
        "--implementation=cp",
        "--dest=d",
        "jaxlib==1.2.3",
    )


def test_pip_is_asked_for_a_free_threaded_python() -> None:
    """Its version is that of a Python with the GIL; the ABI is not."""
    arguments = pip_arguments(WantedFile("k", "jaxlib", "1.2.3", "linux_aarch64", "cp314t"), Path("d"))
    assert arguments[-5:-3] == ("--python-version=314", "--abi=cp314t")

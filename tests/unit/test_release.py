# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Reading release files."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from pjrtwheel.errors import FetchError, PinError, UsageError
from pjrtwheel.release import Pin, Release, XlaSource, load_release, parse_release

TEXT = """
schema = 1
release = "1.2.3"
build = 4

[xla]
commit = "c0ffee"
sha256 = "ab"
bazel = "7.7.0"
verified = true
origin = "JAX's own tree"

[[pin]]
key = "bindings.cp313.linux_x86_64"
project = "jaxlib"
version = "1.2.3"
filename = "jaxlib-1.2.3-cp313-cp313-manylinux_2_27_x86_64.whl"
sha256 = "cd"
size = 5
"""
PIN = Pin(
    "bindings.cp313.linux_x86_64", "jaxlib", "1.2.3", "jaxlib-1.2.3-cp313-cp313-manylinux_2_27_x86_64.whl", "cd", 5
)
PATH = Path("releases/1.2.3.toml")


def test_whole_file_is_read() -> None:
    """Every value of the file arrives, and the text's digest is the identity of the inputs."""
    assert parse_release(TEXT, PATH) == Release(
        version="1.2.3",
        build=4,
        pins={PIN.key: PIN},
        xla=XlaSource("c0ffee", "ab", "7.7.0", verified=True, origin="JAX's own tree"),
        digest=hashlib.sha256(TEXT.encode()).hexdigest(),
        path=PATH,
    )


def test_pythons_are_those_with_bindings_for_the_platform() -> None:
    """Bindings of one platform say nothing about another."""
    release = parse_release(TEXT, PATH)
    assert (release.pythons("linux_x86_64"), release.pythons("linux_aarch64")) == (("cp313",), ())


def test_input_that_is_not_pinned_is_refused_with_a_way_out() -> None:
    """The error says what the release has instead and how to build without that input."""
    with pytest.raises(FetchError) as caught:
        parse_release(TEXT, PATH).pin("plugin.cpu.linux_aarch64")
    assert str(caught.value).splitlines() == [
        "release 1.2.3 pins no 'plugin.cpu.linux_aarch64'",
        "1.2.3.toml has: bindings.cp313.linux_x86_64",
        "build it from source with --xla source, or give a library with --xla PATH",
    ]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("schema = 1", "schema = 2", "has schema 2, expected 1"),
        ('release = "1.2.3"', "", "lacks or misspells 'release'"),
        ("size = 5", "length = 5", "length"),
        ("[xla]", "[xla", "not a TOML file"),
    ],
    ids=["other schema", "missing key", "unknown key", "no TOML"],
)
def test_malformed_file_is_refused(old: str, new: str, message: str) -> None:
    """A file that was edited by hand, or comes from another version, is refused with the reason."""
    with pytest.raises(PinError, match=message):
        parse_release(TEXT.replace(old, new), PATH)


def test_unknown_release_lists_the_known_ones_and_the_command(tmp_path: Path) -> None:
    """The message leads to the command that pins a new release; xla.toml is no release."""
    (tmp_path / "releases").mkdir()
    for name in ("1.2.3", "xla"):
        (tmp_path / "releases" / f"{name}.toml").write_text(TEXT, "utf-8")
    with pytest.raises(UsageError) as caught:
        load_release(tmp_path, "9.9.9")
    assert str(caught.value).splitlines() == [
        "unknown release: '9.9.9'",
        "known releases: 1.2.3",
        "pin it with: nox -s pin -- 9.9.9",
    ]

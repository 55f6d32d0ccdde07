# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Reading pins files."""

import hashlib
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.version import Version

from pjrtwheel.errors import FetchError, PinError, UsageError
from pjrtwheel.release.known import load_release, newest_release, version_order
from pjrtwheel.release.model import Pin, Release, XlaSource, parse_release
from release_under_test import ROOT

VERSIONS = ("0.9.3", "1.1.dev2", "1.1rc9", "1.1rc10", "1.1.0", "1.1.0.1", "1.2.0.dev3", "1.2", "1.10")
TEXT = (ROOT / "tests/data/small_release.toml").read_text("utf-8")
PIN = Pin(
    "bindings.cp313.linux_x86_64", "jaxlib", "1.2.3", "jaxlib-1.2.3-cp313-cp313-manylinux_2_27_x86_64.whl", "cd" * 32, 5
)
PATH = Path("releases/1.2.3.toml")


def test_whole_file_is_read() -> None:
    """Every value of the file arrives, and the text's digest is the identity of the inputs."""
    assert parse_release(TEXT, PATH) == Release(
        version="1.2.3",
        build=4,
        pins={PIN.key: PIN},
        xla=XlaSource("c0ffee", "ab" * 32, "7.7.0", verified=True, origin="JAX's own tree"),
        digest=hashlib.sha256(TEXT.encode()).hexdigest(),
        path=PATH,
    )


def test_input_that_is_not_pinned_is_refused_with_a_way_out() -> None:
    """The error has what the caller knows of ways to do without that input."""
    with pytest.raises(FetchError) as caught:
        parse_release(TEXT, PATH).pin("plugin.cpu.linux_aarch64", "build it from source")
    assert caught.value.remedy == "build it from source"


@pytest.mark.parametrize(
    ("old", "new", "cause"),
    [
        ("size = 5", "size = -5", "pin[0].size: expected at least 0, found -5"),
        ("build = 4", "build = true", "build: expected an integer, found True"),
        ("cd" * 32, "CD" * 32, f"pin[0].sha256: '{'CD' * 32}' does not match '[0-9a-f]{{64}}'"),
        ('filename = "', 'filename = "../', "pin[0].filename: '../jaxlib"),
        ('key = "bindings.cp313.linux_x86_64"', 'key = "bindings.cp313"', "pin[0].key: 'bindings.cp313' does"),
        ('project = "jaxlib"', 'project = ""', "pin[0].project: '' does not match"),
        ("size = 5", "length = 5", "pin[0] lacks size, and has unknown keys length"),
        ("schema = 2", "schema = 1", "schema: expected 2, found 1"),
        ("[xla]", "[xla", "not TOML: "),
    ],
    ids=["negative", "flag", "digest", "path", "key", "empty", "unknown key", "other schema", "no TOML"],
)
def test_value_that_cannot_be_is_refused(old: str, new: str, cause: str) -> None:
    """A value of the wrong type or form never gets as far as the index or the disk."""
    with pytest.raises(PinError) as caught:
        parse_release(TEXT.replace(old, new), PATH)
    assert caught.value.what == f"malformed pins file: {PATH}"
    assert caught.value.cause.startswith(cause)


def test_a_key_that_is_pinned_twice_is_refused() -> None:
    """Nobody could say which of the two files would be taken."""
    with pytest.raises(PinError, match=r"pin\[1\]\.key: 'bindings\.cp313\.linux_x86_64' is pinned twice"):
        parse_release(TEXT + TEXT[TEXT.index("[[pin]]") :], PATH)


@given(st.permutations(VERSIONS))
def test_releases_are_in_the_order_of_their_versions(versions: list[str]) -> None:
    """As packaging orders them, which is not there where the order has to be known."""
    assert sorted(versions, key=version_order) == sorted(versions, key=Version)
    assert version_order("1.1.0") == version_order("1.1")


def test_the_newest_release_is_taken_unless_another_is_named(tmp_path: Path) -> None:
    """Adding a pins file is all there is to making a release the default; without any, the command is named."""
    folder = tmp_path / "releases"
    folder.mkdir()
    with pytest.raises(UsageError):
        load_release(tmp_path)
    for version in ("1.9.0", "1.10.0", "1.10.0rc1"):
        (folder / f"{version}.toml").write_text(TEXT.replace('"1.2.3"', f'"{version}"', 1), "utf-8")
    for name in ("xla.toml", "2.0 (copy).toml"):
        (folder / name).touch()
    assert newest_release(tmp_path) == "1.10.0"
    assert load_release(tmp_path).version == "1.10.0"
    assert {load_release(tmp_path, same).version for same in ("1.9.0", "1.9")} == {"1.9.0"}
    with pytest.raises(UsageError) as caught:
        load_release(tmp_path, "9.9.9")
    assert caught.value.cause == "known releases: 1.9.0, 1.10.0rc1, 1.10.0"

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Finding a Bazel."""

from pathlib import Path

import pytest

from folders import write_program
from pjrtwheel.bazel.locate import Bazel, _may_install, check_version, find_bazel
from pjrtwheel.errors import BazelError
from pjrtwheel.release.model import XlaSource


def test_first_supported_one_on_the_path_is_taken(tmp_path: Path) -> None:
    """A program that does not run, or is too new, is passed over; $BAZEL is the user's last word."""
    write_program(tmp_path / "bazelisk", "exit 1")
    found = write_program(tmp_path / "bazel", "echo bazel 7.7.1")
    assert find_bazel("7.7.1", {"PATH": str(tmp_path)}) == Bazel(str(found), (7, 7, 1), "7.7.1")
    named = write_program(tmp_path / "mine", "echo bazel 6.5.0")
    environ = {"PATH": str(tmp_path), "BAZEL": str(named)}
    assert find_bazel("7.7.1", environ) == Bazel(str(named), (6, 5, 0), "7.7.1")


def test_nothing_goes_to_the_network_within_a_bundle(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As bazelisk would, unless it is named, and apt, as root on Debian."""
    named = write_program(tmp_path / "bazelisk", "echo bazel 7.7.1")
    found = write_program(tmp_path / "bazel", "echo bazel 6.5.0")
    environ = {"PATH": str(tmp_path), "PJRTWHEEL_BUNDLE": "/media/disk/bundle"}
    assert find_bazel("7.7.1", environ).command == str(found)
    assert find_bazel("7.7.1", {**environ, "BAZEL": str(named)}).command == str(named)
    monkeypatch.setattr("os.geteuid", lambda: 0)
    monkeypatch.setattr(Path, "exists", lambda _: True)
    assert _may_install({})
    assert not _may_install({"PJRTWHEEL_BUNDLE": "/media/disk/bundle"})


@pytest.mark.parametrize(
    ("named", "cause"), [("", "looked for bazelisk, bazel, bazel-4"), ("old", "/old (3.7.2)"), ("none", "")]
)
def test_none_that_will_do(tmp_path: Path, named: str, cause: str) -> None:
    """None at all, one that is too old, and one that is missing: what is named is never replaced by another."""
    write_program(tmp_path / "old", "echo bazel 3.7.2")
    with pytest.raises(BazelError) as caught:
        find_bazel("7.7.1", {"PATH": str(tmp_path), "BAZEL": named and str(tmp_path / named)})
    assert cause in caught.value.cause


def test_a_bazel_of_another_major_version_is_refused() -> None:
    """What the pinned XLA wants is known; of another tree nothing is, so any Bazel may try."""
    xla = XlaSource("0123456789abcdef", "ab" * 32, "8.7.0", verified=False, origin="a document")
    check_version(Bazel("bazel", (8, 5, 1)), xla, ())
    check_version(Bazel("bazel", (4, 2, 3)), xla, ("--override_repository=jax=/stub", "--jobs=2"))
    with pytest.raises(BazelError) as caught:
        check_version(Bazel("/usr/bin/bazel", (4, 2, 3)), xla, ())
    assert caught.value.what == "XLA at 0123456789ab needs Bazel 8.7.0, /usr/bin/bazel is 4.2.3"

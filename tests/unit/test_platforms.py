# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Platforms by name, and the host's."""

import platform
from collections.abc import Callable

import pytest

from pjrtwheel.errors import UsageError
from pjrtwheel.platforms import Platform, host_platform, this_platform
from pjrtwheel.wheel.names import parse_name


@pytest.mark.parametrize(
    ("tag", "expected"),
    [
        ("cp312-cp312-manylinux_2_27_x86_64", "linux_x86_64"),
        ("cp312-cp312-manylinux2014_aarch64.manylinux_2_17_aarch64", "linux_aarch64"),
        ("cp312-cp312-musllinux_1_2_x86_64", "linux_x86_64"),
        ("cp312-cp312-macosx_11_0_arm64", "macos_arm64"),
        ("cp312-cp312-win_amd64", "windows_x86_64"),
        ("cp312-cp312-macosx_10_12_x86_64", None),
        ("cp312-cp312-macosx_11_0_universal2", None),
        ("cp312-cp312-win_arm64", None),
        ("cp312-cp312-win32", None),
        ("cp312-cp312-manylinux_2_27_x86_64.macosx_11_0_arm64", None),
        ("py3-none-any", None),
    ],
)
def test_the_platform_of_a_wheel_follows_from_its_tag(tag: str, expected: str | None) -> None:
    """The whole tag counts: an Intel Mac is no Linux of the same processor, and two platforms are not one."""
    found = parse_name(f"demo-1.0-{tag}.whl").platform
    assert (found.name if found else None) == expected


@pytest.mark.parametrize(
    ("system", "machine", "expected"),
    [("Linux", "aarch64", "linux_aarch64"), ("Darwin", "arm64", "macos_arm64"), ("Windows", "AMD64", "windows_x86_64")],
)
def test_this_platform_is_named_by_system_and_machine(
    monkeypatch: pytest.MonkeyPatch, system: str, machine: str, expected: str
) -> None:
    """It follows from what the standard library says, in the words of each system."""
    monkeypatch.setattr(platform, "system", lambda: system)
    monkeypatch.setattr(platform, "machine", lambda: machine)
    assert this_platform().name == expected


@pytest.mark.parametrize(
    ("ask", "machine", "named"),
    [(host_platform, "arm64", "macos_arm64"), (this_platform, "x86_64", "darwin_x86_64")],
    ids=["nothing is built there", "no wheels"],
)
def test_a_machine_that_is_of_no_use_is_named(
    monkeypatch: pytest.MonkeyPatch, ask: Callable[[], Platform], machine: str, named: str
) -> None:
    """It is a user's error, not a crash later, and lists the platforms that would do."""
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "machine", lambda: machine)
    with pytest.raises(UsageError) as caught:
        ask()
    assert (named in caught.value.what, "linux_x86_64, linux_aarch64" in caught.value.remedy) == (True, True)

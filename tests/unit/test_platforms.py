# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Platforms by name, and the host's."""

import platform

import pytest

from pjrtwheel.errors import UsageError
from pjrtwheel.platforms import PLATFORMS, BinaryFormat, Platform, find_platform, host_platform, this_platform
from pjrtwheel.wheel.names import parse_name


def test_platform_is_found_with_all_its_names() -> None:
    """One name leads to what others call the same platform."""
    assert find_platform("linux_aarch64") == Platform(
        "linux_aarch64",
        "linux",
        "aarch64",
        ("manylinux", "musllinux", "linux"),
        'sys_platform == "linux"',
        BinaryFormat.ELF,
        "EM_AARCH64",
        "aarch64-linux-gnu.2.17",
    )


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


def test_unknown_platform_lists_the_known_ones() -> None:
    """A slip of the pen is answered with the choices."""
    with pytest.raises(UsageError) as caught:
        find_platform("linux_arm64")
    assert str(caught.value) == f"unknown platform: 'linux_arm64'\nknown platforms: {', '.join(PLATFORMS)}"


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


def test_host_without_wheels_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine nothing can be built on is a user's error, not a crash later."""
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    with pytest.raises(UsageError) as caught:
        host_platform()
    assert str(caught.value).splitlines() == [
        "wheels cannot be built on macos_arm64",
        "Bazel's actions and the pinned compiler are for Linux",
        "build them on one of linux_x86_64, linux_aarch64, with --platform macos_arm64",
    ]


def test_machine_without_wheels_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A system or processor that is none of ours is named as the standard library names it."""
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    with pytest.raises(UsageError, match="unknown platform: 'darwin_x86_64'"):
        this_platform()

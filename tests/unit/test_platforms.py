# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Platforms by name, and the host's."""

from __future__ import annotations

import platform

import pytest

from pjrtwheel.errors import UsageError
from pjrtwheel.platforms import Platform, find_platform, host_platform


def test_platform_is_found_with_all_its_names() -> None:
    """One name leads to what others call the same platform."""
    assert find_platform("linux_aarch64") == Platform(
        "linux_aarch64", "aarch64", "EM_AARCH64", "aarch64-linux-gnu.2.17"
    )


def test_unknown_platform_lists_the_known_ones() -> None:
    """A slip of the pen is answered with the choices."""
    with pytest.raises(UsageError) as caught:
        find_platform("linux_arm64")
    assert str(caught.value) == "unknown platform: 'linux_arm64'\nknown platforms: linux_x86_64, linux_aarch64"


def test_host_is_named_by_system_and_machine(monkeypatch: pytest.MonkeyPatch) -> None:
    """The host's platform follows from what the standard library says about it."""
    monkeypatch.setattr(platform, "system", lambda: "Linux")
    monkeypatch.setattr(platform, "machine", lambda: "aarch64")
    assert host_platform().name == "linux_aarch64"


def test_host_without_wheels_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine nothing can be built on is a user's error, not a crash later."""
    monkeypatch.setattr(platform, "system", lambda: "Darwin")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    with pytest.raises(UsageError, match="unknown platform: 'darwin_arm64'"):
        host_platform()

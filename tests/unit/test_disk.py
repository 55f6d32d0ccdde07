# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a build needs of the disk, as it is printed."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from pjrtwheel import disk
from pjrtwheel.backend import find_backend
from pjrtwheel.bazel.invoke import BuildRequest
from pjrtwheel.disk import describe_need, list_inputs
from pjrtwheel.platforms import PLATFORMS, host_platform
from pjrtwheel.release.checks import fetched_pins
from pjrtwheel.release.model import Pin, Release


def write_pin(cache: Path, pin: Pin) -> None:
    """Put a file of the pinned size into a cache, without its bytes."""
    place = cache / "wheels" / pin.sha256 / pin.filename
    place.parent.mkdir(parents=True)
    place.touch()
    os.truncate(place, pin.size)


@pytest.mark.parametrize(("free", "start"), [(10**13, "needs up to "), (10**6, "warning: needs up to ")])
def test_what_is_not_there_is_downloaded(
    root: Path, release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, free: int, start: str
) -> None:
    """Each wheel that the cache has is one download less; all else is as large as before."""
    monkeypatch.setattr(disk, "free_space", lambda _: free)
    backends = (find_backend(root, "cpu"), find_backend(root, "cuda13"))
    request = BuildRequest(root, release, backends, PLATFORMS["linux_x86_64"])
    pins = fetched_pins(release, backends, request.platform, "prebuilt", host_platform())
    ends = f"; {free / 1e9:.1f} GB are free"

    def measure() -> tuple[float, float]:
        line = describe_need(request, tmp_path, proofs=False)
        assert line.startswith(start)
        assert line.endswith(f" of it downloads{ends}")
        needed, downloads = line.removeprefix(start).split(f" GB below {tmp_path}, ")
        return float(needed), float(downloads.split()[0])

    all_of_it, downloads = measure()
    assert downloads == pytest.approx(sum(pin.size for pin in pins) / 1e9, abs=0.06)
    for pin in pins:
        write_pin(tmp_path, pin)
    rest, nothing = measure()
    assert nothing == 0
    assert rest == pytest.approx(all_of_it - downloads, abs=0.16)


def test_proofs_and_further_backends_need_room_as_well(root: Path, release: Release, tmp_path: Path) -> None:
    """Proofs once, since one environment is made after the other; of a backend at least what it downloads."""
    cpu, cuda = find_backend(root, "cpu"), find_backend(root, "cuda13")
    one, two = (BuildRequest(root, release, backends, PLATFORMS["linux_x86_64"]) for backends in ((cpu,), (cpu, cuda)))

    def need(request: BuildRequest, *, proofs: bool) -> float:
        line = describe_need(request, tmp_path, proofs=proofs)
        return float(line.partition("up to ")[2].partition(" GB")[0])

    assert need(two, proofs=True) - need(two, proofs=False) == pytest.approx(
        need(one, proofs=True) - need(one, proofs=False), abs=0.11
    )
    more = sum(pin.size for pin in set(list_inputs(two)) - set(list_inputs(one)))
    assert need(two, proofs=False) - need(one, proofs=False) > more / 1e9


def test_bindings_alone_take_no_headers(root: Path, release: Release) -> None:
    """Nothing is compiled for them."""
    request = BuildRequest(root, release, (), PLATFORMS["macos_arm64"])
    assert {pin.key.rpartition(".")[2] for pin in list_inputs(request)} == {"macos_arm64"}


def test_what_a_bundle_has_is_not_downloaded(
    root: Path, release: Release, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is said where it comes from."""
    monkeypatch.setenv("PJRTWHEEL_BUNDLE", str(tmp_path))
    request = BuildRequest(root, release, (find_backend(root, "cpu"),), PLATFORMS["linux_x86_64"])
    assert " GB of it from the bundle; " in describe_need(request, tmp_path, proofs=False)

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Downloads that are seen from outside, while they run."""

from __future__ import annotations

import hashlib
from pathlib import Path

from pjrtwheel.fetch.cache import WheelCache
from pjrtwheel.fetch.watch import Download, find_downloads
from pjrtwheel.release.model import Pin


def make_pin(name: str, data: bytes) -> Pin:
    """Return the pin of a file with some bytes."""
    filename = f"{name}-1-py3-none-any.whl"
    return Pin(f"x.{name}", name, "1", filename, hashlib.sha256(data).hexdigest(), len(data))


def test_a_download_is_seen_as_long_as_it_runs(tmp_path: Path) -> None:
    """In whatever file of its folder the bytes are; two copies of them are no more than the whole."""
    data = b"x" * 1000
    pin, other = make_pin("a", data), make_pin("b", b"y")
    seen: list[tuple[Download, ...]] = []

    def download(pin: Pin, folder: Path) -> Path:
        seen.append(find_downloads(tmp_path, [pin, other]))
        (folder / "pip-unpack").mkdir()
        (folder / "pip-unpack/part").write_bytes(data[:400])
        seen.append(find_downloads(tmp_path, [pin, other]))
        (folder / "pip-unpack/part").write_bytes(data)
        (folder / pin.filename).write_bytes(data)
        seen.append(find_downloads(tmp_path, [pin, other]))
        assert find_downloads(tmp_path, [other]) == ()
        return folder / pin.filename

    WheelCache(tmp_path, download).fetch(pin)
    assert [[(one.filename, one.received, one.size) for one in found] for found in seen] == [
        [(pin.filename, received, 1000)] for received in (0, 400, 1000)
    ]
    assert find_downloads(tmp_path, [pin, other]) == ()

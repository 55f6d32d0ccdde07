# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Files that are there whole or not at all."""

from __future__ import annotations

import hashlib
from pathlib import Path

import pytest

from pjrtwheel.files import copy_atomically, hash_file, write_atomically


def test_a_text_replaces_what_was_there(tmp_path: Path) -> None:
    """The folders around it are made, and nothing else stays behind."""
    path = tmp_path / "a" / "b.txt"
    for text in ("long " * 1000, "é\n"):
        write_atomically(path, text)
    assert path.read_bytes() == b"\xc3\xa9\n"
    assert list(path.parent.iterdir()) == [path]


def test_what_cannot_be_encoded_leaves_no_trace(tmp_path: Path) -> None:
    """An error half way leaves the old file, and no partial one."""
    path = tmp_path / "b.txt"
    write_atomically(path, "old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(path, "\udcff")
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_copy_has_the_digest_that_is_returned(tmp_path: Path) -> None:
    """The digest is that of the bytes which were copied, and of the file that came out."""
    source, target = tmp_path / "source", tmp_path / "target"
    source.write_bytes(bytes(3_000_000))
    source.chmod(0o400)
    digest = hashlib.sha256(bytes(3_000_000)).hexdigest()
    assert (copy_atomically(source, target), hash_file(target)) == (digest, digest)
    assert sorted(tmp_path.iterdir()) == [source, target]
    assert target.stat().st_mode & 0o777 == 0o644

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Files that are there whole or not at all."""

import hashlib
import os
import tempfile
from pathlib import Path

import pytest

from pjrtwheel.errors import UsageError
from pjrtwheel.files import copy_atomically, hash_file, link_or_copy, make_folder, require_folder, write_atomically


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


@pytest.mark.parametrize(("mode", "links"), [(0o644, 2), (0o600, 1), (0o444, 1)])
def test_a_file_is_linked_unless_its_mode_would_be_another(tmp_path: Path, mode: int, links: int) -> None:
    """Also through a symbolic link; what is there afterwards has the mode of a copy in any case."""
    source, link, target = (tmp_path / name for name in ("source", "link", "target"))
    source.write_bytes(b"bytes")
    source.chmod(mode)
    link.symlink_to(source)
    link_or_copy(link, target)
    assert (target.is_symlink(), target.read_bytes(), target.stat().st_mode & 0o777) == (False, b"bytes", 0o644)
    assert (source.stat().st_nlink, target.stat().st_nlink) == (links, links)
    assert source.stat().st_mode & 0o777 == mode


def test_a_file_on_another_disk_is_copied(tmp_path: Path) -> None:
    """It has no link there."""
    source = tmp_path / "source"
    source.write_bytes(b"bytes")
    source.chmod(0o644)
    with tempfile.TemporaryDirectory(dir="/dev/shm") as memory:
        target = Path(memory) / "target"
        link_or_copy(source, target)
        assert (target.read_bytes(), source.stat().st_nlink) == (b"bytes", 1)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_folder_that_cannot_be_read_is_not_an_empty_one(tmp_path: Path) -> None:
    """The system's error says so."""
    tmp_path.chmod(0)
    try:
        with pytest.raises(PermissionError):
            require_folder(tmp_path, "another")
    finally:
        tmp_path.chmod(0o700)


def test_a_file_is_no_folder(tmp_path: Path) -> None:
    """Nor is what is not there; and none can be made in the place of a file."""
    file = tmp_path / "file"
    file.touch()
    require_folder(tmp_path, "another")
    none = tmp_path / "none"
    for path, what in ((file, f"{file} is a file, where a folder is expected"), (none, f"no such folder: {none}")):
        with pytest.raises(UsageError) as caught:
            require_folder(path, "another")
        assert (caught.value.what, caught.value.remedy) == (what, "another")
    for path in (file, file / "below"):
        with pytest.raises(UsageError, match="cannot make the folder"):
            make_folder(path)

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A wheel is read only if its zip file says one thing to all programs that read it."""

import io
import subprocess
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest

from hostile_wheels import CONTAINERS, MODULE, Piece, pack
from pjrtwheel.environment.interpreters import Interpreter, find_interpreters
from pjrtwheel.wheel.container import check_container, is_safe_name
from pjrtwheel.wheel.members import open_wheel
from release_under_test import ROOT

PYTHONS = {tag: found for tag, found in find_interpreters(("cp311", "cp312", "cp313", "cp314")).items() if found}
READ_ALL = """
import sys, zipfile
from pathlib import Path
from pjrtwheel.errors import WheelError
from pjrtwheel.wheel.members import open_wheel
for path in sorted(Path(sys.argv[1]).iterdir()):
    try:
        with open_wheel(path) as archive:
            sizes = [len(archive.read(info)) for info in archive.infolist()]
        print(f"{path.name}: {sizes}")
    except WheelError as error:
        print(f"{path.name}: {error.what.removeprefix(path.name)}")
"""


# A word of the reason → the containers that are refused for it; a check that nothing else needs has one of its own.
REASONS = {
    "begins at": "gap overlap prefix two-archives-counted unlisted-twin",
    "last member ends": "hidden-behind-data unlisted-member",
    "not where it says": "directory-length directory-start prefix-not-counted two-archives",
    "does not end as": "comment comment-missing trailing-data",
    "part of a zip": "several-disks",
    "malformed": "extra-cut extra-twice other-disk second-name second-name-in-front",
    "its end says": "count-high count-low",
    "two ends": "wide-end-differs",
    "64-bit end": "wide-end-magic",
    "more or fewer": "wide-front-unneeded wide-size-missing wide-size-unneeded",
    "in front of its data": "described-sizes-differ local-compressed local-crc local-flags local-method local-name"
    " local-size",
    "what follows": "descriptor-differs descriptor-missing",
    "not what its header says": "behind-stream far-behind-stream stream-crc stream-longer stream-shorter two-streams",
    "within its stream": "stream-cut",
    "invalid block": "stream-kind",
    "two sizes": "stored-two-sizes",
    "size is behind": "stored-and-described",
    "bomb": "bomb",
    "directory with data": "directory-data hidden-in-directory",
    "symbolic link": "symbolic-link",
    "no regular file": "pipe",
    "flags": "encrypted masked patched",
    "method 12": "method",
    "2 times": "case-twin nfc-twin twice",
    "a file and a directory": "file-and-directory file-and-directory-case",
    "as UTF-8": "not-marked-utf8",
    "no path inside": "absolute backslash device drive empty-part escape no-name not-utf8 null parent parent-inside"
    " trailing-dot trailing-space",
}


@pytest.mark.parametrize("python", PYTHONS.values(), ids=PYTHONS)
def test_hostile_containers_are_refused(tmp_path: Path, python: Interpreter) -> None:
    """Each for its own reason, on every Python, whose zipfile accepts more than half of them; the sound one is read."""
    reasons = {name: word for word, names in REASONS.items() for name in names.split()}
    assert reasons.keys() == CONTAINERS.keys()
    for name, data in {"sound": pack([MODULE]), **CONTAINERS}.items():
        (tmp_path / name).write_bytes(data)
    command, environ = [str(python.path), "-c", READ_ALL, str(tmp_path)], {"PYTHONPATH": str(ROOT / "build")}
    printed = subprocess.check_output(command, env=environ, text=True)
    said = dict(line.split(": ", 1) for line in printed.splitlines())
    assert said.pop("sound") == f"[{len(MODULE.data)}]"
    assert {name: text for name, text in said.items() if reasons.pop(name) not in text} == reasons == {}


def test_problems_are_reported_together() -> None:
    """One reading names every member that would leave its directory."""
    names = (b"../evil", b"/etc/evil", b"a//b")
    problems = check_container(io.BytesIO(pack([Piece(name) for name in names])))
    assert [name.decode() in problem for name, problem in zip(names, problems, strict=True)] == [True] * 3


class Pipe(io.BytesIO):
    """A file that goes on only, so that sizes are known behind the data."""

    def seekable(self) -> bool:
        """Return that it does not go back."""
        return False

    def tell(self) -> int:
        """Say so as pipes do."""
        raise OSError


def write_plain(archive: zipfile.ZipFile) -> None:
    """Write a text."""
    archive.writestr("a/b.py", b"1\n" * 1000)


def write_kinds(archive: zipfile.ZipFile) -> None:
    """Write a directory, nothing, and a name that is not ASCII."""
    archive.mkdir("a")
    archive.writestr("a/empty", b"")
    archive.writestr("a/ü.txt", b"text")


def write_wide(archive: zipfile.ZipFile) -> None:
    """Write with room for sizes that are not needed in the end."""
    with archive.open("large", "w", force_zip64=True) as member:
        member.write(b"small after all")


def write_lengths(archive: zipfile.ZipFile) -> None:
    """Write what inflates to a few bytes more or less than buffers have."""
    for size in (0, 8191, 8200, 65537, (1 << 18) + 7, (1 << 20) + 7):
        archive.writestr(f"zeros-{size}", bytes(size))
        archive.writestr(f"repeated-{size}", (b"abc" * size)[:size])


WRITERS = [write_plain, write_kinds, write_wide, write_lengths]


@pytest.mark.parametrize("write", WRITERS)
@pytest.mark.parametrize("kind", [io.BytesIO, Pipe])
def test_what_zipfile_writes_is_read(
    tmp_path: Path, write: Callable[[zipfile.ZipFile], None], kind: type[io.BytesIO]
) -> None:
    """Directories, other names, 64-bit fields, and records behind the data; in small and large pieces."""
    target = kind()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        write(archive)
    (tmp_path / "a.whl").write_bytes(target.getvalue())
    with open_wheel(tmp_path / "a.whl") as strict, zipfile.ZipFile(tmp_path / "a.whl") as plain:
        for name in plain.namelist():
            with strict.open(name) as file:
                pieces = b"".join(iter(partial(file.read, 4099), b""))
            assert strict.read(name) == pieces == plain.read(name)


@pytest.mark.parametrize("name", ["a.py", "a/b.so.1", "a/.hidden", "a/con_.py", "a/console.py", "a b/c", "lpt/com10"])
def test_usual_names_are_safe(name: str) -> None:
    """Dots, spaces and words that only look like devices are in real wheels."""
    assert is_safe_name(name)

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Reading wheels that nobody vouches for."""

import os
import zipfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pjrtwheel.errors import WheelError
from pjrtwheel.wheel.container import is_bomb, is_safe_name
from pjrtwheel.wheel.unpack import read_text, unpack_wheel

MakeWheel = Callable[..., Path]


@pytest.fixture
def files() -> Iterator[ExitStack]:
    """Close what a test unpacks."""
    with ExitStack() as stack:
        yield stack


def refusal(path: Path) -> WheelError:
    """Return the error with which a wheel is refused."""
    with ExitStack() as files, pytest.raises(WheelError) as caught:
        unpack_wheel(path, files, scratch=path.parent)
    return caught.value


def problems(path: Path) -> list[str]:
    """Return the problems for which a wheel is refused."""
    error = refusal(path)
    assert len(str(error).splitlines()) == 3
    return error.what.removeprefix(f"{path.name} is not fit for use: ").split("; ")


def test_members_come_out_in_order(make_wheel: MakeWheel, tmp_path: Path, files: ExitStack) -> None:
    """Every member but RECORD comes out, with its bytes."""
    name, members = unpack_wheel(make_wheel({"b.py": b"2", "a/é.py": b"1"}), files, scratch=tmp_path)
    assert (name.distribution, name.version) == ("demo", "1.0")
    assert [member.path for member in members] == [
        "a/é.py",
        "b.py",
        "demo-1.0.dist-info/METADATA",
        "demo-1.0.dist-info/WHEEL",
    ]
    assert read_text(members, "b.py") == "2"


def test_file_that_is_called_record_elsewhere_is_a_member(
    make_wheel: MakeWheel, tmp_path: Path, files: ExitStack
) -> None:
    """Only RECORD of the metadata lists itself, and the signatures it once had are refused, listed or not."""
    _, members = unpack_wheel(make_wheel({"pkg/RECORD": b"1", "pkg/RECORD.jws": b"2"}), files, scratch=tmp_path)
    paths = [member.path for member in members]
    assert paths == ["demo-1.0.dist-info/METADATA", "demo-1.0.dist-info/WHEEL", "pkg/RECORD", "pkg/RECORD.jws"]
    signed, path = make_wheel({"demo-1.0.dist-info/RECORD.p7s": b"3"}), "demo-1.0.dist-info/RECORD.jws"
    assert problems(signed) == ["'RECORD.p7s' is an obsolete signature"]
    hidden = make_wheel({})
    with zipfile.ZipFile(hidden, "a") as archive:
        archive.writestr("pkg/RECORD", b"unlisted")
        archive.writestr(path, b"{}")
    unlisted = [f"{name!r} is in the wheel but not in RECORD" for name in (path, "pkg/RECORD")]
    assert problems(hidden) == [*unlisted, "'RECORD.jws' is an obsolete signature"]


def test_missing_member_is_an_error(make_wheel: MakeWheel, tmp_path: Path, files: ExitStack) -> None:
    """Asking for what is not there says so."""
    _, members = unpack_wheel(make_wheel({}), files, scratch=tmp_path)
    with pytest.raises(WheelError, match="the wheel has no nothing"):
        read_text(members, "nothing")


def test_large_members_leave_no_file(make_wheel: MakeWheel, tmp_path: Path, files: ExitStack) -> None:
    """Large members are held in files without a name."""
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    data = os.urandom(3 << 20)
    _, members = unpack_wheel(make_wheel({"large": data}), files, scratch=scratch)
    large = next(member for member in members if member.path == "large")
    large.file.seek(0)
    assert large.file.read() == data
    assert list(scratch.iterdir()) == []


@given(st.lists(st.sampled_from(["a", "b.py", "..", ".", "", "\\", "c:", "\n"]), min_size=1, max_size=4).map("/".join))
def test_safe_names_stay_below(name: str) -> None:
    """A name is safe only if joining it to a directory gives a path below, spelled the same."""
    inside = os.path.normpath(f"/top/{name}") == f"/top/{name.removesuffix('/')}" and name.removesuffix("/") != ""
    assert not is_safe_name(name) or (inside and not name.startswith("/"))


def test_many_problems_are_counted(make_wheel: MakeWheel) -> None:
    """A message stays three lines long, however much is wrong."""
    found = problems(make_wheel({"a.py": b""}, record="".join(f"gone{number},,\n" for number in range(9))))
    assert found == [
        *(f"'gone{number}' is in RECORD but not in the wheel" for number in range(4)),
        "'gone4' is in RECORD but not in the wheel and 7 more",
    ]


def test_all_differences_from_record_are_reported_together(make_wheel: MakeWheel) -> None:
    """RECORD is held against the members in both directions, and by digest and size."""
    record = (
        "a.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n"
        "gone.py,,\n"
        "demo-1.0.dist-info/METADATA,,\n"
        "demo-1.0.dist-info/RECORD,,\n"
    )
    found = problems(make_wheel({"a.py": b"tampered"}, record=record))
    assert found[:2] == [
        "'gone.py' is in RECORD but not in the wheel",
        "'demo-1.0.dist-info/WHEEL' is in the wheel but not in RECORD",
    ]
    assert found[2].startswith("'a.py' has sha256=")
    assert found[2].endswith("RECORD says sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU")
    assert found[3] == "'a.py' has 8 bytes, RECORD says 0"
    assert found[4].startswith("'demo-1.0.dist-info/METADATA' has sha256=")
    assert len(found) == 5


@pytest.mark.parametrize(("size", "total"), [(1 << 30, 17 << 30), (10 << 20, 1001 << 20), (100, 101 << 20)])
def test_zip_bomb_by_size(size: int, total: int) -> None:
    """A file of that size claims to inflate beyond all measure, and one to nine tenths of it does not."""
    assert (is_bomb(size, total), is_bomb(size, total * 9 // 10)) == (True, False)


@pytest.mark.parametrize("keep", [0, 1, 10, 100, 400, -30, -1])
def test_truncated_wheel(make_wheel: MakeWheel, keep: int) -> None:
    """Wherever a download was cut short, the wheel is refused by name."""
    path = make_wheel({"a.py": os.urandom(200)})
    path.write_bytes(path.read_bytes()[:keep])
    assert refusal(path).what.startswith("demo-1.0-py3-none-any.whl is a damaged wheel: ")


def test_damaged_member(make_wheel: MakeWheel) -> None:
    """A flipped bit inside a member is found by checksum or by zlib, and the member is named."""
    path = make_wheel({"a.py": b"some text, some text", "b.py": b"other text, other text"})
    data = bytearray(path.read_bytes())
    for name in (b"a.py", b"b.py"):
        data[data.index(name) + 10] ^= 0xFF
    path.write_bytes(data)
    assert [line.split(" is damaged: ")[0] for line in problems(path)] == ["'a.py'", "'b.py'"]


def test_what_is_no_wheel_is_named(make_wheel: MakeWheel, tmp_path: Path) -> None:
    """A path that leads nowhere, a folder, a zip file without RECORD, and one with a RECORD that is none."""
    path = tmp_path / "a-1-py3-none-any.whl"
    assert refusal(path).what == f"no such wheel: {path}"
    path.mkdir()
    assert refusal(path).what == f"no such wheel: {path}"
    bare = tmp_path / "b-1-py3-none-any.whl"
    with zipfile.ZipFile(bare, "w") as archive:
        archive.writestr("a.py", "")
    assert refusal(bare).what == f"{bare.name} has no b-1.dist-info/RECORD"
    malformed = make_wheel({}, record="two,fields\n")
    assert refusal(malformed).what == f"{malformed.name} has a malformed demo-1.0.dist-info/RECORD"

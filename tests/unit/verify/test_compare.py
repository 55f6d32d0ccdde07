# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""In what two wheels differ."""

import zipfile
from collections.abc import Mapping
from pathlib import Path

from pjrtwheel.verify.compare import compare_wheels


def test_files_of_wheels_are_compared_by_members(tmp_path: Path) -> None:
    """Members, bytes, lines, order, dates, permissions, methods and lengths, each for itself."""

    def write(name: str, members: Mapping[str, str], **changes: object) -> Path:
        path = tmp_path / name
        with zipfile.ZipFile(path, "w") as archive:
            for member, text in members.items():
                info = zipfile.ZipInfo(member)
                info.compress_type = zipfile.ZIP_DEFLATED
                for key, value in changes.items():
                    setattr(info, key, value)
                archive.writestr(info, text, compresslevel=9 if name == "packed" else 1)
        return path

    metadata, text = "a-1.dist-info/METADATA", "abcdefgh" * 99 + "abcdegfhabcdef" * 99
    members = {"a.py": text, metadata: "Name: a\nVersion: 1\n"}
    first = write("first", members)
    assert compare_wheels(first, write("same", members)) == {}
    gone = compare_wheels(first, write("gone", {metadata: members[metadata], "b.py": ""}))
    assert gone == {"members": (("a.py",), ("b.py",))}
    changed = compare_wheels(first, write("changed", members | {metadata: "Name: a\nVersion: 2\n"}))
    assert changed["bytes"] == ((metadata,), (metadata,))
    assert changed[f"lines of {metadata}"] == (("Version: 1",), ("Version: 2",))
    order = compare_wheels(first, write("order", dict(reversed(members.items()))))
    assert order == {"order": (tuple(members), tuple(reversed(members)))}
    both = (tuple(members), tuple(members))
    assert compare_wheels(first, write("date", members, date_time=(2026, 1, 1, 0, 0, 0))) == {"dates": both}
    assert compare_wheels(first, write("mode", members, external_attr=1 << 16))["permissions"] == both
    assert compare_wheels(first, write("stored", members, compress_type=0))["methods"] == both
    assert compare_wheels(first, write("packed", members)) == {"packed": (("a.py",), ("a.py",))}

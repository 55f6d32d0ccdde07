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

    def differences(name: str, members: Mapping[str, str], **changes: object) -> dict[str, tuple[object, ...]]:
        found = compare_wheels(first, write(name, members, **changes))
        return {entry.about: (entry.library, entry.only_a, entry.only_b) for entry in found}

    metadata, text = "a-1.dist-info/METADATA", "abcdefgh" * 99 + "abcdegfhabcdef" * 99
    members = {"a.py": text, metadata: "Name: a\nVersion: 1\n"}
    first = write("first", members)
    assert differences("same", members) == {}
    assert differences("gone", {metadata: members[metadata], "b.py": ""}) == {"members": ("", ("a.py",), ("b.py",))}
    changed = differences("changed", members | {metadata: "Name: a\nVersion: 2\n"})
    assert changed["bytes"] == ("", (metadata,), (metadata,))
    assert changed["lines"] == (metadata, ("Version: 1",), ("Version: 2",))
    order = differences("order", dict(reversed(members.items())))
    assert order == {"order": ("", tuple(members), tuple(reversed(members)))}
    both = ("", tuple(members), tuple(members))
    assert differences("date", members, date_time=(2026, 1, 1, 0, 0, 0)) == {"dates": both}
    assert differences("mode", members, external_attr=1 << 16)["permissions"] == both
    assert differences("stored", members, compress_type=0)["methods"] == both
    assert differences("packed", members) == {"packed": ("", ("a.py",), ("a.py",))}

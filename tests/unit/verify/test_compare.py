# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Two wheels side by side, and one in short: what a person sees first, on one screen."""

import json
import zipfile
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from pjrtwheel import cli
from pjrtwheel.errors import UsageError
from pjrtwheel.verify.compare import Comparison, Difference, compare_inspections, compare_wheels
from pjrtwheel.verify.inspection import Inspection, inspect_wheel
from pjrtwheel.verify.printer import describe_comparison, print_lines, summarize_wheel
from small_libraries import build_elf
from small_wheels import describe_wheel
from terminal_output import text_of

MakeWheel = Callable[..., Path]
A = "demo-1.0-py3-none-manylinux_2_27_x86_64.whl"
B = "demo-1.1-cp312-abi3-manylinux_2_27_x86_64.whl"
SCREEN = 40  # lines
MORE = [f"_more.cpython-{python}-x86_64-linux-gnu.so" for python in (312, 313)]


@pytest.fixture
def inspect(make_wheel: MakeWheel) -> Callable[[str, Mapping[str, bytes]], Inspection]:
    """Return a function: name, files → what is found in a wheel of them."""
    return lambda name, files: inspect_wheel(make_wheel(files, name=name), find_tool=lambda _: None, exports={})


def shown(comparison: Comparison, *, whole: bool = False) -> list[str]:
    """Return what is printed about two wheels."""
    lines = describe_comparison(comparison, None if whole else 80)
    return text_of(lambda console: print_lines(lines, console)).splitlines()


def summary(inspection: Inspection) -> list[str]:
    """Return what is printed about one wheel in short."""
    return text_of(lambda console: print_lines(summarize_wheel(inspection, 80), console)).splitlines()


@pytest.fixture
def two(inspect: Callable[[str, Mapping[str, bytes]], Inspection]) -> tuple[Inspection, Inspection]:
    """Return a wheel, and one with a repaired library, another folder and one more module for each Python."""
    paths = [f"$ORIGIN/{number:060}" for number in range(12)]
    first = build_elf(exports=["GetPjrtApi", "Leak"], runpath=":".join(paths), needed=["libc.so.6"])
    second = build_elf(exports=["GetPjrtApi"], runpath=paths[0], symbols=b"", comment=b"", needed=["libc.so.6"])
    modules = {f"new/{name}": build_elf(exports=["PyInit__more"]) for name in MORE}
    return (
        inspect(A, {**describe_wheel(A, ["numpy>=2", "scipy"]), "old/plugin.so": first, "old/gone.txt": b"x"}),
        inspect(B, {**describe_wheel(B, ["numpy>=2", "jaxlib==1.1"]), "new/plugin.so": second, **modules}),
    )


def test_only_what_differs_is_listed(two: tuple[Inspection, Inspection]) -> None:
    """Libraries are those of one name, in whatever folder; lists have what one side alone has."""
    a, b = two
    comparison = compare_inspections(a, b)
    found = {(entry.library, entry.about): (entry.only_a, entry.only_b) for entry in comparison.differences}
    assert found["", "project"] == (("demo 1.0: ",), ("demo 1.1: ",))
    assert found["", "requires"] == (("scipy",), ("jaxlib==1.1",))
    assert found["", "libraries"] == ((), tuple(MORE))
    assert found["", "files"] == (("gone.txt",), tuple(MORE))
    assert found["plugin.so", "exports"] == (("Leak",), ())
    assert found["plugin.so", "RPATH"] == (tuple(f"RUNPATH $ORIGIN/{number:060}" for number in range(1, 12)), ())
    assert ("", "Python") not in found
    assert (comparison.a.size, comparison.b.installed_size) == (a.size, b.installed_size)


Inspect = Callable[[str, Mapping[str, bytes]], Inspection]
HERE, THERE = "$ORIGIN", "$ORIGIN/there"


def test_libraries_of_one_name_in_two_folders_are_both_compared(inspect: Inspect) -> None:
    """By their paths."""
    here, there = build_elf(runpath=HERE), build_elf(runpath=THERE)
    a = inspect(A, {**describe_wheel(A), "one/lib.so": here, "two/lib.so": here})
    b = inspect(A, {**describe_wheel(A), "one/lib.so": here, "two/lib.so": there})
    (found,) = (entry for entry in compare_inspections(a, b).differences if entry.about == "RPATH")
    assert found == Difference("RPATH", "two/lib.so", (f"RUNPATH {HERE}",), (f"RUNPATH {THERE}",))


def test_a_comparison_is_one_screen(two: tuple[Inspection, Inspection]) -> None:
    """No line is wider than the terminal; what was cut is shown with --verbose."""
    comparison = compare_inspections(*two)
    lines = shown(comparison)
    assert len(lines) < SCREEN
    assert [line for line in lines if len(line) > 80] == []
    whole = " ".join(shown(comparison, whole=True))
    assert all(f"$ORIGIN/{number:060}" in whole for number in range(1, 12))
    about = {entry.about for entry in comparison.differences if entry.library == "plugin.so"}
    assert (about, comparison.same_bytes) == ({"size", "unneeded", "RPATH", "exports"}, False)


def test_libraries_whose_sizes_are_furthest_apart_come_first(inspect: Inspect) -> None:
    """The others are named, on one screen."""
    sizes = dict.fromkeys(range(1, 40), 4800) | {7: 96000, 3: 48000}
    before = {f"m/l{number}.so": build_elf(symbols=bytes(size)) for number, size in sizes.items()}
    after = dict.fromkeys(before, build_elf(symbols=b""))
    lines = shown(
        compare_inspections(inspect(A, {**describe_wheel(A), **before}), inspect(A, {**describe_wheel(A), **after}))
    )
    assert len(lines) < SCREEN
    assert [line for line in lines if line.startswith("l")] == ["l7.so", "l3.so"]


def test_a_wheel_in_short_is_one_screen(two: tuple[Inspection, Inspection]) -> None:
    """The hash is whole, and each kind of finding is one line."""
    for wheel in two:
        lines = summary(wheel)
        assert len(lines) < SCREEN
        assert [line for line in lines if len(line) > 80] == []
        assert f"  sha256        {wheel.sha256}" in lines
        kinds = list(dict.fromkeys(finding.code for finding in wheel.findings))
        assert [line.split()[0] for line in lines[-2 - min(len(kinds), 6) : -2]] == kinds[:6]


def test_the_command_compares_and_describes(
    make_wheel: MakeWheel, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Two wheels; all of a wheel with --verbose alone."""
    a = make_wheel({**describe_wheel(A), "demo/plugin.so": build_elf()}, name=A)
    b = make_wheel({**describe_wheel(B), "demo/plugin.so": build_elf(exports=["Other"])}, name=B)
    root = ["--root", str(tmp_path)]
    assert cli.main(["inspect", "--compare", str(a), str(b), "--json", *root]) == 0
    document = json.loads(capsys.readouterr().out)
    assert (document["same_bytes"], document["a"]["wheel"], document["b"]["wheel"]) == (False, A, B)
    expected = {"about": "exports", "library": "plugin.so", "only_a": ["GetPjrtApi"], "only_b": ["Other"]}
    assert expected in document["differences"]
    assert cli.main(["inspect", "--compare", str(a), *root]) == UsageError.exit_code
    capsys.readouterr()
    assert cli.main(["inspect", str(a), *root]) == 0
    short = capsys.readouterr().out
    assert cli.main(["inspect", "--verbose", str(a), *root]) == 0
    whole = capsys.readouterr().out
    assert ("files (" in short, "files (" in whole) == (False, True)
    (tmp_path / A).write_bytes(b"x")
    assert cli.main(["inspect", "--compare", str(tmp_path / A), str(b), *root]) != 0
    assert capsys.readouterr().out == ""


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

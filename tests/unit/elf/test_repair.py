# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What repair changes in a library, and that it changes nothing else."""

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pjrtwheel.elf.image import ElfImage, read_image
from pjrtwheel.elf.layout import Edit, Span, cut, read_pieces, total_size
from pjrtwheel.elf.repair import plan_repair
from pjrtwheel.elf.search_paths import LibraryPlace, clean_search_path
from pjrtwheel.errors import ElfError
from small_libraries import bare_elf, build_elf


def repair(data: bytes) -> tuple[bytes, tuple[str, ...]]:
    """Repair a library and return its bytes and what was changed."""
    file = io.BytesIO(data)
    plan = plan_repair(read_image(file, "lib.so"))
    repaired = bytes(read_pieces(file, plan.pieces))
    assert len(repaired) == plan.size == len(data) - plan.dropped_bytes
    return repaired, plan.changes


def read(data: bytes) -> ElfImage:
    """Read the facts about a library."""
    return read_image(io.BytesIO(data), "lib.so")


def search_paths(data: bytes) -> dict[str, str]:
    """Return RPATH and RUNPATH as the dynamic loader reads them."""
    image = read(data)
    names = {15: "RPATH", 29: "RUNPATH"}
    return {
        names[entry.tag]: image.dynstr[entry.value :].partition(b"\0")[0].decode()
        for entry in image.dynamic
        if entry.tag in names
    }


def test_symbol_tables_and_comment_are_dropped() -> None:
    """Nothing that only debuggers read remains; sections nobody knows do."""
    repaired, changes = repair(build_elf())
    kept = ("", ".dynsym", ".dynstr", ".dynamic", "", ".note.custom", "", "", ".shstrtab")
    assert read(repaired).names == kept  # a null entry in the place of each that is gone
    assert changes == ("dropped .comment, .symtab, .strtab (552 bytes)",)


def test_symbols_that_are_wanted_stay() -> None:
    """Those of a library that was built with them, byte by byte."""
    data = build_elf()
    plan = plan_repair(read(data), LibraryPlace(symbols=True))
    assert read_pieces(io.BytesIO(data), plan.pieces) == data
    assert (plan.dropped_bytes, plan.changes) == (0, ())


def test_loaded_bytes_stay() -> None:
    """Everything that the program headers load stays where it was, but for the file header."""
    data = build_elf(data_at=0x9000)
    repaired, _ = repair(data)
    loaded = max(segment.offset + segment.filesz for segment in read(data).segments)
    assert repaired[64:loaded] == data[64:loaded]
    assert read(repaired).segments == read(data).segments
    assert read(repaired).exports == read(data).exports


def test_kept_section_keeps_its_bytes() -> None:
    """A section that moves up takes its bytes along, at its own alignment."""
    repaired, _ = repair(build_elf())
    section = read(repaired).sections[5]
    assert repaired[section.offset : section.offset + section.size] == b"keep me"
    assert section.offset % section.addralign == 0


def test_repair_is_idempotent() -> None:
    """A repaired library has nothing left to repair."""
    repaired, changes = repair(build_elf(runpath="/opt/x:$ORIGIN:$ORIGIN/", rpath="/opt/y", stack_flags=7))
    assert len(changes) == 4
    assert repair(repaired) == (repaired, ())


def test_section_indices_of_symbols_stay_true() -> None:
    """A dropped section leaves a null entry, because dynamic symbols name sections by index."""
    image = read(repair(build_elf(debug_first=True))[0])
    assert image.names[:6] == ("", "", ".dynsym", ".dynstr", ".dynamic", "")
    assert [section.link for section in image.sections[2:5]] == [3, 0, 3]


def test_symbols_in_front_of_loaded_bytes_stay() -> None:
    """As after patchelf: no loaded byte moves."""
    data = bare_elf(data_at=0x50020, early_symbols=bytes(24 * 9000))
    assert repair(data) == (data, ())


def test_names_of_sections_stay_whatever_they_are_called() -> None:
    """A damaged file may give them the name of a section that is dropped."""
    data = bytearray(build_elf())
    image = read(bytes(data))
    names, comment = image.header.shstrndx, image.names.index(".comment")
    at = image.header.shoff + 64 * names
    data[at : at + 4] = image.sections[comment].name.to_bytes(4, "little")  # sh_name
    repaired, _ = repair(bytes(data))
    assert ".symtab" not in read(repaired).names


def test_symbols_do_not_name_sections() -> None:
    """A file that says so was damaged."""
    data = bytearray(build_elf())
    data[62:64] = read(bytes(data)).names.index(".symtab").to_bytes(2, "little")  # e_shstrndx
    with pytest.raises(ElfError, match="section headers contradict each other"):
        read(bytes(data))


def test_object_files_pass_through() -> None:
    """Relocatable files need their symbol tables."""
    data = build_elf(kind=1)
    assert repair(data) == (data, ())


def test_search_path_loses_build_directories() -> None:
    """What is left of RUNPATH is shorter and stands in the same place."""
    path = "$ORIGIN/../nvidia/lib:/home/build/lib:$ORIGIN/../nvidia/lib/"
    repaired, changes = repair(bare_elf(runpath=path))
    assert search_paths(repaired) == {"RUNPATH": "$ORIGIN/../nvidia/lib"}
    assert changes == ("RUNPATH keeps 1 of 3 elements (1 absolute, 1 repeated): $ORIGIN/../nvidia/lib",)
    assert b"/home/build" not in repaired


def test_empty_search_path_is_removed() -> None:
    """An RPATH of build directories only goes altogether, entry and bytes, and RUNPATH stays."""
    data = bare_elf(rpath="/home/build", runpath="$ORIGIN")
    repaired, changes = repair(data)
    assert search_paths(repaired) == {"RUNPATH": "$ORIGIN"}
    assert changes == ("RPATH removed: 1 element (1 absolute)",)
    assert b"/home/build" not in repaired
    assert len(repaired) == len(data)


def test_shared_string_cannot_be_changed() -> None:
    """A search path whose end is also a symbol's name is an error that says what to do."""
    data = bare_elf(runpath="/opt:$ORIGIN/lib", merged="lib")
    with pytest.raises(ElfError) as caught:
        repair(data)
    assert caught.value.what == "the search path of lib.so cannot be repaired in place"
    assert caught.value.remedy == "repair it first: patchelf --set-rpath '$ORIGIN/lib' LIBRARY"


def test_shared_string_of_removed_path_stays() -> None:
    """A search path can be removed even where a symbol shares its bytes, which then stay."""
    repaired, _ = repair(bare_elf(runpath="/opt/lib", merged="lib"))
    assert search_paths(repaired) == {}
    assert read(repaired).exports == ("GetPjrtApi", "lib")


@given(st.lists(st.sampled_from(["$ORIGIN", "$ORIGIN/", "${ORIGIN}/a", "$ORIGIN/../b", "/opt", "", ".", "$LIB/x"])))
def test_clean_search_path_laws(entries: list[str]) -> None:
    """Cleaning keeps order, adds nothing, leaves no duplicate or foreign place, and need not be done twice."""
    cleaned = clean_search_path(":".join(entries))
    kept = list(cleaned.elements)
    assert clean_search_path(":".join(kept)).elements == (cleaned.elements if kept else ())
    assert len(kept) + cleaned.dropped.total() == max(len(entries), 1)
    assert kept == sorted(kept, key=entries.index)
    assert len({entry.rstrip("/") for entry in kept}) == len(kept)
    assert {entry.rstrip("/") for entry in kept} == {e.rstrip("/") for e in entries if "ORIGIN" in e}


@pytest.mark.parametrize(
    ("depth", "left"),
    [
        (1, ("$ORIGIN/../nvidia/lib", "$ORIGIN/a/../..", "/opt/vendor/lib")),
        (2, ("$ORIGIN/../../nvidia/lib", "$ORIGIN/../nvidia/lib", "$ORIGIN/a/../..", "/opt/vendor/lib")),
        (None, ("$ORIGIN/../../nvidia/lib", "$ORIGIN/../nvidia/lib", "$ORIGIN/a/../..", "$ORIGIN/../../..",
                "$ORIGIN/../_solib_k8/lib", "$ORIGIN/plugin.so.runfiles/_main/lib", "/opt/vendor/lib")),
    ],
    ids=["one deep", "two deep", "unknown"],
)  # fmt: skip
def test_elements_are_judged_from_where_the_library_lies(depth: int | None, left: tuple[str, ...]) -> None:
    """What leaves site-packages goes, as do Bazel's trees, but for what is kept by name."""
    path = (
        "$ORIGIN/../../nvidia/lib:$ORIGIN/../nvidia/lib:$ORIGIN/a/../..:$ORIGIN/../../..:$ORIGIN/../_solib_k8/lib"
        ":$ORIGIN/plugin.so.runfiles/_main/lib:/usr/local/lib/python3.9:/opt/vendor/lib/"
    )
    kept = ("/opt/vendor/lib",)
    assert clean_search_path(path, LibraryPlace(depth, kept)).elements == (*left[:-1], "/opt/vendor/lib/")


def test_dropped_elements_are_counted_by_reason() -> None:
    """Each element has one reason."""
    cleaned = clean_search_path("$ORIGIN:$ORIGIN/../../..:/x::$ORIGIN/:$ORIGIN/_solib_k8", LibraryPlace(1))
    assert sorted(cleaned.dropped.elements()) == [
        "absolute", "of a build tree", "outside site-packages", "relative to the working directory", "repeated",
    ]  # fmt: skip


def test_stack_loses_its_executable_flag() -> None:
    """Only the flag changes."""
    repaired, changes = repair(bare_elf(stack_flags=7))
    assert (repaired, changes) == (bare_elf(stack_flags=6), ("cleared the executable-stack flag",))


@given(st.binary(max_size=300), st.data())
def test_pieces_are_the_edited_file(data: bytes, draw: st.DataObject) -> None:
    """A list of pieces gives what editing the file in memory gives."""
    start = draw.draw(st.integers(0, len(data)))
    length = draw.draw(st.integers(0, len(data) - start))
    edit = Edit(start, bytes(length))
    pieces = (*cut(Span(0, len(data)), [edit] if length else []), b"tail")
    assert read_pieces(io.BytesIO(data), pieces) == data[:start] + bytes(length) + data[start + length :] + b"tail"
    assert total_size(pieces) == len(data) + 4

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which file of a vendor's library is opened, in which order, and what is said when there is none."""

import struct
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from loaders import load_cpu
from small_libraries import build_elf


def put(folder: Path, *names: str) -> Path:
    """Make a folder with empty files."""
    folder.mkdir(parents=True, exist_ok=True)
    for name in names:
        (folder / name).touch()
    return folder


def opener(works: Mapping[str, Sequence[str]]) -> tuple[list[str], Callable[[str], None]]:
    """Return a list of what was opened, and a dynamic linker.

    Args:
        works: What opens, by path or name → what must be open before.
    """
    done: list[str] = []

    def open_library(name: str) -> None:
        if name not in works or not set(works[name]) <= set(done):
            raise OSError(f"{name}: cannot open")
        done.append(name)

    return done, open_library


def test_wheels_come_before_the_linker_and_installed_toolkits_after_it(tmp_path: Path) -> None:
    """Only files that exist are tried by path."""
    preload = load_cpu("pjrt.preload")
    wheel, home = put(tmp_path / "wheel", "liba.so.1"), put(tmp_path / "home", "liba.so.1", "libb.so.1")
    first, last = (tmp_path / "none", wheel), (home,)
    assert preload.candidates(preload.Wanted("liba.so.1", first, last)) == (
        str(wheel / "liba.so.1"),
        "liba.so.1",
        str(home / "liba.so.1"),
    )
    assert preload.candidates(preload.Wanted("libb.so.1", first, last)) == ("libb.so.1", str(home / "libb.so.1"))


def test_the_first_candidate_that_opens_is_taken(tmp_path: Path) -> None:
    """A library in a wheel that needs what is not there does not keep the linker's from being used."""
    preload = load_cpu("pjrt.preload")
    (tmp_path / "liba.so.1").write_bytes(build_elf())
    done, open_library = opener({"liba.so.1": ()})
    result = preload.preload([preload.Wanted("liba.so.1", (tmp_path,))], open_library)
    assert (result, done) == (preload.Preloaded({"liba.so.1": "liba.so.1"}, {}), ["liba.so.1"])


IMPOSTORS = {
    "text": (lambda _: b"not a library\n" * 9, "is not a library: not an ELF file"),
    "empty": (lambda _: b"", "is not a library: not an ELF file"),
    "another machine": (lambda make: make(machine=40), "is not a library: built for another machine than "),
    "truncated": (lambda make: make()[:300], "is not a library: truncated: 300 bytes of at least "),
    "object file": (lambda make: make(kind=1), "is not a library: it is an ELF file of another kind"),
    "no tables": (
        lambda make: make()[:56] + bytes(2) + make()[58:],
        "is not a library: it is an ELF file of another kind",
    ),
    "another library": (
        lambda make: make(exports=("zlibVersion",)),
        "is not the library of that name: it has no function aVersion",
    ),
}


@pytest.mark.parametrize(("content", "reason"), IMPOSTORS.values(), ids=IMPOSTORS)
def test_what_has_only_the_name_of_a_library_is_passed_over(
    tmp_path: Path, content: Callable[[Callable[..., bytes]], bytes], reason: str
) -> None:
    """It is named with its path and never opened, and the search goes on, here to an installed toolkit."""
    preload = load_cpu("pjrt.preload")
    for folder, data in (("wheel", content(build_elf)), ("home", build_elf(exports=("aVersion",)))):
        (tmp_path / folder).mkdir()
        (tmp_path / folder / "liba.so.1").write_bytes(data)
    wheel, home = str(tmp_path / "wheel/liba.so.1"), str(tmp_path / "home/liba.so.1")
    done, open_library = opener({wheel: (), home: ()})
    wanted = preload.Wanted("liba.so.1", (tmp_path / "wheel",), (tmp_path / "home",), "aVersion")
    result = preload.preload([wanted], open_library)
    assert (result.opened, result.failed, done) == ({"liba.so.1": home}, {}, [home])
    assert [text.startswith(f"{wheel} {reason}") for text in result.rejected] == [True], result.rejected


def test_what_needs_a_later_one_is_tried_again() -> None:
    """An order that is not the dependencies' costs another round and nothing else."""
    preload = load_cpu("pjrt.preload")
    done, open_library = opener({"c": ("b",), "b": ("a",), "a": ()})
    result = preload.preload([preload.Wanted(name) for name in "cba"], open_library)
    assert (result, done) == (preload.Preloaded({name: name for name in "abc"}, {}), ["a", "b", "c"])


def test_what_cannot_be_opened_keeps_its_reasons(tmp_path: Path) -> None:
    """Each candidate's, in the linker's words where it was asked."""
    preload = load_cpu("pjrt.preload")
    _, open_library = opener({"b": ()})
    wheel, toolkit = put(tmp_path / "wheel", "a"), put(tmp_path / "toolkit")
    (toolkit / "a").write_bytes(build_elf())
    result = preload.preload([preload.Wanted("a", (wheel,), (toolkit,)), preload.Wanted("b")], open_library)
    impostor = f"{wheel / 'a'} is not a library: not an ELF file"
    reasons = f"{impostor}; a: cannot open; {toolkit / 'a'}: cannot open"
    assert result == preload.Preloaded({"b": "b"}, {"a": reasons}, (impostor,))


def test_what_the_search_path_would_replace_is_opened_too(tmp_path: Path) -> None:
    """Only where a vendor's folder and LD_LIBRARY_PATH have a file of the same name, and it is not opened anyway."""
    preload = load_cpu("pjrt.preload")
    vendor = put(tmp_path / "vendor", "libcudnn.so.9", "libcudnn_ops.so.9", "libcudnn_cnn.so.9")
    poison = put(tmp_path / "poison", "libcudnn.so.9", "libcudnn_ops.so.9", "libother.so.1", "libcudnn_cnn.so")
    known = [preload.Wanted("libcudnn.so.9", (vendor,))]
    found = preload.shadowed([vendor], f":{tmp_path / 'gone'}:{poison}", known)
    assert found == (preload.Wanted("libcudnn_ops.so.9", (vendor,)),)
    assert preload.shadowed([vendor], "", known) == ()


@pytest.mark.parametrize("path", [{"runpath": "$ORIGIN"}, {}], ids=["with a search path", "without"])
def test_needed_libraries_are_read_from_the_file(tmp_path: Path, path: dict[str, Any]) -> None:
    """In the library's own order."""
    library = tmp_path / "plugin.so"
    library.write_bytes(build_elf(needed=("libsycl.so.8", "libc.so.6"), **path))
    assert load_cpu("pjrt.library").needed_libraries(library) == ["libsycl.so.8", "libc.so.6"]


def test_the_system_is_not_a_vendor() -> None:
    """Parts of glibc and GCC are left to the dynamic linker."""
    system = "libc.so.6 libm.so.6 libdl.so.2 librt.so.1 libpthread.so.0 libstdc++.so.6 libgcc_s.so.1"
    linkers, vendors = "ld-linux-x86-64.so.2 ld-linux-aarch64.so.1", ["libmpi.so.12", "libcrypt.so.1"]
    assert load_cpu("pjrt.needed").vendor_libraries([*system.split(), *linkers.split(), *vendors]) == vendors


def test_dependencies_come_first_and_are_added() -> None:
    """Also where they need each other, which some do."""
    needs = {"plugin": ["a", "b"], "a": ["b", "hidden"], "b": ["a"], "hidden": []}
    assert load_cpu("pjrt.needed").dependencies_first(["a", "b"], needs.__getitem__) == ["b", "hidden", "a"]


NO_LIBRARIES = {
    "linker script": lambda _: b"INPUT(libvendor.so.1.2 AS_NEEDED(libother.so))\n",
    "empty": lambda _: b"",
    "truncated": lambda whole: whole[:300],
    "header only": lambda whole: whole[:64],
    "no names": lambda whole: whole.replace(struct.pack("<q", 5), struct.pack("<q", 99)),
    "32 bits": lambda whole: whole[:4] + b"\1" + whole[5:],
}


@pytest.mark.parametrize("spoil", NO_LIBRARIES.values(), ids=NO_LIBRARIES)
def test_what_is_no_library_needs_nothing(tmp_path: Path, spoil: Callable[[bytes], bytes]) -> None:
    """Folders of vendors hold linker scripts, and installations break off: the dynamic linker tells which matters."""
    put(tmp_path, "libother.so")
    (tmp_path / "libvendor.so").write_bytes(spoil(build_elf(needed=("libother.so",))))
    with pytest.raises(ValueError, match=r"libvendor\.so (is|has) "):
        load_cpu("pjrt.library").needed_libraries(tmp_path / "libvendor.so")
    assert load_cpu("pjrt.needed")._needs("libvendor.so", [tmp_path]) == []

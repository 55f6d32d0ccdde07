# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which files of an index a release takes, and what is absent."""

import pytest

from pjrtwheel.fetch.listing import IndexFile
from pjrtwheel.pin.choose import WantedFiles, choose_files, find_version
from pjrtwheel.release.model import Absent, Pin

X86, ARM = "linux_x86_64", "linux_aarch64"
BINDINGS = WantedFiles("bindings.{python}.{platform}", "jaxlib", "1.2", (X86, ARM))
LIBRARY = WantedFiles("plugin.abacus.{platform}", "abacus-pjrt", "1.2", (X86, ARM))


def offer(*names: str) -> list[IndexFile]:
    """Return files of an index, each with a digest of its own."""
    return [IndexFile(f"{name}.whl", f"{number:064x}", 10 + number) for number, name in enumerate(names)]


def test_every_python_and_platform_of_the_index_is_taken() -> None:
    """Nobody lists the Pythons; a cell of the grid that has no file is absent, and the index's word on it is kept."""
    files = offer(
        "jaxlib-1.2-cp313-cp313-manylinux_2_27_x86_64",
        "jaxlib-1.2-cp313-cp313-manylinux_2_27_aarch64",
        "jaxlib-1.2-cp314-cp314t-manylinux_2_27_x86_64",
        "jaxlib-1.1-cp312-cp312-manylinux_2_27_x86_64",
        "jaxlib-1.2-cp315-cp315-some_other_system",
    )
    chosen = choose_files(BINDINGS, files)
    assert [(pin.key, pin.filename) for pin in chosen.pins] == [
        ("bindings.cp313.linux_x86_64", files[0].filename),
        ("bindings.cp314t.linux_x86_64", files[2].filename),
        ("bindings.cp313.linux_aarch64", files[1].filename),
    ]
    assert chosen.pins[1] == Pin("bindings.cp314t.linux_x86_64", "jaxlib", "1.2", files[2].filename, f"{2:064x}", 12)
    cause = "the package index has jaxlib 1.2, but not for cp314t on linux_aarch64"
    assert chosen.absent == (Absent("bindings.cp314t.linux_aarch64", "jaxlib", "1.2", cause),)


@pytest.mark.parametrize(
    ("names", "cause"),
    [
        (
            ["abacus_pjrt-1.1-py3-none-manylinux_2_27_x86_64", "abacus_pjrt-1.3-py3-none-manylinux_2_27_x86_64"],
            "the package index has no abacus-pjrt 1.2; the newest before it is 1.1",
        ),
        (["abacus_pjrt-1.3-py3-none-manylinux_2_27_x86_64"], "the package index has no abacus-pjrt 1.2"),
        ([], "the package index has no abacus-pjrt 1.2"),
    ],
    ids=["older", "newer only", "unknown project"],
)
def test_version_that_the_index_lacks_is_absent_everywhere(names: list[str], cause: str) -> None:
    """Only an older version is named: what comes later must not change the text of a pins file."""
    chosen = choose_files(LIBRARY, offer(*names))
    assert chosen.pins == ()
    assert chosen.absent == tuple(
        Absent(f"plugin.abacus.{platform}", "abacus-pjrt", "1.2", cause) for platform in (X86, ARM)
    )


def test_one_file_for_all_pythons() -> None:
    """Of several that fit, the one with the highest build tag; none for musl, none for one Python, none withdrawn."""
    files = [
        *offer(
            "abacus_pjrt-1.2-py3-none-manylinux_2_27_x86_64",
            "abacus_pjrt-1.2-10-py3-none-manylinux_2_27_x86_64",
            "abacus_pjrt-1.2-10a-py3-none-manylinux_2_27_x86_64",
            "abacus_pjrt-1.2-9-py3-none-manylinux_2_27_x86_64",
            "abacus_pjrt-1.2-19-py3-none-musllinux_1_1_x86_64",
            "abacus_pjrt-1.2-18-cp313-cp313-manylinux_2_27_x86_64",
        ),
        IndexFile("abacus_pjrt-1.2-17-py3-none-manylinux_2_27_x86_64.whl", "ab" * 32, 5, yanked=""),
    ]
    (pin,) = choose_files(LIBRARY, files).pins
    assert pin.filename == "abacus_pjrt-1.2-10a-py3-none-manylinux_2_27_x86_64.whl"


def test_one_python_stands_for_all_where_the_backend_says_so() -> None:
    """As for libtpu, of which only the library is wanted."""
    wanted = WantedFiles("plugin.abacus.{platform}", "abacus-pjrt", "1.2.*", (X86,), "cp313")
    files = offer(
        *(f"abacus_pjrt-1.2.1-{tag}-{tag}-manylinux_2_31_x86_64" for tag in ("cp312", "cp313")),
        "abacus_pjrt-1.2-cp313-cp313-manylinux_2_31_x86_64",
    )
    (pin,) = choose_files(wanted, files).pins
    assert (pin.key, pin.version, pin.filename) == ("plugin.abacus.linux_x86_64", "1.2.1", files[1].filename)


@pytest.mark.parametrize(
    ("wanted", "offered", "found"),
    [
        ("1.2.*", ["1.2.9", "1.2.10", "1.3", "1.2.11rc1"], "1.2.10"),
        ("1.2.*", ["1.2"], "1.2"),
        ("1.2.*", ["1.20", "1.3"], ""),
        ("1.2", ["1.2.0"], "1.2.0"),
        ("1.2", ["1.2.1"], ""),
    ],
)
def test_version_that_is_meant(wanted: str, offered: list[str], found: str) -> None:
    """A series means its newest release, as the index spells it."""
    assert find_version(wanted, offered) == found

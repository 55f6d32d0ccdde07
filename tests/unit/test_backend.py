# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Reading backend.toml files."""

from pathlib import Path

import pytest

import abacus_backend
from pjrtwheel.backend import check_files, find_backend, load_backends, parse_backend
from pjrtwheel.errors import UsageError
from pjrtwheel.platforms import PLATFORMS

WHOLE = """
distribution = "jaxlib-abacus"
package = "jaxlib_abacus"
summary = "XLA for the abacus"
pjrt_name = "abacus"
library = "abacus.so"
python_tag = "cp312"
exports = ["GetPjrtApi"]
requires = ["beads>=5"]
disable = "JAXLIB_ABACUS_DISABLE"
shared = ["counting"]
aot_requires = ["abacus-compiler"]

[jaxlib_extras]
abacus = ["with-beads"]
abacus-local = []

[extras]
with-beads = ["beads==5"]

[extras.with-rods]
upstream = "abacus-plugin[with-rods]"
same_major = true
bounds = { brass = ">=2" }

[tags]
linux_x86_64 = "manylinux_2_27_x86_64"

[prebuilt]
project = "abacus-pjrt"
version = "1.*"
member = "abacus/abacus.so"
required_by = "jax[abacus]"
python = "cp312"
bundled = false

[source]
label = "@xla//:abacus.so"
configs = ["xla_abacus"]

[kernels]
project = "abacus-kernels"
package = "abacus_kernels"
version = "2.*"

[tools.beads]
project = "abacus-tools"
version = "5"
member = "bin/beads"
platforms = ["linux_x86_64"]

[select]
vendor = "merchant"
rank = 7
driver = "1.0"
integrated = ["thumb"]

[select.constraints]
"<7.5" = ["beads<5"]
"""


def test_new_directory_is_all_a_backend_needs(root: Path, tmp_path: Path) -> None:
    """A second directory below plugins/ is found, named after itself, in order of name."""
    text = (root / "plugins" / "cpu" / "backend.toml").read_text("utf-8")
    for name in ("tpu9", "abacus"):
        (tmp_path / "plugins" / name).mkdir(parents=True)
        (tmp_path / "plugins" / name / "backend.toml").write_text(text, "utf-8")
    assert [(name, backend.name) for name, backend in load_backends(tmp_path).items()] == [
        ("abacus", "abacus"),
        ("tpu9", "tpu9"),
    ]


@pytest.mark.parametrize(
    ("forgotten", "cause"),
    [
        ("README.md", "it becomes the description of the wheel on the package index"),
        ("BUILD.bazel", "Bazel finds its targets there"),
        ("jaxlib_abacus/__init__.py", "JAX imports it and calls its function `initialize`"),
    ],
)
def test_a_file_that_a_vendor_forgot_is_named(tmp_path: Path, forgotten: str, cause: str) -> None:
    """Bazel would say that a label has no file; which one is meant, and what for, is said before it is started."""
    folder = tmp_path / "plugins/abacus"
    (folder / "jaxlib_abacus").mkdir(parents=True)
    (folder / "backend.toml").write_text(abacus_backend.BACKEND, "utf-8")
    for name in ("README.md", "BUILD.bazel", "jaxlib_abacus/__init__.py"):
        (folder / name).touch()
    backend = find_backend(tmp_path, "abacus")
    check_files(backend)
    (folder / forgotten).unlink()
    with pytest.raises(UsageError) as caught:
        check_files(backend)
    assert (caught.value.what, caught.value.cause) == (f"{folder} lacks {forgotten}", cause)


def test_every_backend_has_its_files(root: Path) -> None:
    """Those of this repository as well."""
    for backend in load_backends(root).values():
        check_files(backend)


def test_a_backend_is_found_however_its_name_is_written(root: Path) -> None:
    """People have seen it as a directory, in the name of the wheel and in that of the package."""
    for name, backend in load_backends(root).items():
        written = {name, name.upper(), *(f"{name[:-1]}{mark}{name[-1]}" for mark in "-_.")}
        written |= {backend.distribution.removeprefix("jaxlib-"), backend.package.removeprefix("jaxlib_")}
        assert {find_backend(root, word).name for word in written} == {name}


@pytest.mark.parametrize("name", sorted(load_backends(Path(__file__).resolve().parents[2])))
def test_names_of_a_backend_agree(root: Path, name: str) -> None:
    """Distribution and import package are two spellings of one name, and every extra and platform there is is known."""
    backend = find_backend(root, name)
    assert backend.distribution.startswith("jaxlib-")
    assert backend.package == backend.distribution.replace("-", "_")
    assert backend.jaxlib_extras
    assert {extra for extras in backend.jaxlib_extras.values() for extra in extras} <= set(backend.extras)
    assert set(backend.tags) <= set(PLATFORMS)
    assert backend.exports[0] == "GetPjrtApi"


def test_no_two_backends_share_a_name(root: Path) -> None:
    """Distribution, package, switch and the extras of jaxlib each belong to one backend."""
    backends = load_backends(root).values()
    names = [
        name
        for backend in backends
        for name in (backend.distribution, backend.package, backend.disable, *backend.jaxlib_extras)
    ]
    assert sorted(names) == sorted(set(names))


def test_shared_directories_are_there_and_are_no_backends(root: Path) -> None:
    """What backends share is next to them, and has no backend.toml of its own."""
    backends = load_backends(root)
    shared = {name for backend in backends.values() for name in backend.shared}
    assert shared.isdisjoint(backends)
    assert {name for name in shared if not (root / "plugins" / name / "loader").is_dir()} == set()


@pytest.mark.parametrize(
    ("old", "new", "cause"),
    [
        ('disable = "', 'disabled = "', "the document lacks disable, and has unknown keys disabled"),
        ('disable = "', 'color = "red"\ndisable = "', "the document has unknown keys color"),
        ('"GetPjrtApi"', "1", "exports[0]: expected a string, found 1"),
        ("bundled = false", "bundled = 0", "prebuilt.bundled: expected true or false, found 0"),
        ("bundled = false", 'bundle = "no"', "prebuilt has unknown keys bundle"),
        ('label = "@xla//:abacus.so"', "", "source lacks label"),
        ('member = "bin/beads"', 'program = "bin/beads"', "tools.beads lacks member, and has unknown keys program"),
        ('with-beads = ["beads==5"]', 'with-beads = "beads"', "extras.with-beads: expected a table, found 'beads'"),
        ('abacus = ["with-beads"]', 'abacus = "with-beads"', "jaxlib_extras.abacus: expected a list, found"),
        ('linux_x86_64 = "manylinux', 'linux_x86_64 = 5 # "manylinux', "tags.linux_x86_64: expected a string, found 5"),
        ("[prebuilt]", "[[prebuilt]]", "prebuilt: expected a table, found [{"),
        ("[prebuilt]", "[prebuild]", "the document lacks prebuilt, and has unknown keys prebuild"),
        ("[select]", "[[select]]", "select: expected a table, found [{"),
    ],
    ids=["missing", "unknown", "list", "flag", "unknown below", "missing below", "missing in a table of tables", "text",
         "table of lists", "table of texts", "table", "whole table missing", "number"],
)  # fmt: skip
def test_what_is_wrong_is_named_by_its_key(old: str, new: str, cause: str) -> None:
    """A key that is missing, unknown or of the wrong type is named, with its path in the file."""
    assert old in WHOLE
    with pytest.raises(UsageError) as caught:
        parse_backend(WHOLE.replace(old, new), Path("plugins/abacus/backend.toml"))
    assert caught.value.cause.startswith(cause)

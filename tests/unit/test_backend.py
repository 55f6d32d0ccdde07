# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Reading backend.toml files."""

from pathlib import Path

import pytest

from abacus_backend import BACKEND
from pjrtwheel.backend import check_files, find_backend, load_backends, parse_backend
from pjrtwheel.errors import UsageError


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


@pytest.mark.parametrize("forgotten", ["README.md", "BUILD.bazel", "jaxlib_abacus/__init__.py"])
def test_a_file_that_a_vendor_forgot_is_named(tmp_path: Path, forgotten: str) -> None:
    """Bazel would say that a label has no file; which one is meant is said before it is started."""
    folder = tmp_path / "plugins/abacus"
    (folder / "jaxlib_abacus").mkdir(parents=True)
    (folder / "backend.toml").write_text(BACKEND, "utf-8")
    for name in ("README.md", "BUILD.bazel", "jaxlib_abacus/__init__.py"):
        (folder / name).touch()
    backend = find_backend(tmp_path, "abacus")
    check_files(backend)
    (folder / forgotten).unlink()
    with pytest.raises(UsageError) as caught:
        check_files(backend)
    assert caught.value.what == f"{folder} lacks {forgotten}"


def test_a_backend_is_found_however_its_name_is_written(root: Path) -> None:
    """People have seen it as a directory, in the name of the wheel and in that of the package."""
    for name, backend in load_backends(root).items():
        written = {name, name.upper(), *(f"{name[:-1]}{mark}{name[-1]}" for mark in "-_.")}
        written |= {backend.distribution.removeprefix("jaxlib-"), backend.package.removeprefix("jaxlib_")}
        assert {find_backend(root, word).name for word in written} == {name}


def test_no_two_backends_share_a_name(root: Path) -> None:
    """Distribution, package, switch and the extras of jaxlib each belong to one backend."""
    backends = load_backends(root).values()
    names = [
        name
        for backend in backends
        for name in (backend.distribution, backend.package, backend.disable, *backend.jaxlib_extras)
    ]
    assert sorted(names) == sorted(set(names))


@pytest.mark.parametrize(
    ("old", "new", "cause"),
    [
        ('disable = "', 'disabled = "', "the document lacks disable, and has unknown keys disabled"),
        ("[prebuilt]", "[prebuild]", "the document lacks prebuilt, and has unknown keys prebuild"),
        ("[prebuilt]", "[prebuilt]\nbundled = 0", "prebuilt.bundled: expected true or false, found 0"),
        ("[prebuilt]", '[source]\nlabel = "@xla//:abacus.so"\n[prebuilt]', "source lacks configs"),
        ("[prebuilt]", '[tools.beads]\nprogram = "beads"\n[prebuilt]', "tools.beads lacks project, version, member"),
        ("[prebuilt]", '[extras]\nwith-beads = "beads"\n[prebuilt]', "extras.with-beads: expected a table, found"),
        ("[prebuilt]", '[jaxlib_extras]\nabacus = "beads"\n[prebuilt]', "jaxlib_extras.abacus: expected a list"),
        ("[prebuilt]", "[[select]]\n[prebuilt]", "select: expected a table, found [{"),
    ],
    ids=["missing", "table missing", "flag", "missing below", "table of tables", "union", "table of lists", "table"],
)
def test_what_is_wrong_is_named_by_its_key(old: str, new: str, cause: str) -> None:
    """A key that is missing, unknown or of the wrong type is named, with its path in the file."""
    with pytest.raises(UsageError) as caught:
        parse_backend(BACKEND.replace(old, new), Path("plugins/abacus/backend.toml"))
    assert caught.value.cause.startswith(cause)

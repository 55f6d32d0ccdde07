# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A plugin wheel of a library, without Bazel: what it says, and what is refused."""

import ast
import json
import shutil
import zipfile
from collections.abc import Callable
from email.parser import Parser
from pathlib import Path

import pytest

from pjrtwheel import cli
from pjrtwheel.backend import parse_backend
from pjrtwheel.errors import ElfError, PinError, PjrtWheelError, UsageError, WheelError
from pjrtwheel.files import hash_file
from pjrtwheel.products.index import write_index
from pjrtwheel.record.entries import format_entries
from release_entries import entry_of
from small_libraries import build_elf
from small_wheels import build_wheel

FOR = ("--for", "1.2.3")
Wrap = Callable[..., int]


@pytest.fixture
def wrap(root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Wrap:
    """Return a function that wraps a library in a folder with the compiled extension; in `dist/` is nothing else."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "dist").mkdir()
    (tmp_path / "index").mkdir()
    for version in ("1.2", "1.2.3"):  # all that there is of jaxlib
        (tmp_path / f"index/jaxlib-{version}-cp312-cp312-manylinux_2_27_x86_64.whl").touch()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(tmp_path / "index"))
    (tmp_path / "foo_pjrt.so").write_bytes(build_elf(exports=("GetPjrtApi", "other")))
    extension = {"jaxlib_cpu/pjrt/_pjrt.abi3.so": build_elf(exports=("PyInit__pjrt",))}
    name = "jaxlib_cpu-1.2.3-cp312-abi3-manylinux_2_27_x86_64.whl"
    entry = entry_of(name, sha256=hash_file(build_wheel(tmp_path / "dist", extension, name=name)))
    (tmp_path / "dist/release.json").write_text(format_entries({name: entry}))
    return lambda *words: cli.main(["wrap", "foo_pjrt.so", "--name", "foo_x", "--root", str(root), *words])


def read() -> tuple[dict[str, bytes], dict[str, list[str]]]:
    """Return the members of the wheel that was written, and its METADATA."""
    (wheel,) = Path("dist").glob("jaxlib_foo_x-*.whl")
    with zipfile.ZipFile(wheel) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    message = Parser().parsestr(members["jaxlib_foo_x-1.2.3.dist-info/METADATA"].decode())
    return members, {key: message.get_all(key, []) for key in message}


@pytest.mark.parametrize(
    ("target", "oldest", "requires"),
    [("1.2.3.0", "1.2.3", "jaxlib==1.2.3"), ("1.2.0..1.2.3", "1.2", "jaxlib>=1.2,<=1.2.3")],
)
def test_a_wheel_for_upstreams_jaxlib(wrap: Wrap, root: Path, target: str, oldest: str, requires: str) -> None:
    """It has the version as jaxlib spells it, all that a plugin needs inside JAX, and a library that came as a file."""
    assert wrap("--for", target) == 0
    members, metadata = read()
    assert (metadata["Version"], metadata["Requires-Dist"]) == (["1.2.3"], [requires])
    lock = json.loads(members["jaxlib_foo_x/release_lock.json"])
    assert (lock["release"], lock["version"], lock["lock_id"], lock["provider"]) == (oldest, "1.2.3", "", "file")
    assert json.loads(members["jaxlib_foo_x/provenance.json"])["provider"].startswith("file-")
    assert b'provider="file"' in members["jaxlib_foo_x/backend.py"]
    loader = {f"pjrt/{path.name}" for path in (root / "plugins/pjrt/loader").glob("*.*")}
    assert {"foo_pjrt.so", "pjrt/_pjrt.abi3.so", *loader} <= {name.partition("/")[2] for name in members}
    assert metadata.keys() & {"License-Expression", "Author", "Author-email", "Project-URL"} == set()


def test_what_the_vendor_says_is_in_the_wheel_and_in_the_directory(wrap: Wrap, root: Path) -> None:
    """The directory is a whole backend, from which the same wheel is built."""
    Path("NOTICE").write_text("Counted by hand.\n")
    Path("options.json").write_text('{"count": 2, "fast": true}')
    shutil.copy(root / "LICENSE", "LICENSE")
    said = ["--license", "MIT OR LicenseRef-Foo", "--license-file", "NOTICE", "--license-file", "LICENSE"]
    said += ["--author", "Foo <jax@foo.example>", "--url", "https://foo.example", "--device", "/dev/foo*"]
    assert wrap(*FOR, *said, "--options", "options.json", "--save", "plugins/foo") == 0
    members, metadata = read()
    assert metadata["License-Expression"] == ["Apache-2.0 AND (MIT OR LicenseRef-Foo)"]
    assert metadata["License-File"] == ["LICENSE", "foo_pjrt.LICENSE", "foo_pjrt.NOTICE"]
    assert members["jaxlib_foo_x-1.2.3.dist-info/licenses/foo_pjrt.NOTICE"] == b"Counted by hand.\n"
    assert (metadata["Author-email"], metadata["Project-URL"]) == (
        ["Foo <jax@foo.example>"],
        ["Homepage, https://foo.example"],
    )
    saved = Path("plugins/foo")
    backend = parse_backend((saved / "backend.toml").read_text(), saved / "backend.toml")
    assert (backend.exports, backend.tags) == (("GetPjrtApi", "other"), {"linux_x86_64": "manylinux_2_27_x86_64"})
    text = (saved / "jaxlib_foo_x/__init__.py").read_text()
    assert text.encode() == members["jaxlib_foo_x/__init__.py"]
    values = [ast.literal_eval(node.value) for node in ast.parse(text).body if isinstance(node, ast.Assign)]
    assert values == ["/dev/foo*", {"count": 2, "fast": True}, 400]


def test_another_jaxlib_needs_another_name(wrap: Wrap, capsys: pytest.CaptureFixture[str]) -> None:
    """Installers could not tell two wheels of one name apart; the same one is made anew."""
    assert [wrap(*FOR), wrap(*FOR)] == [0, 0]
    before = read()
    assert "warning  it does not open here: " in capsys.readouterr().err, "it is made by hand, and has no code"
    assert wrap("--for", "1.2..1.2.3") == UsageError.exit_code
    assert read() == before
    assert "for another jaxlib" in capsys.readouterr().err


def test_an_index_of_the_folder_has_it(wrap: Wrap) -> None:
    """Next to what was built there."""
    assert wrap(*FOR) == 0
    projects, _ = write_index(Path("dist"), Path("dist/simple"))
    assert [project.name for project in projects] == ["jaxlib-cpu", "jaxlib-foo-x"]


TRUNCATED = build_elf(exports=("GetPjrtApi",))[:-1]


@pytest.mark.parametrize(
    ("change", "words", "error"),
    [
        (lambda: Path("foo_pjrt.so").write_bytes(b"no library"), FOR, ElfError("is not an ELF file")),
        (lambda: Path("foo_pjrt.so").write_bytes(TRUNCATED), FOR, ElfError("is truncated")),
        (lambda: Path("foo_pjrt.so").write_bytes(build_elf(exports=("other",))), FOR, ElfError("is no PJRT plugin")),
        (lambda: Path("foo_pjrt.so").write_bytes(build_elf(machine=8)), FOR, ElfError("is made for machine 8")),
        (lambda: shutil.rmtree("dist"), FOR, UsageError("no compiled extension")),
        (lambda: Path("dist/release.json").unlink(), FOR, UsageError("no compiled extension")),
        (lambda: Path("README.md").touch(), (*FOR, "--license-file", "README.md"), UsageError("two files")),
        (lambda: Path("saved").mkdir(), (*FOR, "--save", "saved"), UsageError("saved exists")),
        (lambda: None, ("--for", "1.3..1.2"), UsageError("no release of jaxlib")),
        (lambda: None, ("--for", "1.2.3..9.9.9"), PinError("9.9.9")),
        (lambda: None, (*FOR, "--name", "foo_"), UsageError("not a name")),
        (lambda: None, (*FOR, "--name", "cuda"), UsageError("is taken")),
        (lambda: None, (*FOR, "--name", "gpu"), UsageError("is taken")),
        (lambda: None, (*FOR, "--name", "jax"), UsageError("is taken")),
        (lambda: None, (*FOR, "--name", "select"), UsageError("is taken")),
        (lambda: None, (*FOR, "--device", "foo"), UsageError("no absolute path")),
        (lambda: None, (*FOR, "--options", "missing.json"), UsageError("no such file")),
        (lambda: Path("bad.json").write_text("["), (*FOR, "--options", "bad.json"), UsageError("bad.json: not JSON")),
        (lambda: None, (*FOR, "--license", "as you like"), WheelError("licence of jaxlib-foo-x is no SPDX")),
    ],
    ids=[
        "text", "truncated", "no plugin", "machine", "no extension", "whose", "README", "saved", "order",
        "no such release", "name", "platform", "alias", "JAX", "our wheel", "device", "options", "JSON", "licence",
    ],
)  # fmt: skip
def test_what_cannot_be_wrapped(
    wrap: Wrap,
    capsys: pytest.CaptureFixture[str],
    change: Callable[[], object],
    words: tuple[str, ...],
    error: PjrtWheelError,
) -> None:
    """It is an error that says what was given, and nothing is written."""
    change()
    status = wrap(*words, *([] if "--save" in words else ["--save", "kept"]))
    said = capsys.readouterr().err
    assert (status, error.what in said, "/wrap-" in said) == (error.exit_code, True, False), said
    assert (list(Path("dist").glob("jaxlib_foo*")), Path("kept").exists()) == ([], False)

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Every installation that the documentation shows, where somebody has put all names of ours on the main index."""

import os
import re
import shlex
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest

from console_blocks import find_blocks
from folders import installed_in, site_packages_of, write_program
from package_index import NotingHandler, run_installer, serve_folder
from pjrtwheel.backend import load_backends
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.venv import create_venv, find_uv
from pjrtwheel.files import hash_file
from pjrtwheel.products.index import write_index
from pjrtwheel.products.index.closure import read_closure
from pjrtwheel.sets import BINDINGS, our_names
from release_folders import write_pure_release
from release_under_test import ROOT
from small_wheels import build_wheel, describe_wheel

pytestmark = pytest.mark.integration

OURS = {BINDINGS, *our_names(load_backends(ROOT).values())}
PAGES = (*(ROOT / name for name in ("README.md", "selector/README.md")), *ROOT.glob("plugins/*/README.md"))
INSTALLS = re.compile(
    r"(python -m )?pip (install|download) |uv (pip install|add) |jaxlib-select (install|lock) |uvx |pipx run "
)
INDEX = re.compile(r"https://wheels\.example\.org/[\w/+]+|http://localhost:8000/|INDEX_\w+")
RELEASE, VERSION = "1.2.3", "1.2.3+split.1"
EXPECTED = {"jax": RELEASE, "jaxlib": VERSION, "jaxlib-cpu": VERSION, "numpy": "2.1"}
CLOSED = {"--index-url", "--default-index", "--no-index", "--from", "--spec"}  # instead of the main index
OPEN = {"--extra-index-url", "--index"}  # next to it


def documented() -> list[list[str]]:
    """Return the words of every command that installs, in console blocks, images and texts."""
    found: set[str] = set()
    for path in (*PAGES, *(ROOT / "docs").rglob("*.md")):
        found.update(command for block in find_blocks(path) for command, _ in block.commands)
        texts = re.finditer(r"^RUN (.+)$|`((?:uv )?pip install [^`\n]+)`", path.read_text("utf-8"), re.MULTILINE)
        found.update(text[1] or text[2] for text in texts)
    commands = [command.replace("\\\n", "") for command in sorted(found) if INSTALLS.match(command)]
    return [shlex.split(command, comments=True) for command in commands]


def is_unpinned(word: str) -> bool:
    """Whether an argument is a name like ours whose version does not have our label, which nobody else can publish."""
    return re.match(r"jaxlib\b", word) is not None and not re.search(r"==[\d.]+\+", word)


def test_documented_installations_ask_one_index() -> None:
    """Or none; a second one could have anything under our names."""
    commands = documented()
    named = [words for words in commands if any(map(is_unpinned, words[1:]))]
    assert [words for words in commands if OPEN & set(words)] == []
    assert [words for words in named if not CLOSED & set(words)] == []
    assert len(named) > 20


def put_on(index: Path, name: str, *requires: str) -> None:
    """Put a small wheel on an index, and a link with its hash on the page of its project."""
    folder = index / name.partition("-")[0].replace("_", "-")
    folder.mkdir(parents=True, exist_ok=True)
    wheel = build_wheel(folder, describe_wheel(name, requires), name=name)
    with (folder / "index.html").open("a") as page:
        page.write(f'<a href="{name}#sha256={hash_file(wheel)}">{name}</a>\n')


@pytest.fixture
def main_index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """Return the address of the machine's index, with a small `jax`, upstream's jaxlib, and what somebody else put."""
    put_on(tmp_path / "main", f"jax-{RELEASE}-py3-none-any.whl", f"jaxlib=={RELEASE}", "numpy")
    put_on(tmp_path / "main", f"jaxlib-{RELEASE}-py3-none-any.whl", "numpy")
    for name in ("numpy-2.1", *(f"{project.replace('-', '_')}-99" for project in OURS)):
        put_on(tmp_path / "main", f"{name}-py3-none-any.whl")
    for name in [name for name in os.environ if name.startswith("PIP_")]:
        monkeypatch.delenv(name)
    NotingHandler.asked.clear()
    with serve_folder(tmp_path / "main", NotingHandler) as served:
        address = served.replace("//", "//me:secret@")  # as companies have it
        monkeypatch.setenv("PIP_CONFIG_FILE", os.devnull)
        monkeypatch.setenv("PIP_INDEX_URL", address)
        yield address


@pytest.fixture
def machine(main_index: str, interpreter: Interpreter, tmp_path: Path) -> dict[str, str]:
    """Return the variables of a machine, which has our wheels in `dist`, an index of them, and a project."""
    dist = write_pure_release(tmp_path / "dist", ("jaxlib", "jaxlib_cpu"), version=VERSION).path
    _, others = write_index(dist, dist / "simple", closure=read_closure)
    assert [project.name for project in others] == ["jax", "numpy"]
    assert "secret" not in (dist / "simple/numpy/index.html").read_text()
    (programs := tmp_path / "bin").mkdir()
    (tmp_path / "pyproject.toml").write_text('[project]\nname = "a"\nversion = "1"\nrequires-python = ">=3.12"\n')
    for name, command in {
        "pip": [sys.executable, "-m", "pip", "--python", str(tmp_path / "venv/bin/python")],
        "python": [str(interpreter.path)],
        "uv": [str(find_uv())],
    }.items():
        write_program(programs / name, f'exec {shlex.join(command)} "$@"')
    variables = {"UV_PROJECT_ENVIRONMENT": str(tmp_path / "venv"), "VIRTUAL_ENV": str(tmp_path / "venv")}
    variables |= {"PIP_INDEX_URL": main_index, "UV_DEFAULT_INDEX": main_index}
    return variables | {"PATH": f"{programs}:{os.environ['PATH']}"}


def installed(folder: Path) -> dict[str, str]:
    """Return what is installed in the environment of a folder."""
    return installed_in(site_packages_of(folder / "venv/bin/python"))


def test_the_attack_works_where_two_indexes_are_asked(
    machine: dict[str, str], interpreter: Interpreter, tmp_path: Path
) -> None:
    """Which shows that the next test could fail."""
    create_venv(interpreter, tmp_path / "venv")
    index = (tmp_path / "dist/simple").as_uri()
    run_installer("pip", "install", "--extra-index-url", index, "jax", "jaxlib-cpu", variables=machine)
    assert installed(tmp_path)["jaxlib-cpu"] == "99"


def test_copies_do_without_the_main_index(machine: dict[str, str], interpreter: Interpreter, tmp_path: Path) -> None:
    """All that our wheels need lies next to the pages."""
    create_venv(interpreter, tmp_path / "venv")
    write_index(tmp_path / "dist", tmp_path / "copied", closure=partial(read_closure, copies=tmp_path / "cache"))
    NotingHandler.asked.clear()
    place = (tmp_path / "copied").as_uri()
    run_installer("uv", "pip", "install", "--default-index", place, "jax", "jaxlib-cpu", variables=machine)
    assert (installed(tmp_path), NotingHandler.asked) == (EXPECTED, [])


def test_documented_installations_bring_nothing_of_the_main_index_under_our_names(
    machine: dict[str, str], interpreter: Interpreter, tmp_path: Path
) -> None:
    """Those of each form, for the CPU; all else comes from there by the links of our index."""
    folder, ran = str(tmp_path), {"pip": 0, "uv": 0, "python": 0}
    with serve_folder(tmp_path / "dist/simple") as index:
        forms = {
            tuple(INDEX.sub(index, for_cpu(word)).replace("$PWD", folder) for word in words)
            for words in documented()
            if "jax" in words and words[0] in ran and any(map(is_unpinned, words))
        }
        for words in sorted(forms, key=is_install):
            create_venv(interpreter, tmp_path / "venv")
            NotingHandler.asked.clear()
            run_installer(*words, folder=tmp_path, variables=machine)
            ran[words[0]] += 1
            assert [path for path in NotingHandler.asked if path.startswith("/jaxlib")] == [], words
            if is_install(words):
                assert installed(tmp_path) == EXPECTED, words
    assert min(ran.values()) > 0


def for_cpu(word: str) -> str:
    """Return an argument as it would be for the CPU and the newest release."""
    return "jaxlib-cpu" if is_unpinned(word) else re.sub(r"^jax==.*", "jax", word)


def is_install(words: tuple[str, ...]) -> bool:
    """Whether a command installs; one that downloads does so for a later one."""
    return "download" not in words

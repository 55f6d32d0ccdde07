# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Remote execution on this machine: the server that Debian unstable has in its package `justbuild`."""

import json
import os
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.files import staging_folder

# A package manager of its own: nothing is installed, and nothing of the machine's lists is changed.
_APT = """\
Dir::State "{folder}/state";
Dir::State::status "{folder}/status";
Dir::Cache "{folder}/cache";
Dir::Etc::sourcelist "{folder}/sources.list";
Dir::Etc::sourceparts "-";
APT::Sandbox::User "";
Debug::NoLocking "1";
"""
_SOURCE = "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] http://deb.debian.org/debian unstable main\n"
_PATIENCE_S = 20.0


class NoJustbuildError(Exception):
    """The program cannot be had here; says why."""


@dataclass(frozen=True, slots=True)
class Executor:
    """A running server: its address for `--remote_executor`, and its process id."""

    address: str
    process: int


def provide_justbuild(cache: Path) -> Path:
    """Return a folder with the program and all libraries that it needs; 25 MB are downloaded on first use.

    Raises:
        NoJustbuildError: This is no Debian, or its mirror cannot be reached.
    """
    kept = cache / "tools" / "justbuild"
    if not kept.is_dir():
        kept.parent.mkdir(parents=True, exist_ok=True)
        with staging_folder(kept.parent) as folder:
            _unpack(folder)
            (folder / "root").rename(kept)
    return kept


def _unpack(folder: Path) -> None:
    for name in ("state/lists/partial", "cache/archives/partial", "root"):
        (folder / name).mkdir(parents=True)
    (folder / "status").touch()
    (folder / "sources.list").write_text(_SOURCE)
    (folder / "apt.conf").write_text(_APT.format(folder=folder))
    environ = {**os.environ, "APT_CONFIG": str(folder / "apt.conf")}
    _run(["apt-get", "--quiet", "update"], environ)
    _run(["apt-get", "--quiet", "--yes", "--no-install-recommends", "--download-only", "install", "justbuild"], environ)
    for package in (folder / "cache/archives").glob("*.deb"):
        _run(["dpkg", "-x", str(package), str(folder / "root")], environ)


def _run(command: list[str], environ: dict[str, str]) -> None:
    try:
        done = subprocess.run(command, env=environ, capture_output=True, text=True, check=False, timeout=300)
    except (OSError, subprocess.TimeoutExpired) as error:
        raise NoJustbuildError(f"{command[0]} cannot be run: {error}") from error
    if done.returncode != 0:
        raise NoJustbuildError(f"{' '.join(command)}: {done.stderr.strip().splitlines()[-1:]}")


@contextmanager
def run_justbuild(program: Path, folder: Path) -> Iterator[Executor]:
    """Run the server on a free port of loopback, with an empty environment; it ends with the block.

    Args:
        program: Folder of `provide_justbuild`.
        folder: Where it works.
    """
    (loader,) = program.glob("usr/lib/*/ld-linux-*.so.*")
    info = folder / "info.json"
    command = [
        *(str(loader), "--library-path", str(loader.parent), str(program / "usr/bin/justbuild"), "execute"),
        *("--compatible", "--local-build-root", str(folder / "build"), "--info-file", str(info)),
    ]
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "log").open("w") as log, subprocess.Popen(command, stdout=log, stderr=log, env={}) as process:
        try:
            port = _wait_for(info, process)
            yield Executor(f"grpc://127.0.0.1:{port}", process.pid)
        finally:
            process.kill()


def _wait_for(info: Path, process: subprocess.Popen[bytes]) -> int:
    deadline = time.monotonic() + _PATIENCE_S
    while time.monotonic() < deadline and process.poll() is None:
        if info.is_file() and info.read_text().endswith("}"):
            port: int = json.loads(info.read_text())["port"]
            return port
        time.sleep(0.05)
    raise AssertionError(f"justbuild does not start; see {info.parent / 'log'}")

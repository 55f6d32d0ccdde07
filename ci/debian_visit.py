# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run a command in the root folder of another system: what it sees of this machine, and what it can write."""

from __future__ import annotations

import re
import shlex
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.errors import UsageError
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.files import locked

REPOSITORY = Path(__file__).resolve().parent.parent
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
# Configuration of this machine, so that pip, apt and TLS work inside as they do outside.
_CONFIGURATION = ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", "~/.config/pip/pip.conf", "/etc/ssl/certs")
_KEPT = re.compile(
    r"(PIP_|PJRTWHEEL_|UV_|SSL_CERT_|SOURCE_DATE_EPOCH|LANG|TERM).*|(https?|no|all)_proxy", re.IGNORECASE
)
_TEMPORARY = (Path("/tmp"), Path("/var/tmp"))  # noqa: S108 - inside the root
# Of the namespace's first process: everything in it ends with it, and so do the mounts.
NAMESPACE = ("unshare", "--mount", "--pid", "--fork", "--kill-child")


@dataclass(frozen=True, slots=True)
class Visit:
    """What a command inside sees of this machine.

    Attributes:
        folder: Where it starts, the same path inside and outside.
        readable: Files and folders that are at the same path inside.
        writable: Folders of which the same holds, and that can be written.
        environ: All of its environment.
    """

    folder: Path
    readable: tuple[Path, ...]
    writable: tuple[Path, ...]
    environ: Mapping[str, str]


def enter(folder: Path, visit: Visit, command: Sequence[str], *, temporary: Path, change: bool = False) -> list[str]:
    """Return the command line that runs a command in a root.

    Mounts are made in a namespace of the command's own: they end with it, however it ends. What it writes to its home
    or to folders for temporary files goes to `temporary`; the rest of the root can only be read, unless the command is
    to `change` it.
    """
    private = () if change else (*_TEMPORARY, Path.home())
    mounts = [["--bind", folder, folder], *([] if change else [["-o", "remount,bind,ro", folder]])]
    mounts += [["-t", "proc", "proc", folder / "proc"]]
    mounts += [["--rbind", f"/{name}", folder / name] for name in ("sys", "dev")]
    for path in private:
        source = _below(temporary, path)
        source.mkdir(parents=True, exist_ok=True)
        source.chmod(0o1777)
        mounts.append(["--bind", source, _make_mount_point(_below(folder, path), directory=True)])
    # Outer folders first, or they would hide the inner ones; what can be written may be in what cannot.
    for path in sorted({*visit.readable, *visit.writable}):
        hidden = any(path.is_relative_to(outer) for outer in private)
        _make_mount_point(_below(temporary if hidden else folder, path), directory=path.is_dir())
        mounts.append(["--bind", path, _below(folder, path)])
        if path not in visit.writable:
            mounts.append(["-o", "remount,bind,ro", _below(folder, path)])
    variables = [f"{name}={value}" for name, value in visit.environ.items()]
    start = ["chroot", str(folder), "env", "-i", "-C", str(visit.folder), *variables, *command]
    lines = [shlex.join(["mount", *map(str, mount)]) for mount in mounts]
    return [*NAMESPACE, "sh", "-c", "\n".join(["set -e", *lines, shlex.join(["exec", *start])])]


def _below(folder: Path, path: Path) -> Path:
    """Return where an absolute path is in another root."""
    return folder / str(path).lstrip("/")


def _make_mount_point(path: Path, *, directory: bool) -> Path:
    """Make what something is mounted on, an empty file or folder, unless it is there, and return it."""
    if directory:
        path.mkdir(parents=True, exist_ok=True)
    elif not path.exists():
        path.parent.mkdir(parents=True, exist_ok=True)
        path.unlink(missing_ok=True)  # a link to what is not there
        path.touch()
    return path


@contextmanager
def temporary_folder() -> Iterator[Path]:
    """Make a folder for a command's temporary files and home, open to every user inside, and remove it at the end."""
    with tempfile.TemporaryDirectory(prefix="debian-") as scratch:
        yield Path(scratch)


def run_inside(folder: Path, visit: Visit, command: Sequence[str]) -> int:
    """Run a command in a root, with this process's input and output, and return its exit status.

    The root is not removed meanwhile.
    """
    with locked(folder, shared=True), temporary_folder() as temporary:
        return subprocess.run(enter(folder, visit, command, temporary=temporary), check=False).returncode


def plan_visit(environ: Mapping[str, str], *, write: Sequence[Path], read: Sequence[Path], here: Path) -> Visit:
    """Return what a command inside sees: the repository, the cache, this machine's configuration, and what is named.

    Raises:
        UsageError: What is named is not there.
    """
    wheels = [Path(environ["PJRTWHEEL_DIST"]).absolute()] if environ.get("PJRTWHEEL_DIST") else []
    for path in (*write, *read, *wheels):
        if not path.exists():
            raise UsageError(f"no such file or folder: {path}", remedy="make it first: it is mounted inside")
    cache = cache_root(environ)
    cache.mkdir(parents=True, exist_ok=True)
    configuration = (path for name in _CONFIGURATION if (path := Path(name).expanduser()).exists())
    readable = dict.fromkeys([REPOSITORY, *configuration, *wheels, *(path.absolute() for path in read)])
    writable = dict.fromkeys([cache, *(path.absolute() for path in write)])
    kept = {name: value for name, value in environ.items() if _KEPT.fullmatch(name)}
    ours = {
        "PATH": PATH,
        "HOME": str(Path.home()),
        "PYTHONPATH": str(REPOSITORY / "build"),
        "PJRTWHEEL_CACHE": str(cache),
    }
    known = any(here.is_relative_to(path) for path in (*readable, *writable))
    return Visit(here if known else REPOSITORY, tuple(readable), tuple(writable), {**kept, **ours})

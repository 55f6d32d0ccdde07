# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run a command in a folder with Debian installed: another release, another Python, another Bazel, another processor.

The folder is made by debootstrap on first use, and kept in the cache. Inside, only the cache, and what is named with
--write, can be written; the repository is there to be read, at the same path as outside. Needs root. For another
architecture than this machine's also qemu-user-static.
"""

from __future__ import annotations

import argparse
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel import files
from pjrtwheel.errors import PjrtWheelError, UsageError
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.files import staging_folder
from pjrtwheel.platforms import PLATFORMS, Platform, host_platform
from pjrtwheel.program import program

REPOSITORY = Path(__file__).resolve().parent.parent
# Debian's name of an architecture → ours.
ARCHITECTURES = {"amd64": PLATFORMS["linux_x86_64"], "arm64": PLATFORMS["linux_aarch64"]}
HANDLERS = Path("/proc/sys/fs/binfmt_misc")
_NEEDED_BYTES = 3_000_000_000  # what the larger roots of the sessions need while they are made
_PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
# Configuration of this machine, so that pip, apt and TLS work inside as they do outside.
_CONFIGURATION = ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", "~/.config/pip/pip.conf", "/etc/ssl/certs")
_KEPT = re.compile(
    r"(PIP_|PJRTWHEEL_|UV_|SSL_CERT_|SOURCE_DATE_EPOCH|LANG|TERM).*|(https?|no|all)_proxy", re.IGNORECASE
)
_TEMPORARY = (Path("/tmp"), Path("/var/tmp"))  # noqa: S108 - inside the root
# What debootstrap and apt print → what to do about it.
_REMEDIES = {
    r"No such script": "name a suite of Debian, such as trixie or unstable; a newer debootstrap knows newer ones",
    r"no entry for main/binary-|unable to find (.*) in": "name an architecture that the suite has",
    r"No space left on device": "free some space, or set PJRTWHEEL_CACHE to a larger disk",
    r"Unable to locate package|has no installation candidate|is not available": "name packages that the suite has",
    r"Failed getting release file|Couldn't download|Could not resolve|Failed to fetch|Cannot initiate|404 ": (
        "check the network and the name of the suite, or name another mirror with --mirror"
    ),
}
# Of the namespace's first process: everything in it ends with it, and so do the mounts.
_NAMESPACE = ("unshare", "--mount", "--pid", "--fork", "--kill-child")


class RootError(PjrtWheelError):
    """A Debian root that cannot be made, or entered, on this machine."""

    exit_code = 10


@dataclass(frozen=True, slots=True)
class DebianRoot:
    """What is installed in a folder.

    Attributes:
        suite: Debian's name of the release, such as `trixie` or `unstable`.
        architecture: Debian's name of the processor, such as `arm64`.
        packages: What is installed in addition to the base system.
    """

    suite: str
    architecture: str
    packages: tuple[str, ...]

    @property
    def name(self) -> str:
        """The folder's name, which differs for other packages."""
        packages = " ".join(sorted(set(self.packages)))
        return f"{self.suite}-{self.architecture}-{hashlib.sha256(packages.encode()).hexdigest()[:12]}"

    @property
    def platform(self) -> Platform:
        """The platform of what runs there."""
        return ARCHITECTURES[self.architecture]


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


def host_architecture() -> str:
    """Return Debian's name of this machine's architecture."""
    return next(name for name, platform in ARCHITECTURES.items() if platform == host_platform())


def find_problem(root: DebianRoot, *, user: int, handlers: Path = HANDLERS) -> RootError | None:
    """Return why a root cannot be made or entered here, if something is missing; nothing is started.

    Args:
        root: The root.
        user: The user's number.
        handlers: Where the kernel lists which program runs the executables of another processor.
    """
    if user != 0:
        return RootError(
            "a Debian root needs root", cause="only root may change the root of a process", remedy="run it with sudo"
        )
    missing = [name for name in ("debootstrap", "unshare", "chroot") if shutil.which(name, path=_PATH) is None]
    if missing:
        packages = " ".join({"unshare": "util-linux", "chroot": "coreutils"}.get(name, name) for name in missing)
        return RootError(f"not installed: {', '.join(missing)}", remedy=f"as root: apt-get install {packages}")
    if root.platform == host_platform():
        return None
    handler = handlers / f"qemu-{root.platform.architecture}"
    # With the flag F the kernel keeps the emulator open, so that it need not be inside.
    text = handler.read_text("utf-8") if handler.is_file() else ""
    if text.startswith("enabled") and re.search(r"^flags:.*F", text, re.MULTILINE):
        return None
    mount = "" if (handlers / "register").exists() else f"; mount -t binfmt_misc binfmt_misc {handlers}"
    return RootError(
        f"this machine does not run programs for {root.architecture}",
        cause=f"{handler} is missing, disabled, or without the flag F",
        remedy=f"as root: apt-get install qemu-user-static binfmt-support{mount}; update-binfmts --enable",
    )


def make_root(root: DebianRoot, place: Path, *, mirror: str | None = None) -> Path:
    """Return the folder of a root below `place`, after installing it there unless it was before.

    It appears whole or not at all: what is half made is removed, also that of a run that was killed.

    Raises:
        RootError: That is not possible here; the message has what debootstrap or apt said.
        WheelError: The disk is full.
    """
    folder = place / root.name
    if folder.is_dir():
        return folder
    files.require_space(place, _NEEDED_BYTES)
    print(f"installing Debian {root.suite} for {root.architecture} into {folder} ...", file=sys.stderr, flush=True)
    with staging_folder(place) as scratch:
        staged = scratch / "root"
        options = ["--variant=minbase", f"--arch={root.architecture}", "--include=ca-certificates"]
        _install(root, [*_NAMESPACE, "debootstrap", *options, root.suite, str(staged), *([mirror] if mirror else [])])
        if root.packages:
            # Not by debootstrap, which cannot configure Java. The lists of packages are those that it has left.
            command = ["apt-get", "install", "--quiet", "--yes", "--no-install-recommends", *root.packages]
            environ = {"DEBIAN_FRONTEND": "noninteractive", "PATH": _PATH}
            visit = Visit(Path("/"), (Path("/etc/resolv.conf"),), (), environ)
            with temporary_folder() as temporary:
                _install(root, enter(staged, visit, command, temporary=temporary, change=True))
        for package in (staged / "var/cache/apt/archives").glob("*.deb"):
            package.unlink()  # installed by now
        if not folder.exists():  # otherwise another run was faster, and its root is as good
            staged.rename(folder)
    return folder


def _install(root: DebianRoot, command: Sequence[str]) -> None:
    """Run a program that installs, and show what it says; of a failure its own reason becomes the message."""
    lines: list[str] = []
    with subprocess.Popen(
        command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    ) as process:
        try:
            for line in process.stdout or ():
                lines.append(line.strip())
                print(f"  {line.rstrip()}", file=sys.stderr, flush=True)
        except BaseException:
            process.kill()  # and with it all that is in its namespace
            raise
    if process.returncode != 0:
        raise explain(root, lines)


def explain(root: DebianRoot, lines: Sequence[str]) -> RootError:
    """Return the error for a program that failed to install a root, from what it printed."""
    found = [(line, remedy) for line in lines for pattern, remedy in _REMEDIES.items() if re.search(pattern, line)]
    said = [line for line in lines if line.startswith(("E:", "dpkg: error"))] or lines[-1:]
    cause, remedy = found[0] if found else ((said or [""])[0], "see above what it printed")
    return RootError(f"cannot install Debian {root.suite} for {root.architecture}", cause=cause, remedy=remedy)


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
    return [*_NAMESPACE, "sh", "-c", "\n".join(["set -e", *lines, shlex.join(["exec", *start])])]


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
    """Run a command in a root, with this process's input and output, and return its exit status."""
    with temporary_folder() as temporary:
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
        "PATH": _PATH,
        "HOME": str(Path.home()),
        "PYTHONPATH": str(REPOSITORY / "build"),
        "PJRTWHEEL_CACHE": str(cache),
    }
    known = any(here.is_relative_to(path) for path in (*readable, *writable))
    return Visit(here if known else REPOSITORY, tuple(readable), tuple(writable), {**kept, **ours})


def add_root_options(parser: argparse.ArgumentParser, *, suite: str = "unstable") -> None:
    """Declare the options that say which root it is."""
    parser.add_argument("--suite", default=suite, help=f"release of Debian (default: {suite})")
    parser.add_argument(
        "--architecture", choices=ARCHITECTURES, default=host_architecture(), help="its processor (default: this one)"
    )
    parser.add_argument("--package", action="append", default=[], metavar="NAME", help="install this (repeatable)")
    parser.add_argument("--mirror", metavar="URL", help="where Debian's packages are (default: debootstrap's)")


def add_mount_options(parser: argparse.ArgumentParser) -> None:
    """Declare the options that say what else of this machine is seen inside."""
    for name, means in (("--write", "a folder that can be written inside"), ("--read", "what can be read inside")):
        parser.add_argument(
            name, action="append", default=[], type=Path, metavar="PATH", help=f"{means}, at the same path (repeatable)"
        )


def without_dashes(command: list[str]) -> list[str]:
    """Return a command that was given after `--`, which argparse keeps.

    >>> without_dashes(["--", "ls", "--", "x"])
    ['ls', '--', 'x']
    """
    return command[1:] if command[:1] == ["--"] else command


def provide(args: argparse.Namespace) -> tuple[DebianRoot, Path]:
    """Return the root that the options name, and its folder, which is made where it is not there.

    Raises:
        RootError: That is not possible here.
    """
    root = DebianRoot(args.suite, args.architecture, tuple(args.package))
    if problem := find_problem(root, user=os.geteuid()):
        raise problem
    return root, make_root(root, cache_root(os.environ) / "debian", mirror=args.mirror)


@program
def main(argv: Sequence[str] | None = None) -> int:
    """Make a root where it is not there, run a command in it, and return its exit status."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_root_options(parser)
    add_mount_options(parser)
    parser.add_argument("--remove", action="store_true", help="remove this root instead")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the command; without one the root is only made")
    args = parser.parse_args(argv)
    if args.remove:
        root = DebianRoot(args.suite, args.architecture, tuple(args.package))
        shutil.rmtree(cache_root(os.environ) / "debian" / root.name)
        return 0
    _, folder = provide(args)
    command = without_dashes(args.command)
    if not command:
        print(folder)
        return 0
    visit = plan_visit(os.environ, write=args.write, read=args.read, here=Path.cwd())
    return run_inside(folder, visit, command)


if __name__ == "__main__":
    sys.exit(main())

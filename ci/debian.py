# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run a command in a folder with Debian installed: another release, another Python, another Bazel, another processor.

The folder is made by debootstrap on first use, and kept in the cache. Inside, only the cache, and what is named with
--write, can be written; the repository is there to be read, at the same path as outside. Needs root. For another
architecture than this machine's also qemu-user-static. docs/release/prove.md shows what it is for.
"""

import argparse
import hashlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from pjrtwheel import files
from pjrtwheel.errors import PjrtWheelError, UsageError
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.platforms import PLATFORMS, host_platform
from pjrtwheel.program import program

REPOSITORY = Path(__file__).resolve().parent.parent
PATH = "/usr/sbin:/usr/bin:/sbin:/bin"
NAMESPACE = ("unshare", "--mount", "--pid", "--fork", "--kill-child")
# Debian's name of an architecture → ours.
ARCHITECTURES = {"amd64": PLATFORMS["linux_x86_64"], "arm64": PLATFORMS["linux_aarch64"]}
HANDLERS = Path("/proc/sys/fs/binfmt_misc")
# Of this machine, what a command inside sees as well, so that pip works there as it does here.
_CONFIGURATION = ("/etc/resolv.conf", "/etc/hosts", "/etc/pip.conf", "~/.config/pip/pip.conf", "/etc/ssl/certs")
_KEPT = re.compile(
    r"(PIP_|PJRTWHEEL_|UV_|SSL_CERT_|SOURCE_DATE_EPOCH|LANG|TERM).*|(https?|no|all)_proxy", re.IGNORECASE
)
_NEEDED_BYTES = 3_000_000_000  # what the larger roots need while they are made


class RootError(PjrtWheelError):
    """A Debian root that cannot be made, or entered, on this machine."""

    exit_code = 10


def host_architecture() -> str:
    """Return Debian's name of this machine's architecture."""
    return next(name for name, platform in ARCHITECTURES.items() if platform == host_platform())


def name_root(suite: str, architecture: str, packages: Sequence[str]) -> str:
    """Return the name of the folder of a root, which differs for other packages."""
    digest = hashlib.sha256(" ".join(sorted(set(packages))).encode()).hexdigest()[:12]
    return f"{suite}-{architecture}-{digest}"


def require_machine(architecture: str, *, handlers: Path = HANDLERS) -> None:
    """Raise a `RootError` if this machine cannot make or enter a root, with the packages that it lacks."""
    missing = [name for name in ("debootstrap", "unshare", "chroot") if shutil.which(name, path=PATH) is None]
    if missing:
        packages = " ".join({"unshare": "util-linux", "chroot": "coreutils"}.get(name, name) for name in missing)
        raise RootError(f"not installed: {', '.join(missing)}", remedy=f"as root: apt-get install {packages}")
    if architecture == host_architecture():
        return
    handler = handlers / f"qemu-{ARCHITECTURES[architecture].architecture}"
    # With the flag F the kernel keeps the emulator open, so that it need not be inside.
    text = handler.read_text("utf-8") if handler.is_file() else ""
    if not text.startswith("enabled") or not re.search(r"^flags:.*F", text, re.MULTILINE):
        mount = "" if (handlers / "register").exists() else f"; mount -t binfmt_misc binfmt_misc {handlers}"
        raise RootError(
            f"this machine does not run programs for {architecture}",
            cause=f"{handler} is missing, disabled, or without the flag F",
            remedy=f"as root: apt-get install qemu-user-static binfmt-support{mount}; update-binfmts --enable",
        )


def make_root(folder: Path, suite: str, architecture: str, packages: Sequence[str], mirror: str | None) -> None:
    """Install a root, unless it is there; it appears whole or not at all.

    Raises:
        RootError: debootstrap or apt failed; what they said is on the terminal.
        WheelError: The disk is full.
    """
    if folder.is_dir():
        return
    files.require_space(folder.parent, _NEEDED_BYTES)
    print(f"installing Debian {suite} for {architecture} into {folder} ...", file=sys.stderr, flush=True)
    with files.staging_folder(folder.parent) as scratch:
        staged = scratch / "root"
        # Without the keyring debootstrap would only warn, and install what nobody has signed.
        options = ["--force-check-gpg", "--variant=minbase", f"--arch={architecture}", "--include=ca-certificates"]
        _install([*NAMESPACE, "debootstrap", *options, suite, str(staged), *([mirror] if mirror else [])])
        if packages:
            # Not by debootstrap, which cannot configure Java. The lists of packages are those that it has left.
            command = ["apt-get", "install", "--quiet", "--yes", "--no-install-recommends", *packages]
            environ = {"DEBIAN_FRONTEND": "noninteractive", "PATH": PATH}
            _install(enter(staged, {Path("/etc/resolv.conf"): False}, command, environ=environ))
        for package in (staged / "var/cache/apt/archives").glob("*.deb"):
            package.unlink()  # installed by now
        if not folder.exists():  # otherwise another run was faster, and its root is as good
            staged.rename(folder)


def _install(command: Sequence[str]) -> None:
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=sys.stderr, check=False)
    if done.returncode != 0:
        raise RootError(
            "cannot install Debian",
            cause="see above; the keyring, gpgv or the network may be missing",
            remedy="as root: apt-get install debian-archive-keyring gpgv; or name another mirror with --mirror",
        )


def enter(
    folder: Path,
    seen: Mapping[Path, bool],
    command: Sequence[str],
    *,
    environ: Mapping[str, str],
    here: Path = Path("/"),
    temporary: Path | None = None,
) -> list[str]:
    """Return the command line that runs a command in a root.

    Mounts are made in a namespace of the command's own: they end with it, however it ends.

    Args:
        folder: The root.
        seen: What of this machine is at the same path inside, and whether it can be written.
        command: The command.
        environ: All of its environment.
        here: Where it starts.
        temporary: Takes what it writes to its home and to folders for temporary files; the rest of the root can only
            be read then. Without it all of the root can be written.
    """
    mounts = [["--bind", folder, folder], *([["-o", "remount,bind,ro", folder]] if temporary else [])]
    mounts += [["-t", "proc", "proc", folder / "proc"]]
    mounts += [["--rbind", f"/{name}", folder / name] for name in ("sys", "dev")]
    private = (Path("/tmp"), Path("/var/tmp"), Path.home()) if temporary else ()  # noqa: S108 - inside the root
    for path in private:
        source = _make_mount_point(_below(temporary or folder, path), directory=True)
        source.chmod(0o1777)
        mounts.append(["--bind", source, _make_mount_point(_below(folder, path), directory=True)])
    for path in sorted(seen):  # outer folders first, or they would hide the inner ones
        hidden = any(path.is_relative_to(outer) for outer in private)
        _make_mount_point(_below(temporary if hidden and temporary else folder, path), directory=path.is_dir())
        mounts.append(["--bind", path, _below(folder, path)])
        if not seen[path]:
            mounts.append(["-o", "remount,bind,ro", _below(folder, path)])
    variables = [f"{name}={value}" for name, value in environ.items()]
    start = ["chroot", str(folder), "env", "-i", "-C", str(here), *variables, *command]
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


def list_seen(cache: Path, write: Sequence[Path]) -> dict[Path, bool]:
    """Return what a command inside sees of this machine, and whether it can be written; what is named has to exist."""
    for path in write:
        if not path.exists():
            raise UsageError(f"no such file or folder: {path}", remedy="make it first: it is mounted inside")
    cache.mkdir(parents=True, exist_ok=True)
    configuration = (path for name in _CONFIGURATION if (path := Path(name).expanduser()).exists())
    return {**dict.fromkeys([REPOSITORY, *configuration], False), **dict.fromkeys([cache, *write], True)}


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of this program's arguments."""
    parser = argparse.ArgumentParser(prog="./noxw debian", description=__doc__)
    parser.add_argument("--suite", default="unstable", help="release of Debian (default: unstable)")
    parser.add_argument(
        "--architecture", choices=ARCHITECTURES, default=host_architecture(), help="its processor (default: this one)"
    )
    parser.add_argument("--package", action="append", default=[], metavar="NAME", help="install this (repeatable)")
    parser.add_argument("--mirror", metavar="URL", help="where Debian's packages are (default: debootstrap's)")
    parser.add_argument("--write", action="append", default=[], type=Path, metavar="DIR", help="is writable inside")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the command; without one the root is only made")
    return parser


@program
def main(argv: Sequence[str] | None = None) -> int:
    """Make a root where it is not there, run a command in it, and return its exit status."""
    args = make_parser().parse_args(argv)
    cache = cache_root(os.environ)
    folder = cache / "debian" / name_root(args.suite, args.architecture, args.package)
    if os.geteuid() != 0:
        raise RootError("a Debian root needs root", cause="only root may change the root of a process")
    seen = list_seen(cache, [path.absolute() for path in args.write])
    require_machine(args.architecture)
    make_root(folder, args.suite, args.architecture, args.package, args.mirror)
    if not args.command:
        print(folder)
        return 0
    kept = {name: value for name, value in os.environ.items() if _KEPT.fullmatch(name)} | {"PATH": PATH}
    environ = kept | {"HOME": str(Path.home()), "PJRTWHEEL_CACHE": str(cache), "PJRTWHEEL_PYTHON": "/usr/bin/python3"}
    here = Path.cwd() if any(Path.cwd().is_relative_to(path) for path in seen) else REPOSITORY
    with tempfile.TemporaryDirectory(prefix="debian-") as temporary:
        line = enter(folder, seen, args.command, environ=environ, here=here, temporary=Path(temporary))
        return subprocess.run(line, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())

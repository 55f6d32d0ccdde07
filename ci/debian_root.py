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
import shutil
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from debian_visit import NAMESPACE, PATH, Visit, enter, plan_visit, run_inside, temporary_folder
from pjrtwheel import files
from pjrtwheel.errors import PjrtWheelError
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.files import staging_folder
from pjrtwheel.platforms import PLATFORMS, Platform, host_platform
from pjrtwheel.program import program

# Debian's name of an architecture → ours.
ARCHITECTURES = {"amd64": PLATFORMS["linux_x86_64"], "arm64": PLATFORMS["linux_aarch64"]}
HANDLERS = Path("/proc/sys/fs/binfmt_misc")
_NEEDED_BYTES = 3_000_000_000  # what the larger roots of the sessions need while they are made
# What debootstrap and apt print → what to do about it.
_REMEDIES = {
    r"Cannot check Release signature|signed by unknown key": "as root: apt-get install debian-archive-keyring",
    r"Invalid Release signature": "name another mirror with --mirror: this one changes what Debian has signed",
    r"Error executing gpgv": "as root: apt-get install gpgv",
    r"No such script": "name a suite of Debian, such as trixie or unstable; a newer debootstrap knows newer ones",
    r"no entry for main/binary-|unable to find (.*) in": "name an architecture that the suite has",
    r"No space left on device": "free some space, or set PJRTWHEEL_CACHE to a larger disk",
    r"Unable to locate package|has no installation candidate|is not available": "name packages that the suite has",
    r"Failed getting release file|Couldn't download|Could not resolve|Failed to fetch|Cannot initiate|404 ": (
        "check the network and the name of the suite, or name another mirror with --mirror"
    ),
}


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
    missing = [name for name in ("debootstrap", "unshare", "chroot") if shutil.which(name, path=PATH) is None]
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
        # Without the keyring debootstrap would only warn, and install what nobody has signed.
        options = ["--force-check-gpg", "--variant=minbase", f"--arch={root.architecture}", "--include=ca-certificates"]
        _install(root, [*NAMESPACE, "debootstrap", *options, root.suite, str(staged), *([mirror] if mirror else [])])
        if root.packages:
            # Not by debootstrap, which cannot configure Java. The lists of packages are those that it has left.
            command = ["apt-get", "install", "--quiet", "--yes", "--no-install-recommends", *root.packages]
            environ = {"DEBIAN_FRONTEND": "noninteractive", "PATH": PATH}
            visit = Visit(Path("/"), (Path("/etc/resolv.conf"),), (), environ)
            with temporary_folder() as temporary:
                _install(root, enter(staged, visit, command, temporary=temporary, change=True))
        for package in (staged / "var/cache/apt/archives").glob("*.deb"):
            package.unlink()  # installed by now
        if not folder.exists():  # otherwise another run was faster, and its root is as good
            staged.rename(folder)
    return folder


def remove_root(root: DebianRoot, place: Path) -> None:
    """Remove a root below `place` when nobody is in it any more; it goes at once, as it came.

    Raises:
        RootError: There is none.
    """
    folder = place / root.name
    if not folder.is_dir():
        raise RootError(f"no such root: {folder}", remedy="name what it was made with: --suite, --package and so on")
    with staging_folder(place) as scratch, files.locked(folder):
        folder.rename(scratch / "root")  # what a killed run leaves of it is removed by the next one


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


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of this program's arguments."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    add_root_options(parser)
    add_mount_options(parser)
    parser.add_argument("--remove", action="store_true", help="remove this root instead")
    parser.add_argument("command", nargs=argparse.REMAINDER, help="the command; without one the root is only made")
    return parser


@program
def main(argv: Sequence[str] | None = None) -> int:
    """Make a root where it is not there, run a command in it, and return its exit status."""
    args = make_parser().parse_args(argv)
    if args.remove:
        remove_root(DebianRoot(args.suite, args.architecture, tuple(args.package)), cache_root(os.environ) / "debian")
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

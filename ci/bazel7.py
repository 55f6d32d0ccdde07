# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Build the same wheels with this machine's Bazel and with Debian unstable's, and compare their bytes.

Debian unstable has Bazel 7; debootstrap installs it into a folder, and it runs there with the folder's own Python, in a
mount namespace of its own. Needs root. `--xla stub` builds from the stub of XLA in tests/data instead.
"""

from __future__ import annotations

import argparse
import json
import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from pjrtwheel.backend import Backend, load_backends
from pjrtwheel.bazel.invoke import BuildRequest, build
from pjrtwheel.errors import BazelError
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.platforms import PLATFORMS, find_platform, host_platform
from pjrtwheel.program import program
from pjrtwheel.release.model import load_release

ROOT = Path(__file__).resolve().parent.parent
SUITE = "unstable"
PACKAGES = ("bazel-bootstrap", "python3", "python3-pip")
STUB = ROOT / "tests" / "data" / "stub_xla"
# Of this machine, so that pip inside finds what it finds outside.
CONFIGURATION = ("/etc/pip.conf", "~/.config/pip/pip.conf", "/etc/ssl/certs")
NETWORK = (Path("/etc/resolv.conf"),)


def has_library(backend: Backend, provider: str, platform: str) -> bool:
    """Say whether a backend's library for a platform can come from a provider."""
    if provider == "stub":
        return backend.source is not None and platform in backend.tags
    return platform in backend.prebuilt.platforms


def digests(provider: str, platform: str) -> dict[str, str]:
    """Build all wheels of all backends with the Bazel that is found here; return name → sha256."""
    if provider == "stub":
        os.environ["PJRTWHEEL_BAZEL_FLAGS"] = " ".join(
            f"--override_repository={name}={STUB / name}" for name in ("xla", "rules_ml_toolchain")
        )
    found = {}
    release = load_release(ROOT)
    chosen = [backend for backend in load_backends(ROOT).values() if has_library(backend, provider, platform)]
    for backend in chosen:
        request = BuildRequest(
            ROOT, release, backend, find_platform(platform), "source" if provider == "stub" else provider
        )
        result = build(request)
        for directory in result.directories:
            print(f"{directory} ({len(result.log.actions)} actions in this build)", file=sys.stderr)
            report = json.loads((directory / "report.json").read_text("utf-8"))
            found[report["wheel"]] = report["sha256"]
    return found


def run_inside(folder: Path, binds: Sequence[Path], command: Sequence[str]) -> str:
    """Run a command in the folder, in a mount namespace that ends with it, and return what it wrote to stdout.

    What is bound lies at the same place there. The command gets no other variables than it sets itself.

    Raises:
        BazelError: It failed; what it said is on stderr.
    """
    lines = ["set -e"]
    for path in (Path("/proc"), Path("/dev"), *binds):
        target = shlex.quote(f"{folder}{path}")
        create = f"mkdir -p {target}" if path.is_dir() else f"mkdir -p $(dirname {target}) && touch {target}"
        # Nothing of this machine is changed from inside, but for what its cache is there for.
        mode = "rw" if path in {Path("/proc"), Path("/dev"), cache_root(os.environ)} else "ro"
        lines += [create, f"mount --bind {shlex.quote(str(path))} {target}", f"mount -o remount,bind,{mode} {target}"]
    lines.append(
        shlex.join(["exec", "chroot", str(folder), "env", "-i", "PATH=/usr/sbin:/usr/bin:/sbin:/bin", *command])
    )
    script = ["unshare", "--mount", "sh", "-c", "\n".join(lines)]
    done = subprocess.run(script, stdout=subprocess.PIPE, text=True, check=False)
    if done.returncode != 0:
        raise BazelError(f"a command in {folder} failed with exit status {done.returncode}", cause=shlex.join(command))
    return done.stdout


def provide_folder(folder: Path) -> None:
    """Install Debian unstable with Bazel into a folder, as far as it is not there yet.

    Raises:
        BazelError: That is not possible here.
    """
    if not (folder / "usr" / "bin" / "apt-get").exists():
        if os.geteuid() != 0 or shutil.which("debootstrap") is None:
            raise BazelError("debootstrap needs root and its package", remedy="as root: apt-get install debootstrap")
        command = ["debootstrap", "--variant=minbase", "--include=ca-certificates", SUITE, str(folder)]
        if subprocess.run(command, stdout=sys.stderr, check=False).returncode != 0:
            raise BazelError(f"cannot install Debian {SUITE}", remedy=f"remove {folder} and try again")
    # Not by debootstrap, which cannot configure Java; the package lists are those that debootstrap has left.
    if not (folder / "usr" / "bin" / "bazel").exists():
        install = ("apt-get", "install", "--quiet", "--yes", "--no-install-recommends", *PACKAGES)
        print(run_inside(folder, NETWORK, ["DEBIAN_FRONTEND=noninteractive", *install]), file=sys.stderr)


def build_inside(folder: Path, binds: Sequence[Path], provider: str, platform: str) -> dict[str, str]:
    """Do what `digests` does, in the folder and with what is installed there."""
    kept = [f"{key}={value}" for key, value in os.environ.items() if key.startswith(("PIP_", "HOME", "SOURCE_DATE_"))]
    ours = [
        f"PYTHONPATH={ROOT / 'build'}",
        f"PJRTWHEEL_CACHE={cache_root(os.environ)}",
        "PJRTWHEEL_PYTHON=/usr/bin/python3",
        "PYTHONDONTWRITEBYTECODE=1",
    ]
    command = ["python3", __file__, "--here", "--xla", provider, "--platform", platform]
    answer: dict[str, str] = json.loads(
        run_inside(folder, [ROOT, cache_root(os.environ), *NETWORK, *binds], [*kept, *ours, *command])
    )
    return answer


def compare(here: dict[str, str], there: dict[str, str]) -> bool:
    """Print both digests of every wheel; say whether all are equal."""
    for name in sorted(here | there):
        ours, theirs = here.get(name, "missing"), there.get(name, "missing")
        print(f"{'equal' if ours == theirs else 'DIFFERENT'}  {name}\n  {ours}  this machine\n  {theirs}  {SUITE}")
    return here == there


@program
def main(argv: Sequence[str] | None = None) -> int:
    """Build here and there, compare, and return 0 when all wheels are the same."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--folder", type=Path, help="where Debian unstable is or shall be (default: in the cache)")
    parser.add_argument("--xla", choices=("prebuilt", "stub"), default="prebuilt", help="provider of the library")
    parser.add_argument("--platform", choices=PLATFORMS, default=host_platform().name, help="platform of the wheels")
    parser.add_argument("--here", action="store_true", help="only print the digests of what this machine builds")
    arguments = parser.parse_args(argv)
    here = digests(arguments.xla, arguments.platform)
    if arguments.here:
        print(json.dumps(here))
        return 0
    folder = (arguments.folder or cache_root(os.environ) / "debian-unstable").absolute()
    binds = [path for name in CONFIGURATION if (path := Path(name).expanduser()).exists()]
    provide_folder(folder)
    return 0 if compare(here, build_inside(folder, binds, arguments.xla, arguments.platform)) else 1


if __name__ == "__main__":
    sys.exit(main())

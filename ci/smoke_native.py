# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Install `jaxlib` out of a folder on this machine, whatever its system, and run the smoke programs on JAX's client.

For macOS and Windows, where nothing is built: the tooling is for Linux. Needs the standard library, the package index
for what `jaxlib` needs, and a folder with `release.json`. pip picks the wheel, as it does for users. `--proofs FILE`
writes what was shown, for `merge --proofs` where the release is made.
"""

import argparse
import hashlib
import json
import os
import platform
import subprocess
import sys
import tempfile
import tomllib
import venv
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "build"))
from pjrtwheel.record.origin import Origin, find_origin, find_signer  # noqa: E402 - standard library only

INSIDE = ROOT / "build" / "pjrtwheel" / "prove" / "inside" / "smoke.py"
LOCK = "release_lock.json"
SECONDS = 900
SCHEMA = 1  # of the document that docs/proofs.schema.json describes
_SHOW_TAGS = "import importlib.metadata; print(importlib.metadata.distribution('jaxlib').read_text('WHEEL'))"
_SHOW_LOCK = f"""
import importlib.util, pathlib
print(pathlib.Path(importlib.util.find_spec("jaxlib").origin).with_name("{LOCK}").read_text("utf-8"))
"""


def find_bindings(dist: Path, release: str | None) -> list[dict[str, Any]]:
    """Return what `release.json` says of the `jaxlib` wheels of a release or set, or of the only one in a folder."""
    document = json.loads((dist / "release.json").read_text("utf-8"))
    entries = [entry for entry in document["wheels"] if entry["distribution"] == "jaxlib"]
    found = [entry for entry in entries if release in {None, entry["version"], entry["version"].partition("+")[0]}]
    if len({entry["version"] for entry in found}) != 1:
        versions = ", ".join(sorted({entry["version"] for entry in entries}))
        sys.exit(f"--release has to say which jaxlib of {dist} is meant; there are: {versions or 'none'}")
    return found


def read_lock(wheel: Path) -> dict[str, Any]:
    """Return the release lock in a wheel."""
    with zipfile.ZipFile(wheel) as archive:
        lock: dict[str, Any] = json.loads(archive.read(f"jaxlib/{LOCK}"))
    return lock


def make_environment(folder: Path) -> Path:
    """Make a virtual environment with pip, and return its Python."""
    windows = os.name == "nt"
    venv.create(folder, with_pip=True, symlinks=not windows)  # on macOS a copy would not find its library
    return folder / ("Scripts/python.exe" if windows else "bin/python")


def install(python: Path, dist: Path, version: str, release: str) -> None:
    """Install the `jaxlib` of the folder and the JAX of its release, with what the programs need."""
    needed = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["dependency-groups"]["smoke"]
    command = [str(python), "-P", "-m", "pip", "install", "--quiet", "--only-binary=:all:", "--find-links", str(dist)]
    subprocess.run([*command, f"jaxlib=={version}", f"jax=={release}", *needed], check=True)


def run_program(python: Path, program: Path) -> dict[str, str]:
    """Run a smoke program in an empty folder, and return its outcome."""
    with tempfile.TemporaryDirectory(prefix="smoke-", ignore_cleanup_errors=True) as scratch:
        result = Path(scratch) / "result.json"
        command = [str(python), "-I", "-X", "faulthandler", str(INSIDE), str(program), str(result)]
        try:
            status = subprocess.run(command, cwd=scratch, check=False, timeout=SECONDS).returncode
        except subprocess.TimeoutExpired:
            return {"outcome": "failed", "detail": f"no end within {SECONDS} s"}
        answer: dict[str, str] = json.loads(result.read_text("utf-8")) if result.is_file() else {}
    if not answer or (status and answer["outcome"] == "passed"):
        missing = "" if answer else " and without a result"
        return {"outcome": "failed", "detail": f"the process ended with status {status}{missing}"}
    return answer


def find_installed(python: Path, entries: Sequence[dict[str, Any]], dist: Path) -> dict[str, Any]:
    """Return the entry of the wheel that pip took, by the tags in it; its bytes must be those of `release.json`."""
    shown = subprocess.run([str(python), "-I", "-c", _SHOW_TAGS], capture_output=True, text=True, check=True).stdout
    tags = {line.partition(": ")[2].strip() for line in shown.splitlines() if line.startswith("Tag: ")}
    found = [entry for entry in entries if set(entry["tags"]) == tags]
    if len(found) != 1:
        sys.exit(f"release.json of {dist} has {len(found)} wheels with the tags that were installed: {sorted(tags)}")
    wheel = dist / found[0]["filename"]
    if hashlib.sha256(wheel.read_bytes()).hexdigest() != found[0]["sha256"]:
        sys.exit(f"{wheel} is not the file that release.json describes: copy the folder again")
    return found[0]


def write_proof(
    path: Path, wheel: Mapping[str, Any], results: Mapping[str, Mapping[str, Any]], origin: Origin, signer: str
) -> None:
    """Write the file for one wheel, on which programs ran without a plugin: that shows that its bindings load."""
    level = "load" if any(result["outcome"] == "passed" for result in results.values()) else "static"
    programs = [
        {"program": name, "outcome": result["outcome"], "level": "load", "detail": result["detail"]}
        | {"seconds": result.get("seconds", 0.0), "kind": "program"}
        for name, result in results.items()
    ]
    python = {"python": wheel["tags"][0].split("-")[1], "interpreter": platform.python_version(), "programs": programs}
    machine = {"system": platform.platform(), "processor": platform.processor() or platform.machine()}
    proof = {"level": level, "pjrt_api": None, "pythons": [python], "origin": asdict(origin), "machine": machine}
    proven = {"wheel": wheel["filename"], "sha256": wheel["sha256"], "proof": proof}
    document = {"schema": SCHEMA, "date": origin.date, "signed_off_by": signer, "wheels": [proven]}
    path.write_text(json.dumps(document, indent=2, sort_keys=True) + "\n", "utf-8")


def main(argv: Sequence[str] | None = None) -> int:
    """Print what each program showed; the status is 0 if at least one ran, and none failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("dist", type=Path, help="folder with the wheels and release.json")
    programs = {path.stem: path for path in sorted((ROOT / "tests" / "smoke").glob("[a-z]*.py"))}
    parser.add_argument(
        "--program", action="append", choices=programs, metavar="NAME", help="program of tests/smoke/ (default: all)"
    )
    parser.add_argument("--release", metavar="VERSION", help="JAX release, or version of a set (default: the only one)")
    parser.add_argument("--proofs", type=Path, metavar="FILE", help="write there what was shown")
    parser.add_argument("--signed-off-by", metavar="NAME", help="who vouches for the proofs (default: git's user)")
    arguments = parser.parse_args(argv)
    origin = find_origin(ROOT, os.environ)
    signer = find_signer(ROOT, arguments.signed_off_by) if arguments.proofs else ""
    entries = find_bindings(arguments.dist, arguments.release)
    lock = read_lock(arguments.dist / entries[0]["filename"])
    with tempfile.TemporaryDirectory(prefix="native-", ignore_cleanup_errors=True) as scratch:
        python = make_environment(Path(scratch) / "venv")
        install(python, arguments.dist.resolve(), entries[0]["version"], lock["release"])
        shown = subprocess.run([str(python), "-I", "-c", _SHOW_LOCK], capture_output=True, text=True, check=True)
        if json.loads(shown.stdout) != lock:
            sys.exit("the jaxlib that was installed is another one: it has another lock, or none")
        print(f"jaxlib {entries[0]['version']} of lock {lock['lock_id'][:8]} on {sys.platform}, Python {sys.version}")
        wheel = find_installed(python, entries, arguments.dist)
        results = {name: run_program(python, programs[name]) for name in arguments.program or programs}
    for name, result in results.items():
        print(f"  {name:<16}{result['outcome']:<10}{result['detail']}")
    outcomes = {result["outcome"] for result in results.values()}
    if "passed" not in outcomes or "failed" in outcomes:
        return 1
    if arguments.proofs:
        write_proof(arguments.proofs, wheel, results, origin, signer)
    return 0


if __name__ == "__main__":
    sys.exit(main())

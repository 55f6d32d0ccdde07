# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Write what smoke programs showed of a `jaxlib` as a file that `merge --proofs` takes in (docs/proofs.schema.json).

For macOS and Windows, where the tooling does not run: the standard library is enough. What follows from other values,
such as the level of a Python, is left out; the tooling derives it.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
import subprocess
import sys
import time
import tomllib
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent
SCHEMA = 1
_SHOW_TAGS = "import importlib.metadata; print(importlib.metadata.distribution('jaxlib').read_text('WHEEL'))"


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


def find_signer(given: str | None) -> str:
    """Return who signs off: who is named, or git's user."""
    name, address = (_ask_git("config", f"user.{key}") or "" for key in ("name", "email"))
    signer = given or (f"{name} <{address}>" if address else name)
    return signer or sys.exit("nobody signs off the proofs: say who does with --signed-off-by 'NAME <ADDRESS>'")


def find_origin() -> dict[str, Any]:
    """Return from which state of the repository, and when, the evidence is; a copy inside another one has no commit."""
    ours = _ask_git("rev-parse", "--show-prefix") == ""  # or else the repository is around this folder
    commit = _ask_git("rev-parse", "HEAD") if ours else None
    status = ("status", "--porcelain", "--untracked-files=all", "--ignore-submodules=none")
    changes = _ask_git(*status) if commit else None
    version = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
    seconds = int(os.environ.get("SOURCE_DATE_EPOCH") or time.time())
    return {
        "commit": commit,
        "dirty": None if changes is None else bool(changes),
        "version": version,
        "date": datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H:%M:%SZ"),
    }


def write_proof(
    path: Path, wheel: Mapping[str, Any], results: Mapping[str, dict[str, Any]], origin: dict[str, Any], signer: str
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
    proof = {"level": level, "pjrt_api": None, "pythons": [python], "origin": origin, "machine": machine}
    proven = {"wheel": wheel["filename"], "sha256": wheel["sha256"], "proof": proof}
    document = {"schema": SCHEMA, "date": origin["date"], "signed_off_by": signer, "wheels": [proven]}
    path.write_text(json.dumps(document, indent=2, sort_keys=True) + "\n", "utf-8")


def _ask_git(*arguments: str) -> str | None:
    """Return what git answers about the repository; nothing if it has no answer, or is not installed."""
    try:
        done = subprocess.run(["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False)
    except OSError:
        return None
    return done.stdout.strip() if done.returncode == 0 else None

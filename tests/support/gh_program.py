# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A program `gh` for tests, whose releases are folders: it answers as GitHub's own one is documented to.

Written from the manual of `gh` and its source, not against GitHub. It runs without site-packages.
"""

import argparse
import hashlib
import json
import os
import shlex
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

TOKEN = "gho_0123456789abcdef"  # noqa: S105 it opens nothing
REPOSITORY = "owner/wheels"
_STORE = "GH_STAND_IN"
# Path → what GitHub answers of a repository with all settings of docs/release/github.md, as its API is documented.
_SETTINGS = Path(__file__).resolve().parents[1] / "data/github_settings.json"
SETTINGS: dict[str, Any] = json.loads(_SETTINGS.read_text("utf-8"))


@dataclass(frozen=True, slots=True)
class StandIn:
    """What is kept of one repository, in a folder."""

    store: Path

    @property
    def environ(self) -> dict[str, str]:
        """What a command needs for it, next to the folder `bin` in its PATH."""
        return {_STORE: str(self.store), "GITHUB_REPOSITORY": REPOSITORY, "GH_TOKEN": TOKEN}

    @property
    def calls(self) -> list[list[str]]:
        """The arguments of each call."""
        path = self.store / "calls"
        return [json.loads(line) for line in path.read_text("utf-8").splitlines()] if path.is_file() else []

    @property
    def drafts(self) -> dict[str, bool]:
        """Tag → whether its release is a draft."""
        return {path.parent.name: bool(self.read(path.parent.name)["draft"]) for path in self.store.glob("*/release")}

    def assets(self, tag: str) -> Path:
        """Return the folder of the assets of a release."""
        return self.store / tag / "assets"

    def read(self, tag: str) -> dict[str, object]:
        """Return what is kept of a release: `draft`, `commit`, and the names of cut `parts`."""
        found: dict[str, object] = json.loads((self.store / tag / "release").read_text("utf-8"))
        return found

    def write(self, tag: str, **facts: object) -> None:
        """Change what is kept of a release."""
        path = self.store / tag / "release"
        before = self.read(tag) if path.is_file() else {"parts": [], "commit": ""}
        self.assets(tag).mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps({**before, **facts}), "utf-8")

    def set(self, **facts: object) -> None:
        """Set what else it does: `tags` (tag → commit), `api` (see `SETTINGS`), `fail` (start, text, after), `old`."""
        path = self.store / "settings"
        before = json.loads(path.read_text("utf-8")) if path.is_file() else {}
        path.write_text(json.dumps({**before, **facts}), "utf-8")


def make_stand_in(store: Path) -> StandIn:
    """Make a repository without releases in a new folder; the program lies in its folder `bin`."""
    (store / "bin").mkdir(parents=True)
    program = store / "bin/gh"
    program.write_text(f'#!/bin/sh\nexec {shlex.join([sys.executable, "-I", "-S", __file__])} "$@"\n', "utf-8")
    program.chmod(0o755)
    return StandIn(store)


def answer(words: list[str], state: StandIn, folder: Path = Path()) -> tuple[int, str]:
    """Do what the program is asked for in a folder; its exit status, and what it prints or complains of."""
    with (state.store / "calls").open("a", encoding="utf-8") as calls:
        calls.write(json.dumps(words) + "\n")
    path = state.store / "settings"
    settings = json.loads(path.read_text("utf-8")) if path.is_file() else {}
    start, said, after = settings.get("fail") or ("?", "", 0)
    if sum(" ".join(call).startswith(start) for call in state.calls) > after:
        return 1, said
    parser = argparse.ArgumentParser()
    for option in ("json", "jq", "repo", "target", "title", "notes", "limit", "output", "dir"):
        parser.add_argument(f"--{option}")
    parser.add_argument("--pattern", action="append")
    parser.add_argument("--draft", nargs="?", const="true")
    for option in ("clobber", "exclude-drafts", "paginate"):
        parser.add_argument(f"--{option}", action="store_true")
    args, rest = parser.parse_known_args(words)
    if rest[0] == "api" and "/commits/" not in rest[1]:
        found = settings.get("api", SETTINGS).get(rest[1].split("/", 3)[-1])
        if found is None:
            return 1, "gh: Not Found (HTTP 404)"
        command = ["jq", "--raw-output", args.jq]
        done = subprocess.run(command, input=json.dumps(found), capture_output=True, text=True, check=True)
        return 0, done.stdout.removesuffix("\n")
    if rest[0] == "api":
        commit = settings.get("tags", {}).get(rest[1].rpartition("/")[2].replace("%2B", "+"))
        return (0, commit) if commit else (1, "gh: No commit found for SHA (HTTP 422)")
    assert args.repo == f"github.com/{REPOSITORY}", args.repo
    return _release(rest[1:], args, state, folder, old=settings.get("old", False))


def _release(rest: list[str], args: argparse.Namespace, state: StandIn, folder: Path, *, old: bool) -> tuple[int, str]:
    action, tag = rest[0], rest[1] if rest[1:] else ""
    if action == "list":
        return 0, json.dumps([{"tagName": name} for name, draft in state.drafts.items() if not draft])
    if action == "create":
        state.write(tag, draft=args.draft == "true", commit=args.target)
    elif tag not in state.drafts:
        return 1, "release not found"
    elif action == "edit":
        state.write(tag, commit=args.target, **{"draft": args.draft == "true"} if args.draft else {})
    elif action == "upload":
        shutil.copy(folder / rest[2], state.assets(tag))
        state.write(tag, parts=[name for name in state.read(tag)["parts"] if name != rest[2]])  # type: ignore[attr-defined]
    elif action == "download":
        for name in args.pattern:
            shutil.copy(state.assets(tag) / name, args.output or args.dir)
    elif action == "view":
        release = state.read(tag)
        found = [_describe(path, release["parts"], old=old) for path in sorted(state.assets(tag).iterdir())]
        return 0, json.dumps({"assets": found, "isDraft": release["draft"], "targetCommitish": release["commit"]})
    return 0, ""


def _describe(path: Path, parts: object, *, old: bool) -> dict[str, object]:
    digest = {} if old else {"digest": f"sha256:{hashlib.sha256(path.read_bytes()).hexdigest()}"}
    state = "starter" if isinstance(parts, list) and path.name in parts else "uploaded"
    return {"name": path.name, "size": path.stat().st_size, "state": state, **digest}


if __name__ == "__main__":
    status, said = answer(sys.argv[1:], StandIn(Path(os.environ[_STORE])))
    print(said, file=sys.stderr if status else sys.stdout)
    sys.exit(status)

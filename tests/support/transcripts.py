# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What each command prints, in `tests/data/transcripts/`: `./noxw update transcripts` writes it from runs.

All sentences of a command are held there, and nowhere else: tests look at classes, statuses and values.
"""

import contextlib
import io
import os
import shutil
import tempfile
from pathlib import Path

from pjrtwheel.cli import main
from pjrtwheel.cli.commands import COMMANDS
from pjrtwheel.sets.tags import tag_of
from release_under_test import ROOT, release_under_test

FOLDER = ROOT / "tests/data/transcripts"
PUBLISHED = "tests/data/release/v1.2.3+split.1"
NO_WHEELS = ("none", "file", "empty")
# Command → what it is run with, besides `--help`: what fails at once, or needs no build, network or accelerator. The
# working directory has a folder `empty` and a file `file`; TAG is that of the release under test.
RUNS = {
    "attest": [f"--tag v1.2.3+split.1 --dist {place}" for place in NO_WHEELS],
    "auto": [f"--dist {place}" for place in NO_WHEELS],
    "build": [
        *("", "cpuu", "--all cpu", "cpu --bindings-only", "--bindings-only --xla source", "--bindings-only --set x"),
        *("cpu --relase 1", "cpu --release 9.9.9"),
    ],
    "conformance": ["none", "empty --backend gpu"],
    "facts": ["--dist none", "--dist file"],
    "index": ["--dist empty"],
    "inspect": ["none.whl", "empty", "/dev/null", "file"],
    "merge": ["empty --dist out", "none --dist out"],
    "pin": ["", "1.2 1.3"],
    "probe": ["none.so", "file"],
    "publish": ["nowhere empty --dry-run", "pypi none --dry-run"],
    "release": ["9.9.9 --dry-run"],
    "release_check": ["--tag v1.2.3+split.1 --dist none", *(f"--tag TAG --dist {place}" for place in NO_WHEELS)],
    "repair": ["none.whl"],
    "reproduce": ["empty"],
    "smoke": ["", "file --dist x", "none.whl", "empty", "/dev/null", "--backend gpu"],
    "tag": ["v1", ""],
    "verify": ["none.whl", "empty", "/dev/null", "file"],
    "verify_release": [f"ROOT/{PUBLISHED} --documents-only", f"ROOT/{PUBLISHED} --json", "empty", "none"],
    "pages": ["pypi", "github"],
    "wrap": ["", "none.so --name foo --for upstream", "file --name foo --for upstream"],
}


def render(command: str) -> str:
    """Run a command and return what a person sees of it, on either stream, and how it ends."""
    parts, tag = [], tag_of(release_under_test())
    for arguments in ["--help", *RUNS.get(command, [])]:
        with tempfile.TemporaryDirectory() as scratch, contextlib.chdir(scratch):
            Path("empty").mkdir()
            Path("file").touch()
            said, status = _run([command, *arguments.replace("ROOT", str(ROOT)).replace("TAG", tag).split()])
            said = said.replace(str(Path(scratch).resolve()), "").replace(str(ROOT), "ROOT")
        parts.append(f"$ ./noxw {command} {arguments}".rstrip() + f"\n{said}[exit status {status}]\n")
    return "\n".join(parts)


def _run(words: list[str]) -> tuple[str, int]:
    output = io.StringIO()
    with contextlib.redirect_stdout(output), contextlib.redirect_stderr(output):
        try:
            status = main(["--root", str(ROOT), *words])
        except SystemExit as ended:  # argparse's, after --help
            status = int(ended.code or 0)
    return "".join(line.rstrip() + "\n" for line in output.getvalue().splitlines()), status


def write_all() -> None:
    """Write the transcripts of all commands."""
    os.environ["COLUMNS"] = "100"
    shutil.rmtree(FOLDER, ignore_errors=True)
    FOLDER.mkdir()
    for command in COMMANDS:
        (FOLDER / f"{command}.txt").write_text(render(command), "utf-8")


if __name__ == "__main__":
    write_all()

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The console blocks of the documentation: found, taken apart into commands, and run.

A block is ```` ```console ````; a line that begins with `$ ` is a command, and others are what it prints. A comment
before the block lets a test run it (tests/integration/test_console_blocks.py):

- `<!-- run in SETUP -->` in a folder of that kind,
- `<!-- run in SETUP, status 1 -->` the same, and its last command fails,
- `<!-- run on -->` in the same shell, after the block before it,
- `<!-- compared in FILE -->` by a test of another command line, of a larger folder, or that takes longer: it calls
  `shown` and `alike`.

All other blocks show no output.
"""

import re
import subprocess
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path

_BLOCK = re.compile(
    r"(?:^[ ]*<!-- run (?:in (?P<setup>[\w-]+)|(?P<on>on))(?:, status (?P<status>\d+))? -->\n+)?"
    r"(?:^[ ]*<!-- compared in (?P<test>[\w/.]+) -->\n+)?"
    r"^(?P<indent>[ ]*)```console\n(?P<text>.*?)^(?P=indent)```$",
    re.MULTILINE | re.DOTALL,
)
_MARK = "--- the next command ---"


@dataclass(frozen=True, slots=True)
class Block:
    """One block.

    Attributes:
        path: The file.
        line: Where in it the block begins.
        commands: Each command with what it prints; nothing where that is not shown.
        setup: The folder that it runs in, or `on` for that of the block before; empty for one that does not run.
        status: How its last command ends.
        test: The file of the test that compares what it shows, if that is another.
    """

    path: Path
    line: int
    commands: tuple[tuple[str, str], ...]
    setup: str = ""
    status: int = 0
    test: str = ""

    @property
    def name(self) -> str:
        """Name it in a test."""
        return f"{self.path.name}-{self.line}"


def find_blocks(path: Path) -> Iterator[Block]:
    """Yield the blocks of a file."""
    text = path.read_text("utf-8")
    for found in _BLOCK.finditer(text):
        lines = [line.removeprefix(found["indent"]) for line in found["text"].splitlines()]
        line = text.count("\n", 0, found.start("indent")) + 1
        setup = "on" if found["on"] else found["setup"] or ""
        commands = tuple(_take_apart(lines))
        yield Block(path, line, commands, setup, int(found["status"] or 0), found["test"] or "")


def shown(path: Path, command: str) -> str:
    """Return what a page shows for the one command that begins so."""
    pairs = [pair for block in find_blocks(path) for pair in block.commands]
    (text,) = (text for line, text in pairs if text and line.startswith(command))
    return text


def find_runs(path: Path) -> list[Block]:
    """Return what runs of a file: each block that says where, with those that run on from it."""
    runs: list[Block] = []
    for block in find_blocks(path):
        if block.setup == "on":
            before = runs.pop()
            block = replace(before, commands=(*before.commands, *block.commands), status=block.status)  # noqa: PLW2901
        if block.setup:
            runs.append(block)
    return runs


def _take_apart(lines: list[str]) -> Iterator[tuple[str, str]]:
    """Yield each command of a block, with the lines that continue it, and what it prints."""
    commands: list[tuple[str, list[str]]] = []
    for line in lines:
        if line.startswith("$ "):
            commands.append((line.removeprefix("$ "), []))
        elif commands and commands[-1][0].endswith("\\"):
            commands[-1] = (f"{commands[-1][0]}\n{line}", [])
        elif commands:
            commands[-1][1].append(line)
        elif line.strip():
            raise ValueError(f"neither a command nor what one prints: {line!r}")
    for command, printed in commands:
        yield command, "\n".join(printed).strip("\n")


def run_block(block: Block, folder: Path, environ: Mapping[str, str]) -> list[str]:
    """Run the commands of a block in one shell, and return what each printed; fail where one ends otherwise.

    What they print comes together, as on a terminal.
    """
    lines = ["set -e", "trap 'kill $(jobs -p) 2>/dev/null || true' EXIT"]
    for command, _ in block.commands:
        lines += [f"echo '{_MARK}'", command]
    done = subprocess.run(
        ["bash", "-c", "\n".join(lines)],
        cwd=folder,
        env=dict(environ),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == block.status, done.stdout
    return [part.strip("\n") for part in done.stdout.split(f"{_MARK}\n")[1:]]


def replace_in(block: Block, old: str, new: str) -> Block:
    """Return a block with another text in its commands and in what they print, such as an address that there is."""
    whole = re.escape(old) + r"(?!\.?\d)"  # 1.2.3 is no part of 1.2.3.4
    pairs = tuple((re.sub(whole, new, command), re.sub(whole, new, shown)) for command, shown in block.commands)
    return replace(block, commands=pairs)


def matches(shown: str, printed: str) -> bool:
    r"""Return whether a program printed what is shown, where `...` stands for anything, and indented lines may go on.

    >>> matches("a ... d", "a b c d"), matches("a", "a b"), matches("a\n  b", "a b")
    (True, False, True)
    """
    pattern = "(?s:.*)".join(map(re.escape, shown.split("..."))).replace("\\\n\\ \\ ", r"\s+")
    return re.fullmatch(pattern, printed) is not None


def alike(shown: str, printed: str) -> bool:
    """Return whether a program printed what is shown, but for numbers, hashes, versions, and the length of gaps.

    >>> alike("a: 38 wheels,  2.5 MB ...", "a:  7 wheels, 12.5 MB of 9"), alike("2 passed", "2 failed")
    (True, False)
    """
    return matches(_hide_numbers(shown), _hide_numbers(printed))


def _hide_numbers(text: str) -> str:
    return re.sub(r"\b[0-9a-f]{12,}\b|\d+(?:[.,]\d+)*", "0", re.sub(r" +", " ", text))

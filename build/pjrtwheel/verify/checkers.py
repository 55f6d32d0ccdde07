# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run the community's own checkers on a wheel, and turn what they say into problems.

Each runs as a process of its own: their command lines are their public interface, their modules are not. None of them
needs the network. Their colours are switched off, because the text ends up in messages.
"""

import itertools
import json
import os
import re
import subprocess
import sys
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath
from typing import Any

from pjrtwheel.abis import VERSIONED, python_version
from pjrtwheel.errors import VerifyError
from pjrtwheel.verify.findings import Problem

# glibc floors of the tags that were named before PEP 600 numbered them.
_NAMED_FLOORS = {"manylinux1": (2, 5), "manylinux2010": (2, 12), "manylinux2014": (2, 17)}
_NUMBERED = re.compile(r"(?P<family>manylinux|musllinux|macosx)_(?P<major>\d+)_(?P<minor>\d+)_(?P<architecture>\w+)")

# Family, version and architecture.
Floor = tuple[str, tuple[int, int], str]


def parse_platform_tag(tag: str) -> Floor | None:
    """Split a platform tag into family, floor and architecture; nothing for `linux_x86_64`, which promises no floor.

    The floor is a version of the libc (PEP 600, PEP 656) or of macOS; Windows has none, and needs none.

    >>> parse_platform_tag("manylinux_2_27_x86_64"), parse_platform_tag("manylinux2014_aarch64")
    (('manylinux', (2, 27), 'x86_64'), ('manylinux', (2, 17), 'aarch64'))
    """
    if match := _NUMBERED.fullmatch(tag):
        return match["family"], (int(match["major"]), int(match["minor"])), match["architecture"]
    name, _, architecture = tag.partition("_")
    if name == "win":
        return name, (0, 0), architecture
    return ("manylinux", _NAMED_FLOORS[name], architecture) if name in _NAMED_FLOORS else None


def compare_platforms(claimed: Sequence[str], proven: str) -> Iterator[Problem]:
    """Every claimed platform tag asks for at least the libc of the tag that auditwheel has proven."""
    needed = parse_platform_tag(proven)
    for tag in sorted(claimed):
        floor = parse_platform_tag(tag)
        if floor is None:
            yield "", f"claims platform {tag!r}, which promises no libc version"
        elif needed is None or needed[0] != floor[0] or needed[2] != floor[2] or needed[1] > floor[1]:
            yield "", f"claims platform {tag!r}, but is only consistent with {proven!r}"


def check_platform(
    wheel: Path, claimed: Sequence[str], needed: Collection[str] = (), external: Collection[str] = ()
) -> Iterator[Problem]:
    """The platform tags of the file name are proven by auditwheel's policies.

    Of what the wheel's own libraries need, it may take `external` from an installation that no policy knows.
    """
    # No place of this machine is searched: what the libraries found there need in turn is no matter of this wheel.
    result = run_tool("auditwheel", "show", "--json", "--ldpaths", "", str(wheel))
    try:
        document: dict[str, Any] = json.loads(result.stdout)
    except ValueError:
        yield "", f"auditwheel gave no answer: {_last_line(result)}"
        return
    yield from judge_platforms(document, claimed, needed, external)


def judge_platforms(
    document: Mapping[str, Any], claimed: Sequence[str], needed: Collection[str], external: Collection[str]
) -> Iterator[Problem]:
    """Turn auditwheel's answer into problems; see `check_platform`.

    Libraries that no policy knows make auditwheel fall back to the tag `linux`. Where nothing but declared ones stands
    in the way of the claimed tag, the symbols decide.
    """
    if "overall_tag" not in document:
        yield "", f"auditwheel: {document.get('error', 'not a platform wheel')}"
        return
    unknown = (set(document["external_libs"]) & set(needed)) - set(external)
    if unknown:
        yield (
            "",
            f"needs {', '.join(sorted(unknown))}: neither in it, nor in every Linux, nor `external` in backend.toml",
        )
    others = [tag for tag in sorted(claimed) if not _is_open(document, tag, external)]
    yield from compare_platforms(others, document["overall_tag"])
    yield from compare_platforms([tag for tag in sorted(claimed) if tag not in others], document["sym_tag"])


def _is_open(document: Mapping[str, Any], tag: str, external: Collection[str]) -> bool:
    """Return whether only declared libraries keep a wheel from a platform tag."""
    obstacles = document["policy_upgrades"].get(tag, {})
    libraries = set(obstacles.get("libs_to_eliminate", ()))
    faults = any(document[key] for key in ("pyfpe", "ucs2", "unsupported_isa")) or "blacklisted_symbols" in obstacles
    return bool(libraries) and libraries <= set(external) and not faults


def check_dlls(wheel: Path, external: Collection[str] = ()) -> Iterator[Problem]:
    """delvewheel, which knows what Windows and Python bring, finds every DLL in the wheel, or among the `external`."""
    options = [
        "--ignore-existing",
        "--analyze-existing",
        *(["--exclude", ":".join(sorted(external))] if external else []),
    ]
    result = run_tool("delvewheel", "show", *options, str(wheel))
    heading = "The following DLLs will be copied into the wheel."
    if result.returncode != 0 or heading not in result.stdout:
        yield "", f"delvewheel gave no answer: {_last_line(result)}"
        return
    lines = itertools.takewhile(str.strip, result.stdout.partition(heading)[2].strip().splitlines())
    missing = [line.split()[0] for line in lines]
    if missing != ["None"]:
        yield "", f"needs {', '.join(missing)}, which neither it, Windows nor Python has"


def check_stable_abi(libraries: Mapping[str, Path], python: str) -> Iterator[Problem]:
    """The libraries use no more of CPython than the stable ABI of the oldest version the wheel claims, such as `cp312`.

    Modules that only one CPython imports are no part of that promise. The libraries are given as they were unpacked,
    by name: abi3audit would unpack a whole wheel once more.
    """
    promised = {
        str(path): member for member, path in libraries.items() if not VERSIONED.fullmatch(PurePosixPath(member).name)
    }
    if not promised:
        return
    oldest = ("--assume-minimum-abi3", ".".join(map(str, python_version(python))))
    result = run_tool("abi3audit", "--report", "--strict", *oldest, *promised)
    if result.returncode != 0 and not result.stdout.strip():
        yield "", f"abi3audit gave no answer: {_last_line(result)}"
        return
    yield from read_abi3_report(result.stdout, promised)


def read_abi3_report(text: str, members: Mapping[str, str]) -> Iterator[Problem]:
    """Turn abi3audit's JSON report into problems; `members` has the name in the wheel of each file that was audited."""
    audited = {members[path]: spec["object"]["result"] for path, spec in json.loads(text)["specs"].items()}
    yield from ((member, "was not audited") for member in members.values() if member not in audited)
    for member, result in audited.items():
        # It takes the export hook (PEP 793) for a function that the module uses.
        unknown = [symbol for symbol in result["non_abi3_symbols"] if not symbol.startswith("PyModExport_")]
        strange = sorted([*unknown, *result["future_abi3_objects"]])
        if (unknown and not result["is_abi3"]) or not result["is_abi3_baseline_compatible"]:
            yield member, f"is not within the stable ABI of {result['baseline']}: {', '.join(strange)}"


def check_contents(wheel: Path, packages: Sequence[str] = ()) -> Iterator[Problem]:
    """check-wheel-contents has no complaint, and finds these top-level packages and no others, if any are given."""
    expected = ["--toplevel", ",".join(packages)] if packages else []
    yield from _complaints(run_tool("check_wheel_contents", "--no-config", *expected, str(wheel)))


def check_twine(wheel: Path) -> Iterator[Problem]:
    """Twine would upload it, without a warning."""
    yield from _complaints(run_tool("twine", "check", "--strict", str(wheel)))


def run_tool(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a checker of this environment by its module, with a plain terminal.

    Raises:
        VerifyError: It is not installed here.
    """
    environment = {**os.environ, "NO_COLOR": "1", "TERM": "dumb", "COLUMNS": "200"}
    result = subprocess.run(
        [sys.executable, "-P", "-m", module, *arguments], capture_output=True, text=True, check=False, env=environment
    )
    if f"No module named {module}" in result.stderr:
        name = module.replace("_", "-")
        raise VerifyError(
            f"the checker {name} is not installed in {sys.executable}",
            remedy="install 'pjrtwheel[verify]', or run through ./noxw, which prepares the environment",
        )
    return result


def _complaints(result: subprocess.CompletedProcess[str]) -> Iterator[Problem]:
    if result.returncode != 0:
        lines = [line.strip() for line in (result.stdout + result.stderr).splitlines() if line.strip()]
        yield from (("", line) for line in lines or ["failed without saying why"])


def _last_line(result: subprocess.CompletedProcess[str]) -> str:
    lines = (result.stdout + result.stderr).strip().splitlines()
    return lines[-1] if lines else f"exit status {result.returncode}"

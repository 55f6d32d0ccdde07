# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Print what is known of a wheel, in short or as a whole.

All of it is rows of a name and its values. A word that somebody may want to copy, such as a hash, a path or the name of
a wheel, is never broken. What is piped has every value on one line.
"""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath

from rich.console import Console
from rich.text import Text

from pjrtwheel.binaries import SYSTEMS, Library
from pjrtwheel.console import fold_text
from pjrtwheel.errors import count, describe_size, printable, shorten
from pjrtwheel.verify.findings import Finding
from pjrtwheel.verify.inspection import Inspection
from pjrtwheel.verify.libraries import describe_format

_SHOWN = 8
_FILES = 24  # that are listed of a wheel
_FEW = 3  # values that a line has room for
_FINDINGS = 6  # that are shown of a wheel in short
_REMARK = "--verbose shows all of it, --json for programs"
_LABEL = 14  # with it a sha256 ends in the 80th column
# What those who are in a hurry do not look for.
_DETAILS = {"build tag", "purelib", "extras", "licence", "licence files", "SBOM"}
# Of which each value begins a line.
_LISTS = {"requires", "entry points", "other files", "libraries"}

# A name, and its values: each begins a line.
Row = tuple[str, Sequence[str]]


def _describe_wheel(inspection: Inspection) -> dict[str, Sequence[str]]:
    lock = inspection.lock
    size = f"{describe_size(inspection.size)}, installed {describe_size(inspection.installed_size)}"
    kinds = Counter(map(describe_format, inspection.libraries))
    return {
        "project": [f"{inspection.name} {inspection.version}: {inspection.summary}"],
        "size": [size],
        "sha256": [inspection.sha256],
        "tags": inspection.tags,
        "build tag": [inspection.build] * bool(inspection.build),
        "purelib": [{True: "true", False: "false", None: "not said"}[inspection.purelib]],
        "Python": [inspection.requires_python or "any"],
        "lock": [f"{lock.get('lock_id') or 'of no set'}, provider {lock.get('provider')}"] if lock else [],
        "requires": inspection.requires,
        "extras": inspection.extras,
        "entry points": inspection.entry_points,
        "other files": inspection.outside,
        "licence": [inspection.license or "not said"],
        "licence files": [PurePosixPath(path).name for path in inspection.license_files],
        "SBOM": [PurePosixPath(path).name for path in inspection.sboms],
        "needs": _describe_versions(inspection.floors),
        "also needs": inspection.missing,
        "GPU code": describe_gpu_code(inspection),
        "libraries": [f"{number} {kind}" for kind, number in kinds.items()],
    }


def describe_gpu_code(inspection: Inspection) -> list[str]:
    """Return the chips that a wheel holds code for, and whether that of a library was not read."""
    unread = any(library.gpu_code is None for library in inspection.libraries)
    return [*inspection.gpu_code.names(), *["not read"] * unread]


def count_findings(inspection: Inspection) -> list[str]:
    """Return the codes of what was found, each once, with their numbers."""
    codes = Counter(finding.code for finding in inspection.findings)
    return [code if number == 1 else f"{code} ({number})" for code, number in codes.items()]


def _describe_library(library: Library) -> Iterator[Row]:
    """Yield what there is of a library, and how many values where not all are shown."""
    facts: dict[str, Sequence[str]] = {
        "PJRT API": [library.pjrt_api or "not read"] if library.is_plugin else [],
        "size": [describe_size(library.size)],
        "unneeded": ["not read" if library.unneeded_bytes is None else describe_size(library.unneeded_bytes)],
        "machine": [describe_format(library)],
        "linked to": library.needed,
        "RPATH": [f"{library.search_kind} {path}" for path in library.search_paths],
        "exports": library.exports,
        "versions": _describe_versions(library.floors),
        "GPU code": library.gpu_code.names() if library.gpu_code else ["not read"],
        "executable stack": ["yes"] if library.executable_stack else [],
        "alignment": [hex(library.alignment)] if library.alignment else [],
        "signature": [library.signature] if library.signature else [],
    }
    for label, values in facts.items():
        if values:
            yield label, [(f"{len(values)}: " if len(values) > _SHOWN else "") + shorten(values, _SHOWN)]


def _describe_versions(floors: Mapping[str, str]) -> list[str]:
    """Return versions of symbols as a linker writes them, versions of a system in words."""
    return [
        f"{family} {version} or newer" if family in SYSTEMS else f"{family}_{version}"
        for family, version in floors.items()
    ]


def print_lines(lines: Iterable[str], console: Console, width: int | None = None) -> None:
    """Print lines, headings in bold; they end at `width` between two words, or nowhere when it is not given."""
    for line in lines:
        shown = fold_text(line, width) if width else line
        console.print(Text(shown, style="" if line.startswith(" ") else "bold"), soft_wrap=True)


def _lay_out(rows: Iterable[Row]) -> Iterator[str]:
    """Yield the lines of rows, with all values in one column."""
    table = list(rows)
    label = max([_LABEL, *(len(name) + 1 for name, _ in table)])
    for name, values in table:
        for number, value in enumerate(values):
            yield f"  {'' if number else name:<{label}}{printable(value, None)}"


def _fit(text: str, room: int) -> str:
    return text if len(text) <= room else f"{text[: max(room - 3, 1)]}..."


def _list_findings(findings: Iterable[Finding]) -> list[Row]:
    return [(entry.code, [f"{entry.member}: {entry.text}" if entry.member else entry.text]) for entry in findings]


def summarize_wheel(inspection: Inspection, width: int, proofs: Iterable[Row] = ()) -> Iterator[str]:
    """Yield the verdict about a wheel, what it is, its first findings, and what was proven, on one screen."""
    codes = count_findings(inspection)
    verdict = f"{count(len(inspection.findings), 'finding')}: {', '.join(codes)}" if codes else "no findings"
    facts = {"verdict": [verdict], **_describe_wheel(inspection)}
    rows = [(label, values) for label, values in facts.items() if label not in _DETAILS]
    for library in filter(lambda library: library.is_plugin, inspection.libraries):
        rows += [
            ("plugin", [library.member]),
            ("PJRT API", [library.pjrt_api or "not read"]),
            ("exports", library.exports),
        ]
        rows += [(library.search_kind, library.search_paths)] if library.search_paths else []
    yield printable(inspection.wheel, None)
    uncut = {"size", "sha256", "lock"}
    for label, values in rows:
        text = shorten(values or ["none"], _FEW)
        yield from _lay_out([(label, [text if label in uncut else _fit(text, width - _LABEL - 2)])])
    kinds = {finding.code: finding for finding in reversed(inspection.findings)}
    shown = _list_findings(sorted(kinds.values(), key=inspection.findings.index)[:_FINDINGS])
    used = 3 + max([_LABEL - 1, *(len(code) for code, _ in shown)])
    yield from _lay_out((code, [_fit(text, width - used) for text in texts]) for code, texts in shown)
    yield from _lay_out(proofs)
    more = len(kinds) - len(shown)
    yield f"  {count(more, 'more kind')} of findings; {_REMARK}" if more > 0 else f"  {_REMARK}"
    yield ""


def describe_whole(inspection: Inspection, proofs: Iterable[Row] = ()) -> Iterator[str]:
    """Yield everything about a wheel."""
    yield printable(inspection.wheel, None)
    facts = ((label, values or ["none"]) for label, values in _describe_wheel(inspection).items())
    yield from _lay_out((label, values if label in _LISTS else [", ".join(values)]) for label, values in facts)
    for library in sorted(inspection.libraries, key=lambda library: (not library.is_plugin, library.member)):
        yield from ("", printable(library.member, None), *_lay_out(_describe_library(library)))
    yield from ("", f"files ({len(inspection.files)})", *_describe_files(inspection))
    if lines := list(_lay_out(proofs)):
        yield from ("", "proofs", *lines)
    yield from ("", f"findings ({len(inspection.findings)})", *_lay_out(_list_findings(inspection.findings)), "")


def _describe_files(inspection: Inspection) -> Iterator[str]:
    """Yield a table of the largest files."""
    yield f"  {'size':>11}  in the wheel  path"
    for file in inspection.files[:_FILES]:
        yield f"  {describe_size(file.size):>11}  {describe_size(file.compressed):>12}  {printable(file.path, None)}"
    if len(inspection.files) > _FILES:
        yield f"  and {len(inspection.files) - _FILES} smaller ones"

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The page `docs/wheels.md`: upstream's wheels and ours side by side, and what inspection finds on each."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from pjrtwheel.abis import python_version
from pjrtwheel.backend import Backend
from pjrtwheel.sets.projects import BINDINGS
from pjrtwheel.verify.findings import CODES
from pjrtwheel.wheel.names import fits

_PYTHON = "cp312"
_ARCHITECTURE = "x86_64"
_HEAD = """\
<!-- Written by nox -s update_docs from docs/wheels.json; do not edit. -->
# Wheels, upstream's and ours

Every number was read from the wheels by `python -m pjrtwheel inspect`, for Linux x86_64. *Upstream* is the wheel that
our library is taken from.

## Side by side

*Files* counts the wheels of one release for {pythons};
*release* is their download together. *Download* and *installed* are for one environment with Python 3.12. *Unneeded*
is what no loader reads: symbol tables, mostly. Of the *RPATH* elements those in brackets are repeated, absolute, of a
build tree, or outside `site-packages`; ours keep such a one only where the vendor's libraries are installed there.
*Exports* are the symbols that the PJRT plugin defines.
"""
_FINDINGS = """\
How many files of a wheel a finding is about; those for Python 3.12 stand for all. What is found on ours was left as it
is: some vendors install their libraries outside `site-packages`, the bindings keep upstream's METADATA, and repair
hides no symbols.
"""
_COLUMNS = (
    "", "wheels", "files", "release MB", "download MB", "installed MB", "unneeded MB", "RPATH", "exports",
    "licence files", "SBOM", "lock",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Measure:
    """One wheel in numbers.

    Attributes:
        wheel: File name.
        distribution: Normalized project name.
        tag: Compressed tag set of the file name.
        size: Length of the file.
        installed_size: What its members take on disk.
        libraries: How many shared objects it holds.
        rpath_elements: Elements of all search paths.
        rpath_useless: How many of them are repeated, absolute, of a build tree, or lead out of `site-packages`.
        exports: Symbols that the PJRT plugin defines; nothing without one.
        unneeded_bytes: What no loader reads.
        license_files: How many there are.
        sboms: How many bills of materials there are.
        locked: Whether it holds a release lock.
        gpu_code: The chips it holds code for.
        findings: Code of a finding → how often it was made.
    """

    wheel: str
    distribution: str
    tag: str
    size: int
    installed_size: int
    libraries: int
    rpath_elements: int
    rpath_useless: int
    exports: int | None
    unneeded_bytes: int
    license_files: int
    sboms: int
    locked: bool
    gpu_code: tuple[str, ...]
    findings: dict[str, int]


@dataclass(frozen=True, slots=True)
class Total:
    """Wheels that belong together, in sum; sizes in bytes.

    Attributes:
        distributions: Their projects.
        wheels: How many wheels a release has of them.
        release: Their size, all of them.
        download: The size of those that one environment downloads.
        installed: What these take there.
        unneeded: What no loader reads of that.
        rpath_elements: Elements of all search paths.
        rpath_useless: How many of them are of no use.
        exports: Symbols that the plugin defines; nothing without one.
        license_files: How many there are.
        sboms: Whether each wheel has a bill of materials.
        locked: Whether each has the lock of a set.
    """

    distributions: tuple[str, ...]
    wheels: int
    release: int
    download: int
    installed: int
    unneeded: int
    rpath_elements: int
    rpath_useless: int
    exports: int | None
    license_files: int
    sboms: bool
    locked: bool


@dataclass(frozen=True, slots=True)
class Pair:
    """Upstream's wheels for a backend, or the bindings, and ours; nothing where there are none."""

    name: str
    upstream: Total | None
    ours: Total | None


def installed(measures: Iterable[Measure]) -> list[Measure]:
    """Return the wheels that an installer takes for the environment of the comparison."""
    return [row for row in measures if row.tag.endswith(_ARCHITECTURE) and _is_installed(row)]


def pair_up(measures: Iterable[Measure], backends: Iterable[Backend]) -> Iterator[Pair]:
    """Yield upstream's wheels and ours for the bindings and for each backend that has any."""
    rows = [row for row in measures if row.tag.endswith(_ARCHITECTURE)]
    groups = [(BINDINGS, {BINDINGS}, BINDINGS)]
    for backend in backends:
        projects = {backend.prebuilt.project} | ({backend.kernels.project} if backend.kernels else set())
        groups.append((backend.name, projects, backend.distribution))
    for name, projects, ours in groups:
        theirs = _total([row for row in rows if row.distribution in projects and not row.locked])
        mine = _total([row for row in rows if row.distribution == ours and row.locked])
        if theirs or mine:
            yield Pair(name, theirs, mine)


def render_page(measures: Sequence[Measure], backends: Sequence[Backend]) -> str:
    """Return the text of the page; the backends know upstream's projects."""
    measures = [row for row in measures if row.tag.endswith(_ARCHITECTURE)]
    sections = [
        _HEAD.format(pythons=_list_pythons(measures)),
        _render_table(_COLUMNS, _compare(measures, backends)),
        "\n## What inspection finds\n",
        _FINDINGS,
        _render_findings([row for row in measures if _is_installed(row)]),
        "\n| code | meaning |\n|---|---|",
        "\n".join(f"| `{code}` | {meaning} |" for code, meaning in CODES.items()),
        "\n## GPU code\n",
        "Read from the libraries: with NVIDIA's `cuobjdump`, or from AMD's and Intel's own containers.\n",
        _render_table(("wheel", "code"), _list_code(measures)),
    ]
    return "\n".join(sections) + "\n"


def _list_pythons(measures: Iterable[Measure]) -> str:
    """Return the ABI tags of the Pythons that there are bindings for, in order."""
    tags = {row.tag.split("-")[1] for row in measures if row.distribution == BINDINGS}
    return ", ".join(f"`{tag}`" for tag in sorted(tags, key=lambda tag: (python_version(tag), tag)))


def _compare(measures: Sequence[Measure], backends: Sequence[Backend]) -> Iterator[tuple[str, ...]]:
    """Yield upstream's row and ours for the bindings and for each backend."""
    for pair in pair_up(measures, backends):
        totals = (("upstream", pair.upstream), ("ours", pair.ours))
        yield from (_format_total(f"{pair.name}, {who}", total) for who, total in totals if total)


def _total(rows: Sequence[Measure]) -> Total | None:
    if not rows:
        return None
    own = [row for row in rows if _is_installed(row)]
    exports = [row.exports for row in own if row.exports is not None]
    return Total(
        distributions=tuple(sorted({row.distribution for row in rows})),
        wheels=len(rows),
        release=sum(row.size for row in rows),
        download=sum(row.size for row in own),
        installed=sum(row.installed_size for row in own),
        unneeded=sum(row.unneeded_bytes for row in own),
        rpath_elements=sum(row.rpath_elements for row in own),
        rpath_useless=sum(row.rpath_useless for row in own),
        exports=sum(exports) if exports else None,
        license_files=sum(row.license_files for row in own),
        sboms=all(row.sboms for row in own),
        locked=all(row.locked for row in own),
    )


def _format_total(name: str, total: Total) -> tuple[str, ...]:
    return (
        name,
        ", ".join(f"`{distribution}`" for distribution in total.distributions),
        str(total.wheels),
        _megabytes(total.release),
        _megabytes(total.download),
        _megabytes(total.installed),
        _megabytes(total.unneeded),
        f"{total.rpath_elements} ({total.rpath_useless})",
        "" if total.exports is None else str(total.exports),
        str(total.license_files),
        "yes" if total.sboms else "no",
        "yes" if total.locked else "no",
    )


def _is_installed(row: Measure) -> bool:
    """Return whether an installer would take this wheel for the Python of the comparison."""
    return row.tag.startswith("py3-") or fits(row.tag, _PYTHON)


def _render_findings(rows: Sequence[Measure]) -> str:
    """Return a table with one row per wheel, upstream's first, and one column per code that was found."""
    in_order = sorted(rows, key=lambda row: row.locked)
    codes = [code for code in CODES if any(code in row.findings for row in rows)]
    return _render_table(
        ("wheel", *(f"`{code}`" for code in codes)),
        ((_label(row), *(str(row.findings.get(code, "")) for code in codes)) for row in in_order),
    )


def _label(row: Measure) -> str:
    return f"`{row.distribution}`{', ours' if row.locked else ''}"


def _list_code(measures: Iterable[Measure]) -> Iterator[tuple[str, ...]]:
    for row in measures:
        if row.gpu_code and _is_installed(row):
            yield f"`{row.distribution}`", ", ".join(row.gpu_code)


def _render_table(header: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def _megabytes(size: int) -> str:
    return f"{size / 1e6:.1f}"

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The tables of the PJRT plugins on the package index, as inspection sees them: `docs/vendor/plugins/*.csv`.

Sphinx shows them on the page `docs/vendor/plugins.md`, and GitHub each file as a table.
"""

import csv
import io
import os
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, date, datetime
from pathlib import Path

from packaging.utils import canonicalize_name
from packaging.version import Version

from pjrtwheel.backend import load_backends
from pjrtwheel.errors import UsageError, shorten
from pjrtwheel.fetch import WheelCache, cache_root, download_wheel
from pjrtwheel.fetch.listing import IndexFile, list_wheels
from pjrtwheel.fetch.settings import IndexSettings, read_settings
from pjrtwheel.files import write_atomically
from pjrtwheel.pin.choose import offered_versions
from pjrtwheel.platforms import REFERENCE, this_platform
from pjrtwheel.probe.plugin import ProbeResult, probe_file
from pjrtwheel.release.model import Pin
from pjrtwheel.verify.inspection import Inspection, inspect_wheel, make_finder
from pjrtwheel.verify.printer import describe_gpu_code
from pjrtwheel.wheel.names import WheelName, find_name

FOLDER = "docs/vendor/plugins"
_PYTHON = "cp312"
_SHOWN = 2  # missing libraries
# Findings that the columns of a table are about; a release lock is in wheels of ours alone.
_COLUMNS = {"glibc", "macos", "platform-floor", "symbols", "sbom", "jaxlib-version", "license-field", "lock"}

Row = dict[str, str]


def write_tables(root: Path, names: Sequence[str], today: date | None = None) -> None:
    """Inspect the newest wheel of each project, and write the tables; without names, of the projects in them.

    Raises:
        UsageError: The index has no wheel of a project.
    """
    folder, settings = root / FOLDER, read_settings()
    tables: dict[str, list[Row]] = {}
    with tempfile.TemporaryDirectory(prefix="tools-") as scratch:
        for name in names or read_names(root):
            wheels = _list_newest(canonicalize_name(name), settings)
            found, run = _inspect(wheels, root, Path(scratch))
            platforms = {one.platform.name if one.platform else one.tag.rpartition("-")[2] for one in wheels}
            for table, row in describe_plugin(found, run, platforms, today or datetime.now(UTC).date()).items():
                tables.setdefault(table, []).append(row)
    for table, rows in tables.items():
        text = io.StringIO()
        writer = csv.DictWriter(text, rows[0], lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
        write_atomically(folder / f"{table}.csv", text.getvalue())


def read_names(root: Path) -> tuple[str, ...]:
    """Return the names of the projects in the tables."""
    with (root / FOLDER / "contents.csv").open(encoding="utf-8", newline="") as file:
        return tuple(row["plugin"] for row in csv.DictReader(file))


def _list_newest(name: str, settings: IndexSettings) -> dict[WheelName, IndexFile]:
    """Return the wheels of the newest version that is not a pre-release."""
    files = list_wheels(name, settings)
    versions = [version for version in offered_versions(files) if not Version(version).is_prerelease]
    if not versions:
        raise UsageError(f"the package index has no wheel of {name}", remedy="check the name")
    named = {found: file for file in files if (found := find_name(file.filename))}
    return {wheel: file for wheel, file in named.items() if wheel.version == versions[-1]}


def _inspect(wheels: Mapping[WheelName, IndexFile], root: Path, scratch: Path) -> tuple[Inspection, ProbeResult | None]:
    """Inspect the wheel for the reference platform, or that for another one of ours; run it if this is its platform."""
    wheel = max(wheels, key=lambda one: (one.platform == REFERENCE, bool(one.platform), one.fits(_PYTHON)))
    file = wheels[wheel]
    pin = Pin("plugin", wheel.distribution, wheel.version, file.filename, file.sha256, file.size)
    path = WheelCache(cache_root(os.environ), download_wheel).fetch(pin)
    backends = tuple(load_backends(root).values())
    exports = {backend.library: backend.exports for backend in backends}
    found = inspect_wheel(path, find_tool=make_finder(root, scratch), exports=exports)
    return found, probe_file(path, backends, device=False) if wheel.platform == this_platform() else None


def describe_plugin(
    found: Inspection, run: ProbeResult | None, platforms: Iterable[str], today: date
) -> dict[str, Row]:
    """Return the row of a plugin in each table."""
    name = canonicalize_name(found.name)
    codes = list(dict.fromkeys(finding.code for finding in found.findings))
    modules = {line.partition("jax_plugins: ")[2].partition(" =")[0] for line in found.entry_points}
    modules |= {file.path.split("/")[1] for file in found.files if file.path.startswith("jax_plugins/")}
    needs = [line for line in found.requires if line.startswith("jax")]
    unneeded = [library.unneeded_bytes for library in found.libraries]
    floors = [f"{family} {found.floors[family]}" for family in ("GLIBC", "macOS") if family in found.floors]
    return {
        "contents": {
            "plugin": name,
            "JAX": ", ".join(needs) or "any",
            "wheels for": ", ".join(sorted(platforms)),
            "MB (installed)": f"{found.size / 1e6:.0f} ({found.installed_size / 1e6:.0f})",
            "licence": found.license or "not stated",
        },
        "machine": {
            "plugin": name,
            "GPU code": ", ".join(describe_gpu_code(found)) or "none",
            "missing libraries": shorten(found.missing, _SHOWN) or "none",
        },
        "jax": {
            "plugin": name,
            "version": found.version,
            "PJRT API": ", ".join(one.pjrt_api or "not read" for one in found.libraries if one.is_plugin),
            "JAX finds": ", ".join(sorted(filter(None, modules))) or "nothing",
        },
        "run": {
            "plugin": name,
            "checks": replace(run, reason="").summary() if run else "another system",  # the reason names this machine
            "extensions": ", ".join(run.extensions) or "none" if run and run.pjrt_api else "not read",
        },
        "findings": {
            "plugin": name,
            "platform tag": "wrong: needs " + ", ".join(floors) if {"glibc", "macos"} & set(codes) else "holds",
            "waste in MB": "not read" if None in unneeded else f"{sum(map(int, filter(None, unneeded))) / 1e6:.0f}",
            "also found": ", ".join(code for code in codes if code not in _COLUMNS) or "nothing",
        },
        "files": {"wheel": found.wheel, "sha256": found.sha256, "inspected on": f"{today}"},
    }

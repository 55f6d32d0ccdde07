# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A `dist/` of wheels that verification finds sound, with RECORD, lock and bill of materials, and its repository."""

from collections.abc import Mapping
from pathlib import Path

from folders import write_files
from pjrtwheel.record.entries import RELEASE_FILENAME, format_entries
from pjrtwheel.record.origin import Origin
from pjrtwheel.record.proofs import Level, Proof
from pjrtwheel.release.model import read_release
from pjrtwheel.release.wheels import LOCK_FILENAME, make_lock
from pjrtwheel.wheel.archive import open_archive, timestamp
from pjrtwheel.wheel.compress import DEFAULT_COMPRESSION
from pjrtwheel.wheel.members import format_record
from pjrtwheel.wheel.names import parse_name
from pjrtwheel.wheel.plan import text_source
from pjrtwheel.wheel.sbom import SBOM_FILENAME, format_sbom
from release_entries import entry_at
from release_files import write_release_file
from small_wheels import describe_wheel

COMMIT = "c0ffee" + "0" * 34
ORIGIN = Origin(COMMIT, dirty=False, version="0.1.0", date="2026-11-20T10:00:00Z")
TAG = "v1.2.3+split.1"
BINDINGS = ("cp312", "cp313")
PLUGIN = "jaxlib_cpu-1.2.3+split.1-cp312-abi3-manylinux_2_27_x86_64.whl"
WHEELS = [
    *(f"jaxlib-1.2.3+split.1-{tag}-{tag}-manylinux_2_27_x86_64.whl" for tag in BINDINGS),
    "jaxlib_auto-1.2.3+split.1-py3-none-any.whl",
    PLUGIN,
]


def make_repository(folder: Path, *, label: str = "split", build: int = 1) -> Path:
    """Make a folder with the release file of JAX 1.2.3, whose plugin for the CPU is pinned, and return it."""
    pins = {"plugin.cpu.linux_x86_64": "upstream_cpu-1.2.3-py3-none-manylinux_2_27_x86_64.whl"}
    pins |= {f"bindings.{tag}.linux_x86_64": f"jaxlib-1.2.3-{tag}-{tag}-manylinux_2_27_x86_64.whl" for tag in BINDINGS}
    write_release_file(folder, pins, label=label, build=build)
    (folder / "plugins").mkdir()
    write_files(folder, dict.fromkeys(("pyproject.toml", "selector/pyproject.toml"), '[project]\nversion = "0.1.0"\n'))
    return folder


def make_dist(
    root: Path,
    dist: Path,
    *,
    provider: str = "prebuilt",
    origin: Origin = ORIGIN,
    levels: Mapping[str, int] | None = None,
    environ: Mapping[str, str] | None = None,
) -> Path:
    """Make a folder with all wheels of the release file: bindings, the CPU's plugin, `jaxlib-auto` and `-select`.

    Args:
        root: What `make_repository` made.
        dist: The folder.
        provider: Where the plugin library came from.
        origin: From where and when the wheels and their proofs are.
        levels: Python tag → compression of the bindings, where it is not the default.
        environ: What may have SOURCE_DATE_EPOCH, which the bindings are dated by.
    """
    release = read_release(root / "releases" / "1.2.3.toml")
    lock, version, build = (
        make_lock(release, provider),
        release.set_version,
        release.build_tag and f"-{release.build_tag}",
    )
    keys = {f"jaxlib-{version}{build}-{tag}-{tag}-manylinux_2_27_x86_64.whl": f"bindings.{tag}" for tag in BINDINGS}
    keys |= {f"jaxlib_cpu-{version}-cp312-abi3-manylinux_2_27_x86_64.whl": "plugin.cpu"}
    keys |= {f"jaxlib_auto-{version}-py3-none-any.whl": "", "jaxlib_select-0.1.0-py3-none-any.whl": ""}
    dist.mkdir(parents=True)
    entries = {}
    for filename, key in keys.items():
        name, package, tag = parse_name(filename), filename.partition("-")[0], key.removeprefix("bindings.")
        files = {f"{package}/__init__.py": f'"""{package}"""\n' + "".join(f"n{n} = {n * n}\n" for n in range(3000))}
        provenance = {}
        if key:
            pin = release.pin(f"{key}.linux_x86_64")
            provenance = {"project": pin.project, "version": pin.version, "sha256": pin.sha256}
            files[f"{package}/{LOCK_FILENAME}"] = lock.to_json()
            files[f"{package}/library.so"] = "\x7fELF, or so its name says\n"
            files[f"{name.dist_info}/sboms/{SBOM_FILENAME}"] = format_sbom(name, provenance)
        files |= {member: data.decode() for member, data in describe_wheel(filename).items()}
        setting = (levels or {}).get(tag, DEFAULT_COMPRESSION)
        stamp = timestamp((environ or {}) if tag in BINDINGS else {})
        with open_archive(dist / filename, stamp=stamp, setting=setting) as archive:
            members = {member: archive.add(text_source(member, text)) for member, text in files.items()}
            record = f"{name.dist_info}/RECORD"
            archive.add(text_source(record, format_record(members, record)))
        entries[filename] = entry_at(
            dist / filename,
            lock_id="" if package == "jaxlib_select" else lock.lock_id,
            provider=provider if key else "none",
            provenance=provenance,
            proof=Proof(Level.STATIC, None, (), origin),
            built=origin,
        )
    (dist / f"jaxlib_auto-{version}-variants.json").write_text("{}\n", "utf-8")
    (dist / RELEASE_FILENAME).write_text(format_entries(entries), "utf-8")
    return dist

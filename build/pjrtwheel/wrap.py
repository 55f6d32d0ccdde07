# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Make a plugin wheel of a library without Bazel or a compiler: a backend's directory from a template, then assembly.

The wheel has the bytes that a build of the same directory gives with `--xla` and `--set`.
"""

import importlib.metadata
import json
import re
import shutil
import string
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from pjrtwheel.abis import plugin_tag
from pjrtwheel.backend import IS_INSTALLED, Backend, load_backends, parse_backend
from pjrtwheel.binaries import ENTRY_POINT, version_key
from pjrtwheel.elf.image import LINKER_DEFINED
from pjrtwheel.errors import UsageError
from pjrtwheel.fetch.unpack import unpack_wheel
from pjrtwheel.files import hash_file, write_atomically
from pjrtwheel.platforms import PLATFORMS, Platform
from pjrtwheel.probe.plugin import read_plugin
from pjrtwheel.record.entries import read_entries
from pjrtwheel.release.model import SCHEMA
from pjrtwheel.release.wheels import ReleaseLock
from pjrtwheel.sets import our_names
from pjrtwheel.sets.published import read_lock
from pjrtwheel.tables import write_json
from pjrtwheel.wheel.assemble import assemble
from pjrtwheel.wheel.names import make_name
from pjrtwheel.wheel.plan import PluginSpec, describe_origin
from pjrtwheel.wheel.report import BuiltWheel

SHARED = "plugins/pjrt"
COMPILED = f"{SHARED}/compiled"  # an archive of the extension for each platform, where this is not a clone
_TAKEN = {"gpu", "jax", "jaxlib"}  # JAX's alias of several platforms, and itself
# The oldest glibc whose manylinux policy (as of auditwheel) has a version of libstdc++; upstream's jaxlib needs 2.27.
_LIBSTDCXX = {"2.27": "3.4.24", "2.31": "3.4.28", "2.34": "3.4.29", "2.35": "3.4.30", "2.39": "3.4.33"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Vendor:
    """What a vendor says of a plugin.

    Attributes:
        name: JAX's name of the platform, such as `foo`.
        device: Pattern for the files of its devices; empty if it is always there.
        options: Options of its client.
        license: Licence of the library, as an SPDX expression.
        license_files: Files with its text.
        author: Who makes the wheel.
        url: Home page.
    """

    name: str
    device: str = ""
    options: Mapping[str, Any] = field(default_factory=dict)
    license: str = ""
    license_files: Sequence[Path] = ()
    author: str = ""
    url: str = ""


def write_backend(root: Path, folder: Path, library: Path, vendor: Vendor) -> Backend:
    """Write the directory of a backend for a library, and return what it says.

    Raises:
        ElfError: The library is no plugin, or for no platform of ours.
        UsageError: Name or library are not fit for a plugin.
    """
    if not re.fullmatch("[a-z]([a-z0-9_]*[a-z0-9])?", vendor.name):
        raise UsageError(f"not a name of a platform: {vendor.name!r}", remedy="take small letters, digits and _")
    ours, dashed = load_backends(root).values(), vendor.name.replace("_", "-")
    if vendor.name in _TAKEN.union(backend.pjrt_name for backend in ours) or f"jaxlib-{dashed}" in our_names(ours):
        raise UsageError(
            f"the name {vendor.name!r} is taken",
            cause="it is JAX's own, or that of one of its platforms, or this repository has a wheel of this name",
            remedy="choose another --name; a backend of this repository is built: ./noxw build_BACKEND --xla LIBRARY",
        )
    if vendor.device and not Path(vendor.device).is_absolute():
        raise UsageError(f"no absolute path: {vendor.device!r}", remedy="name its files, as --device '/dev/foo*'")
    templates = sorted((root / SHARED / "template").glob("*.in"))
    licenses = [path.name for path in vendor.license_files]
    if len({*licenses, *(path.stem for path in templates)}) < len(licenses) + len(templates):
        raise UsageError(f"two files of one name in a wheel: {', '.join(licenses)}", remedy="rename licence files")
    found = read_plugin(library)
    platform = next(one for one in PLATFORMS.values() if one.machine == found.machine)
    floor = version_key(found.floors.get("GLIBCXX", "0"))
    with_libstdcxx = next((glibc for glibc, newest in _LIBSTDCXX.items() if floor <= version_key(newest)), "")
    if not with_libstdcxx:
        what = f"{library} needs GLIBCXX_{found.floors['GLIBCXX']}, newer than any manylinux tag"
        raise UsageError(what, remedy="link it with an older compiler, or with -static-libstdc++")
    glibc = max(with_libstdcxx, found.floors.get("GLIBC", "0"), key=version_key).replace(".", "_")
    exports = [ENTRY_POINT, *sorted({*found.exports} - {ENTRY_POINT, *LINKER_DEFINED})]
    quoted = asdict(vendor) | {"license_files": licenses, "library": library.name, "exports": exports}
    values = {key: json.dumps(value) for key, value in quoted.items()} | {
        "name": vendor.name,
        "dashed": dashed,
        "upper": vendor.name.upper(),
        "directory": folder.name,
        "file": library.name,
        "tags": f'{platform.name} = "manylinux_{glibc}_{platform.architecture}"',
        "options": repr(vendor.options),
    }
    for template in templates:
        text = string.Template(template.read_text("utf-8")).substitute(values)
        inside = f"jaxlib_{vendor.name}" if template.stem.endswith(".py") else ""
        write_atomically(folder / inside / template.stem, text)
    for path in vendor.license_files:
        shutil.copy(path, folder)
    return parse_backend((folder / "backend.toml").read_text("utf-8"), folder / "backend.toml")


def find_extension(root: Path, dist: Path, platform: Platform, scratch: Path) -> list[Path]:
    """Return the files of the compiled extension: our own, or those of a plugin of ours that a folder describes."""
    ours = {backend.distribution for backend in load_backends(root).values()}
    listed = {dist / entry.filename: entry for entry in read_entries(dist).values() if entry.distribution in ours}
    there = (path for path, entry in listed.items() if path.is_file() and entry.platform == platform.name)
    wheels = (path for path in there if hash_file(path) == listed[path].sha256)
    for archive in (*(root / COMPILED).glob(f"{platform.name}.zip"), *wheels):
        if found := unpack_wheel(archive, scratch, [], optional=["*/pjrt/_pjrt*.so"]):
            return [scratch / member for member in found]
    return []


def _find_license(root: Path) -> Path:
    """Return the text of our licence, which is in the metadata of an installed `pjrtwheel`."""
    installed = (importlib.metadata.files("pjrtwheel") or []) if IS_INSTALLED else []
    return next((Path(file.locate()) for file in installed if file.name == "LICENSE"), root / "LICENSE")


def wrap(root: Path, backend: Backend, library: Path, lock: ReleaseLock, dist: Path, scratch: Path) -> BuiltWheel:
    """Write the wheel of a backend with a library into a folder, for the `jaxlib` of a lock.

    Raises:
        UsageError: There is no compiled extension, or the folder has a wheel of this name for another `jaxlib`.
        ElfError: The library is not what the wheel needs.
        WheelError: An input is damaged, or the disk is full.
    """
    ((platform, tag),) = backend.tags.items()
    extension = find_extension(root, dist, PLATFORMS[platform], scratch)
    if not extension:
        cause = "every plugin wheel has the extension, which a new one needs"
        what = f"no compiled extension for {platform} here, and no plugin wheel for it in {dist}"
        remedy = "take the pjrtwheel of a release, which has all, or name a folder with a plugin of ours: --dist"
        raise UsageError(what, cause=cause, remedy=remedy)
    name = make_name(backend.distribution, lock.version, plugin_tag(backend.python_tag, tag))
    if (dist / name.filename).exists() and read_lock(dist / name.filename, backend.package) != lock:
        raise UsageError(
            f"{dist / name.filename} is there, for another jaxlib",
            cause="installers could not tell the two apart",
            remedy="name another folder with --dist; a set of your own gets a label: docs/vendor/tutorial.md",
        )
    folder, package = backend.path.parent, backend.package
    digest = hash_file(library)
    origin = describe_origin(f"file-{digest}", library.name, digest)
    write_atomically(scratch / "provenance.json", write_json(origin))
    # All that assembly reads of a release is in the lock.
    release = f'schema = {SCHEMA}\nrelease = "{lock.release}"\nbuild = {lock.build}\npin = []\n'
    write_atomically(scratch / "release.toml", release)
    loader = [path for path in (folder / package).rglob("*") if path.is_file() and path.parent.name != "__pycache__"]
    shared = [*(root / SHARED / "loader").glob("*.*"), *(root / SHARED).glob("*.pyi"), *extension]
    spec = PluginSpec(
        platform=PLATFORMS[platform],
        release=scratch / "release.toml",
        backend=backend.path,
        provider=f"file-{digest}",
        provenance=scratch / "provenance.json",
        files={path.relative_to(folder).as_posix(): path for path in loader}
        | {f"{package}/pjrt/{path.name}": path for path in shared}
        | {f"{package}/{backend.library}": library},
        licenses={"LICENSE": _find_license(root)}
        | {f"{library.stem}.{file}": folder / file for file in sorted(backend.license_files)},
        lock=lock,
        readme=folder / "README.md",
    )
    report = assemble(spec, dist)
    return BuiltWheel(dist / report.filename, report)

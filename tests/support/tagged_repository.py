# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A small repository with one release, tagged in git, and a folder with the proven wheels that it promises."""

from dataclasses import dataclass, replace
from pathlib import Path

from abacus_backend import BACKEND
from folders import write_files
from git_repository import git
from pjrtwheel.abis import plugin_tag
from pjrtwheel.record.entries import RELEASE_FILENAME, Entry, format_entries, read_entries
from pjrtwheel.record.proofs import Level
from pjrtwheel.release.known import load_release
from pjrtwheel.release.wheels import LOCK_FILENAME, ReleaseLock, make_lock
from release_entries import entry_at, origin_of, proof_of
from release_files import write_release_file
from small_wheels import build_wheel, describe_wheel

VERSION = "1.2.3+split.1"
TAG = f"v{VERSION}"
BINDINGS = f"jaxlib-{VERSION}-cp312-cp312-manylinux_2_27_x86_64.whl"
PLUGIN = f"jaxlib_abacus-{VERSION}-{plugin_tag('cp312', 'manylinux_2_27_x86_64')}.whl"
ALONE = f"jaxlib-{VERSION}-cp312-cp312-macosx_11_0_arm64.whl"
SELECTOR = "jaxlib_select-0.1.0-py3-none-any.whl"
TOOLING = "pjrtwheel-0.1.0-py3-none-any.whl"

_PINS = {
    "bindings.cp312.linux_x86_64": "jaxlib-1.2.3-cp312-cp312-manylinux_2_27_x86_64.whl",
    "bindings.cp312.macos_arm64": "jaxlib-1.2.3-cp312-cp312-macosx_11_0_arm64.whl",
    "plugin.abacus.linux_x86_64": "abacus_pjrt-1.2.3-py3-none-manylinux_2_27_x86_64.whl",
    "compiler.linux_x86_64": "ziglang-1-py3-none-any.whl",
}
_FILES = {
    "releases/policy.toml": "schema = 1\ndemand = { plugin = 'device', jaxlib = 'device', jaxlib_alone = 'load', "
    "pure_python = 'static' }\n",
    "plugins/abacus/backend.toml": BACKEND,
    "selector/pyproject.toml": '[project]\nversion = "0.1.0"\n',
    "pyproject.toml": '[project]\nversion = "0.1.0"\n',
    "selector/jaxlib_select/facts/1.2.3.json": '{"schema": 1, "release": "1.2.3", "backends": []}',
    "CHANGELOG.md": "# Changelog\n\n- (build) JAX 1.2.3, jaxlib-select 0.1.0 and pjrtwheel 0.1.0.\n",
}


@dataclass(frozen=True, slots=True)
class TaggedRepository:
    """The repository and the folder."""

    root: Path
    dist: Path

    def commit(self, *, tag: str = TAG) -> str:
        """Commit all files, put the tag there, and return the commit."""
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message=A change")
        self.git("tag", "--force", tag)
        return self.git("rev-parse", "HEAD")

    def git(self, *arguments: str) -> str:
        """Run git in the repository, and return its answer."""
        return git(self.root, *arguments)

    def write(self, path: str, text: str) -> None:
        """Write a file of the repository."""
        write_files(self.root, {path: text})

    def lock(self, provider: str = "prebuilt") -> ReleaseLock:
        """Return the lock of the release."""
        return make_lock(load_release(self.root, "1.2.3"), provider)

    def entries(self) -> dict[str, Entry]:
        """Return what the folder lists."""
        return read_entries(self.dist)

    def record(self, *entries: Entry) -> None:
        """Put entries over those of the folder."""
        listed = self.entries() | {entry.filename: entry for entry in entries}
        (self.dist / RELEASE_FILENAME).write_text(format_entries(listed), "utf-8")

    def change(self, name: str, **changes: object) -> None:
        """Change what the folder lists of a wheel."""
        self.record(replace(self.entries()[name], **changes))  # type: ignore[arg-type]

    def forget(self, name: str) -> None:
        """Remove a wheel from the list of the folder."""
        listed = {known: entry for known, entry in self.entries().items() if known != name}
        (self.dist / RELEASE_FILENAME).write_text(format_entries(listed), "utf-8")

    def add_wheel(
        self, name: str, level: Level = Level.STATIC, *, lock: ReleaseLock | None = None, provider: str = "none"
    ) -> Entry:
        """Put a wheel into the folder, proven at a level at the commit that is checked out."""
        files = {f"{name.split('-', maxsplit=1)[0]}/{LOCK_FILENAME}": lock.to_json().encode()} if lock else {}
        path = build_wheel(self.dist, describe_wheel(name) | files, name=name)
        commit, lock_id = self.git("rev-parse", "HEAD"), lock.lock_id if lock else ""
        proven = {"proof": proof_of(level, commit), "built": origin_of(commit)}
        entry = entry_at(path, lock_id=lock_id, provider=provider, **proven)
        self.record(entry)
        return entry


def make_tagged_repository(folder: Path) -> TaggedRepository:
    """Make both, so that nothing is wrong with the release."""
    made = TaggedRepository(folder / "repository", folder / "dist")
    made.dist.mkdir(parents=True)
    write_release_file(made.root, _PINS)
    write_files(made.root, _FILES)
    made.git("init", "--quiet")
    made.commit()
    (made.dist / RELEASE_FILENAME).write_text(format_entries({}), "utf-8")
    lock = made.lock()
    levels = {BINDINGS: Level.DEVICE, PLUGIN: Level.DEVICE, ALONE: Level.LOAD}
    for name, level in levels.items():
        made.add_wheel(name, level, lock=lock, provider="prebuilt")
    return made

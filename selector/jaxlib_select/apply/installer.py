# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What has to change in an environment, and the commands of uv and pip that do it.

With how a user would type them, and why one failed.
"""

from __future__ import annotations

import collections
import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from jaxlib_select.choose.decision import Decision
from jaxlib_select.choose.policy import CPU
from jaxlib_select.errors import InstallError
from jaxlib_select.facts import UPSTREAM, Facts
from jaxlib_select.installed.environment import Environment
from jaxlib_select.installed.plugins import Plugin, locate, read_lock
from jaxlib_select.names import belongings, normalize
from jaxlib_select.sentences import shorten

KINDS = ("uv", "pip")
_INDEX = "--index-url"
SOURCE_OPTIONS = (_INDEX, "--find-links", "--no-index")  # understood by uv and pip alike

_KEPT = 200  # lines of output that are searched for a reason
# With which uv draws the tree of its reasons.
_DECORATION = " -\u2500\u2502\u251c\u2570\u25b6\u00d7\u203a"

_ERROR = re.compile(r"error\b", re.IGNORECASE)


@dataclass(frozen=True)
class Installer:
    """What changes an environment.

    Attributes:
        program: How it is started, up to and with its subcommand group.
        sources: Options of every installation, such as `--find-links DIR`.
        project: The folder of the uv project to which the environment belongs; None if it is not to be changed.
        note: What has to be done before it can be used; usually nothing.
    """

    kind: str
    program: tuple[str, ...]
    python: Path
    sources: tuple[str, ...] = ()
    project: Path | None = None
    note: str = ""

    def only_from(self, index_url: str | None) -> Installer:
        """Return it with one index instead of the one that its sources name."""
        if index_url is None or "--no-index" in self.sources:
            return self
        others = (word for words in by_option(self.sources) if words[0] != _INDEX for word in words)
        return replace(self, sources=(_INDEX, index_url, *others))

    def install(self, requirements: Sequence[str], *options: str) -> tuple[str, ...]:
        """Return the command that installs requirements, with further options."""
        if self.project is not None:
            return (self.program[0], "add", "--project", str(self.project), *self.sources, *options, *requirements)
        return (*self.program, "install", *self.target(), *self.sources, *options, *requirements)

    def exchange(self, requirements: Sequence[str], names: Collection[str]) -> tuple[tuple[str, ...], ...]:
        """Return the commands that install requirements, some of them though they seem to be installed.

        What is there is removed only once its successor is at hand: a network that is down changes nothing.
        """
        again = [text for text in requirements if name_of(text) in names]
        if self.kind == "uv":
            forced = tuple(part for name in map(name_of, again) for part in ("--reinstall-package", name))
            return (self.install(requirements, *forced),)
        # pip installs all of them again or none, so what they bring along is left to a second command.
        plain = self.install(requirements)
        return (self.reinstall(again), plain) if again else (plain,)

    def reinstall(self, requirements: Sequence[str]) -> tuple[str, ...]:
        """Return the command that installs requirements again, and nothing else."""
        if self.project is not None:
            again = [part for name in map(name_of, requirements) for part in ("--reinstall-package", name)]
            # What the lock does not have stays.
            return (self.program[0], "sync", "--inexact", "--project", str(self.project), *self.sources, *again)
        return self.install(requirements, "--force-reinstall", "--no-deps")

    def uninstall(self, names: Sequence[str]) -> tuple[str, ...]:
        """Return the command that removes distributions."""
        if self.project is not None:
            return (self.program[0], "remove", "--project", str(self.project), *names)
        return (*self.program, "uninstall", *self.target(), *(("-y",) if self.kind == "pip" else ()), *names)

    def target(self) -> tuple[str, ...]:
        """Return the options of uv that name the environment, and no other index than the given one."""
        closed = ["--no-config"] if _INDEX in self.sources else []  # a project's configuration may add indexes
        return ("--python", str(self.python), *closed) if self.kind == "uv" else ()


def find_installer(
    environment: Environment,
    environ: Mapping[str, str],
    *,
    kind: str | None = None,
) -> Installer:
    """Return what to change an environment with: uv if it is on PATH, else the environment's own pip.

    Raises:
        InstallError: There is none.
    """
    if kind != "pip" and shutil.which("uv", path=environ.get("PATH")) is not None:
        return uv_installer(environment.python)
    if kind != "uv" and "pip" in environment.distributions:
        return pip_installer(environment.python)
    if kind == "uv":
        raise InstallError("uv is not on PATH", remedy="leave out --installer uv, or put uv on PATH")
    command = show([str(environment.python), "-m", "ensurepip"])
    absent = f"pip is not in {environment.prefix}"
    what = absent if kind == "pip" else f"uv is not on PATH, and {absent}"
    raise InstallError(what, remedy=f"install pip into the environment: {command}")


def uv_installer(python: Path, program: str = "uv") -> Installer:
    """Return the commands of uv for an environment."""
    return Installer("uv", (program, "pip"), python)


def pip_installer(python: Path) -> Installer:
    """Return the commands of an environment's own pip."""
    return Installer("pip", (str(python), "-m", "pip"), python)


def by_option(words: Iterable[str]) -> list[list[str]]:
    """Return each option of a command line with its values.

    >>> by_option(["--no-index", "--find-links", "dist"])
    [['--no-index'], ['--find-links', 'dist']]
    """
    found: list[list[str]] = []
    for word in words:
        if word.startswith("--") or not found:
            found.append([])
        found[-1].append(word)
    return found


def name_of(requirement: str) -> str:
    """Return the distribution that a requirement is about, normalized.

    >>> name_of("jaxlib_cuda-12[with-cuda]==0.11.2")
    'jaxlib-cuda-12'
    """
    return normalize(re.split(r"[^A-Za-z0-9._-]", requirement, maxsplit=1)[0])


def show(command: Sequence[str]) -> str:
    """Return a command as it can be pasted into a shell.

    >>> show(["pip", "install", "nvidia-cudnn-cu12<9.11"])
    "pip install 'nvidia-cudnn-cu12<9.11'"
    """
    return subprocess.list2cmdline(command) if os.name == "nt" else " ".join(map(shlex.quote, command))


def run_installer(command: Sequence[str], *, quiet: bool = False) -> None:
    """Run an installer; its output goes to standard error, and its failure is an `InstallError`."""
    lines: collections.deque[str] = collections.deque(maxlen=_KEPT)
    try:
        with subprocess.Popen(
            list(command),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            stdin=subprocess.DEVNULL,
            env={**os.environ, "PYTHONSAFEPATH": "1"},  # or a file `pip.py` of the working directory would be pip
            text=True,
            encoding="utf-8",
            errors="replace",
        ) as process:
            for line in process.stdout or ():
                lines.append(line.rstrip())
                if not quiet:
                    print(line, end="", file=sys.stderr, flush=True)
    except OSError as error:
        raise InstallError(f"cannot run {command[0]!r}", cause=str(error)) from error
    if process.returncode != 0:
        raise explain_failure(command, process.returncode, lines)


def explain_failure(command: Sequence[str], status: int, lines: Sequence[str]) -> InstallError:
    """Return why an installer failed, as far as the lines that it printed say."""
    printed = [text for line in lines if (text := re.sub(r"\s+", " ", line).strip(_DECORATION))]
    # What uv and pip say when a hash differs, no index answers, or it lacks what is wanted.
    for known in json.loads(Path(__file__).with_name("installer_failures.json").read_text("utf-8")):
        line = next((line for line in printed if re.search(known["pattern"], line, re.IGNORECASE)), None)
        if line is not None:
            return InstallError(known["what"], cause=shorten(line, 300), remedy=known["remedy"])
    reason = next((line for line in printed if _ERROR.match(line)), printed[-1] if printed else "it printed nothing")
    return InstallError(f"the installer failed with status {status}: {show(command)}", cause=shorten(reason, 300))


_JAX = {"jax", "jaxlib"}
# Distributions by which JAX itself publishes an accelerator: the plugin, and its kernels.
_APART = re.compile(r"jax-[a-z]+\d*-(pjrt|plugin)|jaxlib-.+-kernels")  # upstream's packages, and kernels of ours


def make_plan(
    decisions: Sequence[Decision],
    environment: Environment,
    plugins: Sequence[Plugin],
    installer: Installer,
    *,
    families: Collection[str],
) -> tuple[tuple[str, ...], ...]:
    """Return the commands that carry decisions out, one or two for each package index; other backends go at last."""
    by_index: dict[str | None, list[Decision]] = {}
    for decision in decisions:
        by_index.setdefault(decision.index_url, []).append(decision)
    commands: list[tuple[str, ...]] = []
    for index, group in by_index.items():
        bindings = [text for decision in group for text in _other_jaxlib(decision, environment)]
        foreign = [name for decision in group for name in _foreign_builds(decision, environment)]
        # Constraints are about what comes along anyway.
        texts = [text for decision in group for text in (*decision.requirements, *decision.constraints)]
        wanted = (*dict.fromkeys(texts), *dict.fromkeys(bindings))
        commands += installer.only_from(index).exchange(wanted, [*map(name_of, bindings), *foreign])
    about_jax = [entry for entry in decisions if is_ours(entry.package) or release_of(entry)]
    release = next((release_of(entry) for entry in about_jax if entry.provider != UPSTREAM), "")
    for_jax = {normalize(entry.package) for entry in about_jax}
    after = other_backends(for_jax, environment, plugins, families, release) if for_jax else ()
    # A project of uv's keeps nothing that it does not ask for.
    return (*commands, *([installer.uninstall(after)] if after and installer.project is None else []))


def accelerator_families(*releases: Facts) -> frozenset[str]:
    """Return what JAX calls the platforms of the accelerator packages of some releases."""
    return frozenset(backend.family for facts in releases for backend in facts.backends) - {CPU}


def release_of(decision: Decision) -> str:
    """Return the release of JAX that a decision is about; empty if it is about none."""
    return next((text.partition("==")[2] for text in decision.requirements if name_of(text) in _JAX), "")


def other_backends(
    wanted: Collection[str],
    environment: Environment,
    plugins: Iterable[Plugin],
    families: Collection[str],
    release: str = "",
) -> tuple[str, ...]:
    """Return the installed accelerator packages that are not wanted.

    The package for the CPU stays: JAX uses the CPU with every accelerator. But it refuses to work with a
    jaxlib that is not of its release, or not ours, when the release is empty. Plugins for platforms that JAX itself
    does not know stay as well.
    """
    listed = [plugin for plugin in plugins if plugin.distribution]
    found = {plugin.distribution for plugin in listed if plugin.platform in families}
    cpu = [plugin for plugin in listed if plugin.ours and plugin.platform == CPU]
    found |= {plugin.distribution for plugin in cpu if plugin.version.partition("+")[0] != release}
    found |= {name for name in environment.distributions if _APART.fullmatch(name)}
    return tuple(sorted(found.difference(*map(belongings, wanted))))


def is_ours(package: str) -> bool:
    """Return whether a distribution is ours, and so needs our jaxlib."""
    return package.startswith("jaxlib-")


def bindings_of(decision: Decision) -> tuple[str, ...]:
    """Return the requirement of our jaxlib that a decision implies; none if it is not about our packages."""
    wanted = [text for text in decision.requirements if is_ours(decision.package) and name_of(text) == decision.package]
    return tuple(f"jaxlib=={text.partition('==')[2]}" for text in wanted)


def _other_jaxlib(decision: Decision, environment: Environment) -> tuple[str, ...]:
    """Return the requirement of jaxlib, if one is installed that installers would keep, and the other provider made."""
    if decision.provider != UPSTREAM:
        bindings = bindings_of(decision)
        return tuple(text for text in bindings if has_foreign_jaxlib(environment, text.partition("==")[2]))
    ours = read_lock(locate(environment, "jaxlib")) is not None
    return (f"jaxlib=={release_of(decision)}",) if ours else ()


def has_foreign_jaxlib(environment: Environment, version: str) -> bool:
    """Return whether a jaxlib of this version is installed that is not ours: it has no release lock.

    Such as JAX's own, which works with none of our packages: only wheels have build tags, so installers would keep it.
    """
    return environment.version_of("jaxlib") == version and read_lock(locate(environment, "jaxlib")) is None


def _foreign_builds(decision: Decision, environment: Environment) -> tuple[str, ...]:
    """Return what is installed in the right version, but from another index than the one that was decided for.

    Such wheels have the same version up to a local part, as `torch` 2.9.0+cpu and 2.9.0+cu130, and installers take one
    for the other. The index is named after that part.
    """
    if decision.index_url is None:
        return ()
    wanted = decision.index_url.rstrip("/").rpartition("/")[2]
    installed = {name: environment.version_of(name) for name in map(name_of, decision.requirements)}
    builds = {name: version.partition("+")[2] for name, version in installed.items() if version is not None}
    return tuple(name for name, build in builds.items() if build != wanted)

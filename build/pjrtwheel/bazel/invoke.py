# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Build wheels with Bazel."""

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.abis import name_python
from pjrtwheel.backend import Backend, backend_files
from pjrtwheel.bazel.events import BuildLog, explain_failure, parse_events, report_line
from pjrtwheel.bazel.locate import Bazel, check_version, is_overridden, provide_bazel
from pjrtwheel.bazel.recheck import check_results
from pjrtwheel.bazel.remote import VARIABLE, describe_processes, read_remote
from pjrtwheel.bazel.source import AS_RELEASED, SourceOptions, describe_source, name_provider
from pjrtwheel.bazel.workspace import WAITS_FOR_BUILD, Workspace, prepare_workspace
from pjrtwheel.errors import BazelError
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.files import hash_file
from pjrtwheel.platforms import Platform, host_platform
from pjrtwheel.progress import LINES, Progress, Step
from pjrtwheel.release.checks import fetched_pins
from pjrtwheel.release.model import Pin, Release
from pjrtwheel.release.wheels import ReleaseLock
from pjrtwheel.tables import write
from pjrtwheel.wheel.report import BuiltWheel

_EXTRA_FLAGS = "PJRTWHEEL_BAZEL_FLAGS"
BINDINGS = "//jaxlib:wheels"
_IDLE_SECONDS = 900
_WAITING = "Another command "  # of this server, as the client says when it waits


@dataclass(frozen=True, slots=True)
class BuildRequest:
    """Which wheels to build.

    Attributes:
        root: The checkout.
        release: The JAX release.
        backends: The accelerators; none for the bindings alone, and only one from source or from a file.
        platform: The platform the wheels are for.
        provider: `prebuilt`, `source` or `file`.
        library: The plugin library for the provider `file`, else None.
        with_bindings: Whether to build the jaxlib wheels as well.
        lock: Lock of the published set that the plugin is for, or of a set with a label of its own; else None.
        assemble_options: Options of `python -m pjrtwheel assemble`, handed on as they are; no comma in them.
        pythons: ABI tags of the Pythons to build `jaxlib` and kernels for; all of the release if there are none.
        source: Options for the provider `source`.
    """

    root: Path
    release: Release
    backends: tuple[Backend, ...]
    platform: Platform
    provider: str = "prebuilt"
    library: Path | None = None
    with_bindings: bool = True
    lock: ReleaseLock | None = None
    assemble_options: tuple[str, ...] = ()
    pythons: tuple[str, ...] = ()
    source: SourceOptions = AS_RELEASED

    @property
    def targets(self) -> tuple[str, ...]:
        """Labels to build."""
        plugins = (f"//plugins/{backend.name}:wheel" for backend in self.backends)
        platform, with_kernels = self.platform.name, [backend.name for backend in self.backends if backend.kernels]
        if not self.pythons:
            kernels = [f"//plugins/{name}:kernels" for name in with_kernels]
            return (*plugins, *kernels, *([BINDINGS] if self.with_bindings else []))
        kernels = [
            f"//plugins/{name}:kernels_{python}_{platform}"
            for name in with_kernels
            for python in self.release.kernels(name, platform)
            if python in self.pythons
        ]
        bindings = [f"//jaxlib:{python}_{platform}" for python in self.pythons if self.with_bindings]
        return (*plugins, *kernels, *bindings)

    @property
    def inputs(self) -> tuple[Pin, ...]:
        """The pinned inputs that the build takes from the package index, or from the cache or a bundle."""
        return fetched_pins(self.release, self.backends, self.platform, self.provider, host_platform())

    @property
    def provider_name(self) -> str:
        """The provider as locks name it."""
        if self.library:
            return f"file-{hash_file(self.library)}"
        return name_provider(self.source) if self.provider == "source" else self.provider

    @property
    def from_source(self) -> Backend | None:
        """The accelerator whose library is built from XLA's source, if any."""
        return self.backends[0] if self.provider == "source" and self.backends else None


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What a build left: wheels, each with its report in a folder of Bazel's, and what Bazel did for them."""

    wheels: tuple[BuiltWheel, ...]
    log: BuildLog


@dataclass(frozen=True, slots=True)
class Invocation:
    """How Bazel is run for a request, and where."""

    request: BuildRequest
    bazel: Bazel
    workspace: Workspace
    environ: Mapping[str, str]

    @property
    def output_base(self) -> Path:
        """Bazel's folder for what it makes.

        In source mode each backend has its own: CUDA, ROCm and oneAPI exclude each other within one server, and going
        from one to the other would throw away what was built.
        """
        source = self.request.from_source
        version = ".".join(map(str, self.bazel.version))
        return self.workspace.outputs / version / (f"source-{source.name}" if source else "wheels")

    @property
    def extra_flags(self) -> list[str]:
        """The user's own options."""
        return shlex.split(self.environ.get(_EXTRA_FLAGS, ""))

    def startup_flags(self, remote: Path | None = None) -> tuple[str, ...]:
        """Return Bazel's startup options; `remote` is a file with settings of remote caches and executors."""
        source = self.request.from_source
        # What a backend shares with others comes first: of several files the later ones win. The user's own for all
        # projects is left out, as a release must not depend on it.
        folders = (*source.shared, source.name) if source else ()
        files = [self.workspace.directory / "plugins" / name / "xla.bazelrc" for name in folders]
        settings = [path for path in files if path.is_file()] + ([remote] if remote else [])
        options = ("--nohome_rc", f"--output_base={self.output_base}", f"--max_idle_secs={_IDLE_SECONDS}")
        return (*options, *(f"--bazelrc={path}" for path in settings))

    def build_flags(self) -> tuple[str, ...]:
        """Return the options of `bazel build` that follow from the request, the version and the environment."""
        request, extra = self.request, self.extra_flags
        flags = [f"--config=workspace{major}" for major in (7, 8) if self.bazel.version[0] >= major]
        flags += [f"--//build:platform={request.platform.name}", f"--//build:provider={request.provider}"]
        if epoch := self.environ.get("SOURCE_DATE_EPOCH"):
            flags.append(f"--//build:source_date_epoch={epoch}")
        if request.assemble_options:
            flags.append(f"--//build:assemble_options={','.join(request.assemble_options)}")
        if request.lock:
            flags.append(f"--//build:lock={json.dumps(write(request.lock), sort_keys=True)}")
        if (backend := request.from_source) and backend.source:
            # The accelerator's settings win over the platform's.
            flags += [f"--config={name}" for name in (f"xla_{request.platform.name}", *backend.source.configs)]
            if request.source.makes_bindings:
                flags += [f"--repo_env=HERMETIC_PYTHON_VERSION={name_python(tag)}" for tag in request.pythons]
                flags += [f"--@jax//jaxlib/tools:jaxlib_git_hash={request.release.commits.get('jaxlib', '')}"]
            flags += request.source.flags(backend)
            given = (*request.source.bazel_options, *extra)
            stated = describe_source(request.source) | ({"overridden": True} if is_overridden(given) else {})
            flags += [f"--//build:source_name={request.provider_name}"]
            flags += [f"--//build:source_options={json.dumps(stated, sort_keys=True)}"]
        return (*flags, *extra)  # the user's last, so that they win

    def environment(self) -> dict[str, str]:
        """Return the environment for Bazel; repository rules see it, actions do not.

        The interpreter is the one behind any virtual environment, so that two environments mean the same to Bazel.
        """
        base = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
        python = self.environ.get("PJRTWHEEL_PYTHON") or base
        found = shutil.which(python, path=self.environ.get("PATH"))
        library = self.request.library.resolve() if self.request.library else None
        variables = {
            "PJRTWHEEL_PYTHON": python,
            # An upgrade leaves the path as it is.
            "PJRTWHEEL_PYTHON_CHANGED": str(Path(found).stat().st_mtime_ns) if found else "",
            "PJRTWHEEL_RELEASE": self.request.release.version,
            "PJRTWHEEL_PROVIDER": self.request.provider,
            # Bazel watches files, and so does not see that a backend was added.
            "PJRTWHEEL_BACKENDS": " ".join(path.parent.name for path in backend_files(self.request.root)),
            "PJRTWHEEL_CACHE": str(cache_root(self.environ)),
            "PJRTWHEEL_LIBRARY": str(library or ""),
            "PJRTWHEEL_LIBRARY_SHA256": hash_file(library) if library else "",
            "PJRTWHEEL_XLA": self.request.source.to_archive(),
        }
        if self.bazel.wanted:
            variables["USE_BAZEL_VERSION"] = self.bazel.wanted
        return {**self.environ, **variables}

    def run(self, remote: Path | None, progress: Progress) -> tuple[int, BuildLog]:
        """Run Bazel; return its exit status, and what it did."""
        with tempfile.TemporaryDirectory(prefix="pjrtwheel-bazel-") as temporary, progress.step("Bazel") as step:
            events = Path(temporary) / "events.json"
            command = (
                *(self.bazel.command, *self.startup_flags(remote), "build"),
                *("--color=no", "--curses=no", "--show_progress_rate_limit=1"),
                *(f"--build_event_json_file={events}", "--build_event_publish_all_actions"),
                # Without it a remote cache makes Bazel name the outputs by their place there, not on this disk.
                "--nobuild_event_json_file_path_conversion",
                *(*self.build_flags(), *self.request.targets),
            )
            directory = self.workspace.directory
            status, text = run_bazel(command, directory, self.environment(), step=step, progress=progress)
            step.failed = status != 0
            # There is no file when Bazel did not get as far as to write one.
            lines = events.read_text("utf-8").split("\n") if events.is_file() else []
        return status, parse_events(lines, text)


def _find_bazel(request: BuildRequest, environ: Mapping[str, str]) -> Bazel:
    """Return the Bazel to build with: the one in `.bazelversion`, or the one XLA wants when XLA itself is built."""
    xla = request.release.xla if request.from_source else None
    if xla is None:
        return provide_bazel((request.root / ".bazelversion").read_text("utf-8").strip(), environ)
    bazel = provide_bazel(xla.bazel, environ)
    if not describe_source(request.source).keys() & {"commit", "tree"}:
        check_version(bazel, xla, shlex.split(environ.get(_EXTRA_FLAGS, "")))
    return bazel


def _relay(lines: Iterator[str], step: Step, progress: Progress) -> str:
    """Collect what Bazel prints; let the user see that it waits, and how far it is."""
    collected = []
    for line in lines:
        collected.append(line)
        report_line(line, step)
        if line.startswith(_WAITING):
            progress.say(WAITS_FOR_BUILD)
    return "".join(collected)


def run_bazel(
    command: Sequence[str], directory: Path, environ: Mapping[str, str], *, step: Step, progress: Progress = LINES
) -> tuple[int, str]:
    """Run Bazel, and return its exit status and all it printed.

    Raises:
        BazelError: It cannot be run at all.
    """
    try:
        with subprocess.Popen(
            command, cwd=directory, env=dict(environ), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            errors="replace", stdin=subprocess.DEVNULL,
        ) as process:  # fmt: skip
            try:
                text = _relay(iter(process.stdout or ()), step, progress)
            except KeyboardInterrupt:
                process.send_signal(signal.SIGINT)  # a terminal does so as well, nox does not
                process.wait()  # it ends its actions
                raise
            return process.wait(), text
    except OSError as error:
        raise BazelError(f"cannot run {command[0]}: {error.strerror}") from error


def build(request: BuildRequest, environ: Mapping[str, str] | None = None, progress: Progress = LINES) -> BuildResult:
    """Build the requested wheels and say what was done for them.

    Raises:
        PjrtWheelError: No Bazel, or the build failed; errors of the tooling inside the graph come out as they are.
    """
    environ = os.environ if environ is None else environ
    cache, remote = cache_root(environ), read_remote(environ)
    invocation = Invocation(request, _find_bazel(request, environ), prepare_workspace(request.root, cache), environ)
    status, log = invocation.run(remote, progress)
    if status != 0:
        error = explain_failure(status, log)
        if remote and isinstance(error, BazelError):
            options = f"options come from {remote}, which {VARIABLE} names, and from {_EXTRA_FLAGS}"
            raise BazelError(error.what, cause=error.cause, remedy=f"{options}: without both it is built here alone")
        raise error
    base = invocation.output_base
    files = (path for target in request.targets for path in sorted(log.outputs.get(target, ())))
    directories = dict.fromkeys(path if path.is_dir() else path.parent for path in files)
    is_shared = bool(remote or invocation.extra_flags or describe_processes(log.text))
    return BuildResult(check_results(directories, invocation.workspace.directory, base, is_shared=is_shared), log)

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

from pjrtwheel.backend import Backend, backend_files
from pjrtwheel.bazel.events import BuildLog, explain_failure, parse_events, report_line
from pjrtwheel.bazel.locate import Bazel, check_version, is_overridden, provide_bazel
from pjrtwheel.bazel.recheck import check_filled, check_results
from pjrtwheel.bazel.remote import VARIABLE, Remote, find_remote_failure, read_remote
from pjrtwheel.bazel.workspace import WAITS_FOR_BUILD, Workspace, prepare_workspace
from pjrtwheel.errors import BazelError, UsageError
from pjrtwheel.fetch.cache import cache_root
from pjrtwheel.files import hash_file
from pjrtwheel.platforms import Platform, host_platform
from pjrtwheel.progress import LINES, Progress, Step
from pjrtwheel.release.checks import fetched_pins
from pjrtwheel.release.model import Pin, Release
from pjrtwheel.release.wheels import ReleaseLock
from pjrtwheel.tables import write

_EXTRA_FLAGS = "PJRTWHEEL_BAZEL_FLAGS"
BINDINGS = "//jaxlib:wheels"
_IDLE_SECONDS = 900
_BAD_OPTIONS = 2  # Bazel's exit status
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
        lock: Lock of the published set that the plugin is for, else None: the plugin belongs to the set built here.
        assemble_options: Options of `python -m pjrtwheel assemble`, handed on as they are; no comma in them.
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

    @property
    def targets(self) -> tuple[str, ...]:
        """Labels to build."""
        plugins = (f"//plugins/{backend.name}:wheel" for backend in self.backends)
        return (*plugins, *([BINDINGS] if self.with_bindings else []))

    @property
    def inputs(self) -> tuple[Pin, ...]:
        """The pinned inputs that the build takes from the package index, or from the cache or a bundle."""
        return fetched_pins(self.release, self.backends, self.platform, self.provider, host_platform())

    @property
    def from_source(self) -> Backend | None:
        """The accelerator whose library is built from XLA's source, if any."""
        return self.backends[0] if self.provider == "source" and self.backends else None


@dataclass(frozen=True, slots=True)
class BuildResult:
    """What a build left: output directories, each with a wheel and its `report.json`, and what Bazel did for them."""

    directories: tuple[Path, ...]
    log: BuildLog


def output_base(workspace: Workspace, bazel: Bazel, request: BuildRequest) -> Path:
    """Return Bazel's folder for what it makes.

    In source mode each backend has its own: CUDA, ROCm and oneAPI exclude each other within one server, and going from
    one to the other would throw away what was built.
    """
    kind = f"source-{request.from_source.name}" if request.from_source else "wheels"
    return workspace.outputs / ".".join(map(str, bazel.version)) / kind


def startup_flags(
    workspace: Workspace, bazel: Bazel, request: BuildRequest, remote: Remote | None = None
) -> tuple[str, ...]:
    """Return Bazel's startup options."""
    base = output_base(workspace, bazel, request)
    files = source_files(request.from_source, workspace.directory) if request.from_source else ()
    settings = (f"--bazelrc={path}" for path in files)
    # Of several files the later ones win. The user's own for all projects is left out: credentials in it would
    # not be hidden.
    options = ("--nohome_rc", f"--output_base={base}", f"--max_idle_secs={_IDLE_SECONDS}")
    return (*options, *settings, *([f"--bazelrc={remote.path}"] if remote else []))


def source_files(backend: Backend, workspace: Path) -> tuple[Path, ...]:
    """Return the `--bazelrc` files that define a backend's configurations, those it shares with others first."""
    places = (workspace / "plugins" / name / "xla.bazelrc" for name in (*backend.shared, backend.name))
    return tuple(path for path in places if path.is_file())


def source_flags(backend: Backend, platform: str, extra: Sequence[str]) -> tuple[str, ...]:
    """Return the options of `bazel build` for a backend with [source], given the user's own options."""
    if backend.source is None:
        raise UsageError(f"backend {backend.name} cannot be built from source", remedy=f"see {backend.path}")
    configs = (f"xla_{platform}", *backend.source.configs)  # the accelerator's settings win over the platform's
    tree = ("--//build:xla_tree=overridden",) if is_overridden(extra) else ()
    return (*(f"--config={config}" for config in configs), *tree)


def build_flags(request: BuildRequest, bazel: Bazel, environ: Mapping[str, str]) -> tuple[str, ...]:
    """Return the options of `bazel build` that follow from the request, the version and the environment."""
    flags = [f"--config=workspace{major}" for major in (7, 8) if bazel.version[0] >= major]
    flags += [f"--//build:platform={request.platform.name}", f"--//build:provider={request.provider}"]
    if epoch := environ.get("SOURCE_DATE_EPOCH"):
        flags.append(f"--//build:source_date_epoch={epoch}")
    if request.assemble_options:
        flags.append(f"--//build:assemble_options={','.join(request.assemble_options)}")
    if request.lock:
        flags.append(f"--//build:lock={json.dumps(write(request.lock), sort_keys=True)}")
    extra = shlex.split(environ.get(_EXTRA_FLAGS, ""))
    if request.from_source:
        flags += source_flags(request.from_source, request.platform.name, extra)
    # Last, so that they win.
    return (*flags, *extra)


def build_environment(request: BuildRequest, bazel: Bazel, environ: Mapping[str, str]) -> dict[str, str]:
    """Return the environment for Bazel; repository rules see it, actions do not.

    The interpreter is the one behind any virtual environment, so that two environments mean the same to Bazel.
    """
    base = os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable)
    python = environ.get("PJRTWHEEL_PYTHON") or base
    found = shutil.which(python, path=environ.get("PATH"))
    variables = {
        "PJRTWHEEL_PYTHON": python,
        # An upgrade leaves the path as it is.
        "PJRTWHEEL_PYTHON_CHANGED": str(Path(found).stat().st_mtime_ns) if found else "",
        "PJRTWHEEL_RELEASE": request.release.version,
        "PJRTWHEEL_PROVIDER": request.provider,
        # Bazel watches files, and so does not see that a backend was added.
        "PJRTWHEEL_BACKENDS": " ".join(path.parent.name for path in backend_files(request.root)),
        "PJRTWHEEL_CACHE": str(cache_root(environ)),
        "PJRTWHEEL_LIBRARY": "",
        "PJRTWHEEL_LIBRARY_SHA256": "",
    }
    if request.library:
        path = request.library.resolve()
        variables |= {"PJRTWHEEL_LIBRARY": str(path), "PJRTWHEEL_LIBRARY_SHA256": hash_file(path)}
    return {**environ, **bazel.environment, **variables}


def _find_bazel(request: BuildRequest, environ: Mapping[str, str]) -> Bazel:
    """Return the Bazel to build with: the one in `.bazelversion`, or the one XLA wants when XLA itself is built."""
    if request.from_source is None:
        return provide_bazel((request.root / ".bazelversion").read_text("utf-8").strip(), environ)
    xla = request.release.xla
    if xla is None:
        raise UsageError(f"no XLA revision is known for release {request.release.version}")
    bazel = provide_bazel(xla.bazel, environ)
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


def output_directories(log: BuildLog, targets: Sequence[str]) -> tuple[Path, ...]:
    """Return the directories of the targets' wheels, in order of targets; raise a `BazelError` when one left none."""
    directories: list[Path] = []
    for target in targets:
        files = log.outputs.get(target, ())
        found = sorted({path if path.is_dir() else path.parent for path in files})
        if not found:
            raise BazelError(f"Bazel says nothing of the outputs of {target}")
        directories += found
    return tuple(directories)


def build(request: BuildRequest, environ: Mapping[str, str] | None = None, progress: Progress = LINES) -> BuildResult:
    """Build the requested wheels and say what was done for them.

    Raises:
        PjrtWheelError: No Bazel, or the build failed; errors of the tooling inside the graph come out as they are.
    """
    environ = os.environ if environ is None else environ
    cache, remote = cache_root(environ), read_remote(environ)
    bazel = _find_bazel(request, environ)
    workspace = prepare_workspace(request.root, cache)
    status, log = _run(request, bazel, workspace, environ, remote, progress)
    if remote and status != 0 and (problem := find_remote_failure(status, log.text)):
        _go_on_without(request, problem, progress)
        remote = None
        status, log = _run(request, bazel, workspace, environ, remote, progress)
    if status != 0:
        error = explain_failure(status, log)
        if remote and status == _BAD_OPTIONS:
            remedy = f"the options come from {remote.path}, which {VARIABLE} names, and from {_EXTRA_FLAGS}"
            raise BazelError(error.what, cause=error.cause, remedy=remedy)
        raise error
    base = output_base(workspace, bazel, request)
    check_filled(log.actions, base)
    directories = output_directories(log, request.targets)
    check_results(directories, workspace.directory, base, cache)
    return BuildResult(directories, log)


def _go_on_without(request: BuildRequest, problem: str, progress: Progress) -> None:
    """Say that the wheels are built here alone; raise a `BazelError` where that would take hours nobody asked for."""
    if request.provider == "source":
        raise BazelError(
            f"no build from source without the servers of {VARIABLE}",
            cause=problem,
            remedy=f"try again once they answer, or unset {VARIABLE} to build XLA on this machine alone",
        )
    progress.say(f"building without the servers of {VARIABLE}: {problem}")


def _run(
    request: BuildRequest,
    bazel: Bazel,
    workspace: Workspace,
    environ: Mapping[str, str],
    remote: Remote | None,
    progress: Progress,
) -> tuple[int, BuildLog]:
    """Run Bazel once, with remote settings or without; return its exit status, and what it did, without credentials."""
    base = output_base(workspace, bazel, request)
    with tempfile.TemporaryDirectory(prefix="pjrtwheel-bazel-") as temporary:
        events = Path(temporary) / "events.json"
        command = (
            *(bazel.command, *startup_flags(workspace, bazel, request, remote), "build"),
            *("--color=no", "--curses=no", "--show_progress_rate_limit=1"),
            *(f"--build_event_json_file={events}", "--build_event_publish_all_actions"),
            # Without it a remote cache makes Bazel name the outputs by their place there, not on this disk.
            "--nobuild_event_json_file_path_conversion",
            *(*build_flags(request, bazel, environ), *request.targets),
        )
        with progress.step("Bazel") as step:
            try:
                status, text = run_bazel(
                    command, workspace.directory, build_environment(request, bazel, environ),
                    step=step, progress=progress,
                )  # fmt: skip
            finally:
                if remote:
                    remote.hide_in_logs(base)
            if status != 0:
                step.failed = True
        # There is no file when Bazel did not get as far as to write one.
        lines = events.read_text("utf-8").split("\n") if events.is_file() else []
        return status, parse_events(lines, text, remote.hide if remote else str)

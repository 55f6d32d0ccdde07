# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read `plugins/<name>/backend.toml`: all that the tooling knows about an accelerator."""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pjrtwheel.errors import UsageError
from pjrtwheel.tables import TableError, read_toml

# The repository that this tooling is in, where no other one is given. An installed `pjrtwheel` has a folder with the
# part of it that it needs, laid out alike.
_PACKAGED = Path(__file__).resolve().with_name("root")
IS_INSTALLED = _PACKAGED.is_dir()
OWN_ROOT = _PACKAGED if IS_INSTALLED else _PACKAGED.parents[2]

FILENAME = "backend.toml"
KERNELS_SUFFIX = "-kernels"  # of the project with the kernels of another one; loaders expect it


@dataclass(frozen=True, slots=True)
class Prebuilt:
    """Where the plugin library is found inside a wheel of the package index.

    Attributes:
        project: Project name on the index.
        member: Path of the library inside that wheel.
        version: Version to pin, with `{release}` standing for the JAX release; may end in `.*`.
        required_by: Distribution and extra, such as `jax[tpu]`, whose METADATA names the version instead.
        python: Python tag of the wheel to pin, where the index has one per Python.
        bundled: Whether our wheel carries the library. If not, it requires that very version of the project instead,
            because the library must not be redistributed.
    """

    project: str
    member: str
    version: str = "{release}"
    required_by: str = ""
    python: str = ""
    bundled: bool = True


@dataclass(frozen=True, slots=True)
class Source:
    """How Bazel builds the plugin library from XLA.

    Attributes:
        label: Label of the shared library, in `@jax` or, where JAX has none, in `@xla`.
        configs: `--config` names of `.bazelrc` to build it with.
        chips: Variable of XLA's build with the chips to compile for; empty if it has no choice of them.
    """

    label: str
    configs: tuple[str, ...]
    chips: str = ""


@dataclass(frozen=True, slots=True)
class Kernels:
    """Extension modules that JAX imports itself; the index has a wheel of them for each Python.

    Attributes:
        project: Project name on the index.
        package: The top-level package in which `jaxlib.plugin_support` looks for them.
        version: Version to pin, with `{release}` standing for the JAX release.
        source: Labels in `@jax` of all its libraries; none if they are not built from source.
    """

    project: str
    package: str
    version: str = "{release}"
    source: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class UpstreamExtra:
    """An extra of upstream's plugin, whose requirements our extra takes over when a release is pinned.

    Attributes:
        upstream: Distribution and extra, such as `jax-cuda13-plugin[with-cuda]`.
        same_major: Whether a requirement without an upper bound gets one below the next major version of its floor.
        bounds: Project → bounds, for those that upstream requires without any.
    """

    upstream: str
    same_major: bool = False
    bounds: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Tool:
    """A vendor's program that is run during the build, from a wheel of the package index.

    Attributes:
        project: Project name on the index.
        version: Version to pin.
        member: Path of the program inside that wheel.
        platforms: Platforms on which it runs.
    """

    project: str
    version: str
    member: str
    platforms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Failure:
    """Why a program of the proofs cannot run on a backend, or cannot be compiled for a chip.

    Attributes:
        error: Regular expression that its error must match.
        reason: The same for people.
    """

    error: str
    reason: str

    def __post_init__(self) -> None:
        """Refuse a pattern that is none, and what says nothing."""
        if not self.error.strip() or not self.reason.strip():
            raise ValueError("error and reason must not be empty")
        try:
            re.compile(self.error)
        except re.error as error:
            raise ValueError(f"{self.error!r} is not a regular expression: {error}") from error

    def describe_fault(self, found: str) -> str:
        """Say what is wrong with what became of the program, given its error; nothing if it failed as expected."""
        if not found:
            return f"it does not fail, though it is declared to: {self.reason}"
        return "" if re.search(self.error, found) else f"it fails with another error than {self.error!r}"


@dataclass(frozen=True, slots=True)
class Smoke:
    """What is known of the proofs on the device.

    Attributes:
        fails: Program of `tests/smoke/` → why it fails.
    """

    fails: dict[str, Failure] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Backend:
    """One accelerator and the wheel that carries it.

    Attributes:
        name: Directory below `plugins/` and suffix of `nox -s build_<name>`.
        distribution: Project name of the wheel, such as `jaxlib-cpu`.
        package: Import package inside the wheel, such as `jaxlib_cpu`.
        summary: One line for the wheel's metadata.
        pjrt_name: The name under which the plugin is registered with JAX, such as `cpu`.
        library: File name of the PJRT plugin.
        python_tag: Oldest CPython with the GIL whose stable ABI the extension needs, such as `cp312`.
        exports: Dynamic symbols that the library defines, or patterns of them such as `foo_*`: all and no others.
        tags: Platform name → platform tag of the wheel.
        requires: Further requirements, beyond the exact `jaxlib`.
        disable: Environment variable that, set to 1, leaves JAX as it was without this wheel.
        license: Licence of the library, as an SPDX expression, which the wheel states next to that of our loader.
            Without it a wheel that carries the library states none.
        license_files: Files of this directory with its text, for the wheel.
        author: Who makes the wheel, such as `Foo Inc. <jax@foo.example>`.
        urls: Label, such as `Homepage` → address, for the wheel's page on the package index.
        prebuilt: Provider of the library from the index.
        path: The file all this was read from.
        source: Provider of the library from XLA's source; nothing when that source is not open.
        kernels: Extension modules that come along, if any.
        shared: Directories below `plugins/` that this backend shares with others: the modules of their `loader/` become
            the subpackage of that name, their `targets/` are this backend's too.
        extras: Extra of the wheel → what it requires, or the extra of upstream's plugin from which that is taken.
        jaxlib_extras: Extra of `jaxlib` → the extras of this wheel that it asks for.
        aot_requires: What compiling without the accelerator needs to be installed, in addition to the wheel; the bare
            name of a project means what an extra requires of it.
        tools: Name → program that is run during the build.
        external: Libraries that the wheel's libraries need, and that neither the wheel nor every Linux has.
        search_paths: Elements of the libraries' run paths that are kept although they lead out of `site-packages`.
        env_prefixes: How the names of environment variables begin that its vendor's libraries read, such as `ROCM_`; a
            proof that was kept does not hold under other values.
        environment: Variables without which the library, opened without JAX, would search for its device for minutes.
        smoke: Which programs cannot run on its accelerator.
        select: Which machines it serves, as `jaxlib_select.facts.Select` documents it; `products/facts.py` checks it.
            Without it `jaxlib-select` takes the backend only when asked for by name.
        since: Release of JAX → keys of `select` that are others from that release on.
        toolkit_attribute: The PJRT attribute in which the library states the version of the toolkit that made its
            intermediate code, as CUDA_VERSION does: 1000 times the major version, 10 times the minor one.
    """

    name: str
    distribution: str
    package: str
    summary: str
    pjrt_name: str
    library: str
    python_tag: str
    exports: tuple[str, ...]
    tags: dict[str, str]
    requires: tuple[str, ...]
    disable: str
    prebuilt: Prebuilt
    path: Path
    source: Source | None = None
    kernels: Kernels | None = None
    shared: tuple[str, ...] = ()
    extras: dict[str, tuple[str, ...] | UpstreamExtra] = field(default_factory=dict)
    jaxlib_extras: dict[str, tuple[str, ...]] = field(default_factory=dict)
    aot_requires: tuple[str, ...] = ()
    tools: dict[str, Tool] = field(default_factory=dict)
    license: str = ""
    license_files: tuple[str, ...] = ()
    author: str = ""
    urls: dict[str, str] = field(default_factory=dict)
    external: tuple[str, ...] = ()
    search_paths: tuple[str, ...] = ()
    env_prefixes: tuple[str, ...] = ()
    environment: dict[str, str] = field(default_factory=dict)
    smoke: Smoke = field(default_factory=Smoke)
    select: Mapping[str, Any] | None = None
    since: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    toolkit_attribute: str = ""

    @property
    def is_cpu(self) -> bool:
        """Whether it is JAX's platform for the machine itself, which is always here."""
        return self.pjrt_name == "cpu"

    @property
    def requirement(self) -> str:
        """What most users require: the project, with the extra that brings the vendor's libraries if it has one."""
        extras = ",".join(self.jaxlib_extras.get(self.name, ()))
        return f"{self.distribution}[{extras}]" if extras else self.distribution

    @property
    def kernels_distribution(self) -> str:
        """Project name of the wheels with its kernels, one for each Python; empty without kernels."""
        return f"{self.distribution}{KERNELS_SUFFIX}" if self.kernels else ""

    @property
    def kernels_package(self) -> str:
        """Our own package in those wheels, for what goes with the kernels, such as the lock."""
        return f"{self.package}_kernels"

    @property
    def distributions(self) -> tuple[str, ...]:
        """Project names of all its wheels."""
        return tuple(filter(None, (self.distribution, self.kernels_distribution)))

    @property
    def library_member(self) -> str:
        """The place of the library in an environment, relative to `site-packages`."""
        return f"{self.package}/{self.library}" if self.prebuilt.bundled else self.prebuilt.member


def parse_backend(text: str, path: Path, *, ignore_unknown: bool = False) -> Backend:
    """Turn the text of a `backend.toml` into a `Backend`; that of a wheel may be newer than this program.

    Raises:
        UsageError: The text is not TOML, or a key is missing, unknown or of the wrong type.
    """
    try:
        return read_toml(Backend, text, name=path.parent.name, path=path, ignore_unknown=ignore_unknown)
    except TableError as error:
        raise UsageError(
            f"malformed backend file: {path}", cause=str(error), remedy="docs/reference/backend-files.md has every key"
        ) from error


def backend_files(root: Path) -> list[Path]:
    """Return every `plugins/*/backend.toml` below `root`, in order of name."""
    return sorted((root / "plugins").glob("*/backend.toml"))


def check_files(backend: Backend) -> None:
    """Raise a `UsageError` if the directory of a backend lacks a file that every wheel is made from."""
    needed = ("BUILD.bazel", "README.md", f"{backend.package}/__init__.py")
    folder = backend.path.parent
    if missing := [name for name in needed if not (folder / name).is_file()]:
        raise UsageError(f"{folder} lacks {', '.join(missing)}", remedy="./noxw wrap --save DIR writes a whole backend")


def load_backends(root: Path) -> dict[str, Backend]:
    """Read every backend below `root`, by name and in order of name."""
    return {path.parent.name: parse_backend(path.read_text("utf-8"), path) for path in backend_files(root)}


def pick_backend(backends: Mapping[str, Backend], name: str) -> Backend:
    """Return the backend that a person named: `cuda13`, `cuda-13` and `CUDA_13` are one.

    Raises:
        UsageError: No such backend; the message lists those there are.
    """
    found = next((backend for known, backend in backends.items() if _letters(known) == _letters(name)), None)
    if found is None:
        raise UsageError(f"unknown backend: {name!r}", remedy=f"known backends: {', '.join(backends)}")
    return found


def _letters(name: str) -> str:
    """Return what of a name counts: distributions have separators where our directories have none."""
    return re.sub(r"[-_.]", "", name).lower()


def find_backend(root: Path, name: str) -> Backend:
    """Return the backend of this name below `root`, or in a directory that is named by its path; see `pick_backend`."""
    if (own := Path(name, FILENAME)).is_file():
        return parse_backend(own.read_text("utf-8"), own.absolute())
    return pick_backend(load_backends(root), name)


def merge_tools(backends: Iterable[Backend]) -> dict[str, Tool]:
    """Return every program that a backend runs during the build: it is pinned once for all that name it.

    Raises:
        UsageError: Two backends mean different programs by one name.
    """
    tools = [(name, tool) for backend in backends for name, tool in backend.tools.items()]
    merged = dict(tools)
    if others := sorted({name for name, tool in tools if merged[name] != tool}):
        raise UsageError(f"backends disagree on tools: {', '.join(others)}", cause="a tool is pinned once for all")
    return merged

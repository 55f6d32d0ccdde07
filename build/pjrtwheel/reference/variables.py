# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Every environment variable that this repository's programs read, and what it means.

`tests/unit/reference/test_variables.py` looks for those that are read and not listed here, and for those that nothing
reads. `<...>` stands for a part of the name that varies.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from pjrtwheel.backend import load_backends
from pjrtwheel.bazel.locate import NAMES as BAZELS
from pjrtwheel.publish.destinations import load_destinations
from pjrtwheel.publish.place import variable_of
from pjrtwheel.publish.places import KINDS


@dataclass(frozen=True, slots=True)
class Variable:
    """One variable.

    Attributes:
        name: Its name.
        meaning: What it is for, and what holds without it.
    """

    name: str
    meaning: str


BUILDS = (
    Variable("PJRTWHEEL_CACHE", "folder of downloads, tools and kept proofs; else `pjrtwheel` in `XDG_CACHE_HOME`"),
    Variable("XDG_CACHE_HOME", "folder of caches; else `~/.cache`"),
    Variable(
        "PJRTWHEEL_PYTHON", "the Python that `noxw`, Bazel's actions and downloads run on; else one is looked for"
    ),
    Variable("PJRTWHEEL_BUNDLE", "a folder of `./noxw -s bundle`, from which everything is taken without a network"),
    Variable("PJRTWHEEL_REMOTE", "a bazelrc with the settings of a remote cache or of remote execution"),
    Variable("PJRTWHEEL_BAZEL_FLAGS", "further flags of Bazel for builds"),
    Variable("BAZEL", f"the Bazel to use; else the first of {', '.join(BAZELS)} on `PATH` that is supported"),
    Variable("SOURCE_DATE_EPOCH", "seconds since 1970 that files in wheels and documents are dated with"),
    Variable(
        "NO_COLOR", "unless it is empty, nothing is printed in colour, here and in `jaxlib-select` and the wheels"
    ),
    Variable("TERM", "not set, `dumb` or `unknown` for a terminal without live lines, marks and colour"),
    Variable("PYENV_ROOT", "where pyenv has Pythons, on which wheels are proven; else `~/.pyenv`"),
    Variable(
        "UV_PYTHON_INSTALL_DIR", "where uv has Pythons, on which wheels are proven; else `~/.local/share/uv/python`"
    ),
)
RELEASES = (
    Variable("CI", "unless it is empty, 0 or false, `publish` makes a dry run by default"),
    Variable("GITHUB_TOKEN", "the token for GitHub"),
    Variable("GH_TOKEN", "the same, if `GITHUB_TOKEN` is not set"),
    Variable("GITHUB_API_URL", "address of GitHub's API; else the public one"),
    Variable("GITHUB_SERVER_URL", "address of GitHub; it is part of provenance, and of links from this site"),
    Variable("GITHUB_REPOSITORY", "OWNER/NAME of the repository that releases go to"),
    Variable("GITHUB_SHA", "the commit that a tag is made at where GitHub lacks it"),
    Variable("GITHUB_WORKFLOW_REF", "the workflow, for provenance"),
    Variable("GITHUB_RUN_ID", "the run, for provenance"),
    Variable("GITHUB_RUN_ATTEMPT", "which attempt of that run it is, for provenance"),
)
WHEELS = (
    Variable("JAX_PLATFORMS", "JAX's own: the platforms to start, separated by commas; a missing one is an error"),
    Variable("JAX_FORCE_TPU_INIT", "JAX's own: 1 starts libtpu where no PCI device of a TPU is visible"),
    Variable("JAX_SKIP_CUDA_CONSTRAINTS_CHECK", "JAX's own: 1 leaves the versions of NVIDIA's libraries unchecked"),
    Variable("JAX_CUDA_VISIBLE_DEVICES", "JAX's own: which NVIDIA GPUs it uses"),
    Variable("CUDA_VISIBLE_DEVICES", "NVIDIA's own: which GPUs a program sees"),
    Variable("TPU_LIBRARY_PATH", "JAX's own: another libtpu, whose version is not checked"),
    Variable("PJRT_NAMES_AND_LIBRARY_PATHS", "JAX's own: further plugins, `NAME:PATH` separated by commas"),
    Variable("XLA_FLAGS", "XLA's own flags; `jaxlib-cpu` reads those about its client"),
    Variable("CUDA_HOME", "a CUDA Toolkit to look for libraries in, before the usual places"),
    Variable("CUDA_PATH", "another one, after it"),
    Variable("ROCM_PATH", "folder of ROCm, before the usual places"),
    Variable("ONEAPI_ROOT", "folder of oneAPI; else `/opt/intel/oneapi`"),
    Variable("LD_LIBRARY_PATH", "folders whose libraries come before those of the wheels; `doctor` reports them"),
    Variable("MOSAIC_GPU_RUNTIME_LIB_PATH", "set by the wheels for CUDA to their library, unless it is set already"),
)
SELECT = (
    Variable("JAXLIB_SELECT_BACKENDS_DEFAULT", "backend or policy for all packages, such as `prefer-gpu`"),
    Variable(
        "JAXLIB_SELECT_BACKEND_<PACKAGE>", "backend or policy for one package, such as `JAXLIB_SELECT_BACKEND_JAX=cpu`"
    ),
    Variable("JAXLIB_SELECT_TIMEOUT", "seconds to wait for a libcuda that does not answer (default: 10)"),
    Variable("UV_TORCH_BACKEND", "uv's own: the backend of torch"),
    Variable("VIRTUAL_ENV", "the active environment, which `install`, `apply` and `doctor` are about"),
    Variable("CUDA_VISIBLE_DEVICES", "NVIDIA's own: hidden GPUs are not there"),
    Variable("NVIDIA_VISIBLE_DEVICES", "the same, of NVIDIA's containers; it is reported"),
    Variable("HIP_VISIBLE_DEVICES", "AMD's own: hidden GPUs are not there"),
    Variable("ROCR_VISIBLE_DEVICES", "the same, of ROCm's runtime"),
    Variable("TPU_VISIBLE_DEVICES", "Google's own; it is reported"),
    Variable("TPU_VISIBLE_CHIPS", "the same"),
)
TESTS = (
    Variable("PJRTWHEEL_DIST", "a `dist/` with all backends that the tests take wheels from; else they build some"),
    Variable("PJRTWHEEL_TEST_RELEASE", "the release that tests run on; else the newest that has a library for the CPU"),
    Variable("PJRTWHEEL_SCREENSHOTS", "folder in which the browser's tests keep pictures of the release pages"),
)
WORKFLOWS = (
    Variable("PJRTWHEEL_DESTINATION", "destination of `release.yml`; else `github`"),
    Variable("PJRTWHEEL_ACCELERATORS", "backends → labels of self-hosted runners that have their hardware, as JSON"),
)
INTERNAL = (
    Variable("PJRTWHEEL_PYTHON_CHANGED", "when the Python that actions run on was changed"),
    Variable("PJRTWHEEL_PROVIDER", "where Bazel takes plugin libraries from"),
    Variable("PJRTWHEEL_RELEASE", "the release that Bazel builds"),
    Variable("PJRTWHEEL_BACKENDS", "the backends that Bazel builds"),
    Variable("PJRTWHEEL_LIBRARY", "the library of `--xla PATH`"),
    Variable("PJRTWHEEL_LIBRARY_SHA256", "its digest"),
)


def find_disabling(root: Path) -> Iterator[Variable]:
    """Yield the variable with which each backend's wheel is switched off."""
    for backend in load_backends(root).values():
        yield Variable(backend.disable, f"1 leaves JAX as it is without `{backend.distribution}`")


def find_settings(root: Path) -> Iterator[Variable]:
    """Yield the variables of each destination's settings, which are options of `publish` as well."""
    for destination in load_destinations(root).values():
        for setting in KINDS[destination.kind].settings:
            yield Variable(variable_of(destination.name, setting.name), f"`--{setting.name}`: {setting.summary}")


def list_variables(root: Path) -> Mapping[str, tuple[Variable, ...]]:
    """Return all variables by the heading that they are under."""
    return {
        "Builds": BUILDS,
        "Releases": (*RELEASES, *find_settings(root)),
        "Installed wheels": (*find_disabling(root), *WHEELS),
        "jaxlib-select": SELECT,
        "Tests": TESTS,
        "Workflows": WORKFLOWS,
        "Set by the tooling itself": INTERNAL,
    }

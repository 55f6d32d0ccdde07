# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`jaxlib-auto` from an index on loopback: what the real uv takes on forced machines, and what pip and plain uv take.

Packages are small ones with the names of the real ones; the GPU code is that of the real wheels.
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from folders import installed_in, site_packages_of
from package_index import run_installer, serve_folder
from pjrtwheel.backend import load_backends
from pjrtwheel.environment.interpreters import Interpreter
from pjrtwheel.environment.venv import create_venv, find_uv
from pjrtwheel.installs.stage import open_stage
from pjrtwheel.installs.tries import install_command
from pjrtwheel.products.auto import build_auto
from pjrtwheel.products.index import write_index
from release_entries import write_small_wheel
from release_under_test import release_under_test

pytestmark = [pytest.mark.integration, pytest.mark.slow]

RELEASE = release_under_test()
VERSION = RELEASE.set_version
FACTS = "selector/jaxlib_select/facts"
NVIDIA = (
    "nvidia_cudnn_cu12-9.10.2.21",
    "nvidia_cudnn_cu12-9.28.0.1",
    "nvidia_cublas-13.1.0.3",
    "nvidia_cublas-13.5.0.1",
)
BRINGS = {"cuda12": "nvidia-cudnn-cu12>=9.8,<10", "cuda13": "nvidia-cublas>=13.0,<14"}

X86, ARM = "x86_64-manylinux_2_31", "aarch64-manylinux_2_31"
CPU = {"jaxlib-cpu": VERSION}
CUDA12 = {"jaxlib-cuda-12": VERSION, "nvidia-cudnn-cu12": "9.28.0.1"}
LEGACY = {"jaxlib-cuda-12": VERSION, "nvidia-cudnn-cu12": "9.10.2.21"}
CUDA13 = {"jaxlib-cuda-13": VERSION, "nvidia-cublas": "13.5.0.1"}

# Machine, platform, CUDA version of its driver and compute capability of its best GPU → what must be installed.
MACHINES = [
    ("no accelerator", X86, "", "", CPU),
    ("H100", X86, "13.0", "9.0", CUDA13),
    ("H100, older driver", X86, "12.8", "9.0", CUDA12),
    ("V100", X86, "13.0", "7.0", LEGACY),
    ("GTX 750, too old for JAX", X86, "12.4", "5.0", CPU),
    ("B200", X86, "13.0", "10.0", CUDA13),
    ("a GPU to come", X86, "14.0", "13.0", CUDA13),
    ("driver too old", X86, "11.8", "8.0", CPU),
    ("TPU", X86, "tpu", "", {"jaxlib-tpu": VERSION}),
    ("GH200", ARM, "13.0", "9.0", CUDA13),
    ("GB10", ARM, "13.0", "12.1", CUDA13),
    ("Thor", ARM, "13.0", "11.0", CUDA13),
    ("Orin", ARM, "13.0", "8.7", CPU),
]


@pytest.fixture(scope="module")
def address(root: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Return the address of an index with small packages for everything, and `jaxlib-auto` as we build it."""
    dist = tmp_path_factory.mktemp("dist")
    facts = json.loads((root / FACTS / f"{RELEASE.version}.json").read_text())
    known = {entry["name"]: entry for entry in facts["backends"]}
    entries = [write_small_wheel(dist / f"{name}-py3-none-any.whl") for name in (f"jaxlib-{VERSION}", *NVIDIA)]
    for name, backend in load_backends(root).items():
        brings = [f'{BRINGS[name]}; extra == "with-cuda"'] if name in BRINGS else []
        for platform, tag in backend.tags.items():
            path = dist / f"{backend.distribution.replace('-', '_')}-{VERSION}-cp312-abi3-{tag}.whl"
            entry = write_small_wheel(
                path, [f"jaxlib=={VERSION}", *brings], gpu_code=known[name]["code"].get(platform, [])
            )
            if toolkit := known[name]["select"].get("toolkit"):
                major, minor = map(int, toolkit.split("."))
                entry["proof"]["pjrt_attributes"] = {"cuda_version": str(1000 * major + 10 * minor)}
            entries.append(entry)
    (dist / "release.json").write_text(json.dumps({"schema": 2, "wheels": entries}))
    build_auto(root, dist, RELEASE)
    write_index(dist, dist / "simple")
    with serve_folder(dist / "simple") as served:
        yield served


def installed(folder: Path) -> dict[str, str]:
    """Return what was installed with jaxlib-auto and jaxlib."""
    found = installed_in(folder)
    assert found.pop("jaxlib-auto") == found.pop("jaxlib") == VERSION
    return found


def forced(cuda: str, capability: str) -> dict[str, str]:
    """Return the variables by which uv believes in an accelerator, or in none."""
    variables = {"TPU_VARIANT_PROVIDER_FORCE_PRESENT": "true" if cuda == "tpu" else "false"}
    if capability:
        variables["NV_VARIANT_PROVIDER_FORCE_CUDA_DRIVER_VERSION"] = cuda
        variables["NV_VARIANT_PROVIDER_FORCE_SM_ARCH"] = capability
    return variables


@pytest.mark.parametrize(
    ("platform", "cuda", "capability", "expected"), [row[1:] for row in MACHINES], ids=[row[0] for row in MACHINES]
)
def test_uv_takes_what_runs_on_the_machine(
    platform: str,
    cuda: str,
    capability: str,
    expected: dict[str, str],
    address: str,
    interpreter: Interpreter,
    tmp_path: Path,
) -> None:
    """The variant, and through it the accelerator package with the bounds that the GPU needs."""
    where = ("--python", interpreter.path, "--target", tmp_path / "site", "--python-platform", platform)
    options = ("--preview-features", "wheel-variants", "--index-url", address)
    # An empty PATH hides the nvidia-smi of a machine that has one.
    variables = {"PATH": str(tmp_path), **forced(cuda, capability)}
    run_installer(find_uv(), "pip", "install", *where, *options, "jaxlib-auto", variables=variables)
    assert installed(tmp_path / "site") == expected


@pytest.mark.parametrize("installer", ["pip", "uv"])
def test_installers_without_variants_take_the_cpu(
    installer: str, address: str, interpreter: Interpreter, tmp_path: Path
) -> None:
    """They see the plain wheel only, whatever the machine has."""
    python = create_venv(interpreter, tmp_path / "venv")
    command = install_command(installer, open_stage(address), python, ["jaxlib-auto"])
    run_installer(*command, variables=forced("13.0", "9.0"))
    assert installed(site_packages_of(python)) == CPU

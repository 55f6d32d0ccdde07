# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the wheels for CUDA decide from what they find: libraries, versions, drivers, GPUs."""

import functools
import itertools
import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from folders import write_files
from jaxlib_select.choose.cuda import runs
from loaders import load_module, load_toolkit
from release_under_test import ROOT

TOOLKITS = json.loads((ROOT / "tests/data/nvidia_libraries.json").read_text("utf-8"))

# Each needs those before it, which the dynamic linker would look for along LD_LIBRARY_PATH.
CHAINS = (("libcublasLt", "libcublas", "libcusolver"), ("libnvJitLink", "libcusparse", "libcusolver"))

# What the wheels are built and tested with.
GOOD = {"CUDA runtime": 12090, "cuBLAS": 120901, "CUPTI": 28, "cuSPARSE": 12510, "cuFFT": 11401, "cuDNN": 91002}
MINIMUM = {"CUDA runtime": 12010, "cuBLAS": 120100, "CUPTI": 18, "cuSPARSE": 12100, "cuFFT": 11002, "cuDNN": 91000}


@pytest.mark.parametrize("backend", TOOLKITS)
def test_libraries_are_found_where_the_wheels_put_them(tmp_path: Path, backend: str) -> None:
    """Whole paths below site-packages, in both of NVIDIA's layouts."""
    toolkit = load_toolkit(backend)
    folders = TOOLKITS[backend].items()
    paths = [f"nvidia/{folder}/lib/{name}" for folder, names in folders for name in names.split()]
    write_files(tmp_path, dict.fromkeys(paths, ""))
    wanted = load_module(backend, "cuda.toolkit").wanted_libraries(toolkit, [tmp_path / "nvidia"], [])
    first = {load_module(backend, "pjrt.preload").candidates(library)[0] for library in wanted}
    assert first == {str(tmp_path / path) for path in paths}


@pytest.mark.parametrize("backend", TOOLKITS)
def test_no_library_is_opened_before_those_it_needs(backend: str) -> None:
    """Else an older one of LD_LIBRARY_PATH would come with it."""
    order = [library.soname.partition(".")[0] for library in load_toolkit(backend).libraries]
    assert [sorted(chain, key=order.index) for chain in CHAINS] == [list(chain) for chain in CHAINS]


@pytest.mark.parametrize(
    ("changes", "devices", "named"),
    [
        ({}, 8, []),
        ({"cuDNN": 91000}, 1, ["cuDNN 9.10.0"]),
        ({"cuDNN": 90800}, 1, ["cuDNN 9.8.0"]),
        ({"cuBLAS": 120008, "cuSPARSE": 12002}, 1, ["cuBLAS 12.0.8", "cuSPARSE 12.0.2"]),
        ({"CUDA runtime": 12000}, 1, ["CUDA runtime 12.0"]),
        ({"CUPTI": 17}, 1, ["CUPTI 17"]),
        ({"cuFFT": 11001}, 1, ["cuFFT 11.0.1"]),
        ({"cuDNN": 91001}, 8, []),
    ],
    ids=str,
)
def test_versions_that_do_not_work(changes: dict[str, int], devices: int, named: list[str]) -> None:
    """All of them at once; a build with the odd cuDNN may run with it."""
    find_problems = load_module("cuda12", "cuda.versions").find_problems
    texts = [problem.text for problem in find_problems(GOOD | changes, MINIMUM, GOOD, devices)]
    assert [text.startswith(f"{name} ") for text, name in zip(texts, named, strict=True)] == [True] * len(named)
    assert find_problems({"cuDNN": 91000}, MINIMUM, {"cuDNN": 91000}, 1) == []


@pytest.mark.parametrize(
    ("cudnn", "cublas", "devices", "wrong"),
    [(90900, 120900, 2, 1), (90900, 120900, 1, 0), (90900, 120899, 2, 0), (91001, 120900, 2, 0)],
)
def test_wrong_products_on_several_gpus(cudnn: int, cublas: int, devices: int, wrong: int) -> None:
    """Only the combination is at fault, so each part of it is needed."""
    found = {"cuDNN": cudnn, "cuBLAS": cublas}
    assert len(load_module("cuda12", "cuda.versions").find_problems(found, {}, GOOD, devices)) == wrong


@pytest.mark.parametrize(
    ("cublas", "capabilities", "warned"),
    [(120800, (100,), 1), (130199, (90, 110), 1), (120799, (100,), 0), (130200, (100,), 0), (120900, (90, 120), 0)],
)
def test_tensor_memory(cublas: int, capabilities: tuple[int, ...], warned: int) -> None:
    """Users of such GPUs are warned, and not stopped."""
    versions = load_module("cuda12", "cuda.versions")
    assert versions.find_warnings({"cuBLAS": cublas}, capabilities) == [versions.CUBLAS_TENSOR_MEMORY] * warned


def test_versions_are_numbers_in_whatever_form_they_come() -> None:
    """Properties are put together as the library's own number would be."""
    versions = load_module("cuda12", "cuda.versions")
    by_name = {component.name: component for component in versions.COMPONENTS}
    assert versions.as_number(by_name["cuBLAS"], (12, 9, 1)) == 120901
    assert versions.as_number(by_name["cuSPARSE"], (12, 5, 10)) == 12510
    assert versions.as_number(by_name["cuDNN"], 91002) == 91002
    texts = [versions.as_text(component, GOOD[component.name]) for component in versions.COMPONENTS]
    assert texts == ["12.9", "12.9.1", "28", "12.5.10", "11.4.1", "9.10.2"]


@pytest.mark.parametrize(
    ("devices", "hidden"),
    [
        ([], False),
        ([("0x10de", "0x030000")], True),
        ([("0x10de", "0x030200"), ("0x10de", "0x040300")], True),
        ([("0x10de", "0x040300")], False),
        ([("0x1002", "0x030000")], False),
    ],
    ids=["none", "display", "compute and sound", "sound only", "another vendor"],
)
def test_a_gpu_without_a_device(tmp_path: Path, devices: list[tuple[str, str]], *, hidden: bool) -> None:
    """The PCI bus shows it in containers that were not given it, and where there is no driver."""
    for number, (vendor, kind) in enumerate(devices):
        folder = tmp_path / f"sys/bus/pci/devices/0000:00:0{number}.0"
        folder.mkdir(parents=True)
        (folder / "vendor").write_text(f"{vendor}\n", "ascii")
        (folder / "class").write_text(f"{kind}\n", "ascii")
    error = load_module("cuda13", "cuda.hardware").describe_absence(tmp_path, 580)
    assert (error.quiet, error.hidden) == (True, hidden)
    assert ("/dev/nvidiactl" in error.what, "580" in error.remedy) == (True, hidden)


@pytest.fixture
def make_inventory(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Return a function: backend, what the extension answers about a version → an inventory of opened libraries."""

    def make(backend: str, answer: Callable[[str, str, str], int], *, driver_works: bool = True) -> Any:
        module, preload = load_module(backend, "cuda.inventory"), load_module(backend, "pjrt.preload")
        toolkit, kernels = load_toolkit(backend), load_module(backend, "pjrt.kernels").Kernels
        inventory = module.Inventory(toolkit, kernels("none", ""), lambda: driver_works)
        names = [library.soname for library in toolkit.libraries]
        inventory.wanted = tuple(map(preload.Wanted, names))
        inventory.preloaded = preload.Preloaded({name: name for name in names}, {})
        monkeypatch.setattr(module, "import_extension", lambda: SimpleNamespace(library_version=answer))
        return inventory

    return make


@pytest.mark.parametrize(
    ("devices", "gaps"),
    [(0, ["nvrtc", "nvJitLink", "cublasLt", "cusolver"]), (2, ["nvrtc", "nvJitLink", "cublasLt", "nccl", "cusolver"])],
)
def test_libraries_without_which_only_some_programs_end(
    make_inventory: Callable[..., Any], devices: int, gaps: list[str]
) -> None:
    """NCCL is for several GPUs, and NVSHMEM for programs that ask for it."""
    inventory = make_inventory("cuda13", lambda *_: 0)
    names = dict.fromkeys(inventory.preloaded.opened, "gone")
    inventory.preloaded = type(inventory.preloaded)({}, names)
    problems = inventory.find_gaps(devices)
    assert [problem.text.partition(" is missing")[0] for problem in problems] == gaps
    assert "nvidia-cusolver" in inventory.projects(problems)


def test_a_library_that_is_not_what_it_is_called(make_inventory: Callable[..., Any]) -> None:
    """One that the dynamic linker found, and that has no function to tell its version: no blank version."""

    def library_version(name: str, symbol: str, _: str) -> int:
        if name == "libcudnn.so.9":
            raise OSError(f"{name} has no function {symbol}")
        return 999999

    inventory = make_inventory("cuda13", library_version)
    (problem,) = inventory.find_problems(1)
    assert ("libcudnn.so.9" in problem.text, "cudnnGetVersion" in problem.text) == (True, True)
    assert inventory.projects([problem]) == ["nvidia-cudnn-cu13"]


@pytest.mark.parametrize(
    ("backend", "runtime", "wrong"),
    [("cuda12", 12090, 0), ("cuda12", 13050, 1), ("cuda13", 12090, 1), ("cuda13", 13050, 0)],
)
def test_cudnn_for_another_cuda(make_inventory: Callable[..., Any], backend: str, runtime: int, wrong: int) -> None:
    """NVIDIA's wheels for CUDA 12 and 13 have it at one path; it tells itself what it was built with."""
    answers = {("libcudnn.so.9", "cudnnGetCudartVersion", "value"): runtime}
    inventory = make_inventory(backend, lambda *call: answers[call])
    assert [text.startswith("cuDNN ") for text in inventory.find_mixture()] == [True] * wrong


@pytest.mark.parametrize("driver_works", [False, True])
@pytest.mark.parametrize("backend", TOOLKITS)
def test_cupti_is_asked_where_the_driver_works(
    make_inventory: Callable[..., Any], backend: str, *, driver_works: bool
) -> None:
    """That of CUDA 13.2 ends the process elsewhere; it is not reported as missing for that."""
    asked: list[str] = []

    def library_version(_: str, symbol: str, _form: str) -> int:
        asked.append(symbol)
        return 999999

    versions = make_inventory(backend, library_version, driver_works=driver_works).versions()
    assert (versions.problems, len(versions.silent)) == ([], int(not driver_works))
    assert ("cuptiGetVersion" in asked, len(asked)) == (driver_works, 5 + driver_works)
    assert len(versions.found) == len(asked)


@pytest.mark.parametrize("status", [34, 46, 304, 802, 803, 804, 805, 999])
def test_a_driver_that_does_not_start_is_an_error(status: int) -> None:
    """The hardware is there, so JAX must not go on in silence; many hide all GPUs from one program on purpose."""
    explain = load_module("cuda12", "cuda.driver").explain
    error = explain(status, None)
    assert (type(error).__name__, error.quiet, bool(error.remedy)) == ("DriverError", False, True)
    assert (explain(100, "").quiet, "CUDA_VISIBLE_DEVICES" in explain(100, "").what) == (True, True)


@pytest.mark.parametrize(
    ("backend", "version", "branch", "other"),
    [("cuda13", 12080, 580, True), ("cuda13", 11040, 580, False), ("cuda12", 11040, 525, False)],
)
def test_a_driver_that_is_too_old(backend: str, version: int, branch: int, other: bool) -> None:
    """The driver's branch is named, because that is what users install, and a wheel only where there is one."""
    driver, nvidia = load_module(backend, "cuda.driver"), load_module(backend, "cuda.nvidia")
    toolkit, error = load_toolkit(backend), load_module(backend, "pjrt.errors").DriverError
    nvidia.check_driver(driver.Driver(toolkit.major * 1000, (90,)), toolkit, "it")
    with pytest.raises(error, match=f"{version // 1000}.{version % 1000 // 10}") as caught:
        nvidia.check_driver(driver.Driver(version, (90,)), toolkit, "it")
    assert (str(branch) in caught.value.remedy, "wheel for CUDA 12" in caught.value.remedy) == (True, other)


def test_selector_and_loader_agree_which_gpu_runs_which_code() -> None:
    """For all capabilities there are or may come, with a driver that compiles the PTX."""
    runs_on = load_module("cuda12", "cuda.hardware")._runs_on
    compiling = functools.partial(runs, tegra=False, cuda=(13, 0), driver=(13, 0), toolkit=(13, 0))
    numbers = [major * 10 + minor for major in range(3, 16) for minor in range(10)]
    for kind, target, suffix in itertools.product(("sm", "compute"), numbers, ("", "a", "f")):
        name = f"{kind}_{target}{suffix}"
        expected = [number for number in numbers if compiling(divmod(number, 10), [name])]
        assert [number for number in numbers if runs_on(name, number)] == expected, name

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What the wheels for CUDA decide from what they find: libraries, versions, drivers, GPUs."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace

import pytest

from jaxlib_select.choose.cuda import runs

Loader = Callable[[str, str], ModuleType]

TOOLKITS = {
    "cuda12": (
        "nvidia/cublas/lib/libcublas.so.12",
        "nvidia/cublas/lib/libcublasLt.so.12",
        "nvidia/cuda_cupti/lib/libcupti.so.12",
        "nvidia/cuda_nvrtc/lib/libnvrtc.so.12",
        "nvidia/cuda_runtime/lib/libcudart.so.12",
        "nvidia/cudnn/lib/libcudnn.so.9",
        "nvidia/cufft/lib/libcufft.so.11",
        "nvidia/cusolver/lib/libcusolver.so.11",
        "nvidia/cusparse/lib/libcusparse.so.12",
        "nvidia/nccl/lib/libnccl.so.2",
        "nvidia/nvjitlink/lib/libnvJitLink.so.12",
        "nvidia/nvshmem/lib/libnvshmem_host.so.3",
    ),
    "cuda13": (
        "nvidia/cu13/lib/libcublas.so.13",
        "nvidia/cu13/lib/libcublasLt.so.13",
        "nvidia/cu13/lib/libcudart.so.13",
        "nvidia/cu13/lib/libcufft.so.12",
        "nvidia/cu13/lib/libcupti.so.13",
        "nvidia/cu13/lib/libcusolver.so.12",
        "nvidia/cu13/lib/libcusparse.so.12",
        "nvidia/cu13/lib/libnvJitLink.so.13",
        "nvidia/cu13/lib/libnvrtc.so.13",
        "nvidia/cudnn/lib/libcudnn.so.9",
        "nvidia/nccl/lib/libnccl.so.2",
        "nvidia/nvshmem/lib/libnvshmem_host.so.3",
    ),
}

# Each needs those before it, which the dynamic linker would look for along LD_LIBRARY_PATH.
CHAINS = (("libcublasLt", "libcublas", "libcusolver"), ("libnvJitLink", "libcusparse", "libcusolver"))

# What the wheels are built and tested with.
GOOD = {"CUDA runtime": 12090, "cuBLAS": 120901, "CUPTI": 28, "cuSPARSE": 12510, "cuFFT": 11401, "cuDNN": 91002}
MINIMUM = {"CUDA runtime": 12010, "cuBLAS": 120100, "CUPTI": 18, "cuSPARSE": 12100, "cuFFT": 11002, "cuDNN": 91000}


@pytest.mark.parametrize("backend", TOOLKITS)
def test_libraries_are_found_where_the_wheels_put_them(load_module: Loader, tmp_path: Path, backend: str) -> None:
    """Whole paths below site-packages, in both of NVIDIA's layouts."""
    toolkit = load_module(backend, "toolkit").TOOLKIT
    for path in TOOLKITS[backend]:
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).touch()
    wanted = load_module(backend, "cuda.toolkit").wanted_libraries(toolkit, [tmp_path / "nvidia"], [])
    first = {load_module(backend, "pjrt.preload").candidates(library)[0] for library in wanted}
    assert first == {str(tmp_path / path) for path in TOOLKITS[backend]}


@pytest.mark.parametrize("backend", TOOLKITS)
def test_no_library_is_opened_before_those_it_needs(load_module: Loader, backend: str) -> None:
    """Else an older one of LD_LIBRARY_PATH would come with it."""
    order = [library.soname.partition(".")[0] for library in load_module(backend, "toolkit").TOOLKIT.libraries]
    assert [sorted(chain, key=order.index) for chain in CHAINS] == [list(chain) for chain in CHAINS]


def test_installed_toolkits_are_the_last_resort(load_module: Loader) -> None:
    """Those that the user names come before those in the usual places."""
    module = load_module("cuda12", "cuda.toolkit")
    homes = module.toolkit_homes(12, {"CUDA_HOME": "/my/cuda", "CUDA_PATH": ""})
    assert homes == [Path("/my/cuda"), Path("/usr/local/cuda-12"), Path("/usr/local/cuda")]
    toolkit = load_module("cuda12", "toolkit").TOOLKIT
    library = module.wanted_libraries(toolkit, [Path("/site/nvidia")], homes[:1])[0]
    assert library == load_module("cuda12", "pjrt.preload").Wanted(
        "libcudart.so.12",
        (Path("/site/nvidia/cuda_runtime/lib"),),
        (Path("/my/cuda/lib64"), Path("/my/cuda/extras/CUPTI/lib64")),
    )


@pytest.mark.parametrize(
    ("changes", "devices", "texts"),
    [
        ({}, 8, []),
        ({"cuDNN": 91000}, 1, ["cuDNN 9.10.0 numbers its block-scaled types in another way than every other version"]),
        ({"cuDNN": 90800}, 1, ["cuDNN 9.8.0 is too old: at least 9.10.0 is needed"]),
        ({"cuBLAS": 120008, "cuSPARSE": 12002}, 1, [
            "cuBLAS 12.0.8 is too old: at least 12.1.0 is needed",
            "cuSPARSE 12.0.2 is too old: at least 12.1.0 is needed",
        ]),
        ({"CUDA runtime": 12000}, 1, ["CUDA runtime 12.0 is too old: at least 12.1 is needed"]),
        ({"CUPTI": 17}, 1, ["CUPTI 17 is too old: at least 18 is needed"]),
        ({"cuFFT": 11001}, 1, ["cuFFT 11.0.1 is too old: at least 11.0.2 is needed"]),
        ({"cuDNN": 91001}, 8, []),
    ],
    ids=str,
)  # fmt: skip
def test_versions_that_do_not_work(
    load_module: Loader, changes: dict[str, int], devices: int, texts: list[str]
) -> None:
    """All of them at once, with the version that is here and the one that is needed."""
    problems = load_module("cuda12", "cuda.versions").find_problems(GOOD | changes, MINIMUM, GOOD, devices)
    assert [problem.text for problem in problems] == texts


@pytest.mark.parametrize(
    ("cudnn", "cublas", "devices", "wrong"),
    [(90900, 120900, 2, True), (90900, 120900, 1, False), (90900, 120899, 2, False), (91001, 120900, 2, False)],
)
def test_wrong_products_on_several_gpus(
    load_module: Loader,
    cudnn: int,
    cublas: int,
    devices: int,
    wrong: bool,  # noqa: FBT001
) -> None:
    """Only the combination is at fault, so each part of it is needed."""
    found = {"cuDNN": cudnn, "cuBLAS": cublas}
    problems = load_module("cuda12", "cuda.versions").find_problems(found, {}, GOOD, devices)
    text = "cuDNN before 9.10.1 computes wrong products on several GPUs together with cuBLAS 12.9 or newer"
    assert [problem.text for problem in problems] == [text] * wrong


def test_a_build_with_the_odd_cudnn_may_run_with_it(load_module: Loader) -> None:
    """It numbers the types in the same way."""
    find_problems = load_module("cuda12", "cuda.versions").find_problems
    assert find_problems({"cuDNN": 91000}, MINIMUM, {"cuDNN": 91000}, 1) == []


@pytest.mark.parametrize(
    ("cublas", "capabilities", "warned"),
    [
        (120800, (100,), True),
        (130199, (90, 110), True),
        (120799, (100,), False),
        (130200, (100,), False),
        (120900, (90, 120), False),
        (120900, (), False),
    ],
)
def test_tensor_memory(
    load_module: Loader,
    cublas: int,
    capabilities: tuple[int, ...],
    warned: bool,  # noqa: FBT001
) -> None:
    """Users of such GPUs are warned, and not stopped."""
    versions = load_module("cuda12", "cuda.versions")
    warnings = versions.find_warnings({"cuBLAS": cublas}, capabilities)
    assert warnings == [versions.CUBLAS_TENSOR_MEMORY] * warned


def test_versions_are_numbers_in_whatever_form_they_come(load_module: Loader) -> None:
    """Properties are put together as the library's own number would be."""
    versions = load_module("cuda12", "cuda.versions")
    by_name = {component.name: component for component in versions.COMPONENTS}
    assert versions.as_number(by_name["cuBLAS"], (12, 9, 1)) == 120901
    assert versions.as_number(by_name["cuSPARSE"], (12, 5, 10)) == 12510
    assert versions.as_number(by_name["cuDNN"], 91002) == 91002
    texts = [versions.as_text(component, GOOD[component.name]) for component in versions.COMPONENTS]
    assert texts == ["12.9", "12.9.1", "28", "12.5.10", "11.4.1", "9.10.2"]


@pytest.mark.parametrize("backend", TOOLKITS)
def test_a_plugin_runs_with_what_it_was_built_with(load_module: Loader, backend: str) -> None:
    """The tables agree with each other."""
    toolkit = load_module(backend, "toolkit").TOOLKIT
    inventory = load_module(backend, "cuda.inventory").Inventory(
        toolkit, load_module(backend, "pjrt.kernels").Kernels("none", ""), lambda: True
    )
    built = inventory.built()
    assert built == toolkit.built
    assert load_module(backend, "cuda.versions").find_problems(built, inventory.minimum(built), built, 8) == []
    assert inventory.minimum(built)["cuDNN"] == built["cuDNN"] // 100 * 100


@pytest.mark.parametrize(
    ("nodes", "found"),
    [((), False), (("dev/nvidia0",), True), (("dev/nvidiactl",), True), (("dev/dxg",), True), (("dev/null",), False)],
    ids=str,
)
def test_device_nodes(load_module: Loader, tmp_path: Path, nodes: tuple[str, ...], found: bool) -> None:  # noqa: FBT001
    """The same that JAX looks for."""
    (tmp_path / "dev").mkdir()
    for node in nodes:
        (tmp_path / node).touch()
    assert load_module("cuda12", "cuda.hardware").device_nodes(tmp_path) == ([f"/{node}"] if found else [])


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
def test_a_gpu_without_a_device(
    load_module: Loader,
    tmp_path: Path,
    devices: list[tuple[str, str]],
    hidden: bool,  # noqa: FBT001
) -> None:
    """The PCI bus shows it in containers that were not given it, and where there is no driver."""
    for number, (vendor, kind) in enumerate(devices):
        folder = tmp_path / f"sys/bus/pci/devices/0000:00:0{number}.0"
        folder.mkdir(parents=True)
        (folder / "vendor").write_text(f"{vendor}\n", "ascii")
        (folder / "class").write_text(f"{kind}\n", "ascii")
    error = load_module("cuda13", "cuda.hardware").describe_absence(tmp_path, 580)
    looked = "(looked for /dev/nvidia0, /dev/nvidiactl, /dev/dxg)"
    assert (error.quiet, error.hidden) == (True, hidden)
    assert error.sentences().splitlines() == (
        [
            f"there is an NVIDIA GPU on the PCI bus, but no device of its driver {looked}",
            "NVIDIA's driver is not installed, or the devices were not given to this container",
            "install NVIDIA's driver 580 or newer; in Docker: --gpus all",
        ]
        if hidden
        else [f"no NVIDIA GPU found {looked}"]
    )


@pytest.mark.parametrize(
    ("devices", "gaps"),
    [
        (0, ["nvrtc", "nvJitLink", "cublasLt", "cusolver"]),
        (2, ["nvrtc", "nvJitLink", "cublasLt", "nccl", "cusolver"]),
    ],
)
def test_libraries_without_which_only_some_programs_end(load_module: Loader, devices: int, gaps: list[str]) -> None:
    """NCCL is for several GPUs, and NVSHMEM for programs that ask for it."""
    module, preload = load_module("cuda13", "cuda.inventory"), load_module("cuda13", "pjrt.preload")
    toolkit = load_module("cuda13", "toolkit").TOOLKIT
    inventory = module.Inventory(toolkit, load_module("cuda13", "pjrt.kernels").Kernels("none", ""), lambda: True)
    inventory.wanted = tuple(preload.Wanted(library.soname) for library in toolkit.libraries)
    inventory.preloaded = preload.Preloaded({}, dict.fromkeys((wanted.soname for wanted in inventory.wanted), "gone"))
    problems = inventory.find_gaps(devices)
    assert [problem.text.partition(" is missing")[0] for problem in problems] == gaps
    assert "nvidia-cusolver" in inventory.projects(problems)


def test_a_library_that_is_not_what_it_is_called(load_module: Loader, monkeypatch: pytest.MonkeyPatch) -> None:
    """One that the dynamic linker found, and that has no function to tell its version: no blank version."""

    def library_version(name: str, symbol: str, _: str) -> int:
        if name == "libcudnn.so.9":
            raise OSError(f"{name} has no function {symbol}")
        return 999999

    module, preload = load_module("cuda13", "cuda.inventory"), load_module("cuda13", "pjrt.preload")
    toolkit = load_module("cuda13", "toolkit").TOOLKIT
    inventory = module.Inventory(toolkit, load_module("cuda13", "pjrt.kernels").Kernels("none", ""), lambda: True)
    inventory.preloaded = preload.Preloaded({library.soname: library.soname for library in toolkit.libraries}, {})
    monkeypatch.setattr(module, "import_extension", lambda: SimpleNamespace(library_version=library_version))
    problems = inventory.find_problems(1)
    assert [problem.text for problem in problems] == [
        "libcudnn.so.9 is not cuDNN: libcudnn.so.9 has no function cudnnGetVersion"
    ]
    assert inventory.projects(problems) == ["nvidia-cudnn-cu13"]


@pytest.mark.parametrize(
    ("backend", "runtime", "said"),
    [
        ("cuda12", 12090, []),
        ("cuda12", 13050, ["cuDNN is made for CUDA 13, and the plugin for CUDA 12"]),
        ("cuda13", 12090, ["cuDNN is made for CUDA 12, and the plugin for CUDA 13"]),
        ("cuda13", 13050, []),
    ],
)
def test_cudnn_for_another_cuda(
    load_module: Loader, monkeypatch: pytest.MonkeyPatch, backend: str, runtime: int, said: list[str]
) -> None:
    """NVIDIA's wheels for CUDA 12 and 13 have it at one path; it tells itself what it was built with."""
    asked = ("/site/nvidia/cudnn/lib/libcudnn.so.9", "cudnnGetCudartVersion", "value")
    module, preload = load_module(backend, "cuda.inventory"), load_module(backend, "pjrt.preload")
    toolkit, kernels = load_module(backend, "toolkit").TOOLKIT, load_module(backend, "pjrt.kernels").Kernels("none", "")
    inventory = module.Inventory(toolkit, kernels, lambda: True)
    inventory.preloaded = preload.Preloaded({"libcudnn.so.9": asked[0]}, {})
    answers = {asked: runtime}
    extension = SimpleNamespace(library_version=lambda *call: answers[call])
    monkeypatch.setattr(module, "import_extension", lambda: extension)
    assert [text.partition(":")[0] for text in inventory.find_mixture()] == said


@pytest.mark.parametrize("driver_works", [False, True])
@pytest.mark.parametrize("backend", TOOLKITS)
def test_cupti_is_asked_where_the_driver_works(
    load_module: Loader,
    monkeypatch: pytest.MonkeyPatch,
    backend: str,
    driver_works: bool,  # noqa: FBT001
) -> None:
    """That of CUDA 13.2 ends the process elsewhere; it is not reported as missing for that."""
    asked: list[str] = []

    def library_version(_: str, symbol: str, _form: str) -> int:
        asked.append(symbol)
        return 999999

    module, preload = load_module(backend, "cuda.inventory"), load_module(backend, "pjrt.preload")
    toolkit, kernels = load_module(backend, "toolkit").TOOLKIT, load_module(backend, "pjrt.kernels").Kernels("none", "")
    inventory = module.Inventory(toolkit, kernels, lambda: driver_works)
    inventory.preloaded = preload.Preloaded({library.soname: library.soname for library in toolkit.libraries}, {})
    monkeypatch.setattr(module, "import_extension", lambda: SimpleNamespace(library_version=library_version))
    versions = inventory.versions()
    text = "CUPTI was not asked for its version, which takes a working driver"
    assert (versions.problems, versions.silent) == ([], [] if driver_works else [text])
    assert ("cuptiGetVersion" in asked, len(asked), len(versions.found)) == (
        (True, 6, 6) if driver_works else (False, 5, 5)
    )


@pytest.mark.parametrize("status", [34, 46, 304, 802, 803, 804, 805, 999])
def test_a_driver_that_does_not_start_is_an_error(load_module: Loader, status: int) -> None:
    """The hardware is there, so JAX must not go on without it in silence; each cause has its remedy."""
    error = load_module("cuda12", "cuda.driver").explain(status, None)
    assert (type(error).__name__, error.quiet) == ("DriverError", False)
    assert error.what == f"NVIDIA's driver does not start: cuInit failed with status {status}"
    assert error.remedy


@pytest.mark.parametrize(
    ("visible", "text"),
    [(None, "NVIDIA's driver sees no GPU"), ("", "NVIDIA's driver sees no GPU (CUDA_VISIBLE_DEVICES is '')")],
)
def test_a_driver_without_gpus_is_no_error(load_module: Loader, visible: str | None, text: str) -> None:
    """Many hide the GPUs from one program on purpose."""
    error = load_module("cuda12", "cuda.driver").explain(100, visible)
    assert (type(error).__name__, error.quiet, error.what) == ("NoDeviceError", True, text)
    assert error.hidden, "the device node is there"


@pytest.mark.parametrize(
    ("backend", "version", "lines"),
    [
        (
            "cuda13",
            12080,
            [
                "DriverError: NVIDIA's driver runs CUDA up to 12.8, and jaxlib-cuda-13 needs CUDA 13.0",
                "update the driver to 580 or newer, or use the wheel for CUDA 12",
            ],
        ),
        (
            "cuda13",
            11040,
            [
                "DriverError: NVIDIA's driver runs CUDA up to 11.4, and jaxlib-cuda-13 needs CUDA 13.0",
                "update the driver to 580 or newer",
            ],
        ),
        (
            "cuda12",
            11040,
            [
                "DriverError: NVIDIA's driver runs CUDA up to 11.4, and jaxlib-cuda-12 needs CUDA 12.0",
                "update the driver to 525 or newer",
            ],
        ),
    ],
)
def test_a_driver_that_is_too_old(load_module: Loader, backend: str, version: int, lines: list[str]) -> None:
    """The driver's branch is named, because that is what users install, and a wheel only where there is one."""
    driver, nvidia = load_module(backend, "cuda.driver"), load_module(backend, "cuda.nvidia")
    toolkit = load_module(backend, "toolkit").TOOLKIT
    distribution = f"jaxlib-cuda-{toolkit.major}"
    nvidia.check_driver(driver.Driver(toolkit.major * 1000, (90,)), toolkit, distribution)
    with pytest.raises(load_module(backend, "pjrt.errors").DriverError) as caught:
        nvidia.check_driver(driver.Driver(version, (90,)), toolkit, distribution)
    assert str(caught.value).splitlines() == lines


@pytest.mark.parametrize(
    ("code", "capabilities", "missing"),
    [
        (("sm_75", "sm_80", "sm_90", "compute_120"), (75, 86, 90, 120, 121), []),
        (("sm_75", "sm_80"), (61, 70, 100), [61, 70, 100]),
        (("sm_90a",), (90, 91), [91]),
        (("sm_100f",), (100, 103, 110), [110]),
        (("compute_75",), (75, 90, 120), []),
        ((), (75,), []),
        (("gfx90a",), (75,), []),
    ],
    ids=str,
)
def test_gpus_for_which_there_is_no_code(
    load_module: Loader, code: tuple[str, ...], capabilities: tuple[int, ...], missing: list[int]
) -> None:
    """NVIDIA's rules: machine code within a major version, PTX on all later ones, suffixes narrower."""
    assert load_module("cuda12", "cuda.hardware").uncovered(code, capabilities) == missing


def test_selector_and_loader_agree_which_gpu_runs_which_code(load_module: Loader) -> None:
    """For all capabilities there are or may come, with a driver that compiles the PTX."""
    runs_on = load_module("cuda12", "cuda.hardware")._runs_on
    compiling = functools.partial(runs, tegra=False, cuda=(13, 0), driver=(13, 0), toolkit=(13, 0))
    numbers = [major * 10 + minor for major in range(3, 16) for minor in range(10)]
    for kind, target, suffix in itertools.product(("sm", "compute"), numbers, ("", "a", "f")):
        name = f"{kind}_{target}{suffix}"
        expected = [number for number in numbers if compiling(divmod(number, 10), [name])]
        assert [number for number in numbers if runs_on(name, number)] == expected, name

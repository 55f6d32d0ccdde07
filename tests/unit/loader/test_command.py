# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m <package>`: its arguments, and its answer on installations that are broken in one way or another."""

from __future__ import annotations

import functools
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
from pypjrt._abi import pjrt_0_114

from pjrtwheel.backend import Backend, load_backends
from plugin_status import verdict_of

ROOT = Path(__file__).resolve().parents[3]
BACKENDS = load_backends(ROOT)
GPUS = [backend for backend in BACKENDS.values() if backend.kernels]
LOCK = {
    "schema": 2,
    "release": "1.2.3",
    "version": "1.2.3",
    "build": 1,
    "provider": "prebuilt",
    "lock_id": "a" * 32,
}

RUN = "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); runpy.run_module(sys.argv.pop(1), run_name='__main__')"

# An extension that opens everything and finds that the library says nothing about itself.
FOREIGN = "def preload(*_): pass\ndef load(path): return None\ndef api_version(api): raise TypeError('no API')\n"

# One with the real dynamic linker.
LINKER = "import ctypes\ndef preload(path, _): ctypes.CDLL(path)\n"

# One that finds in the library what real ones have.
TALKING = (
    "def preload(*_): raise OSError('no such library')\n"
    "def load(path): return None\n"
    "def api_version(api): return 0, 115\n"
    "def extensions(api): return [(24, 56), (5, 48), (99, 8)]\n"
    "def attributes(api): return {'xla_version': 2, 'stablehlo_current_version': [1, 20, 0]}\n"
)

Loader = Callable[[str, str], ModuleType]
Install = Callable[..., Path]
Status = Callable[..., tuple[int, list[str]]]


@pytest.fixture
def install(put_loader: Callable[[str, Path], Path], tmp_path: Path) -> Install:
    """Return a function: backend, library, extension, versions → the site-packages with them."""

    def put(backend: Backend, library: bytes | None = None, extension: str | None = None, **versions: str) -> Path:
        package = put_loader(backend.name, tmp_path)
        for folder in (package, tmp_path / "jaxlib"):
            folder.mkdir(exist_ok=True)
            (folder / "release_lock.json").write_text(json.dumps(LOCK), "utf-8")
        for name, version in ({"jax": "1.2.3"} | versions).items():
            info = tmp_path / f"{name}-{version}.dist-info"
            info.mkdir()
            (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n", "utf-8")
        if library is not None:
            (package / backend.library).write_bytes(library)
        if extension is not None:
            (package / "pjrt/_pjrt.py").write_text(extension, "utf-8")
        return tmp_path

    return put


def call(site: Path, backend: Backend, *arguments: str, **options: object) -> subprocess.CompletedProcess[str]:
    """Run `python -m <package>` with arguments, without the rest of this environment."""
    command = [sys.executable, "-I", "-S", "-c", RUN, str(site), backend.package, *arguments]
    environ = {name: value for name, value in os.environ.items() if not name.startswith(("JAX", "PJRT"))}
    environ |= {str(name): str(value) for name, value in options.items()}
    return subprocess.run(command, capture_output=True, text=True, check=False, env=environ)


@pytest.fixture
def status(install: Install) -> Status:
    """Return a function: what `install` takes → exit status and lines, without the folder."""

    def ask(backend: Backend, *files: object, **environ: str) -> tuple[int, list[str]]:
        site = install(backend, *files)
        result = call(site, backend, **environ)
        assert result.stderr == ""
        return result.returncode, result.stdout.replace(f"{site}/", "").splitlines()

    return ask


def problems(lines: list[str]) -> list[str]:
    """Return the first line of each problem."""
    return [line[12:] for line in lines if line.startswith("problem ")]


@pytest.mark.parametrize("backend", BACKENDS.values(), ids=BACKENDS)
def test_help_is_given(install: Install, backend: Backend) -> None:
    """With what the exit status means; nothing is opened for it."""
    result = call(install(backend), backend, "--help")
    assert (result.returncode, result.stderr) == (0, "")
    first, *others = result.stdout.splitlines()
    assert first == f"usage: python -m {backend.package} [--help] [--json] [--no-open]"
    assert [line[:4] for line in others[-3:]] == ["  0 ", "  1 ", "  2 "]


@pytest.mark.parametrize("backend", BACKENDS.values(), ids=BACKENDS)
def test_arguments_that_there_are_not(install: Install, backend: Backend) -> None:
    """Refused in one line, with another status than that of a misfit."""
    result = call(install(backend), backend, "--json", "--xml")
    module = f"python -m {backend.package}"
    refusal = f"{module}: unknown argument '--xml' (see {module} --help)\n"
    assert (result.returncode, result.stdout, result.stderr) == (2, "", refusal)


@pytest.mark.parametrize("option", [(), ("--help",)], ids=["status", "help"])
def test_a_reader_that_has_gone(install: Install, option: tuple[str, ...]) -> None:
    """As `| head -1` leaves: no traceback, and the status is what it would have been."""
    site, backend = install(BACKENDS["cuda13"]), BACKENDS["cuda13"]
    reading, writing = os.pipe()
    os.close(reading)
    command = [sys.executable, "-I", "-S", "-c", RUN, str(site), backend.package, *option]
    result = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (result.returncode, result.stderr) == (0 if option else 1, "")


@pytest.mark.parametrize("option", [(), ("--help",)], ids=["status", "help"])
def test_a_full_disk(install: Install, option: tuple[str, ...]) -> None:
    """One line says so, and an answer that was not written is no success."""
    site, backend = install(BACKENDS["cuda13"]), BACKENDS["cuda13"]
    command = [sys.executable, "-I", "-S", "-c", RUN, str(site), backend.package, *option]
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (result.returncode, result.stderr) == (1, "cannot write the answer: No space left on device\n")


@pytest.mark.parametrize("backend", GPUS, ids=lambda item: item.name)
def test_a_library_that_is_missing(status: Status, backend: Backend) -> None:
    """It is looked for before those of the vendor are."""
    library = f"{backend.package}/{backend.library}"
    code, lines = status(backend)
    assert (code, problems(lines)) == (1, [f"cannot read the plugin library {library}: No such file or directory"])
    assert lines[1] == f"{backend.distribution} 1.2.3, build 1, lock {'a' * 32}, prebuilt"
    assert verdict_of("\n".join(lines)) == (
        f"{backend.distribution} does not fit here. "
        "To fix it (add the --find-links or --index-url that both wheels came from): "
        f"uv pip install --force-reinstall --no-deps jaxlib==1.2.3 {backend.distribution}==1.2.3"
    )


@pytest.mark.parametrize("backend", GPUS, ids=lambda item: item.name)
def test_a_library_that_is_truncated(status: Status, backend: Backend, make_elf: Callable[..., bytes]) -> None:
    """Its list of needed libraries is not read."""
    whole = make_elf(needed=("libvendor.so.1",))
    code, lines = status(backend, whole[:300])
    (problem,) = problems(lines)
    assert (code, problem.partition(" is ")[2]) == (1, f"truncated: 300 bytes of at least {len(whole)}")


@pytest.mark.parametrize("backend", GPUS, ids=lambda item: item.name)
def test_an_extension_that_cannot_be_imported(status: Status, backend: Backend, make_elf: Callable[..., bytes]) -> None:
    """Its file is missing."""
    code, lines = status(backend, make_elf())
    text = f"cannot import the extension of {backend.distribution}: No module named '{backend.package}.pjrt._pjrt'"
    assert (code, problems(lines)) == (1, [text])


@pytest.mark.parametrize("backend", GPUS, ids=lambda item: item.name)
def test_an_unexpected_error(status: Status, backend: Backend, make_elf: Callable[..., bytes]) -> None:
    """The same last resort as inside JAX."""
    code, lines = status(backend, make_elf(), FOREIGN)
    assert code == 1
    assert problems(lines)[0] == f"{backend.distribution} cannot serve this JAX: TypeError: no API"


def test_what_is_wrong_is_reported_at_once(status: Status, make_elf: Callable[..., bytes]) -> None:
    """Extensions by PJRT's names; libraries, kernels and all else that keeps JAX from using the plugin."""
    environ = {"JAX_PLATFORMS": "cpu,tpu", "JAXLIB_CUDA_13_DISABLE": "1", "CUDA_HOME": "/nowhere"}
    code, lines = status(BACKENDS["cuda13"], make_elf(), TALKING, **environ)
    shown = {line[:11].strip(): line[12:] for line in lines[1:-1] if line[0] != " "}
    assert (shown["PJRT API"], shown["extensions"]) == ("0.115", "XlaTransform, FFI, 99")
    assert shown["attributes"] == "xla_version 2, stablehlo_current_version 1.20.0"
    assert shown["runs with"].partition(", ")[2] == "jaxlib not installed, jax 1.2.3"
    python = f"{sys.version_info.major}.{sys.version_info.minor}"
    off, left_out, kernels, libraries = problems(lines)
    assert code == 1
    assert off == "JAXLIB_CUDA_13_DISABLE is set, so JAX does not use jaxlib-cuda-13"
    assert left_out == "JAX_PLATFORMS=cpu,tpu leaves JAX's platform 'cuda' out"
    assert kernels.startswith(f"jaxlib-cuda-13 has no GPU kernels for Python {python}: ")
    names = "CUDA runtime, cuBLAS, CUPTI, cuSPARSE, cuFFT, cuDNN, nvrtc, nvJitLink, cublasLt, cusolver"
    # Those of which this machine has a file cannot be opened, the others are missing.
    assert re.findall(r"(\w[\w ]*) (?:is missing|cannot be opened)", libraries) == names.split(", ")
    assert (
        verdict_of("\n".join(lines))
        == "jaxlib-cuda-13 is switched off: JAXLIB_CUDA_13_DISABLE is set. To use it: unset JAXLIB_CUDA_13_DISABLE"
    )


@pytest.mark.parametrize(
    ("versions", "problem", "remedy"),
    [
        ({"jax": "1.2.2"}, "jax 1.2.2 refuses the newer jaxlib 1.2.3", "uv pip install jax==1.2.3"),
        (
            {"jax_cuda13_plugin": "1.2.1"},
            "jax-cuda13-plugin 1.2.1 is installed in addition to jaxlib-cuda-13 1.2.3, which has kernels of its own",
            "uv pip uninstall jax-cuda13-plugin",
        ),
    ],
    ids=["old JAX", "upstream's kernels"],
)
def test_others_of_another_version(
    install: Install, make_elf: Callable[..., bytes], versions: dict[str, str], problem: str, remedy: str
) -> None:
    """Each is named, with the command."""
    site, backend = install(BACKENDS["cuda13"], make_elf(), TALKING, **versions), BACKENDS["cuda13"]
    lines = call(site, backend).stdout.splitlines()
    assert problems(lines)[0] == problem
    assert verdict_of("\n".join(lines)) == f"jaxlib-cuda-13 does not fit here. To fix it: {remedy}"


def test_a_jaxlib_of_another_build(install: Install, make_elf: Callable[..., bytes]) -> None:
    """Reported without the name of the error's class, and nothing is opened."""
    site, backend = install(BACKENDS["cuda13"], make_elf(), TALKING, jaxlib="1.2.3"), BACKENDS["cuda13"]
    (site / "jaxlib/release_lock.json").write_text(json.dumps(LOCK | {"lock_id": "b" * 32}), "utf-8")
    result = call(site, backend)
    (problem,) = problems(result.stdout.splitlines())
    (surroundings,) = (line for line in result.stdout.splitlines() if line.startswith("runs with"))
    assert "jaxlib 1.2.3 (ours), jax 1.2.3" in surroundings
    assert (result.returncode, problem) == (
        1,
        (
            f"jaxlib-cuda-13 1.2.3 (lock {'a' * 32}, prebuilt) and jaxlib 1.2.3 (lock {'b' * 32}, prebuilt) "
            "are not of one build"
        ),
    )
    assert "PJRT API" not in result.stdout
    nodes = any((Path("/dev") / node).exists() for node in ("nvidia0", "nvidiactl", "dxg"))
    answer = ask_json(site, backend)
    assert (answer["vendor"], answer["absence"] is None) == (None, nodes)  # JAX goes on without the hardware


@pytest.mark.parametrize(
    ("backend", "rival", "package", "label", "yields"),
    [
        ("cuda13", "jax-cuda13-pjrt", "jax_plugins.xla_cuda13", "problem", "jaxlib-cuda-13"),
        ("cuda12", "jaxlib-cuda-13", "jaxlib_cuda_13", "problem", "jaxlib-cuda-12"),
        ("cuda13", "jaxlib-cuda-12", "jaxlib_cuda_12", "not used", "jaxlib-cuda-12"),
    ],
    ids=["upstream's", "the newer of ours", "the older of ours"],
)
def test_other_plugins_for_the_platform(
    install: Install, backend: str, rival: str, package: str, label: str, yields: str
) -> None:
    """In the words of the loader that is not used; only that one does not fit."""
    site = install(BACKENDS[backend])
    info = site / f"{rival.replace('-', '_')}-1.2.3.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {rival}\nVersion: 1.2.3\n", "utf-8")
    (info / "entry_points.txt").write_text(f"[jax_plugins]\nx = {package}\n", "utf-8")
    lines = call(site, BACKENDS[backend]).stdout.splitlines()
    other = rival if yields != rival else BACKENDS[backend].distribution
    text = f"{yields} is not used: {other} is for JAX's platform 'cuda' as well, and JAX can take only one"
    assert f"{label:<11} {text}" in lines
    note, remedy = (line for line in lines if "pip uninstall " in line)
    place = lines.index(f"{label:<11} {text}")
    assert [note, remedy] == (lines[-2:] if label == "problem" else lines[place + 1 : place + 3])
    assert note[12:] == f"to keep {other} instead: uv pip uninstall {yields}"


def test_a_text_in_the_place_of_a_vendors_library(
    status: Status, make_elf: Callable[..., bytes], tmp_path: Path
) -> None:
    """The file is named in the cause, the vendor's installation is the remedy."""
    (tmp_path / "rocm/lib").mkdir(parents=True)
    (tmp_path / "rocm/lib/libvendor.so.1").write_text("INPUT(libvendor.so.1.2)\n", "utf-8")
    library = make_elf(needed=("libvendor.so.1",))
    code, lines = status(BACKENDS["rocm7"], library, LINKER, ROCM_PATH=str(tmp_path / "rocm"))
    expected = "jaxlib-rocm-7 needs libvendor.so.1 (looked in rocm/lib, "
    assert (code, problems(lines)[0][: len(expected)]) == (1, expected)
    assert any(line.strip().startswith("rocm/lib/libvendor.so.1 is not a library: not an ELF file; ") for line in lines)


@pytest.mark.parametrize(
    ("raised", "misfits", "verdict"),
    [
        ([], 0, "jaxlib-cuda-13 fits here: JAX uses it for its platform 'cuda'"),
        (
            [("NoDeviceError", "no GPU", {})],
            0,
            "jaxlib-cuda-13 fits, but JAX cannot use it here: no GPU",
        ),
        (
            [("NoDeviceError", "no GPU", {"remedy": "look again"})],
            0,
            "jaxlib-cuda-13 fits, but JAX cannot use it here: no GPU (look again)",
        ),
        (
            [("NoDeviceError", "the GPU hides", {"remedy": "give it", "hidden": True})],
            1,
            "jaxlib-cuda-13 does not fit here. To fix it: give it",
        ),
        ([("DriverError", "it is silent", {})], 1, "jaxlib-cuda-13 does not fit here: it is silent"),
        (
            [("VendorLibraryGapError", "no solver", {"remedy": "get it"})],
            1,
            "jaxlib-cuda-13 does not run all programs here. To fix it: get it",
        ),
        (
            [("KernelsMissingError", "no kernels", {"remedy": "a"}), ("DriverError", "too old", {"remedy": "b"})],
            2,
            "jaxlib-cuda-13 does not fit here. To fix it: b",
        ),
        (
            [("DriverError", "a", {}), ("LockMismatchError", "b", {"remedy": "c"}), ("DriverError", "a", {})],
            2,
            "jaxlib-cuda-13 does not fit here. To fix it: c",
        ),
    ],
    ids=[
        "all well",
        "absent",
        "absent with a hint",
        "hidden",
        "no remedy",
        "degraded",
        "degraded and worse",
        "several",
    ],
)
def test_the_first_line_says_whether_it_fits_and_the_last_what_to_do(
    load_module: Loader, raised: list[tuple[str, str, dict[str, object]]], misfits: int, verdict: str
) -> None:
    """Hardware that is not there is no misfit; hardware without a device is one."""
    plugin = load_module("cuda13", "").ACCELERATOR.plugin
    report = load_module("cuda13", "pjrt.examine").start_report(plugin, ["cuda"], 500)
    report.problems.clear()
    errors = load_module("cuda13", "pjrt.errors")

    def fail(name: str, what: str, more: Mapping[str, object]) -> None:
        raise getattr(errors, name)(what, **more)

    for refusal in raised:
        report.check(functools.partial(fail, *refusal))
    text = "\n".join(load_module("cuda13", "pjrt.report").to_text(report))
    assert (len(report.problems), verdict_of(text)) == (misfits, verdict)


def test_names_of_extensions_are_pjrts(load_module: Loader) -> None:
    """Those of the header from which pypjrt's table was generated, in its order."""
    prefix = "PJRT_Extension_Type_"
    known = {
        getattr(pjrt_0_114, name): name.removeprefix(prefix) for name in dir(pjrt_0_114) if name.startswith(prefix)
    }
    names = load_module("cuda13", "pjrt.api").NAMES
    assert dict(enumerate(names)) == known


def ask_json(site: Path, backend: Backend, *options: str, **environ: object) -> dict[str, Any]:
    """Return the JSON answer; the exit status must agree with it."""
    result = call(site, backend, "--json", *options, **environ)
    assert result.stderr == ""
    answer: dict[str, Any] = json.loads(result.stdout)
    assert result.returncode == (0 if answer["fits"] else 1)
    return answer


KEYS = (
    "schema distribution package platform priority version location lock jaxlib jax python settings library override "
    "gpu_code kernels rivals vendor problems absence fits verdict"
)


@pytest.mark.parametrize("backend", BACKENDS.values(), ids=BACKENDS)
def test_json_says_what_the_text_says(install: Install, backend: Backend, make_elf: Callable[..., bytes]) -> None:
    """Every key is there, whatever the backend; the verdict is the last line of the text."""
    site = install(backend, make_elf() if backend.prebuilt.bundled else None, TALKING)
    answer = ask_json(site, backend)
    assert " ".join(answer) == KEYS
    lock = {name: value for name, value in LOCK.items() if name != "schema"}
    assert (answer["schema"], answer["distribution"], answer["platform"]) == (
        1,
        backend.distribution,
        backend.pjrt_name,
    )
    assert (answer["lock"], answer["jaxlib"]["lock"], answer["jax"]["version"]) == (lock, lock, "1.2.3")
    assert answer["settings"]["disable_variable"] == backend.disable
    assert answer["verdict"] == verdict_of(call(site, backend).stdout)
    assert (answer["kernels"] is not None, answer["rivals"] is not None) == (bool(backend.kernels),) * 2


def test_a_library_of_another_release_is_named(install: Install, make_elf: Callable[..., bytes]) -> None:
    """With the reason that the wheel recorded; what cannot be read there is no error."""
    backend = BACKENDS["cpu"]
    site = install(backend, make_elf(), TALKING)
    path = site / backend.package / "provenance.json"
    path.write_text(json.dumps({"override": {"version": "1.2.2", "reason": "its own is late"}}))
    assert ask_json(site, backend)["override"] == "library of 1.2.2: its own is late"
    assert "override    library of 1.2.2: its own is late" in call(site, backend).stdout.splitlines()
    for text in ("{}", "[", '{"override": 1}'):
        path.write_text(text)
        assert ask_json(site, backend)["override"] == ""


def test_json_has_each_problem_with_its_effect(install: Install, make_elf: Callable[..., bytes]) -> None:
    """What becomes of the platform follows from it."""
    backend = BACKENDS["cuda13"]
    site = install(backend, make_elf(needed=("libvendor.so.1", "libc.so.6")), TALKING)
    environ = {"JAX_PLATFORMS": "cpu", "JAXLIB_CUDA_13_DISABLE": "1", "CUDA_HOME": "/nowhere"}
    answer = ask_json(site, backend, **environ)
    assert [(problem["code"], problem["effect"]) for problem in answer["problems"]] == [
        ("UnusedError", "unused"),
        ("UnusedError", "unused"),
        ("KernelsMissingError", "degraded"),
        ("VendorLibraryError", "refused"),
    ]
    assert answer["problems"][0]["remedy"] == "unset JAXLIB_CUDA_13_DISABLE"
    assert (answer["settings"]["disabled"], answer["settings"]["left_out"]) == (True, True)
    assert (answer["library"]["opened"], answer["library"]["pjrt_api"]) == (True, [0, 115])
    assert answer["library"]["needed"] == ["libvendor.so.1"]
    cudnn = next(library for library in answer["vendor"]["libraries"] if library["name"] == "libcudnn.so.9")
    assert (cudnn["opened"], cudnn["minimum"], cudnn["problem"][:6]) == (False, "9.12.0", "cuDNN ")


def test_files_alone_are_looked_at(install: Install, make_elf: Callable[..., bytes], tmp_path: Path) -> None:
    """Neither library nor driver is opened; files on LD_LIBRARY_PATH are named all the same."""
    backend = BACKENDS["cuda13"]
    site = install(backend, make_elf(), "def preload(*_): raise SystemError\ndef load(_): raise SystemError\n")
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/libcudnn.so.9").write_text("text", "utf-8")
    (tmp_path / "mine/libcufft.so.12").write_bytes(make_elf(exports=("cufftGetVersion",)))
    answer = ask_json(site, backend, "--no-open", LD_LIBRARY_PATH=tmp_path / "mine")
    assert (answer["library"]["opened"], answer["vendor"]["driver"]) == (False, None)
    found = {library["name"]: library for library in answer["vendor"]["libraries"]}
    cufft, cudnn = found["libcufft.so.12"], found["libcudnn.so.9"]
    assert (cufft["opened"], cufft["path"], cufft["origin"]) == (
        None,
        str(tmp_path / "mine/libcufft.so.12"),
        "LD_LIBRARY_PATH",
    )
    assert (cudnn["path"], cudnn["on_library_path"]) == (
        None,
        [
            {
                "path": f"{tmp_path}/mine/libcudnn.so.9",
                "misfit": f"{tmp_path}/mine/libcudnn.so.9 is not a library: not an ELF file",
            }
        ],
    )


@pytest.mark.parametrize("option", [(), ("--no-open",)], ids=["open", "no open"])
def test_an_extension_that_is_truncated(
    install: Install, make_elf: Callable[..., bytes], option: tuple[str, ...]
) -> None:
    """It is not imported: the dynamic linker would end the process."""
    backend, whole = BACKENDS["cpu"], make_elf()
    site = install(backend, whole)
    (site / "jaxlib_cpu/pjrt/_pjrt.abi3.so").write_bytes(whole[:300])
    (problem,) = ask_json(site, backend, *option)["problems"]
    extension = f"the extension {site}/jaxlib_cpu/pjrt/_pjrt.abi3.so"
    assert (problem["code"], problem["what"]) == (
        "LibraryDamagedError",
        f"{extension} is truncated: 300 bytes of at least {len(whole)}",
    )


def test_libraries_that_a_plugin_needs_are_listed_where_they_are_missing(
    install: Install, make_elf: Callable[..., bytes]
) -> None:
    """With the linker's words, in addition to the problem that names all of them."""
    backend = BACKENDS["rocm7"]
    answer = ask_json(install(backend, make_elf(needed=("libnowhere.so.1",)), LINKER), backend)
    (library,) = answer["vendor"]["libraries"]
    assert (library["name"], library["needed"], library["opened"], library["path"]) == (
        "libnowhere.so.1",
        True,
        False,
        None,
    )
    assert "cannot open shared object file" in library["problem"]
    assert answer["problems"][0]["code"] == "VendorLibraryError"


def test_a_library_that_the_linker_found_has_its_path(install: Install, make_elf: Callable[..., bytes]) -> None:
    """Where the loader opens it by its bare name."""
    backend = BACKENDS["rocm7"]
    answer = ask_json(install(backend, make_elf(needed=("libutil.so.1",)), LINKER), backend)
    (library,) = answer["vendor"]["libraries"]
    assert (library["opened"], library["origin"], Path(library["path"]).name) == (True, "system", "libutil.so.1")

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m <package>`: its arguments, its answer on broken installations, and its looks on a terminal."""

import functools
import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from folders import write_dist_info
from loaders import load_module, put_loader
from pjrtwheel.backend import Backend
from plugin_status import verdict_of
from release_under_test import BACKENDS
from small_libraries import build_elf
from terminal_output import Output

GPUS = [backend for backend in BACKENDS.values() if backend.kernels]
LOCK = {"schema": 2, "release": "1.2.3", "version": "1.2.3", "build": 1, "provider": "prebuilt", "lock_id": "a" * 32}

RUN = "import runpy, sys; sys.path.insert(0, sys.argv.pop(1)); runpy.run_module(sys.argv.pop(1), run_name='__main__')"


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

Install = Callable[..., Path]


@pytest.fixture
def install(tmp_path: Path) -> Install:
    """Return a function: backend, library, extension, versions → the site-packages with them."""

    def put(backend: Backend, library: bytes | None = None, extension: str | None = None, **versions: str) -> Path:
        package = put_loader(backend.name, tmp_path)
        for folder in (package, tmp_path / "jaxlib"):
            folder.mkdir(exist_ok=True)
            (folder / "release_lock.json").write_text(json.dumps(LOCK), "utf-8")
        for name, version in ({"jax": "1.2.3"} | versions).items():
            write_dist_info(tmp_path, name, version)
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


@pytest.mark.parametrize("backend", BACKENDS.values(), ids=BACKENDS)
def test_help_is_given(install: Install, backend: Backend) -> None:
    """And other arguments are refused in one line, with another status than that of a misfit; nothing is opened."""
    site = install(backend)
    result = call(site, backend, "--help")
    assert (result.returncode, result.stderr) == (0, "")
    assert f"\nusage: python -m {backend.package} [--help] [--json] [--no-open] [--verbose]\n" in result.stdout
    refused = call(site, backend, "--json", "--xml")
    assert (refused.returncode, refused.stdout, "'--xml'" in refused.stderr) == (2, "", True)


@pytest.mark.parametrize("option", [(), ("--help",)], ids=["status", "help"])
def test_an_answer_that_cannot_be_written(install: Install, option: tuple[str, ...]) -> None:
    """A reader that has gone, as `| head -1` leaves, changes nothing; on a full disk one line says so."""
    site, backend = install(BACKENDS["cuda13"]), BACKENDS["cuda13"]
    command = [sys.executable, "-I", "-S", "-c", RUN, str(site), backend.package, *option]
    reading, writing = os.pipe()
    os.close(reading)
    gone = subprocess.run(command, stdout=writing, stderr=subprocess.PIPE, text=True, check=False)
    os.close(writing)
    assert (gone.returncode, gone.stderr) == (0 if option else 1, "")
    with Path("/dev/full").open("w") as full:
        lost = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert (lost.returncode, len(lost.stderr.splitlines())) == (1, 1)


FOREIGN = "def preload(*_): pass\ndef load(path): return None\ndef api_version(api): raise TypeError('no API')\n"
SPOILT: dict[str, tuple[Callable[[bytes], bytes | None], str | None, str]] = {
    "no library": (lambda _: None, None, "No such file or directory"),
    "truncated": (lambda whole: whole[:300], None, "truncated: 300 bytes of at least "),
    "no extension": (lambda whole: whole, None, "pjrt._pjrt'"),
    "foreign": (lambda whole: whole, FOREIGN, "TypeError: no API"),
}


@pytest.mark.parametrize(("spoil", "extension", "named"), SPOILT.values(), ids=SPOILT)
@pytest.mark.parametrize("backend", GPUS, ids=lambda item: item.name)
def test_a_library_that_cannot_be_opened(
    install: Install, backend: Backend, spoil: Callable[[bytes], bytes | None], extension: str | None, named: str
) -> None:
    """It is looked at before those of the vendor are, and what it needs is not read."""
    site = install(backend, spoil(build_elf(needed=("libvendor.so.1",))), extension)
    answer = ask_json(site, backend)
    assert (named in answer["problems"][0]["what"], answer["lock"]["lock_id"]) == (True, "a" * 32)


@pytest.mark.parametrize(
    ("versions", "remedy"),
    [
        ({"jax": "1.2.2"}, "uv pip install jax==1.2.3"),
        ({"jax_cuda13_plugin": "1.2.1"}, "uv pip uninstall jax-cuda13-plugin"),
    ],
    ids=["old JAX", "upstream's kernels"],
)
def test_others_of_another_version(install: Install, versions: dict[str, str], remedy: str) -> None:
    """Each is named, with the command."""
    backend = BACKENDS["cuda13"]
    problem = ask_json(install(backend, build_elf(), TALKING, **versions), backend)["problems"][0]
    assert (next(iter(versions.values())) in problem["what"], problem["remedy"]) == (True, remedy)


def test_a_jaxlib_of_another_build(install: Install) -> None:
    """Nothing is opened, and the hardware is looked for all the same."""
    site, backend = install(BACKENDS["cuda13"], build_elf(), TALKING, jaxlib="1.2.3"), BACKENDS["cuda13"]
    (site / "jaxlib/release_lock.json").write_text(json.dumps(LOCK | {"lock_id": "b" * 32}), "utf-8")
    answer = ask_json(site, backend)
    (problem,) = answer["problems"]
    assert (problem["code"], [lock * 32 in problem["what"] for lock in "ab"]) == ("LockMismatchError", [True, True])
    nodes = any((Path("/dev") / node).exists() for node in ("nvidia0", "nvidiactl", "dxg"))
    assert (answer["library"]["pjrt_api"], answer["vendor"], answer["absence"] is None) == (None, None, nodes)


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
    write_dist_info(site, rival, "1.2.3", entry_points=f"[jax_plugins]\nx = {package}\n")
    lines = call(site, BACKENDS[backend]).stdout.splitlines()
    (note,) = (line for line in lines if line.endswith(f"uv pip uninstall {yields}"))
    assert any(line.startswith(f"{label:<11} {yields} is not used") for line in lines)
    assert note == lines[-2] if label == "problem" else note not in lines[-2:]


@pytest.mark.parametrize(
    ("raised", "misfits", "verdict", "fix"),
    [
        ([], 0, "fits here", ""),
        ([("NoDeviceError", {})], 0, "fits, but", ""),
        ([("NoDeviceError", {"remedy": "look again"})], 0, "fits, but", ""),
        ([("NoDeviceError", {"remedy": "give it", "hidden": True})], 1, "does not fit here", "give it"),
        ([("DriverError", {})], 1, "does not fit here", ""),
        ([("VendorLibraryGapError", {"remedy": "get it"})], 1, "does not run all programs here", "get it"),
        ([("KernelsMissingError", {"remedy": "a"}), ("DriverError", {"remedy": "b"})], 2, "does not fit here", "b"),
        ([("DriverError", {}), ("LockMismatchError", {"remedy": "c"})] * 2, 2, "does not fit here", "c"),
    ],
)
def test_the_first_line_says_whether_it_fits_and_the_last_what_to_do(
    raised: list[tuple[str, dict[str, object]]], misfits: int, verdict: str, fix: str
) -> None:
    """Hardware that is not there is no misfit; hardware without a device is one."""
    plugin = load_module("cuda13", "").ACCELERATOR.plugin
    report = load_module("cuda13", "pjrt.examine").start_report(plugin, ["cuda"], 500)
    report.problems.clear()
    errors = load_module("cuda13", "pjrt.errors")

    def fail(name: str, more: Mapping[str, object]) -> None:
        raise getattr(errors, name)(name, **more)

    for refusal in raised:
        report.check(functools.partial(fail, *refusal))
    first, *_, last = load_module("cuda13", "pjrt.report").to_text(report)
    assert (len(report.problems), first.startswith(f"jaxlib-cuda-13 {verdict}")) == (misfits, True)
    assert last.startswith("To fix it") == bool(fix)
    assert last.endswith(fix)


def test_devices_of_a_wrapped_library_are_asked_for_by_the_name_of_the_plugin() -> None:
    """The library may call its platform `cpu`, and JAX shows that name."""
    plugin = replace(load_module("cuda13", "").ACCELERATOR.plugin, provider="file")
    report = load_module("cuda13", "pjrt.examine").start_report(plugin, ["cuda"], 500)
    report.problems.clear()
    assert report.verdict().endswith("for its platform 'cuda': jax.devices('cuda') are its own")


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
def test_json_says_what_the_text_says(install: Install, backend: Backend) -> None:
    """Every key is there, whatever the backend; the verdict is the last line of the text."""
    site = install(backend, build_elf() if backend.prebuilt.bundled else None, TALKING)
    answer = ask_json(site, backend)
    assert " ".join(answer) == KEYS
    lock = {name: value for name, value in LOCK.items() if name != "schema"}
    assert (answer["distribution"], answer["platform"]) == (backend.distribution, backend.pjrt_name)
    assert (answer["lock"], answer["jaxlib"]["lock"], answer["jax"]["version"]) == (lock, lock, "1.2.3")
    assert answer["settings"]["disable_variable"] == backend.disable
    assert answer["verdict"] == verdict_of(call(site, backend).stdout)
    assert (answer["kernels"] is not None, answer["rivals"] is not None) == (bool(backend.kernels),) * 2


def test_a_library_of_another_release_is_named(install: Install) -> None:
    """With the reason that the wheel recorded; what cannot be read there is no error."""
    backend = BACKENDS["cpu"]
    site = install(backend, build_elf(), TALKING)
    path = site / backend.package / "provenance.json"
    late = '{"override": {"version": "1.2.2", "reason": "its own is late"}}'
    for text, override in {late: "library of 1.2.2: its own is late", "{}": "", "[": "", '{"override": 1}': ""}.items():
        path.write_text(text)
        assert ask_json(site, backend)["override"] == override
    path.write_text(late)
    shown = [call(site, backend, *options).stdout for options in ((), ("--verbose",))]
    assert ["its own is late" in text for text in shown] == [False, True]


def test_json_has_each_problem_with_its_effect(install: Install) -> None:
    """What becomes of the platform follows from it."""
    backend = BACKENDS["cuda13"]
    site = install(backend, build_elf(needed=("libvendor.so.1", "libc.so.6")), TALKING)
    environ = {"JAX_PLATFORMS": "cpu", "JAXLIB_CUDA_13_DISABLE": "1", "CUDA_HOME": "/nowhere"}
    answer = ask_json(site, backend, **environ)
    assert [(problem["code"], problem["effect"]) for problem in answer["problems"]] == [
        *[("UnusedError", "unused")] * 2,
        ("KernelsMissingError", "degraded"),
        ("VendorLibraryError", "refused"),
    ]
    assert answer["problems"][0]["remedy"] == "unset JAXLIB_CUDA_13_DISABLE"
    assert (answer["settings"]["disabled"], answer["settings"]["left_out"]) == (True, True)
    library = answer["library"]
    assert (library["opened"], library["pjrt_api"], library["needed"]) == (True, [0, 115], ["libvendor.so.1"])
    assert library["extensions"] == ["XlaTransform", "FFI", "99"]
    names = "CUDA runtime, cuBLAS, CUPTI, cuSPARSE, cuFFT, cuDNN, nvrtc, nvJitLink, cublasLt, cusolver"
    # Those of which this machine has a file cannot be opened, the others are missing.
    texts = re.findall(r"(\w[\w ]*) (?:is missing|cannot be opened)", answer["problems"][3]["what"])
    assert texts == names.split(", ")
    cudnn = next(library for library in answer["vendor"]["libraries"] if library["name"] == "libcudnn.so.9")
    assert (cudnn["opened"], cudnn["minimum"], cudnn["problem"][:6]) == (False, "9.12.0", "cuDNN ")


@pytest.mark.parametrize(("name", "platforms"), [("cpu", "cuda"), ("cuda13", "cpu")])
def test_a_platform_that_jax_leaves_out(install: Install, name: str, platforms: str) -> None:
    """No plugin says that JAX uses it then."""
    answer = ask_json(install(BACKENDS[name], build_elf(), TALKING), BACKENDS[name], JAX_PLATFORMS=platforms)
    found = [problem["remedy"] for problem in answer["problems"] if problem["code"] == "UnusedError"]
    assert (answer["fits"], found) == (False, ["unset JAX_PLATFORMS"])


def test_files_alone_are_looked_at(install: Install, tmp_path: Path) -> None:
    """Neither library nor driver is opened; files on LD_LIBRARY_PATH are named all the same."""
    backend, mine = BACKENDS["cuda13"], tmp_path / "mine"
    site = install(backend, build_elf(), "def preload(*_): raise SystemError\ndef load(_): raise SystemError\n")
    mine.mkdir()
    (mine / "libcudnn.so.9").write_text("text", "utf-8")
    (mine / "libcufft.so.12").write_bytes(build_elf(exports=("cufftGetVersion",)))
    answer = ask_json(site, backend, "--no-open", LD_LIBRARY_PATH=mine)
    assert (answer["library"]["opened"], answer["vendor"]["driver"]) == (False, None)
    found = {library["name"]: library for library in answer["vendor"]["libraries"]}
    cufft, cudnn = found["libcufft.so.12"], found["libcudnn.so.9"]
    expected = (None, str(mine / "libcufft.so.12"), "LD_LIBRARY_PATH")
    assert (cufft["opened"], cufft["path"], cufft["origin"]) == expected
    (file,) = cudnn["on_library_path"]
    assert (cudnn["path"], file["path"], bool(file["misfit"])) == (None, str(mine / "libcudnn.so.9"), True)


@pytest.mark.parametrize("option", [(), ("--no-open",)], ids=["open", "no open"])
def test_an_extension_that_is_truncated(install: Install, option: tuple[str, ...]) -> None:
    """It is not imported: the dynamic linker would end the process."""
    backend, whole = BACKENDS["cpu"], build_elf()
    path = install(backend, whole) / "jaxlib_cpu/pjrt/_pjrt.abi3.so"
    path.write_bytes(whole[:300])
    (problem,) = ask_json(path.parents[2], backend, *option)["problems"]
    assert (problem["code"], str(path) in problem["what"]) == ("LibraryDamagedError", True)


@pytest.mark.parametrize(("name", "opened"), [("libnowhere.so.1", False), ("libutil.so.1", True)])
def test_libraries_that_a_plugin_needs_are_listed(install: Install, name: str, *, opened: bool) -> None:
    """With the path that the linker found, or with its words, in addition to the problem that names all of them."""
    backend = BACKENDS["rocm7"]
    answer = ask_json(install(backend, build_elf(needed=(name,)), LINKER), backend)
    (library,) = answer["vendor"]["libraries"]
    assert (library["name"], library["needed"], library["opened"]) == (name, True, opened)
    if opened:
        assert (library["origin"], Path(library["path"]).name) == ("system", name)
    else:
        assert (library["path"], bool(library["problem"])) == (None, True)
        assert answer["problems"][0]["code"] == "VendorLibraryError"


LINES = [
    "jaxlib-cuda-13 does not fit here",
    "problem     libcudnn.so.9 is missing, which is needed on this machine by programs that convolve",
    "To fix it: pip install 'jaxlib-cuda-13[with-cuda]==1.2.3' --find-links https://example.org/a/long/address",
]


def test_an_answer_fits_the_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """The verdict has a mark, long lines go on below their beginning, and the command to paste is one line.

    Other programs get the lines as they are.
    """
    monkeypatch.setenv("COLUMNS", "80")
    dress = load_module("cuda13", "pjrt.terminal").dress
    first, *long, last = dress(LINES, Output(), {"TERM": "xterm", "NO_COLOR": "1"}, fits=False)
    assert (first, last, len(long)) == (f"✗ {LINES[0]}", LINES[2], 2)
    assert (len(long[0]) <= 80, long[1]) == (True, "            programs that convolve")
    assert dress(LINES, Output(), {"TERM": "xterm"}, fits=True)[0] == f"\x1b[32m✓ {LINES[0]}\x1b[0m"
    assert dress(LINES, Output("ascii"), {"TERM": "xterm", "NO_COLOR": "1"}, fits=False)[0] == LINES[0]
    assert dress(LINES, Output(terminal=False), {"TERM": "xterm"}, fits=False) == LINES

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Who decides about the backend, and what contradictions and mistakes lead to."""

from pathlib import Path

import pytest

from jaxlib_select.choose.policy import find_table, read_policy
from jaxlib_select.choose.resolve import resolve
from jaxlib_select.errors import PolicyError, UsageError
from jaxlib_select.machine.host import this_host
from jaxlib_select.machine.model import Amd, Machine
from machines import H100, PASCAL, PLAIN, nvidia_machine
from select_commands import asked, lacking

PYPROJECT = """
[project]
name = "x"
[tool.jaxlib-select.backends]
default = "cpu"  # for all
"jax" = 'cuda13'
[tool.other]
jax = 1
"""
INTEGRATED = Machine("linux", "x86_64", amd=Amd("7.0.0", ("gfx1036",)))
UNSUPPORTED = Machine("linux", "x86_64", amd=Amd("7.0.0", ("gfx1031",)))
JAX, DEFAULT = "JAXLIB_SELECT_BACKEND_JAX", "JAXLIB_SELECT_BACKENDS_DEFAULT"


@pytest.mark.parametrize(
    ("arguments", "environ", "value", "origin"),
    [
        (["jax=cuda12"], {JAX: "cpu"}, "cuda12", "--backend jax=cuda12"),
        (["tpu"], {JAX: "cpu"}, "tpu", "--backend tpu"),
        (["torch=cpu"], {JAX: "cpu"}, "cpu", JAX),
        ([], {DEFAULT: "auto"}, "auto", DEFAULT),
        ([], {DEFAULT: "auto", JAX: "tpu"}, "tpu", JAX),
        ([], {"UV_TORCH_BACKEND": "cu126"}, "cuda13", "pyproject.toml, [tool.jaxlib-select.backends] jax"),
        ([], {JAX: ""}, "cuda13", "pyproject.toml, [tool.jaxlib-select.backends] jax"),
    ],
)
def test_the_nearest_place_decides(
    arguments: list[str], environ: dict[str, str], value: str, origin: str, tmp_path: Path
) -> None:
    """Command line before environment before pyproject.toml; in one place the package before the default."""
    (tmp_path / "pyproject.toml").write_text(PYPROJECT, "utf-8")
    (tmp_path / "below").mkdir()
    choice = read_policy(arguments, environ, tmp_path / "below").choose("jax")
    assert (choice.backend, choice.origin.endswith(origin)) == (value, True)
    assert choice.lasting == choice.origin.endswith("DEFAULT")


def test_uv_speaks_for_torch() -> None:
    """Its variable counts for torch alone, and ours goes before it."""
    uv = {"UV_TORCH_BACKEND": "cu126"}
    assert resolve("torch", PLAIN, read_policy([], uv, None)).backend == "cu126"
    both = read_policy([], {**uv, "JAXLIB_SELECT_BACKEND_TORCH": "cpu"}, None)
    assert resolve("torch", PLAIN, both).backend == "cpu"
    assert resolve("torchvision", PLAIN, read_policy([], uv, None)).requirements == ("torch==2.14.*", "torchvision")


@pytest.mark.parametrize("arguments", [["cpu", "cuda12"], ["jax=cpu", "JAX=cuda12"]])
def test_a_contradiction_is_refused(arguments: list[str]) -> None:
    """Two values for one thing in one place."""
    with pytest.raises(UsageError, match=r"'cpu'.*'cuda12'"):
        asked(*arguments)


@pytest.mark.parametrize(
    ("written", "expected"),
    [
        ("cuda-13", "cuda13"),
        ("cuda_13", "cuda13"),
        ("CUDA13", "cuda13"),
        ("CUDA12-Local", "cuda12-local"),
        ("gpu", "cuda13"),
    ],
)
def test_a_backend_is_found_however_its_name_is_written(written: str, expected: str) -> None:
    """Its package, its module and its extra spell it in three ways; the same in two spellings is no contradiction."""
    for policy in (asked(written, written.lower()), read_policy([], {JAX: written}, None)):
        assert resolve("jax", H100, policy).backend == expected


def test_an_unknown_value_lists_the_known_ones() -> None:
    """The message says who asked, for what, and what there is."""
    with pytest.raises(UsageError) as caught:
        resolve("jax", PLAIN, read_policy([], {JAX: "cuda14"}, None))
    assert lacking(caught.value.what, "'cuda14'", JAX) == []
    known = caught.value.remedy.removeprefix("known: ").split(", ")
    cuda, rocm = (
        ["cuda12", "cuda12-local", "cuda13", "cuda13-local"],
        ["rocm10", "rocm10-local", "rocm7", "rocm7-local"],
    )
    families = ["cuda", "cuda-local", "rocm", "rocm-local"]
    assert known == ["auto", "cpu", "prefer-gpu", "require-gpu", *cuda, "oneapi", *rocm, "tpu", *families]


@pytest.mark.parametrize(
    ("arguments", "environ", "table", "origin"),
    [
        (["cpu", "JAXX=cuda12"], {}, "", "--backend jaxx=cuda12"),
        ([], {"JAXLIB_SELECT_BACKEND_JAXX": "cuda12"}, "", "JAXLIB_SELECT_BACKEND_JAXX"),
        (["jax=cpu"], {}, "jaxx = 'cuda12'", "[tool.jaxlib-select.backends] jaxx"),
    ],
)
def test_a_choice_for_no_package_is_refused(
    arguments: list[str], environ: dict[str, str], table: str, origin: str, tmp_path: Path
) -> None:
    """It is a slip, and the package that was meant would get the CPU without a word."""
    (tmp_path / "pyproject.toml").write_text(f"[tool.jaxlib-select.backends]\n{table}\n", "utf-8")
    with pytest.raises(UsageError) as caught:
        resolve("jax", PLAIN, read_policy(arguments, environ, tmp_path))
    assert lacking(caught.value.what, "'jaxx'", origin) == []


def test_a_choice_for_a_package_that_is_not_resolved_is_ignored() -> None:
    """Whatever it says: one line of a project serves every command."""
    assert resolve("jax", H100, asked("torch=cuda99", "cpu")).backend == "cpu"


@pytest.mark.parametrize("argument", ["=cpu", "jax=", "", " = "])
def test_half_a_choice_is_refused(argument: str) -> None:
    """Either the package or the backend is missing."""
    with pytest.raises(UsageError):
        asked(argument)


@pytest.mark.parametrize("name", ["BACKENDS_JAX", "TIMEOUTS"])
def test_a_variable_that_only_looks_like_ours_is_refused(name: str) -> None:
    """Wherever variables are read."""
    variable = f"JAXLIB_SELECT_{name}"
    for read in (lambda environ: read_policy([], environ, None), this_host):
        with pytest.raises(UsageError, match=variable):
            read({variable: "cuda12"})
        read({variable: ""})


def test_a_lasting_default_serves_packages_that_lack_the_backend() -> None:
    """They choose by themselves, and say so; what holds for the package itself, or what nobody knows, is refused."""
    everywhere = {DEFAULT: "Cuda12"}
    decision = resolve("torch", PLAIN, read_policy([], everywhere, None))
    (warning,) = decision.warnings
    assert (decision.backend, "'Cuda12'" in warning) == ("cpu", True)
    assert resolve("jax", PLAIN, read_policy([], everywhere, None)).backend == "cuda12"
    variables = ({"JAXLIB_SELECT_BACKEND_TORCH": "cuda12"}, {DEFAULT: "cuda21"})
    for policy in (asked("cuda12"), *(read_policy([], environ, None) for environ in variables)):
        with pytest.raises(UsageError, match="torch: 'cuda"):
            resolve("torch", PLAIN, policy)


def test_require_gpu_fails_with_every_reason_and_what_helps() -> None:
    """On a machine whose driver is too old."""
    for name in ("require-gpu", "gpu"):
        with pytest.raises(PolicyError) as caught:
            resolve("jax", nvidia_machine("A100", (8, 0), cuda=(11, 4)), asked(name))
        reasons = caught.value.cause.split("; ")
        names = [reason.partition(":")[0] for reason in reasons]
        assert names == ["tpu", "cuda13", "cuda12", "rocm10", "rocm7", "oneapi"]
        assert ("CUDA 13.0" in reasons[1], "580" in caught.value.remedy) == (True, True)


@pytest.mark.parametrize(
    ("machine", "choices"),
    [
        (H100, "auto:cuda13 prefer-gpu:cuda13 require-gpu:cuda13 cpu:cpu cuda12:cuda12 cuda12-local:cuda12-local"),
        (H100, "cuda:cuda13 cuda-local:cuda13-local rocm:rocm10-local rocm7-local:rocm7-local"),
        (INTEGRATED, "prefer-gpu:cpu rocm7:rocm7-local"),
        (UNSUPPORTED, "auto:cpu prefer-gpu:rocm7-local require-gpu:rocm7-local"),
        (PLAIN, "prefer-gpu:cpu cuda13:cuda13"),
    ],
    ids=["H100", "families", "integrated", "unsupported", "plain"],
)
def test_each_choice_is_honoured(machine: Machine, choices: str) -> None:
    """A named backend is taken whatever the machine; doubtful ones only when an accelerator is preferred."""
    wanted = dict(choice.split(":") for choice in choices.split())
    assert {backend: resolve("jax", machine, asked(backend)).backend for backend in wanted} == wanted


def test_what_will_not_run_is_taken_with_a_warning() -> None:
    """The user wins, and gets the reason against it."""
    decision = resolve("jax", PLAIN, asked("cuda13"))
    assert decision.requirements == ("jax==1.2.3", "jaxlib-cuda-13[with-cuda]==1.2.3+split.1")
    (warning,) = decision.warnings
    assert "no NVIDIA GPU was found" in warning


def test_a_gpu_in_a_processor_is_taken_only_by_name() -> None:
    """It would run, so nobody is warned who asks for it."""
    assert resolve("jax", INTEGRATED, asked("rocm7")).warnings == ()
    (reason,) = [entry.reason for entry in resolve("jax", INTEGRATED).candidates if entry.backend == "rocm7"]
    assert lacking(reason, "gfx1036", "--backend rocm7") == []


def test_local_libraries_are_not_required() -> None:
    """The packaging without extras brings nothing along, so bounds become advice."""
    decision = resolve("jax", PASCAL, asked("cuda12-local"))
    assert (decision.requirements[1], decision.constraints) == ("jaxlib-cuda-12==1.2.3+split.1", ())
    why, advice = decision.warnings
    assert ("cuDNN" in why, "nvidia-cudnn-cu12<9.11" in advice) == (True, True)


def test_what_has_no_wheel_fails_loudly() -> None:
    """What is asked for by name must have a wheel."""
    with pytest.raises(PolicyError) as caught:
        resolve("jax", Machine("darwin", "arm64"), asked("cuda13"))
    assert lacking(str(caught.value), "cuda13", "macOS on arm64", "linux_aarch64, linux_x86_64") == []


@pytest.mark.parametrize(
    ("text", "named"),
    [
        (b"[tool.jaxlib-select.backends]\njax = 3\n", "jax"),
        (b"[tool.jaxlib-select]\nbackends = 3\n", "backends"),
        (b"[tool.jaxlib-select]\nbackend = 'cpu'\n", "backend"),
        (b"[tool.jaxlib-select.backends\n", ""),
        (b"\xff", ""),
    ],
)
def test_a_bad_pyproject_is_named(text: bytes, named: str, tmp_path: Path) -> None:
    """A mistake in the table is reported, one elsewhere is none of our business."""
    (tmp_path / "pyproject.toml").write_bytes(text)
    with pytest.raises(UsageError) as caught:
        read_policy([], {}, tmp_path)
    assert lacking(str(caught.value), "pyproject.toml", named) == []


# With the table that `lock --format uv` asks for, and the words of ours in other places.
UV_PROJECT = """
[project]
dependencies = ["jaxlib-select"]  # [tool.jaxlib-select.backends]
[tool.uv]
conflicts = [
    [{ extra = "cpu" }, { extra = "cuda12" }],
]
[[tool.uv.index]]
name = "jaxlib-select"
"""


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (UV_PROJECT, {}),
        ("[project\n", {}),  # that it is broken is none of our business
        (UV_PROJECT + '[ tool . jaxlib-select . backends ]\n# "here"\njax = "cpu"\n[[x]]\njax = 3', {"jax": "cpu"}),
        ("[tool]\njaxlib-select.backends.jax = 'cpu'", {"jax": "cpu"}),
        ("[tool.jaxlib-select]\nbackends = { jax = 'cpu' }", {"jax": "cpu"}),
    ],
)
def test_the_table_is_read_however_it_is_written(text: str, expected: dict[str, str], tmp_path: Path) -> None:
    """Any valid pyproject.toml can be read."""
    (tmp_path / "pyproject.toml").write_text(text, "utf-8")
    assert find_table(tmp_path) == ({"backends": expected} if expected else {})

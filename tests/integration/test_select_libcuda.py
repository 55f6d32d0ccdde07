# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The real commands on machines of a mock driver, which answers what variables say (tests/data/fake_libcuda.c)."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(sys.platform != "linux" or os.uname().machine != "x86_64", reason="libcuda is faked for x86_64"),
]

TABLE = Path(__file__).parents[1] / "data/machines/table.json"
ROWS: list[dict[str, Any]] = json.loads(TABLE.read_text("utf-8"))["rows"]
ONE_H100 = {"FAKE_CUDA_VERSION": "13000", "FAKE_CUDA_GPUS": "9.0:NVIDIA H100"}

Select = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture
def select(root: Path, fake_libcuda: Path, tmp_path: Path) -> Select:
    """Return a function that runs `jaxlib-select` with the fake library and more variables, in an empty folder."""

    def run(*arguments: str, **variables: str) -> subprocess.CompletedProcess[str]:
        places = {"PYTHONPATH": str(root / "selector"), "LD_LIBRARY_PATH": str(fake_libcuda)}
        environ = {"PATH": "/usr/bin:/bin", **places, **variables}
        command = [sys.executable, "-m", "jaxlib_select", *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=False, env=environ, cwd=tmp_path)

    return run


def variables_of(machine: Mapping[str, Any]) -> dict[str, str] | None:
    """Return the variables with which the mock driver answers as on a machine, or nothing if it cannot."""
    nvidia = machine.get("nvidia", {})
    known = machine.keys() <= {"os", "arch", "nvidia", "visible"} and nvidia.keys() <= {
        "cuda",
        "cuinit",
        "gpus",
        "driver",
    }
    if not nvidia or not known or (machine["os"], machine["arch"]) != ("linux", "x86_64"):
        return None
    gpus = [f"{gpu['compute_capability']}:{gpu['name']}" for gpu in nvidia["gpus"]]
    variables = {"FAKE_CUDA_INIT": str(nvidia["cuinit"]), "FAKE_CUDA_GPUS": "|".join(gpus)}
    if nvidia["cuda"]:
        major, minor = nvidia["cuda"].split(".")
        variables["FAKE_CUDA_VERSION"] = str(int(major) * 1000 + int(minor) * 10)
    return {**variables, **machine.get("visible", {})}


MOCKED = [row for row in ROWS if variables_of(row["machine"])]


@pytest.mark.parametrize("row", MOCKED, ids=lambda row: row["name"])
def test_a_mocked_machine_gets_its_package(row: dict[str, Any], select: Select) -> None:
    """Through the linker, a child process, and the command line."""
    variables = variables_of(row["machine"])
    assert variables is not None
    done = select("resolve", "jax", "--json", "--provider", "ours", "--backend", row.get("asked", "auto"), **variables)
    assert done.returncode == 0, done.stderr
    decision = json.loads(done.stdout)
    keys = ("package", "constraints", "hidden")
    assert [decision[key] for key in keys] == [row[key] for key in keys]
    assert "warning" not in row or any(row["warning"] in warning for warning in decision["warnings"])


def test_detection_reports_what_the_library_says(select: Select) -> None:
    """In the documented form."""
    done = select("detect", "--json", FAKE_CUDA_VERSION="13000", FAKE_CUDA_GPUS="9.0:NVIDIA H100|8.9:NVIDIA L4")
    nvidia = json.loads(done.stdout)["nvidia"]
    gpus = [{"name": "NVIDIA H100", "compute_capability": "9.0"}, {"name": "NVIDIA L4", "compute_capability": "8.9"}]
    answer = {"cuda": "13.0", "cuinit": 0, "gpus": gpus, "source": "libcuda", "libcuda": "ok"}
    assert {key: nvidia[key] for key in answer} == answer


@pytest.mark.parametrize(
    ("variables", "state", "named"),
    [
        ({"FAKE_CUDA_MODE": "hang"}, "hung", "1 s"),
        ({"FAKE_CUDA_MODE": "crash"}, "crashed", "signal 6"),
        ({"FAKE_CUDA_MODE": "crash-late"}, "crashed", "signal 6"),
        ({"FAKE_CUDA_MODE": "exit"}, "crashed", "status 7"),
        ({"FAKE_CUDA_COUNT": "-2147483648"}, "odd", "-2147483648 devices"),
        ({"FAKE_CUDA_COUNT": "2147483647"}, "odd", "2147483647 devices"),
        ({"FAKE_CUDA_VERSION": "2147483647"}, "odd", "version 2147483647"),
        ({"FAKE_CUDA_GPUS": "77.0:odd"}, "odd", "compute capability"),
    ],
    ids=lambda value: "-".join(map(str, value.items())) if isinstance(value, dict) else "",
)
def test_a_library_that_hangs_crashes_or_lies_leaves_the_cpu(
    variables: dict[str, str], state: str, named: str, select: Select
) -> None:
    """In a short time, with one line that says what happened and one that says what to do."""
    machine = {**ONE_H100, "JAXLIB_SELECT_TIMEOUT": "1", **variables}
    start = time.monotonic()
    detected = select("detect", "--json", **machine)
    assert time.monotonic() - start < 8
    assert json.loads(detected.stdout)["nvidia"]["libcuda"] == state
    done = select("resolve", "jax", "--json", "--provider", "ours", **machine)
    decision = json.loads(done.stdout)
    assert (done.returncode, decision["package"], len(decision["warnings"]) >= 2) == (0, "jaxlib-cpu", True)
    assert any("libcuda.so.1" in warning and named in warning for warning in decision["warnings"])


def test_a_file_that_is_no_library_is_passed_over(select: Select, tmp_path: Path) -> None:
    """The linker's message becomes a note."""
    (tmp_path / "libcuda.so.1").write_text("no library", "utf-8")
    done = select("detect", "--json", LD_LIBRARY_PATH=str(tmp_path))
    document = json.loads(done.stdout)
    assert (done.returncode, document["nvidia"]["libcuda"]) == (0, "absent")
    assert "libcuda.so.1 cannot be loaded" in document["notes"][0]

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m jaxlib_cuda_13 compile` with real wheels, on a machine that need not have a GPU."""

import json
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from loader_programs import Overlay, Program
from pjrtwheel.environment.processes import clean_environ
from pjrtwheel.prove.executable import find_code

pytestmark = pytest.mark.integration

MODEL = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

def affine(w, x):
    return jnp.tanh(x @ w)

def fail(x):
    return jnp.reshape(x, (7,))

@jax.jit
def step(params, batch, rate):
    gradients = jax.grad(lambda p: jnp.mean((batch @ p["w"] + p["b"]) ** 2))(params)
    return jax.tree.map(lambda p, g: p - rate * g, params, gradients)

def arguments():
    return {"w": np.ones((64, 8), np.float32), "b": jnp.zeros(8)}, jnp.ones((16, 64)), 0.1

def spread(devices):
    rows = NamedSharding(Mesh(devices, ("rows",)), PartitionSpec("rows"))
    params, batch, rate = arguments()
    return step, (params, jax.ShapeDtypeStruct(batch.shape, batch.dtype, sharding=rows), rate)
"""

# Takes the executable out of what was written: the rest is for the devices that it will run on.
EXTRACT = """
import io, pickle, sys
written, in_tree, out_tree = pickle.load(open(sys.argv[1], "rb"))
class Parts(pickle.Unpickler):
    def persistent_load(self, part):
        if part[0] == "exec":
            open(sys.argv[2], "wb").write(part[1])
        raise SystemExit(f"{in_tree.num_leaves} {out_tree.num_leaves}")
Parts(io.BytesIO(written)).load()
"""

WRITE = """
import jax, model
from pathlib import Path
from jaxlib_cuda_13.pjrt import compile
devices = jax.devices("cpu")
compile.write_executable(compile._lower(model.step, model.arguments(), devices).compile(), Path("step.pickle"))
"""

# As the help of the command says it.
LOAD = """
import pickle, jax, jax.experimental.serialize_executable, model
FILE = "step.pickle"
step = jax.experimental.serialize_executable.deserialize_and_load(*pickle.load(open(FILE, "rb")))
loaded, traced = step(*model.arguments()), model.step(*model.arguments())
print(jax.tree.map(lambda a, b: bool((a == b).all()), loaded, traced))
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return the user's folder."""
    (tmp_path / "model.py").write_text(MODEL, "utf-8")
    return tmp_path


def run_in(
    folder: Path, python: Path, plugin: Path, *arguments: str, **environ: str
) -> subprocess.CompletedProcess[str]:
    """Run Python in the user's folder, with the wheels of a plugin."""
    variables = clean_environ(PYTHONPATH=os.pathsep.join([str(plugin), str(folder)]), **environ)
    command = [str(python), *arguments]
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)


def compile_in(folder: Path, python: Path, plugin: Path, *arguments: str, **environ: str) -> Any:
    """Run the command and return its JSON."""
    command = ["-m", "jaxlib_cuda_13", "compile", *arguments, "--json"]
    result = run_in(folder, python, plugin, *command, **environ)
    assert result.returncode == 0, result.stderr
    return json.loads(result.stdout)


def test_a_function_is_compiled_for_a_gpu_that_is_not_here(folder: Path, wheel_python: Path, overlay: Overlay) -> None:
    """Its file has code for that GPU alone, whatever platforms the environment asks JAX for."""
    asked = ["model:affine", "--args", "f32[64,8]", "f32[16,64]", "--for", "h100", "-o", "affine.pickle"]
    found = compile_in(folder, wheel_python, overlay("cuda13"), *asked, JAX_PLATFORMS="cuda", JAX_PLATFORM_NAME="gpu")
    assert (found["chip"], found["summary"], found["devices"]) == ("h100", "NVIDIA H100 SXM", 1)
    assert (found["argument_bytes"], found["result_bytes"]) == (4 * (64 * 8 + 16 * 64), 4 * 16 * 8)
    assert (found["flops"] >= 2 * 16 * 64 * 8, 0 < found["seconds"] < 1e-3) == (True, True)
    assert (folder / "affine.pickle").stat().st_size == found["file_bytes"]
    taken = run_in(folder, wheel_python, overlay("cuda13"), "-c", EXTRACT, "affine.pickle", "code")
    assert (taken.stderr.strip().splitlines()[-1], find_code((folder / "code").read_bytes())) == ("2 1", ("sm_90a",))


def test_arguments_are_spread_over_several_gpus(folder: Path, wheel_python: Path, overlay: Overlay) -> None:
    """As their shardings say; what has none is on each of them. Figures are those of one GPU."""
    found = compile_in(folder, wheel_python, overlay("cuda13"), "model:spread", "--for", "h100:4")
    assert (found["devices"], found["argument_bytes"]) == (4, 4 * (64 * 8 + 8 + 16 * 64 // 4 + 1))
    assert (folder / found["file"]).name == "model-spread-h100-4.pickle"


def test_errors_of_a_function_are_the_users(folder: Path, wheel_python: Path, overlay: Overlay) -> None:
    """Their traceback begins in the user's file; nothing is written."""
    asked = ["-m", "jaxlib_cuda_13", "compile", "model:fail", "--args", "f32[8]", "--for", "h100"]
    result = run_in(folder, wheel_python, overlay("cuda13"), *asked)
    start = result.stderr.splitlines().index("Traceback (most recent call last):")
    assert (result.returncode, "model.py" in result.stderr.splitlines()[start + 1]) == (1, True), result.stderr
    assert ("pjrt/compile.py" in result.stderr, list(folder.glob("*.pickle"))) == (False, [])


def test_what_was_written_loads_with_the_documented_line(folder: Path, wheel_python: Path, overlay: Overlay) -> None:
    """Where the devices are, here those of the CPU, it computes what the function does."""
    written, loaded = (
        run_in(folder, wheel_python, overlay("cuda13"), "-c", code, JAX_PLATFORMS="cpu") for code in (WRITE, LOAD)
    )
    assert (written.returncode, loaded.returncode) == (0, 0), written.stderr + loaded.stderr
    assert loaded.stdout == "{'b': True, 'w': True}\n"


@pytest.mark.parametrize(
    ("others", "variable", "error"),
    [(["cuda13"], "", "RivalError"), ([], "JAXLIB_CUDA_12_DISABLE", "UnusedError")],
    ids=["rival", "disabled"],
)
def test_another_plugin_does_not_describe_the_chips(
    run: Program, overlay: Overlay, others: list[str], variable: str, error: str
) -> None:
    """What JAX does not use compiles nothing; else a call has devices for JAX, several machines' as well."""
    code = (
        "import jaxlib_cuda_12\n"
        "try: print([device.process_index for device in jaxlib_cuda_12.topology('a100:2x1').devices])\n"
        "except RuntimeError as error: print(type(error).__name__)\n"
    )
    environ = {variable: "1"} if variable else {}
    assert run(code, overlay("cuda12"), *map(overlay, others), **environ).stdout == f"{error}\n"
    assert run(code, overlay("cuda12")).stdout == "[0, 1]\n"

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m jaxlib_cuda_13 compile` with real wheels, on a machine that need not have a GPU."""

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from loader_programs import Overlay, Program
from pjrtwheel.environment.processes import clean_environ
from pjrtwheel.prove.executable import find_code

pytestmark = pytest.mark.integration

Run = Callable[..., subprocess.CompletedProcess[str]]

MODEL = """
import jax, jax.numpy as jnp, numpy as np
from jax.sharding import Mesh, NamedSharding, PartitionSpec

def product(w, x):
    return x @ w

def fail(x):
    return jnp.reshape(x, (7,))

def layer(params, x):
    return {"y": jnp.tanh(x @ params["w"]) * params["scale"]}

ARGUMENTS = {"w": np.ones((64, 8), np.float32), "scale": 0.5}, jnp.ones((16, 64))

def spread(devices):
    rows = NamedSharding(Mesh(devices, ("rows",)), PartitionSpec("rows"))
    return layer, (ARGUMENTS[0], jax.ShapeDtypeStruct((16, 64), jnp.float32, sharding=rows))
"""

# Takes the executable out of what was written: the rest is for the devices that it will run on.
EXTRACT = """
import io, pickle, sys
written, in_tree, out_tree = pickle.load(open(sys.argv[1], "rb"))
class Parts(pickle.Unpickler):
    def persistent_load(self, part):
        open("code", "wb").write(part[1])
        raise SystemExit(f"{part[0]} {in_tree.num_leaves} {out_tree.num_leaves}")
Parts(io.BytesIO(written)).load()
"""

WRITE = """
import jax, model, pathlib, jaxlib_cuda_13.pjrt.compile as command
lowered = command._lower(model.layer, model.ARGUMENTS, jax.devices("cpu"))
command.write_executable(lowered.compile(), pathlib.Path("layer.pickle"))
"""

# As the help of the command says it.
LOAD = """
import pickle, jax, jax.experimental.serialize_executable, model
FILE = "layer.pickle"
layer = jax.experimental.serialize_executable.deserialize_and_load(*pickle.load(open(FILE, "rb")))
print((layer(*model.ARGUMENTS)["y"] == jax.jit(model.layer)(*model.ARGUMENTS)["y"]).all())
"""


@pytest.fixture
def user(tmp_path: Path, wheel_python: Path, overlay: Overlay) -> Run:
    """Return a function: arguments of Python → what ran in the user's folder, where the wheels for CUDA 13 are."""
    (tmp_path / "model.py").write_text(MODEL, "utf-8")
    path = os.pathsep.join([str(overlay("cuda13")), str(tmp_path)])

    def run_python(*arguments: str, **environ: str) -> subprocess.CompletedProcess[str]:
        variables, command = clean_environ(PYTHONPATH=path, **environ), [str(wheel_python), *arguments]
        return subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)

    return run_python


COMPILE = ("-m", "jaxlib_cuda_13", "compile", "--json", "--for")
# What is spread is in parts, what is not is on each device.
PROGRAMS = {
    "shapes": (["h100", "model:product", "--args", "f32[64,8]", "f32[16,64]"], 1, 4 * (64 * 8 + 16 * 64), "exec 2 1"),
    "trees": (["h100:4", "model:spread"], 4, 4 * (64 * 8 + 1 + 16 * 64 // 4), "exec 3 1"),
}


@pytest.mark.parametrize(("asked", "devices", "argument_bytes", "parts"), PROGRAMS.values(), ids=PROGRAMS)
def test_a_function_is_compiled_for_gpus_that_are_not_here(
    user: Run, tmp_path: Path, asked: list[str], devices: int, argument_bytes: int, parts: str
) -> None:
    """Its file has code for that GPU alone, whatever platforms the environment asks JAX for."""
    result = user(*COMPILE, *asked, JAX_PLATFORMS="cuda", JAX_PLATFORM_NAME="gpu")
    assert result.returncode == 0, result.stderr
    found = json.loads(result.stdout)
    assert (found["chip"], found["devices"], found["argument_bytes"]) == (asked[0], devices, argument_bytes)
    assert (found["flops"] >= 2 * 16 * 64 * 8, 0 < found["seconds"] < 1e-3) == (True, True)
    assert (tmp_path / found["file"]).stat().st_size == found["file_bytes"]
    taken = user("-c", EXTRACT, found["file"], JAX_PLATFORMS="cpu")
    assert (taken.stderr.splitlines()[-1], find_code((tmp_path / "code").read_bytes())) == (parts, ("sm_90a",))


def test_errors_of_a_function_are_the_users(user: Run, tmp_path: Path) -> None:
    """Their traceback begins in the user's file; nothing is written."""
    result = user(*COMPILE, "h100", "model:fail", "--args", "f32[8]")
    _, _, traceback = result.stderr.partition("Traceback (most recent call last):\n")
    assert (result.returncode, "model.py" in traceback.splitlines()[0]) == (1, True), result.stderr
    assert ("pjrt/compile.py" in traceback, list(tmp_path.glob("*.pickle"))) == (False, [])


def test_what_was_written_loads_with_the_documented_line(user: Run) -> None:
    """Where the devices are, here those of the CPU, it computes what the function does."""
    written, loaded = (user("-c", code, JAX_PLATFORMS="cpu") for code in (WRITE, LOAD))
    assert (written.returncode, loaded.stdout) == (0, "True\n"), written.stderr + loaded.stderr


@pytest.mark.parametrize(
    ("others", "environ", "printed"),
    [
        ([], {}, "[0, 1]"),
        (["cuda13"], {}, "RivalError"),
        ([], {"JAXLIB_CUDA_12_DISABLE": "1"}, "UnusedError"),
    ],
    ids=["two machines", "rival", "disabled"],
)
def test_chips_are_described_in_python(
    run: Program, overlay: Overlay, others: list[str], environ: dict[str, str], printed: str
) -> None:
    """As devices of JAX's, unless JAX does not use this plugin."""
    code = (
        "import jaxlib_cuda_12\n"
        "try: print([device.process_index for device in jaxlib_cuda_12.topology('a100:2x1').devices])\n"
        "except RuntimeError as error: print(type(error).__name__)\n"
    )
    assert run(code, overlay("cuda12"), *map(overlay, others), **environ).stdout == f"{printed}\n"

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Time `jaxlib-select` next to the detection that uv's wheel variants use, in turns on one machine.

There is a row each for `detect` without an accelerator, for `detect` with a library that is a mock driver
(tests/data/fake_libcuda.c), for `resolve jax` there, which decides too, and for uv, which runs `nvidia-smi -q` while it
resolves a wheel with a variant (`uv pip install --dry-run`). uv's provider is given a program nvidia-smi that answers
at once, so that it has something to read; the variant asks for a package that the plain wheel does not, and a run in
which uv does not want that package is an error.

    python benchmarks/detect.py [--repeats N]
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
import zipfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parent.parent
GOALS = {"nothing there": 0.100, "mock driver": 0.200, "and a decision": 0.200}
MEGABYTES = 30
H100 = {"FAKE_CUDA_VERSION": "13000", "FAKE_CUDA_GPUS": "9.0:NVIDIA H100"}
VARIANTS = {
    "default-priorities": {"namespace": ["nvidia"]},
    "providers": {
        "nvidia": {
            "requires": ["nvidia-variant-provider>=0.0.1,<1"],
            "plugin-api": "nvidia_variant_provider.plugin:NvidiaVariantPlugin",
        }
    },
    "variants": {"cuda13": {"nvidia": {"cuda_version_lower_bound": ["13.0"]}}},
    "$schema": "https://variants-schema.wheelnext.dev/v0.0.3.json",
}
SMI = """#!/bin/sh
case "$*" in
  *driver_version*) echo 580.95.05 ;;
  *compute_cap*) echo 9.0 ;;
  *) echo "CUDA Version                              : 13.0" ;;
esac
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run everything in turns and print the medians."""
    parser = argparse.ArgumentParser(description="time detection")
    parser.add_argument("--repeats", type=int, default=15, help="turns (default: 15)")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        runs = prepare(Path(folder), sys.executable)
        measured: dict[str, list[Measured]] = {name: [] for name in runs}
        for _ in range(args.repeats):
            for name, run in runs.items():
                measured[name].append(run())
    for name, values in measured.items():
        report(name, values)
    return 0


class Measured(NamedTuple):
    """One run of a command: from start to end, and the most memory, which is no less than the benchmark's own peak."""

    seconds: float
    megabytes: float


def report(name: str, runs: Sequence[Measured]) -> None:
    """Print a row, and whether a goal was missed."""
    seconds, megabytes = [run.seconds for run in runs], max(run.megabytes for run in runs)
    median, goal = statistics.median(seconds), GOALS.get(name)
    missed = goal is not None and (median > goal or megabytes > MEGABYTES)
    verdict = "" if goal is None else f"  goals {1000 * goal:.0f} ms, {MEGABYTES} MB{': missed' if missed else ''}"
    print(f"{name:<16}median {1000 * median:6.1f} ms  best {1000 * min(seconds):6.1f} ms  {megabytes:5.1f} MB{verdict}")


def prepare(folder: Path, python: str) -> dict[str, Callable[[], Measured]]:
    """Return what is timed, by name; what this machine lacks is left out."""
    base = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT / "selector"), "HOME": str(folder)}
    program = [python, "-m", "jaxlib_select"]
    command = [*program, "detect", "--json"]
    runs = {"python alone": runner([python, "-c", "pass"], base), "nothing there": runner(command, base)}
    if (compiler := shutil.which("gcc") or shutil.which("cc")) is not None:
        library = str(folder / "libcuda.so.1")
        source = str(ROOT / "tests/data/fake_libcuda.c")
        subprocess.run([compiler, "-std=gnu11", "-shared", "-fPIC", "-o", library, source], check=True)
        driver = {**base, "LD_LIBRARY_PATH": str(folder), **H100}
        runs["mock driver"] = runner(command, driver)
        runs["and a decision"] = runner([*program, "resolve", "jax", "--json"], driver, wanted="jaxlib-cuda-13")
    if (uv := shutil.which("uv", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")) is not None:
        runs["uv variants"] = uv_runner(uv, folder, python, base)
    return runs


def runner(command: Sequence[str], environ: Mapping[str, str], wanted: str = "") -> Callable[[], Measured]:
    """Return a function that runs a command and minds its status, and what it has to say."""

    def run() -> Measured:
        start = time.perf_counter()
        with tempfile.TemporaryFile() as output:
            process = subprocess.Popen(command, env=dict(environ), stdout=output, stderr=subprocess.STDOUT)
            _, status, usage = os.wait4(process.pid, 0)  # Popen itself knows nothing of memory
            seconds = time.perf_counter() - start
            process.returncode = os.waitstatus_to_exitcode(status)
            output.seek(0)
            said = output.read().decode()
        if process.returncode or wanted not in said:
            raise SystemExit(f"{' '.join(command)} did not do what is timed:\n{said}")
        return Measured(seconds, usage.ru_maxrss / 1000)

    return run


def uv_runner(uv: str, folder: Path, python: str, base: Mapping[str, str]) -> Callable[[], Measured]:
    """Return a function that lets uv choose a variant of a wheel, and makes sure that it does."""
    wheels = folder / "wheels"
    wheels.mkdir()
    write_wheel(wheels / "chosen-1-py3-none-any.whl")
    write_wheel(wheels / "empty-1-py3-none-any.whl")
    write_wheel(wheels / "empty-1-py3-none-any-cuda13.whl", requires="chosen")
    (wheels / "empty-1-variants.json").write_text(json.dumps(VARIANTS), "utf-8")
    (folder / "nvidia-smi").write_text(SMI, "utf-8")
    (folder / "nvidia-smi").chmod(0o755)
    places = ["--no-index", "--find-links", str(wheels), "--target", str(folder / "target"), "--python", python]
    options = ["--preview-features", "wheel-variants", "--offline", "--no-cache"]
    command = [uv, "pip", "install", "--dry-run", *options, *places, "empty"]
    environ = {**base, "PATH": f"{folder}:{base['PATH']}"}
    return runner(command, environ, wanted="chosen==1")


def write_wheel(path: Path, requires: str = "") -> None:
    """Write a wheel without content; one that requires something is the variant."""
    name = path.name.partition("-")[0]
    needs = f"Requires-Dist: {requires}\n" if requires else ""
    texts = {"METADATA": f"Metadata-Version: 2.1\nName: {name}\nVersion: 1\n{needs}", "RECORD": ""}
    texts["WHEEL"] = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    texts |= {"variant.json": json.dumps(VARIANTS)} if requires else {}
    with zipfile.ZipFile(path, "w") as archive:
        for file, text in texts.items():
            archive.writestr(f"{name}-1.dist-info/{file}", text)


if __name__ == "__main__":
    sys.exit(main())

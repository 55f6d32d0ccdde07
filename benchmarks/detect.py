# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Time `jaxlib-select detect` beside the detection that uv's wheel variants use, in turns on one machine.

Three columns: without an accelerator, with a library that plays a driver (tests/data/fake_libcuda.c), and uv, which
runs `nvidia-smi -q` while it resolves a wheel with a variant (`uv pip install --dry-run`). uv's provider is given a
program nvidia-smi that answers at once, so that it has something to read.

    python benchmarks/detect.py [--repeats N] [--python PATH]
"""

from __future__ import annotations

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

ROOT = Path(__file__).resolve().parent.parent
GOALS = {"nothing there": 0.100, "driver played": 0.200}
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
  *compute_cap*) echo 9.0 ;;
  *) echo "CUDA Version                              : 13.0" ;;
esac
"""


def main(argv: Sequence[str] | None = None) -> int:
    """Run everything in turns and print the medians."""
    parser = argparse.ArgumentParser(description="time detection")
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--python", default=sys.executable, help="interpreter for jaxlib-select")
    args = parser.parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        runs = prepare(Path(folder), args.python)
        seconds: dict[str, list[float]] = {name: [] for name in runs}
        for _ in range(args.repeats):
            for name, run in runs.items():
                start = time.perf_counter()
                run()
                seconds[name].append(time.perf_counter() - start)
    missed = False
    for name, values in seconds.items():
        goal = GOALS.get(name)
        verdict = "" if goal is None else f"  goal {1000 * goal:.0f} ms"
        missed |= goal is not None and statistics.median(values) > goal
        print(
            f"{name:<16}median {1000 * statistics.median(values):6.1f} ms  best {1000 * min(values):6.1f} ms{verdict}"
        )
    return int(missed)


def prepare(folder: Path, python: str) -> dict[str, Callable[[], None]]:
    """Return what is timed, by name; what this machine lacks is left out."""
    base = {"PATH": "/usr/bin:/bin", "PYTHONPATH": str(ROOT / "selector"), "HOME": str(folder)}
    command = [python, "-m", "jaxlib_select", "detect", "--json"]
    runs = {"python alone": runner([python, "-c", "pass"], base), "nothing there": runner(command, base)}
    if (compiler := shutil.which("gcc") or shutil.which("cc")) is not None:
        library = str(folder / "libcuda.so.1")
        source = str(ROOT / "tests/data/fake_libcuda.c")
        subprocess.run([compiler, "-std=gnu11", "-shared", "-fPIC", "-o", library, source], check=True)
        runs["driver played"] = runner(command, {**base, "LD_LIBRARY_PATH": str(folder), **H100})
    if (uv := shutil.which("uv", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")) is not None:
        runs["uv variants"] = uv_runner(uv, folder, python, base)
    return runs


def runner(command: Sequence[str], environ: Mapping[str, str]) -> Callable[[], None]:
    """Return a function that runs a command and minds its status."""
    return lambda: subprocess.run(command, env=dict(environ), capture_output=True, check=True) and None


def uv_runner(uv: str, folder: Path, python: str, base: Mapping[str, str]) -> Callable[[], None]:
    """Return a function that lets uv choose a variant of an empty wheel, and makes sure that it does."""
    wheels = folder / "wheels"
    wheels.mkdir()
    for label in ("", "-cuda13"):
        write_wheel(wheels / f"empty-1-py3-none-any{label}.whl", label.removeprefix("-"))
    (wheels / "empty-1-variants.json").write_text(json.dumps(VARIANTS), "utf-8")
    (folder / "nvidia-smi").write_text(SMI, "utf-8")
    (folder / "nvidia-smi").chmod(0o755)
    places = ["--no-index", "--find-links", str(wheels), "--target", str(folder / "target"), "--python", python]
    options = ["--preview-features", "wheel-variants", "--offline", "--no-cache"]
    command = [uv, "pip", "install", "--dry-run", *options, *places, "empty"]
    environ = {**base, "PATH": f"{folder}:{base['PATH']}"}
    return runner(command, environ)


def write_wheel(path: Path, label: str) -> None:
    """Write a wheel without content."""
    metadata = "Metadata-Version: 2.1\nName: empty\nVersion: 1\n"
    wheel = "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("empty-1.dist-info/METADATA", metadata)
        archive.writestr("empty-1.dist-info/WHEEL", wheel)
        archive.writestr("empty-1.dist-info/RECORD", "")
        if label:
            archive.writestr("empty-1.dist-info/variant.json", json.dumps(VARIANTS))


if __name__ == "__main__":
    sys.exit(main())

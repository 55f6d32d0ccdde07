# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Compare `jaxlib-cpu` with JAX's built-in CPU client: start, calls, training steps and memory.

Both are used by the same programs in one fresh environment, in turns, each run in a process of its own. The wheels are
those of `dist/` or of another folder; the rest comes from the package index.

    ./noxw bench cpu [--wheels FOLDER] [--repeats N] [--python TAG]
"""

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from pjrtwheel.environment.interpreters import find_interpreters

ROOT = Path(__file__).resolve().parent.parent
CLIENTS = {"built-in": {"JAXLIB_CPU_DISABLE": "1"}, "jaxlib-cpu": {}}
SETTINGS = ("JAX", "XLA_", "PJRT_", "PYTHON")  # variables that would change what is measured


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of this program's arguments."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--wheels", type=Path, default=ROOT / "dist", help="folder with our wheels (default: dist/)")
    parser.add_argument("--repeats", type=int, default=7, help="turns (default: 7)")
    parser.add_argument("--python", default="cp312", help="tag of the environment's Python (default: cp312)")
    return parser


def main(argv: Sequence[str] | None = None) -> int:
    """Measure both clients in turns and print medians and ratios."""
    args = make_parser().parse_args(argv)
    with tempfile.TemporaryDirectory() as folder:
        python = make_environment(Path(folder), args.wheels, args.python)
        measured: dict[str, list[dict[str, float]]] = {client: [] for client in CLIENTS}
        for _ in range(args.repeats):
            for client, runs in measured.items():
                runs.append(run(python, client, Path(folder)))
    report(measured)
    return 0


def make_environment(folder: Path, wheels: Path, tag: str) -> Path:
    """Install JAX and our two wheels, and return the environment's Python."""
    plugins = sorted(wheels.glob("jaxlib_cpu-*.whl"))
    bindings = sorted(wheels.glob(f"jaxlib-*-{tag}-{tag}-*.whl"))
    if len(plugins) != 1 or len(bindings) != 1:
        raise SystemExit(
            f"error: {wheels} has {len(plugins)} wheels of jaxlib-cpu and {len(bindings)} of jaxlib for {tag}\n"
            "       one of each is compared\n"
            "       run: ./noxw build_cpu, or name another folder with --wheels"
        )
    release = plugins[0].name.split("-")[1].partition("+")[0]
    interpreter = find_interpreters([tag])[tag]
    if interpreter is None:
        raise SystemExit(f"error: no Python {tag} on this machine\n       name another with --python")
    python = folder / "venv/bin/python"
    subprocess.run(["uv", "venv", "--quiet", "--python", interpreter.path, folder / "venv"], check=True)
    needs = [f"jax=={release}", *map(str, bindings), *map(str, plugins)]
    # uv's cache knows a wheel by its name alone, and might install that of an earlier build.
    fresh = ["--refresh-package=jaxlib", "--refresh-package=jaxlib-cpu"]
    subprocess.run(["uv", "pip", "install", "--quiet", "--python", python, *fresh, *needs], check=True)
    return python


def run(python: Path, client: str, folder: Path) -> dict[str, float]:
    """Measure one client in a process of its own, in an empty folder."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith(SETTINGS)}
    environ |= {"JAX_PLATFORMS": "cpu"} | CLIENTS[client]
    command = [python, "-I", ROOT / "benchmarks/cpu_measure.py", client]
    done = subprocess.run(command, cwd=folder, env=environ, stdout=subprocess.PIPE, check=True)
    values: dict[str, float] = json.loads(done.stdout)
    return values


def report(measured: Mapping[str, Sequence[Mapping[str, float]]]) -> None:
    """Print a row for each program: the medians, and the median of the ratios of the turns."""
    builtin, ours = measured["built-in"], measured["jaxlib-cpu"]
    title = f"median of {len(ours)} turns"
    print(f"{title:<40}{'built-in':>12}{'jaxlib-cpu':>12}{'ratio':>8}{'from':>8}{'to':>6}")
    for name in ours[0]:
        pairs = [(before[name], after[name]) for before, after in zip(builtin, ours, strict=True)]
        before, after = (statistics.median(values) for values in zip(*pairs, strict=True))
        ratios = sorted(second / first for first, second in pairs)
        row = f"{statistics.median(ratios):>8.2f}{ratios[0]:>8.2f}{ratios[-1]:>6.2f}"
        print(f"{name:<40}{before:>12.1f}{after:>12.1f}{row}")


if __name__ == "__main__":
    sys.exit(main())

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Compare assembly and repair with the standard tools, and with the floor of the machine.

All are given the same library on disk and run in turns, each in a process of its own. The floor reads the library,
compresses it with libdeflate as we do, and writes the result: no zip file, no digests, no repair.

    ./noxw bench assemble [--repeats N] [--platform NAME] [--backend NAME] [--level N]
"""

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pinned import Inputs, compressed_size, installed_size, read_inputs, write_bindings_manifest, write_manifests

from pjrtwheel.platforms import host_platform
from pjrtwheel.wheel.compress import DEFAULT_COMPRESSION, compress

GOAL_SPEED = 5.0
GOAL_MEMORY = 1_000_000_000
GOAL_SAVED = 0.10

PYPROJECT = """\
[build-system]
requires = ["setuptools"]
build-backend = "setuptools.build_meta"
[project]
name = "{name}"
version = "{version}"
[tool.setuptools]
packages = ["{package}"]
[tool.setuptools.package-data]
"*" = ["*.so"]
"""
SETUP = """\
from setuptools import Distribution, setup

class BinaryDistribution(Distribution):
    def has_ext_modules(self):
        return True

setup(distclass=BinaryDistribution)
"""


@dataclass(frozen=True, slots=True)
class Run:
    """What was measured of one contestant: wall and processor time in seconds, and peak memory in bytes."""

    seconds: float
    processor: float
    memory: int


def run(*commands: Sequence[str | Path]) -> Run:
    """Run commands one after the other and return their time and their peak memory."""
    start, processor, memory = time.perf_counter(), 0.0, 0
    for command in commands:
        arguments = [os.fspath(argument) for argument in command]
        actions = [(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)]
        pid = os.posix_spawnp(arguments[0], arguments, os.environ, file_actions=actions)
        _, status, usage = os.wait4(pid, 0)
        if status:
            raise SystemExit(f"failed: {' '.join(arguments)}")
        processor += usage.ru_utime + usage.ru_stime
        memory = max(memory, usage.ru_maxrss * 1024)
    return Run(time.perf_counter() - start, processor, memory)


def write_project(inputs: Inputs, directory: Path) -> Path:
    """Write the setuptools project from which the standard tools make the same wheel."""
    project = directory / "project"
    package = project / inputs.backend.package
    package.mkdir(parents=True)
    names = {"name": inputs.backend.distribution, "package": inputs.backend.package}
    (project / "pyproject.toml").write_text(PYPROJECT.format(version=inputs.release.version, **names))
    (project / "setup.py").write_text(SETUP)
    (package / "__init__.py").write_text("")
    (package / inputs.backend.library).hardlink_to(inputs.library)
    return project


def run_ours(manifest: Path, output: Path, setting: int) -> Run:
    """Assemble and repair with our tool."""
    options = ["--manifest", manifest, "--output", output, "--level", str(setting)]
    return run([sys.executable, "-m", "pjrtwheel", "assemble", *options])


def run_standard(project: Path, output: Path, tag: str, external: Sequence[str]) -> Run:
    """Build with setuptools and repair with auditwheel."""
    built = output / "built"
    build = run([sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", built, project])
    (wheel,) = built.glob("*.whl")
    repaired = output / "repaired"
    options = ["--plat", tag, "--wheel-dir", repaired, *(f"--exclude={name}" for name in external)]
    repair = run([sys.executable, "-m", "auditwheel", "repair", *options, wheel])
    return Run(build.seconds + repair.seconds, build.processor + repair.processor, max(build.memory, repair.memory))


def run_floor(library: Path, output: Path, setting: int) -> Run:
    """Only read, compress and write."""
    return run([sys.executable, __file__, "--level", str(setting), "--floor", library, output])


def floor(library: Path, output: Path, setting: int) -> None:
    """Compress a file."""
    output.write_bytes(compress(library.read_bytes(), setting))


def measure(inputs: Inputs, directory: Path, repeats: int, setting: int) -> dict[str, list[Run]]:
    """Run the three in turns, so that a busy moment of the machine meets all of them."""
    manifest = write_manifests(inputs, directory / "library")[0]
    project = write_project(inputs, directory)
    tag = inputs.backend.tags[inputs.platform]
    runs: dict[str, list[Run]] = {"ours": [], "standard": [], "floor": []}
    for number in range(repeats):
        output = directory / f"run{number}"
        output.mkdir()
        runs["ours"].append(run_ours(manifest, output / "ours", setting))
        runs["standard"].append(run_standard(project, output, tag, inputs.backend.external))
        runs["floor"].append(run_floor(inputs.library, output / "floor", setting))
    return runs


def measure_wheels(inputs: Inputs, directory: Path, setting: int) -> tuple[float, list[Path]]:
    """Make the wheels of the backend that one Python needs; return the seconds that took, and the wheels."""
    whole, manifests = directory / "whole", write_manifests(inputs, directory / "wheel")
    seconds = sum(run_ours(manifest, whole, setting).seconds for manifest in manifests)
    return seconds, sorted(whole.glob("*.whl"))


def measure_bindings(inputs: Inputs, directory: Path, setting: int) -> tuple[Run, int, int]:
    """Make our `jaxlib` for one Python; return the run, its size and upstream's."""
    python = inputs.release.pythons(inputs.platform)[0]
    measured = run_ours(write_bindings_manifest(inputs, python, directory), directory / "bindings", setting)
    report = json.loads((directory / "bindings" / "report.json").read_text())
    return measured, report["size"], inputs.release.pin(f"bindings.{python}.{inputs.platform}").size


def print_times(runs: dict[str, list[Run]], setting: int) -> None:
    """Print one row for each contestant."""
    print(f"{'':<36}{'min s':>8}{'median s':>10}{'min CPU s':>11}{'peak MB':>9}")
    titles = {
        "ours": "pjrtwheel assemble (with repair)",
        "standard": "setuptools, then auditwheel repair",
        "floor": f"floor: libdeflate {setting}",
    }
    for name, title in titles.items():
        seconds = [measured.seconds for measured in runs[name]]
        processor = min(measured.processor for measured in runs[name])
        memory = max(measured.memory for measured in runs[name]) / 1e6
        print(f"{title:<36}{min(seconds):>8.2f}{statistics.median(seconds):>10.2f}{processor:>11.2f}{memory:>9.0f}")


def judge(name: str, value: str, *, goal: str, met: bool) -> None:
    """Print one figure with its goal."""
    print(f"{name:<44}{value:>16}   goal {goal}: {'met' if met else 'MISSED'}")


def judge_size(name: str, ours: int, theirs: int) -> None:
    """Print a number of bytes, which is no larger than upstream's if all is well."""
    judge(name, str(ours), goal=f"<= upstream's {theirs}, is {1 - ours / theirs:.1%} less", met=ours <= theirs)


def make_parser() -> argparse.ArgumentParser:
    """Return the parser of this program's arguments."""
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0] if __doc__ else None)
    parser.add_argument("--repeats", type=int, default=3, help="turns (default: 3)")
    parser.add_argument("--backend", default="cpu", help="whose wheel is assembled (default: cpu)")
    parser.add_argument("--platform", default=host_platform().name, help="for which (default: that of this machine)")
    parser.add_argument("--level", dest="compression", type=int, default=DEFAULT_COMPRESSION, metavar="N")
    parser.add_argument("--floor", nargs=2, type=Path, help=argparse.SUPPRESS)
    return parser


def main() -> None:
    """Measure, and print whether each goal is met."""
    args = make_parser().parse_args()
    if args.floor:
        floor(*args.floor, args.compression)
        return
    with tempfile.TemporaryDirectory() as name:
        report(read_inputs(args.backend, args.platform, Path(name)), Path(name), args.repeats, args.compression)


def report(inputs: Inputs, directory: Path, repeats: int, setting: int) -> None:
    """Measure, and print whether each goal is met."""
    runs = measure(inputs, directory, repeats, setting)
    seconds, wheels = measure_wheels(inputs, directory, setting)
    bindings, size, upstream = measure_bindings(inputs, directory, setting)
    fastest = {name: min(measured.seconds for measured in measured_runs) for name, measured_runs in runs.items()}
    peak = max(measured.memory for measured in [*runs["ours"], bindings])
    print_times(runs, setting)
    print(f"{'ratio to the floor':<44}{fastest['ours'] / fastest['floor']:>15.2f}x")
    ratio = fastest["standard"] / fastest["ours"]
    judge("faster than the standard tools", f"{ratio:.1f}x", goal=f">= {GOAL_SPEED:.0f}x", met=ratio >= GOAL_SPEED)
    judge("peak memory", f"{peak / 1e6:.0f} MB", goal="< 1000 MB", met=peak < GOAL_MEMORY)
    judge_wheels(inputs, seconds, wheels)
    judge(
        f"our jaxlib, made in {bindings.seconds:.1f} s (bytes)",
        f"{size}",
        goal=f"10 % below upstream's {upstream}",
        met=size <= upstream * (1 - GOAL_SAVED),
    )


def judge_wheels(inputs: Inputs, seconds: float, wheels: Sequence[Path]) -> None:
    """Compare the plugin library, and all wheels for one Python, with what upstream's users need.

    Upstream strips the libraries of accelerators by itself, so that installed ones are of about the same size.
    """
    library, kernels = inputs.backend.library, list(inputs.kernel_wheels.values())
    one, all_ = [inputs.plugin_wheel, *kernels[:1]], [inputs.plugin_wheel, *kernels]
    judge_size(
        "library in the wheel (bytes)", *(compressed_size(path, library) for path in (wheels[0], inputs.plugin_wheel))
    )
    with zipfile.ZipFile(wheels[0]) as archive:
        installed = archive.getinfo(f"{inputs.backend.package}/{library}").file_size
    judge_size("library installed (bytes)", installed, inputs.library.stat().st_size)
    judge_size("wheels for one Python (bytes)", download_size(wheels), download_size(one))
    judge_size("wheels installed (bytes)", installed_size(wheels), installed_size(one))
    print(f"{'our wheels, made in':<44}{seconds:>15.1f}s")
    title = f"upstream's wheels for {len(kernels)} Pythons"
    print(f"{title:<44}{download_size(all_):>16} bytes to download, {installed_size(all_)} installed")


def download_size(wheels: Sequence[Path]) -> int:
    """Return the length of all files together."""
    return sum(path.stat().st_size for path in wheels)


if __name__ == "__main__":
    main()

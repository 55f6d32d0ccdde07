# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Compile a function for chips that need not be here, and keep the executable.

FUNCTION is what to compile, and --args has the shapes of its arguments, such as 'f32[8,128]' 'bf16[]' 'i32[4]'. Without
--args it is a function that returns what to compile and its arguments, of which only the shapes count:

  def example(devices):
      return step, (params, batch)  # trees of arrays, or of jax.ShapeDtypeStruct with shardings over these devices

MODULE may be in the current directory. Several chips are h100:8, h100:2x8 (machines, chips of each), v5e:2x4. On a
machine that has them, with the same wheels, this loads the executable; it is a pickle, so load only what you trust:

  jax.experimental.serialize_executable.deserialize_and_load(*pickle.load(open(FILE, "rb")))
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import pickle
import re
import traceback
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from . import private
from .chips import find_chip, read_chips
from .errors import CompileError, PluginError, RequestError
from .installed import installed_version, pip_command
from .plugin import Plugin
from .report import SCHEMA
from .settings import JAX_PLATFORM_NAME, JAX_PLATFORMS

# In XLA's description of a GPU; its compiler does not say how long a program takes.
_BANDWIDTH = re.compile(r"memory_bandwidth: (\d+)")


def run(plugin: Plugin, topology: Callable[[str], Any], arguments: Sequence[str]) -> str:
    """Compile what the command line names, and return what to print.

    Raises:
        SystemExit: It cannot; why is printed.
    """
    chips = ", ".join(read_chips(plugin.package))
    parser = argparse.ArgumentParser(f"python -m {plugin.package.name} compile", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("function", metavar="MODULE:FUNCTION", help="such as train:step")
    parser.add_argument("--for", dest="chip", metavar="CHIP", required=True, help=f"one of {chips}")
    parser.add_argument("--args", nargs="*", metavar="SHAPE", help="shapes of the arguments")
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="default: MODULE-FUNCTION-CHIP.pickle")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    options = parser.parse_args(arguments)
    # All but the compiling is done on the CPU, whatever is here.
    os.environ[JAX_PLATFORMS] = "cpu"
    os.environ.pop(JAX_PLATFORM_NAME, None)
    try:
        report = _compile(plugin, topology, options)
    except PluginError as error:
        parser.exit(2 if isinstance(error, RequestError) else 1, f"{parser.prog}: {error.sentences()}\n")
    except Exception as error:  # noqa: BLE001  # the user's function raises what it likes
        frames = _their_frames(error)
        if frames is None:  # as from a function that takes other arguments
            parser.exit(2, f"{parser.prog}: {error} (see --help)\n")
        traceback.print_exception(error.with_traceback(frames))
        parser.exit(1)
    lines = [f"{name.replace('_', ' '):<16} {_show(value)}" for name, value in report.items()]
    return json.dumps(report, indent=2) if options.json else "\n".join(lines)


def _show(value: str | float | None) -> str:
    return value if isinstance(value, str) else "unknown" if value is None else f"{value:,}"


def _their_frames(error: Exception) -> TracebackType | None:
    """Return the frames of an exception that are not this package's; None if there are none."""
    ours = (str(Path(__file__).parent), importlib.__file__, "<frozen importlib")
    frames = error.__traceback__
    while frames is not None and frames.tb_frame.f_code.co_filename.startswith(ours):
        frames = frames.tb_next
    return frames


def _compile(plugin: Plugin, topology: Callable[[str], Any], options: argparse.Namespace) -> dict[str, Any]:
    """Compile and write what the command line names, and return what there is to say of it.

    Raises:
        PluginError: There is no such thing, or it cannot be compiled.
    """
    chip = find_chip(plugin, options.chip)
    if "*" in chip.get("fails", {}):
        raise CompileError(f"{plugin.distribution} cannot compile for {options.chip}: {chip['fails']['*']['reason']}")
    path = options.output or Path(f"{options.function}-{options.chip}.pickle".replace(":", "-"))
    if not path.parent.is_dir():
        raise RequestError(f"there is no folder {path.parent}")
    module, _, name = options.function.partition(":")
    function = getattr(importlib.import_module(module), name)
    devices = topology(options.chip).devices
    arguments = tuple(map(_parse_shape, options.args or ()))
    if options.args is None:
        function, arguments = function(devices)
    lowered = _lower(function, arguments, devices)
    try:
        compiled = lowered.compile()
    except private.jaxlib("xla_client").XlaRuntimeError as error:
        missing = " ".join(project for project in plugin.compilers if installed_version(project) is None)
        remedy = pip_command(f"install {missing}") if missing else ""
        what = f"XLA cannot compile {options.function} for {options.chip}: {str(error).partition(chr(10))[0]}"
        raise CompileError(what, remedy=remedy) from None
    size = write_executable(compiled, path)
    asked = {"schema": SCHEMA, "chip": options.chip, "summary": chip["summary"], "devices": len(devices)}
    return {**asked, "file": str(path), "file_bytes": size, **_measure(lowered, compiled, chip)}


def _parse_shape(text: str) -> Any:
    """Return the shape of an argument, in the short form of JAX or XLA.

    Raises:
        RequestError: It is none.
    """
    xla_client = private.jaxlib("xla_client")
    try:
        shape = xla_client.Shape(re.sub(r"^i(?=\d)", "s", text))  # what JAX calls i32 is XLA's s32
    except xla_client.XlaRuntimeError:
        raise RequestError(f"{text!r} is no shape, such as 'f32[8,128]'") from None
    return importlib.import_module("jax").ShapeDtypeStruct(shape.dimensions(), shape.numpy_dtype())


def _lower(function: Any, arguments: Sequence[Any], devices: Sequence[Any]) -> Any:
    """Lower a function for devices; arguments that say nothing of them are on all of them."""
    import jax

    mesh = jax.sharding.Mesh(devices, ("devices",))
    everywhere = jax.sharding.NamedSharding(mesh, jax.sharding.PartitionSpec())

    def place(leaf: Any) -> Any:
        shape = jax.ShapeDtypeStruct.like(leaf)
        own = leaf.sharding if isinstance(leaf, jax.ShapeDtypeStruct) else None
        return jax.ShapeDtypeStruct(shape.shape, shape.dtype, sharding=own or everywhere, weak_type=shape.weak_type)

    jitted = function if hasattr(function, "lower") else jax.jit(function)
    return jitted.lower(*jax.tree.map(place, tuple(arguments)))


def write_executable(compiled: Any, path: Path) -> int:
    """Write what JAX returns of a serialized executable, whole or not at all, and return its size."""
    data = pickle.dumps(importlib.import_module("jax.experimental.serialize_executable").serialize(compiled))
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        part.write_bytes(data)
        part.replace(path)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise CompileError(f"cannot write {path}: {error.strerror}") from error
    return len(data)


def _measure(lowered: Any, compiled: Any, chip: dict[str, Any]) -> dict[str, Any]:
    """Return what one device needs, and the operations of the whole program; None for what is not known."""
    memory = compiled.memory_analysis()
    costs = compiled.cost_analysis() or private.analyse_costs(compiled.runtime_executable().hlo_modules()[0])
    moved, seconds = int(costs.get("bytes accessed", -1)), costs.get("optimal_seconds", -1)
    bandwidth = _BANDWIDTH.search(chip.get("options", {}).get("target_config", ""))
    if bandwidth is not None:
        seconds = moved / int(bandwidth[1])
    found = {
        "argument_bytes": memory.argument_size_in_bytes,
        "result_bytes": memory.output_size_in_bytes,
        "temporary_bytes": memory.temp_size_in_bytes,
        "code_bytes": memory.generated_code_size_in_bytes or -1,
        "moved_bytes": moved,
        "flops": int(private.analyse_costs(lowered.compiler_ir("hlo").as_hlo_module()).get("flops", -1)),
        "seconds": float(f"{seconds:.3g}"),
    }
    return {name: value if value >= 0 else None for name, value in found.items()}  # XLA counts -1 for what is unknown

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Write the wheel of a manifest's specification."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path

from pjrtwheel.errors import WheelError
from pjrtwheel.wheel.deflate.compress import LEVEL
from pjrtwheel.wheel.report import Report
from pjrtwheel.wheel.write.archive import explain_write_errors
from pjrtwheel.wheel.write.bindings import plan_bindings
from pjrtwheel.wheel.write.manifest import BindingsSpec, PluginSpec
from pjrtwheel.wheel.write.plugin import plan_plugin
from pjrtwheel.wheel.write.wheel_file import write_wheel


def assemble(
    spec: PluginSpec | BindingsSpec, directory: Path, *, workers: int | None = None, level: int = LEVEL
) -> Report:
    """Write the wheel of a specification.

    Args:
        spec: What it is made from.
        directory: Where it is written; made when it is not there.
        workers: Number of compressing threads; as many as there are cores when absent.
        level: Level of libdeflate.

    Raises:
        ElfError: A library is not what the wheel needs.
        WheelError: An input is missing or damaged, or the disk is full.
    """
    with explain_write_errors(directory):
        directory.mkdir(parents=True, exist_ok=True)
    with ExitStack() as files:
        try:
            if isinstance(spec, PluginSpec):
                plan = plan_plugin(spec, files)
            else:
                plan = plan_bindings(spec, files, scratch=directory)
        except FileNotFoundError as error:
            raise WheelError(f"no such file: {error.filename}", cause="the manifest names it") from error
        return write_wheel(plan, directory, workers=workers, level=level)

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a lock file holds for: uv and pip resolve for the platform and the Python that they are asked about."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from jaxlib_select.choose.rules import describe_platform
from jaxlib_select.errors import UsageError
from jaxlib_select.machine.host import Host
from jaxlib_select.machine.model import Machine
from jaxlib_select.machine.system import arch

_ASK = "import json, platform, sys; print(json.dumps([sys.platform, platform.machine(), *sys.version_info[:2]]))"


@dataclass(frozen=True)
class LockEnvironment:
    """One platform and one minor version of Python.

    Attributes:
        platform: As `Machine.platform` spells it, such as `linux_x86_64`.
        python: Such as `3.12`.
        marker: The platform as an environment marker (PEP 508); empty where nobody asked the interpreter.
    """

    platform: str
    python: str
    marker: str = ""

    def differences(self, other: LockEnvironment) -> list[str]:
        """Return why what holds for this one does not hold for another one; empty if it does."""
        found = [] if self.platform == other.platform else [f"it holds for {self.platform}, not for {other.platform}"]
        found += [] if self.python == other.python else [f"it holds for Python {self.python}, not for {other.python}"]
        return found


def make_lock_environment(sys_platform: str, processor: str, python: tuple[int, ...]) -> LockEnvironment:
    """Return what an interpreter runs on, from what it says about itself.

    >>> make_lock_environment("win32", "AMD64", (3, 12)).platform
    'windows_x86_64'
    """
    system = {"win32": "windows"}.get(sys_platform, sys_platform)
    platform = Machine(os=system, arch=arch(Host(system=system, machine=processor))).platform
    marker = f"sys_platform == '{sys_platform}' and platform_machine == '{processor}'"
    return LockEnvironment(platform, ".".join(map(str, python[:2])), marker)


def read_lock_environment(python: Path) -> LockEnvironment:
    """Ask an interpreter what it runs on; a `UsageError` if it does not answer."""
    try:
        # In a folder without modules, as `other_environment` asks.
        result = subprocess.run(
            [str(python), "-c", _ASK], capture_output=True, text=True, timeout=60, check=True, cwd=str(python.parent)
        )
        sys_platform, processor, *version = json.loads(result.stdout.splitlines()[-1])
    except (OSError, subprocess.SubprocessError, ValueError, IndexError) as error:
        raise UsageError(f"not a usable Python: {str(python)!r}", cause=str(error)) from error
    return make_lock_environment(sys_platform, processor, tuple(version))


def check_machine(wanted: LockEnvironment, machine: Machine, remedy: str) -> None:
    """Raise a `UsageError` where wheels would be resolved for another platform than the machine's."""
    if machine.platform != wanted.platform:
        raise UsageError(
            f"the machine is {describe_platform(machine)}, but the wheels would be for {wanted.platform}",
            cause="uv and pip find those of the platform they run on",
            remedy=remedy,
        )

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Why a plugin refuses to serve: one class per reason, each with the command that fixes it."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple


class Remedy(NamedTuple):
    """What to do; the same as in `jaxlib_select.doctor.report`, which is not installed with a wheel.

    Attributes:
        command: A command, and nothing but it, or a sentence where no command does it.
        note: What else there is to know. It is never put behind a command: not every shell takes a comment there.
    """

    command: str
    note: str = ""


class PluginError(RuntimeError):
    """Root of all refusals.

    The text has up to three lines: what happened, what it usually means, what to do. A note is in the line before the
    last one, which can be pasted then. JAX shows only the text of an error that a backend raises, so the class name is
    part of it.

    Attributes:
        what: What happened.
        cause: What it usually means.
        remedy: What to do.
        note: What else there is to know about the remedy.
        quiet: Whether JAX goes on without the platform, unless the user asked for it by name.
        effect: What becomes of the platform in JAX: its first use is `refused`, JAX goes on without it because the
            hardware or its set is `absent`, this plugin is `unused` and another or none has the platform, or it serves
            `degraded`: some programs fail.
    """

    quiet = False
    effect = "refused"

    def __init__(self, what: str, *, cause: str = "", remedy: str | Remedy = "") -> None:
        """Keep the parts apart, so that each can be read by itself."""
        self.what = what
        self.cause = cause
        self.remedy, self.note = remedy if isinstance(remedy, Remedy) else Remedy(remedy)
        super().__init__(f"{type(self).__name__}: {self.sentences()}")

    def sentences(self) -> str:
        """Return the text without the name of the class, for lines that are not an exception's."""
        return self._compose(self.note)

    def _compose(self, note: str) -> str:
        middle = [_join([self.cause, note])] if self.remedy else [self.cause, note]
        return "\n".join(line for line in (self.what, *middle, self.remedy) if line)

    def fix(self) -> str:
        """Return the fix, as the end of a line; empty if none is known."""
        note = f" ({self.note})" if self.note else ""
        return f". To fix it{note}: {self.remedy}" if self.remedy else ""

    def add_way_out(self, variable: str) -> None:
        """Name in the text of a refusal the variable with which JAX goes on without the plugin.

        JAX itself advises to set JAX_PLATFORMS=cpu, which does not help where the refused platform is the CPU.
        """
        if self.effect != "refused":
            return
        note = _join([self.note, f"{variable}=1 lets JAX go on without this plugin"])
        self.args = (f"{type(self).__name__}: {self._compose(note)}",)


def _join(parts: Iterable[str]) -> str:
    return "; ".join(filter(None, parts))


class InterpreterError(PluginError):
    """This Python cannot load the plugin, whatever else is installed."""


class JaxlibMissingError(PluginError):
    """There is no jaxlib for the plugin."""


class JaxMissingError(PluginError):
    """There is a jaxlib, but no JAX that can use it."""


class UnusedError(PluginError):
    """The user's own settings keep JAX from using the plugin."""

    effect = "unused"


class RivalError(PluginError):
    """Another plugin gets the platform, and this one leaves it to that."""

    effect = "unused"


class LockMissingError(PluginError):
    """A release lock is absent or unreadable, as in a jaxlib that comes from elsewhere."""


class VersionMismatchError(PluginError):
    """The plugin and jaxlib belong to different JAX releases."""


class OtherSetError(PluginError):
    """The plugin was built for another set of wheels than the installed jaxlib, which has no such plugin of its own.

    It is no part of what works here together, so JAX goes on without it, unless the user asked for it by name.
    """

    quiet = True
    effect = "absent"


class LockMismatchError(PluginError):
    """The plugin and jaxlib are of one release, but not built from the same inputs."""


class LibraryMissingError(PluginError):
    """The plugin library is not where the wheel put it."""


class LibraryDamagedError(PluginError):
    """The plugin library is truncated, of another machine, or no PJRT plugin at all."""


class TakeOverError(PluginError):
    """The plugin could be opened, but this JAX does not let itself be completed for it."""


class VendorLibraryError(PluginError):
    """A library of the accelerator's vendor is missing, too old or known to be broken."""


class VendorLibraryGapError(VendorLibraryError):
    """A vendor's library is missing without which JAX starts, and some of its programs fail."""

    effect = "degraded"


class KernelsMissingError(PluginError):
    """There are no GPU kernels for this Python."""

    effect = "degraded"


class GpuCodeError(PluginError):
    """The plugin library holds no code for a GPU that is here."""

    effect = "degraded"


class DriverError(PluginError):
    """The accelerator is there, but its driver does not work or is too old."""


class RequestError(PluginError):
    """What was asked for does not exist, such as a function."""


class ChipError(RequestError):
    """The plugin knows no such chip, or no such arrangement of chips."""


class CompileError(PluginError):
    """The compiler refuses a program, or its result cannot be written."""


class NoDeviceError(PluginError):
    """There is no such accelerator here, so JAX goes on without it.

    Attributes:
        hidden: Whether the hardware is there, and only this process sees no device of it.
    """

    quiet = True
    effect = "absent"

    def __init__(self, what: str, *, cause: str = "", remedy: str | Remedy = "", hidden: bool = False) -> None:
        """See `PluginError`."""
        self.hidden = hidden
        super().__init__(what, cause=cause, remedy=remedy)

    def fix(self) -> str:
        """See `PluginError`; where there is no hardware nothing is broken, so the remedy is no more than a hint."""
        if self.hidden:
            return super().fix()
        return f" ({self.remedy})" if self.remedy else ""

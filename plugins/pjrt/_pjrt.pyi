# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Load a PJRT plugin and complete what its C API leaves out.

An `api` is a capsule named `pjrt_c_api`, from `load` or from jaxlib; one whose API cannot tell its errors is refused
with a PjrtError. A handler is a capsule around an `XLA_FFI_Handler`, as `jax.ffi.pycapsule` makes it.
"""

from collections.abc import Callable
from os import PathLike
from typing import Any, Literal, TypeAlias, overload

Capsule: TypeAlias = Any  # types.Capsule, which Python has since 3.13

class PjrtError(RuntimeError):
    """A plugin refused a call, or is not a PJRT plugin."""

def load(path: str | bytes | PathLike[str], /) -> Capsule:
    """Open a plugin library, for the rest of the process, and return its API.

    Raises:
        OSError: The dynamic linker cannot open it; the message has its reason.
        PjrtError: It has no function `GetPjrtApi`, or that returns no API that can tell its errors.
    """

def api_version(api: Capsule, /) -> tuple[int, int]:
    """Return major and minor version of the PJRT API that a plugin was built with."""

def attributes(api: Capsule, /) -> dict[str, str | int | list[int] | float | bool | None]:
    """Return what a plugin states about itself; None for a value of a kind that is not known here."""

def extensions(api: Capsule, /) -> list[tuple[int, int]]:
    """Return type (`PJRT_Extension_Type`) and size in bytes of each extension, in the plugin's order."""

def ffi_api_version(api: Capsule, platform: str, /) -> tuple[int, int]:
    """Return major and minor version of a plugin's XLA FFI.

    Raises:
        NotImplementedError: The plugin has no FFI extension.
    """

def register_ffi_handler(api: Capsule, name: str, handler: Capsule, platform: str, traits: int, /) -> None:
    """Register a handler as the execute stage of a custom-call target.

    Raises:
        NotImplementedError: The plugin has no FFI extension.
        PjrtError: The plugin refused, for example because another handler has that name.
    """

def register_ffi_stages(api: Capsule, name: str, stages: dict[str, Capsule], platform: str, traits: int, /) -> None:
    """Register a custom-call target by stage: instantiate, prepare, initialize, execute, record.

    Raises:
        NotImplementedError: The plugin's XLA FFI is older than 0.4.
        PjrtError: The plugin refused.
    """

def register_ffi_type(api: Capsule, name: str, type_id: Capsule, type_info: Capsule | None, platform: str, /) -> int:
    """Register a type of the state that stages hand to each other, and return its id.

    Raises:
        NotImplementedError: The plugin's XLA FFI is older than 0.4.
        PjrtError: The plugin refused, for example because the name has another id.
    """

def register_gpu_target(api: Capsule, name: str, stages: dict[str, Capsule], api_version: int, traits: int, /) -> None:
    """Register a custom-call target with a plugin for GPUs.

    Args:
        api: The plugin.
        name: Name of the target.
        stages: Capsules by stage: instantiate, prepare, initialize, execute.
        api_version: 0 for an untyped function, which is the execute stage; 1 for XLA FFI handlers.
        traits: Traits of the handlers.

    Raises:
        NotImplementedError: The plugin takes no custom calls for GPUs, or none with traits.
        PjrtError: The plugin refused.
    """

def preload(path: str | bytes | PathLike[str], everywhere: bool, /) -> None:
    """Open a library for the rest of the process, so that whoever asks for its name later gets this one.

    Args:
        path: The file, or a name for the dynamic linker to look for.
        everywhere: Whether its symbols serve all other libraries, also those that do not name it.

    Raises:
        OSError: The dynamic linker cannot open it; the message has its reason.
    """

@overload
def library_version(name: str, symbol: str, form: Literal["value", "pointer"], /) -> int: ...
@overload
def library_version(name: str, symbol: str, form: Literal["properties"], /) -> tuple[int, int, int]:
    """Return what a library says its version is.

    Args:
        name: The library: a path, or a name for the dynamic linker, which knows those that are open already.
        symbol: The function to ask.
        form: `value` for `size_t f(void)` or `int f(void)`; `pointer` for `int f(int *version)`, whose result is a
            status; `properties` for `int f(int property, int *value)`, asked for major, minor and patch.

    Raises:
        OSError: The library cannot be opened, or has no such function.
        PjrtError: The function returned a status other than 0.
        ValueError: There is no such form.
    """

def register_host_callbacks(
    api: Capsule,
    names: tuple[str, ...],
    platform: str,
    probe: Capsule,
    dtypes: dict[int, Any],
    describe: Callable[[BaseException], str],
    /,
) -> int:
    """Register handlers that call the Python functions which jaxlib attaches to an execution.

    Args:
        api: The plugin.
        names: The custom-call targets to register.
        platform: XLA's name of the platform.
        probe: jaxlib's own handler for the same, from which the id of the attached data is learned.
        dtypes: NumPy type by `XLA_FFI_DataType`.
        describe: Gives the text under which an exception reaches the caller.

    Returns:
        The id of the attached data.

    Raises:
        NotImplementedError: The plugin has no FFI extension.
        PjrtError: The plugin refused, or the probe showed no id.
        ValueError: An earlier call in this process had another probe, dtypes or describe.
    """

def keep_forever(value: object, /) -> None:
    """Let an object live as long as the process, also while the interpreter ends and empties its modules."""

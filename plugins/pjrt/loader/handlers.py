# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Give a GPU plugin the custom calls and types of JAX, of its kernels and of users."""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any

from . import private
from .plugin import import_extension
from .targets import TYPED_FFI, GpuTargetForwarder, TypeForwarder, skipping

# PJRT_Extension_Type of the extension through which JAX up to 0.11.0 lets the plugin compile Triton programs.
TRITON_EXTENSION = 7


def register_handlers(platform: str, api: Any, extension: ModuleType | None) -> None:
    """Register whoever passes targets on to the plugin, and the targets of the kernels' own.

    Args:
        platform: XLA's name of the platform, such as `CUDA`.
        api: The plugin's API.
        extension: The kernels' module for that; without one ours does it.
    """
    if extension is None:
        _register_ours(platform, api)
    else:
        _register_theirs(platform, api, extension)


def _register_theirs(platform: str, api: Any, extension: ModuleType) -> None:
    xla_client = private.jaxlib("xla_client")
    xla_client.register_custom_type_handler(platform, functools.partial(extension.register_custom_type, api))
    xla_client.register_custom_call_handler(platform, functools.partial(extension.register_custom_call_target, api))
    for name, kind in extension.ffi_types().items():
        xla_client.register_custom_type(name, kind, platform=platform)
    for name, target in extension.ffi_handlers().items():
        xla_client.register_custom_call_target(name, target, platform=platform, api_version=TYPED_FFI)
    _register_triton(platform, api, extension)


def _register_triton(platform: str, api: Any, extension: ModuleType) -> None:
    if TRITON_EXTENSION in dict(import_extension().extensions(api)) and hasattr(extension, "compile_triton_to_asm"):
        triton = private.jaxlib("triton")
        triton.register_compilation_handler(platform, functools.partial(extension.compile_triton_to_asm, api))


def _register_ours(platform: str, api: Any) -> None:
    xla_client = private.jaxlib("xla_client")
    queued, registry = [True], import_extension()
    types = TypeForwarder(registry, api, platform, lambda _name, _registration: None)
    xla_client.register_custom_type_handler(platform, skipping(types, lambda: not queued))
    targets = GpuTargetForwarder(registry, api)
    xla_client.register_custom_call_handler(platform, skipping(targets, lambda: not queued))
    queued.clear()

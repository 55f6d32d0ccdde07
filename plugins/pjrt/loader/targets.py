# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Pass the custom-call targets, types and HLO passes that jaxlib and users register on to a plugin.

jaxlib queues them per platform until someone takes them (`xla_client.register_custom_call_handler`); only the first to
do so gets any. So each one also goes to jaxlib's own registry, where its built-in client looks.
"""

from __future__ import annotations

import functools
import logging
from collections.abc import Callable
from dataclasses import dataclass
from types import ModuleType
from typing import Any

from . import private
from .api import has_extension
from .plugin import import_extension

logger = logging.getLogger(__name__)

_UNTYPED = 0
_TYPED_FFI = 1


@dataclass(frozen=True, slots=True)
class TargetForwarder:
    """Registers a custom-call target with a plugin and with jaxlib.

    Attributes:
        registry: The extension `_pjrt`.
        api: The plugin's API.
        builtin: jaxlib's own `register_custom_call_target`.
    """

    registry: ModuleType
    api: Any
    builtin: Callable[..., None]

    def __call__(self, name: str, fn: Any, platform: str, api_version: int = _UNTYPED, traits: int = 0, /) -> None:
        """Register one target, as `jaxlib.xla_client.CustomCallHandler` asks for.

        Raises:
            NotImplementedError: The target is of the untyped kind, which the PJRT C API cannot register.
        """
        self.builtin(name, fn, platform, api_version, traits)
        if api_version != _TYPED_FFI:
            raise NotImplementedError(
                f"custom call target {name!r} has api_version={api_version}, which a PJRT plugin cannot take; "
                "port it to the typed FFI (api_version=1, see jax.ffi)"
            )
        if not isinstance(fn, dict):
            self.registry.register_ffi_handler(self.api, name, fn, platform, int(traits))
        elif set(fn) == {"execute"}:
            self.registry.register_ffi_handler(self.api, name, fn["execute"], platform, int(traits))
        else:
            self.registry.register_ffi_stages(self.api, name, fn, platform, int(traits))


@dataclass(frozen=True, slots=True)
class _GpuTargetForwarder:
    """Registers a custom-call target with a plugin for GPUs, which takes untyped ones and stages as well.

    Attributes:
        registry: The extension `_pjrt`.
        api: The plugin's API.
    """

    registry: ModuleType
    api: Any

    def __call__(self, name: str, fn: Any, platform: str, api_version: int = _UNTYPED, traits: int = 0, /) -> None:
        """Register one target, as `jaxlib.xla_client.CustomCallHandler` asks for; a plugin has one platform only."""
        del platform
        stages = fn if isinstance(fn, dict) else {"execute": fn}
        self.registry.register_gpu_target(self.api, name, stages, api_version, int(traits))


@dataclass(frozen=True, slots=True)
class TypeForwarder:
    """Registers a type of FFI state with jaxlib and with a plugin.

    Attributes:
        registry: The extension `_pjrt`.
        api: The plugin's API.
        platform: XLA's name of the platform.
        builtin: jaxlib's own `register_custom_type`.
    """

    registry: ModuleType
    api: Any
    platform: str
    builtin: Callable[..., None]

    def __call__(self, name: str, registration: Any, /) -> None:
        """Register one type, as `jaxlib.xla_client.CustomTypeIdHandler` asks for."""
        self.builtin(name, registration)
        if isinstance(registration, dict):
            type_id, type_info = registration["type_id"], registration.get("type_info")
        else:
            type_id, type_info = registration, None
        self.registry.register_ffi_type(self.api, name, type_id, type_info, self.platform)


def log_until(forward: Callable[..., None], ready: Callable[[], bool]) -> Callable[..., None]:
    """Wrap a forwarder so that a target queued before `ready` cannot keep the others from being registered.

    Its caller has returned long before, so a log line names it. Later calls raise.
    """

    def forward_or_log(name: str, *args: Any) -> None:
        try:
            forward(name, *args)
        except (NotImplementedError, RuntimeError) as error:
            if ready():
                raise
            logger.warning("%s: %s", name, error)

    return forward_or_log


def register_handlers(platform: str, api: Any, extension: ModuleType | None) -> None:
    """Register what passes targets on to the plugin, and the kernels' own targets."""
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
        xla_client.register_custom_call_target(name, target, platform=platform, api_version=_TYPED_FFI)
    # Through it JAX up to 0.11.0 lets the plugin compile Triton programs.
    register = private.find("lib.triton", "register_compilation_handler")
    if register and has_extension(api, "Triton") and hasattr(extension, "compile_triton_to_asm"):
        register(platform, functools.partial(extension.compile_triton_to_asm, api))


def _register_ours(platform: str, api: Any) -> None:
    registry = import_extension()
    types = TypeForwarder(registry, api, platform, lambda _name, _registration: None)
    take_queues(platform, _GpuTargetForwarder(registry, api), types)


def take_queues(platform: str, targets: Callable[..., None], types: Callable[..., None]) -> None:
    """Let forwarders have all custom-call targets and types of a platform, those queued so far and those to come."""
    xla_client = private.jaxlib("xla_client")
    queued = [True]
    xla_client.register_custom_type_handler(platform, log_until(types, lambda: not queued))
    xla_client.register_custom_call_handler(platform, log_until(targets, lambda: not queued))
    queued.clear()


def forward_transform(builtin: Callable[..., Any], through_api: Callable[..., Any], api: Any) -> Callable[..., Any]:
    """Return a function that does what `builtin` does, and the same for a plugin."""

    def both(*args: Any) -> Any:
        result = builtin(*args)
        other = through_api(api, *args)
        return result or other

    return both

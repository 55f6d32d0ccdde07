# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Ask for an accelerator inside a program: `require`, `available`, `using_backend`, `set_default_backend`.

A backend is named as JAX names its platform (`cpu`, `cuda`, `rocm`, `oneapi`, `tpu`, or `gpu` for any GPU), or as its
package is named (`cuda12`). JAX is imported when it is first needed, never together with this module.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import sys
import threading
from collections.abc import Iterator
from contextvars import ContextVar
from typing import Any

from jaxlib_select.apply.installer import show
from jaxlib_select.choose.decision import Decision
from jaxlib_select.doctor import examine
from jaxlib_select.doctor.choice import decide, missing_hardware
from jaxlib_select.doctor.examine import facts_for, has_ours, installer_of
from jaxlib_select.doctor.predict import ALIASES, BUILT_IN
from jaxlib_select.doctor.remedies import show_decision
from jaxlib_select.errors import BackendError
from jaxlib_select.facts import OURS, UPSTREAM
from jaxlib_select.installed.environment import this_environment
from jaxlib_select.installed.plugins import find_plugins
from jaxlib_select.machine import detect
from jaxlib_select.machine.model import Machine
from jaxlib_select.names import squeeze

__all__ = ["BackendError", "available", "get_default_backend", "require", "set_default_backend", "using_backend"]

_chosen: ContextVar[str | None] = ContextVar("jaxlib_select_backend", default=None)
_lock = threading.Lock()


_process: dict[str, str | None] = {"default": None}  # what holds for the whole program; changed under the lock


def available() -> tuple[str, ...]:
    """Return JAX's names of the platforms that can be used here, the default first.

    If JAX is at work already, it is asked; otherwise the installed packages and the hardware are looked at, and JAX
    is not started.
    """
    platforms = _initialized_platforms()
    if platforms is not None:
        return platforms
    report = examine.examine_here()
    serving = [entry for entry in report.prediction.platforms if entry.outcome == "serves"]
    if report.prediction.default is None or "jax" not in report.versions:
        return ()
    ordered = sorted(serving, key=lambda entry: (entry.platform != report.prediction.default, -entry.priority))
    return tuple(entry.platform for entry in ordered)


def require(backend: str, *, initialize: bool = True) -> str:
    """Make sure that a backend can be used here.

    Args:
        backend: Its name.
        initialize: Start JAX and let it prove that it has such a device. Without that only the installed packages and
            the hardware are looked at, as must be before `jax.distributed.initialize`.

    Returns:
        JAX's name of the platform, such as `cuda` for `gpu`.

    Raises:
        BackendError: It cannot; the message has the command that installs it on this machine.
    """
    if initialize:
        return _platform_of(_device(backend))

    wanted = platforms_of(backend)
    usable = [platform for platform in available() if platform in wanted]
    if not usable:
        raise explain_absence(backend)
    _check_provider(backend)
    return usable[0]


@contextlib.contextmanager
def using_backend(backend: str) -> Iterator[None]:
    """Let JAX place new arrays on a backend, inside a `with` block.

    The choice belongs to the context: other threads do not see it, blocks may be nested, and leaving one restores what
    was before. JAX itself keeps its default device by thread, so asynchronous tasks that share a thread must not wait
    for each other inside such a block.

    Raises:
        BackendError: It cannot be used; the message has the command that installs it on this machine.
    """
    device = _device(backend)
    import jax

    token = _chosen.set(backend)
    try:
        with jax.default_device(device):
            yield
    finally:
        _chosen.reset(token)


def set_default_backend(backend: str | None) -> None:
    """Let JAX place new arrays on a backend for the rest of the program, in all threads.

    Args:
        backend: Its name; None for JAX's own choice.

    Raises:
        BackendError: It cannot be used; the message has the command that installs it on this machine.
    """
    device = _device(backend) if backend is not None else None
    import jax

    with _lock:
        jax.config.update("jax_default_device", device)
        _process["default"] = backend


def get_default_backend() -> str | None:
    """Return the backend chosen for this context, else for the program; None if JAX chooses."""
    chosen = _chosen.get()
    return chosen if chosen is not None else _process["default"]


def _device(backend: str) -> Any:
    """Return the first device of a backend, as JAX has it."""
    if backend in (_initialized_platforms() or ()):
        return sys.modules["jax"].local_devices(backend=backend)[0]

    _check_provider(backend)
    try:
        import jax
    except ImportError as error:
        raise explain_absence(backend) from error
    reasons = []
    for platform in platforms_of(backend):
        try:
            return jax.local_devices(backend=platform)[0]
        except (RuntimeError, AssertionError) as error:  # JAX asserts that a platform is left
            reasons.append(f"{platform}: {' '.join(str(error).split()) or type(error).__name__}")
    raise explain_absence(backend, "; ".join(reasons))


def _check_provider(backend: str) -> None:
    """Make sure that the package is installed which a backend is named by, and that JAX takes that one.

    For the name of a platform, any package that serves it will do.
    """
    names = distributions_of(backend)
    if not names:
        return
    if not any(map(is_installed, names)):
        raise explain_absence(backend)
    report, platforms = examine.examine_here(), platforms_of(backend)
    for other in report.prediction.platforms:
        if other.platform in platforms and other.provider not in names:
            remedy = "find out more: jaxlib-select doctor"
            if is_installed(other.provider):
                remedy = f"remove it: {show(installer_of(report.environment).uninstall((other.provider,)))}"
            raise BackendError(
                f"backend {backend!r} cannot be used here",
                cause=f"{other.provider} is for JAX's platform {other.platform!r} as well, and JAX takes that one",
                remedy=remedy,
            )


def _platform_of(device: Any) -> str:
    """Return the name of a device's platform; `device.platform` calls every GPU `gpu`."""
    from jax.extend.backend import backends

    return next(str(name) for name, client in backends().items() if client is device.client)


def _initialized_platforms() -> tuple[str, ...] | None:
    """Return the platforms of a JAX that is at work, the default first; None if none is."""
    bridge = sys.modules.get("jax._src.xla_bridge")
    if bridge is None or not bridge.backends_are_initialized():
        return None
    default = bridge.get_backend()
    clients = bridge.backends()
    return tuple(sorted(clients, key=lambda name: clients[name] is not default))


def platforms_of(backend: str) -> tuple[str, ...]:
    """Return JAX's names of the platforms that are meant by a name.

    Raises:
        BackendError: The name is unknown; the message lists the known ones.
    """
    if squeeze(backend) in ALIASES:
        return ALIASES[squeeze(backend)]
    facts = facts_for(this_environment())
    families = {name: entry.family for entry in facts.backends for name in (entry.name, *entry.variants)}
    known = {**families, **{entry.family: entry.family for entry in facts.backends}}
    known.update({name: name for name in (*BUILT_IN, *ALIASES["gpu"])})
    found = next((platform for name, platform in known.items() if squeeze(name) == squeeze(backend)), None)
    if found is not None:
        return (found,)
    if backend in {plugin.platform for plugin in find_plugins(this_environment(), os.environ, facts)}:
        return (backend,)
    names = ", ".join(sorted({*known, *ALIASES}))
    raise BackendError(f"unknown backend: {backend!r}", remedy=f"known backends: {names}")


def distributions_of(backend: str) -> tuple[str, ...]:
    """Return the distributions that bring a backend which is named by its package; none for a platform's name."""
    facts = facts_for(this_environment())
    if backend in {entry.family for entry in facts.backends}:
        return ()
    return tuple(
        name
        for entry in facts.backends
        if squeeze(backend) in map(squeeze, (entry.name, *entry.variants))
        for name in entry.distributions
    )


def is_installed(distribution: str) -> bool:
    """Return whether a distribution is installed in this environment."""
    try:
        importlib.metadata.version(distribution)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def explain_absence(backend: str, said: str = "") -> BackendError:
    """Return why a backend cannot be used here, with the command that installs it on this machine.

    Args:
        backend: Its name.
        said: What JAX said.
    """
    environment, machine = this_environment(), detect.detect()
    report = examine.examine_here(environment, machine)
    wanted, facts = platforms_of(backend), facts_for(environment)
    provider = OURS if has_ours(environment) else UPSTREAM
    decision = _best(machine, backend, provider, facts.release)
    installed = decision is None or is_installed(decision.package)
    reasons = [] if decision is None or installed else [f"{decision.package} is not installed"]
    absent = missing_hardware(machine, facts.backends)
    if all(platform in absent for platform in wanted):
        reasons.append("no GPU that a program can use was found" if backend in ALIASES else absent[wanted[0]])
    elif installed:
        reasons += [entry.reason for entry in report.prediction.platforms if entry.platform in wanted and entry.reason]
    remedy, note = "find out more: jaxlib-select doctor", ""
    if decision is not None and not installed:
        command, note = show_decision(installer_of(environment), decision)
        remedy = f"install it: {command}"
    cause = "; ".join(dict.fromkeys(reasons)) or said
    return BackendError(f"backend {backend!r} cannot be used here", cause=cause, remedy=remedy, note=note)


def _best(machine: Machine, backend: str, provider: str, release: str) -> Decision | None:
    """Return what to install for a name; of several platforms the one that the machine has."""
    if backend not in ALIASES:
        return decide(machine, backend, provider, release)
    preferred = decide(machine, "prefer-gpu", provider, release)
    if preferred is not None and preferred.backend != "cpu":
        return preferred
    return decide(machine, ALIASES[backend][0], provider, release)

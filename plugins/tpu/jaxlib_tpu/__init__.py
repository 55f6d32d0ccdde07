# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The TPU runtime that goes with one jaxlib: JAX calls `initialize` through the entry point group `jax_plugins`.

JAX knows the platform `tpu` and finds libtpu by itself, so no plugin is registered here. This wheel ensures that
both fit each other, and says so where they do not.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

from .backend import PLUGIN
from .hardware import DEVICES, NODES, chips, device_nodes
from .libtpu import check_libtpu
from .pjrt import private
from .pjrt.chips import describe_chips
from .pjrt.errors import NoDeviceError, OtherSetError, PluginError
from .pjrt.installed import package_directory
from .pjrt.lock import check_release
from .pjrt.plugin import log_refusal, refuse, unfit
from .pjrt.report import Report
from .pjrt.settings import is_set

ROOT = Path("/")

# That of JAX's own TPU client.
PRIORITY = 300

# JAX's own switch, set to whatever (jax._src.cloud_tpu_init.jax_force_tpu_init).
_FORCE = "JAX_FORCE_TPU_INIT"


def initialize() -> None:
    """Check that libtpu is the one of this release; where it is not, let the first use of a TPU fail with the reason.

    With JAXLIB_TPU_DISABLE=1 in the environment JAX starts libtpu as it would without this wheel.
    """
    if is_set(os.environ, PLUGIN.disable_variable):
        return
    present = bool(chips(ROOT))
    # Where the user asked for nothing, JAX looks for a TPU but can do without.
    optional = not present and not private.asked_platforms() and _FORCE not in os.environ
    error = _find_error(optional=optional)
    if error is None:
        return
    if optional and not isinstance(error, OtherSetError):  # which says so by itself
        log_refusal(PLUGIN.distribution, error)
    refuse(PLUGIN, error, PRIORITY, quiet=not present)


def _find_error(*, optional: bool) -> PluginError | None:
    """Return why libtpu is not to be used; None if JAX is to start it."""
    try:
        check_release(PLUGIN.distribution, PLUGIN.package, package_directory("jaxlib"))
        check_libtpu(PLUGIN, os.environ)
    except Exception as error:  # noqa: BLE001  # JAX would log it and go on as if nothing were wrong
        return unfit(PLUGIN, error)
    # Left to itself, libtpu tries all the same, asks around for a TPU's host and prints that it found none.
    return describe_absence(ROOT) if optional else None


def topology(name: str) -> Any:
    """Return TPUs that need not be here, so that JAX compiles for them: `v5e`, eight of it as `v5e:2x4`.

    Raises:
        PluginError: The installed libtpu is not the one of this release, or there is no such TPU.
    """
    error = _find_error(optional=False)
    if error is not None:
        raise error
    return describe_chips(PLUGIN, name)


def describe_absence(root: Path) -> NoDeviceError:
    """Return that there is no TPU, and what to do where that cannot be seen, as in some containers."""
    hidden = not any((root / DEVICES).glob("*"))
    looked = f"looked in /{DEVICES}{', which shows no devices at all' if hidden else ''}"
    return NoDeviceError(f"no TPU found ({looked})", remedy=f"{_FORCE}=1 starts libtpu all the same" if hidden else "")


def examine(opening: bool) -> Report:  # noqa: FBT001
    """Look at libtpu and at the machine, for `python -m jaxlib_tpu`."""
    from .status import examine_libtpu

    return examine_libtpu(opening=opening)


def find_device(root: Path = ROOT) -> None:
    """Look for a TPU on this machine; the tooling asks before it makes an environment for a proof.

    Raises:
        NoDeviceError: There is none, or this process sees no device of it.
    """
    if not chips(root):
        raise describe_absence(root)
    if not device_nodes(root):
        looked = ", ".join(f"/{node}" for node in NODES)
        raise NoDeviceError(
            f"there is a TPU on the PCI bus, but no device of it (looked for {looked})",
            cause="the devices were not given to this container",
            remedy="in Docker: --privileged",
            hidden=True,
        )

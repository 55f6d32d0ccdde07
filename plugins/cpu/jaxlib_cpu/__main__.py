# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m jaxlib_cpu`: say whether this plugin fits the installed jaxlib, and what its library is."""

from __future__ import annotations

import os
import sys

from . import PLUGIN
from .options import is_disabled
from .pjrt.plugin import OpenedPlugin, open_plugin


def main() -> int:
    """Print the status; return 0 if the plugin can serve, else 1."""
    try:
        lines = describe(open_plugin(PLUGIN))
    except RuntimeError as error:  # PluginError, or the extension's own PjrtError
        print(f"{PLUGIN.distribution}: {error}", file=sys.stderr)
        return 1
    print("\n".join(lines))
    if is_disabled(os.environ):
        print("disabled by JAXLIB_CPU_DISABLE: JAX uses its built-in CPU client")
    return 0


def describe(opened: OpenedPlugin) -> list[str]:
    """Return what is known about an opened plugin, line by line.

    Raises:
        RuntimeError: The plugin does not say what it is.
    """
    from .pjrt import _pjrt

    lock, api = opened.lock, opened.api
    major, minor = _pjrt.api_version(api)
    return [
        f"{PLUGIN.distribution} {lock.release}, build {lock.build}, lock {lock.lock_id}, {lock.provider}",
        f"library     {PLUGIN.package / PLUGIN.library}",
        f"PJRT API    {major}.{minor}",
        f"extensions  {' '.join(f'{kind}:{size}' for kind, size in _pjrt.extensions(api))}",
        f"attributes  {' '.join(f'{name}={value}' for name, value in _pjrt.attributes(api).items())}",
    ]


if __name__ == "__main__":
    sys.exit(main())

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`python -m jaxlib_cpu`: say whether this plugin fits the installed jaxlib, and what its library is."""

from __future__ import annotations

import os
import sys

from . import PLUGIN
from .options import is_disabled
from .pjrt.errors import PluginError
from .pjrt.plugin import check_plugin, open_plugin


def main() -> int:
    """Print the status; return 0 if the plugin can serve, else 1."""
    try:
        lock = check_plugin(PLUGIN)
        api = open_plugin(PLUGIN)
    except PluginError as error:
        print(f"{PLUGIN.distribution}: {error}", file=sys.stderr)
        return 1
    from .pjrt import _pjrt

    major, minor = _pjrt.api_version(api)
    print(f"{PLUGIN.distribution} {lock.release}, build {lock.build}, lock {lock.lock_id}, {lock.provider}")
    print(f"library     {PLUGIN.package / PLUGIN.library}")
    print(f"PJRT API    {major}.{minor}")
    print(f"extensions  {' '.join(f'{kind}:{size}' for kind, size in _pjrt.extensions(api))}")
    print(f"attributes  {' '.join(f'{name}={value}' for name, value in _pjrt.attributes(api).items())}")
    if is_disabled(os.environ):
        print("disabled by JAXLIB_CPU_DISABLE: JAX uses its built-in CPU client")
    return 0


if __name__ == "__main__":
    sys.exit(main())

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The process in which a plugin is opened; it writes what it found to a file.

Libraries print what they like, so standard output is no place for an answer.
"""

import json
import sys
from pathlib import Path
from typing import Any

from pypjrt import Client, Plugin, conform


def ask(job: str, library: str) -> dict[str, Any]:
    """Open a library, and describe it or run all checks on it.

    Returns:
        A report of pypjrt, or `refused` where the library does not open.
    """
    try:
        plugin = Plugin(library)
    except (OSError, AttributeError, RuntimeError) as error:
        return {"refused": str(error)}
    return _check(plugin) if job == "check" else _describe(plugin)


def _describe(plugin: Plugin) -> dict[str, Any]:
    """Return the report without its checks: nothing but the plugin's own initialization runs."""
    plugin.initialize()
    report = conform.Report(
        plugin=plugin.path.name,
        api_version=plugin.api_version,
        struct_size=plugin.api_struct_size,
        slots=plugin.n_slots,
        attributes=plugin.attributes,
        extensions=[{"type": extension.type, "name": extension.name} for extension in plugin.extensions],
    )
    return dict(report.to_json())


def _check(plugin: Plugin) -> dict[str, Any]:
    """Run all checks, with options as pypjrt's own client has them.

    Its command line hands the options for GPUs to every accelerator, and libtpu refuses them.
    """
    options = dict(Client.GPU_DEFAULTS) if plugin.is_gpu else None
    return dict(conform.run(plugin, options).to_json())


if __name__ == "__main__":
    Path(sys.argv[3]).write_text(json.dumps(ask(sys.argv[1], sys.argv[2]), default=str), encoding="utf-8")

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The process in which pypjrt's checks run; it writes what they found to a file.

Libraries print what they like, so standard output is no place for an answer.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from pypjrt import Client, Plugin, conform


def run_checks(library: str) -> dict[str, Any]:
    """Open a library and run all checks on it.

    Returns:
        The report of pypjrt, or `refused` where the library does not open.
    """
    try:
        plugin = Plugin(library)
    except (OSError, AttributeError, RuntimeError) as error:
        return {"refused": str(error)}
    # As pypjrt's own client does. Its command line hands GPU options to every accelerator, and libtpu refuses them.
    options = dict(Client.GPU_DEFAULTS) if plugin.is_gpu else None
    report: dict[str, Any] = conform.run(plugin, options).to_json()
    return report


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(json.dumps(run_checks(sys.argv[1]), default=str), encoding="utf-8")

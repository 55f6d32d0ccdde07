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


def check(library: str) -> dict[str, Any]:
    """Open a library and run all checks on it, with options as pypjrt's own client has them.

    Its command line hands the options for GPUs to every accelerator, and libtpu refuses them.

    Returns:
        A report of pypjrt, or `refused` where the library does not open.
    """
    try:
        plugin = Plugin(library)
    except (OSError, AttributeError, RuntimeError) as error:
        return {"refused": str(error)}
    options = dict(Client.GPU_DEFAULTS) if plugin.is_gpu else None
    return dict(conform.run(plugin, options).to_json())


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(json.dumps(check(sys.argv[1]), default=str), encoding="utf-8")

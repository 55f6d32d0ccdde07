# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Ask a plugin's own loader whether its accelerator is at hand, without JAX.

Started as `python -I detecting.py FOLDER PACKAGE`, where FOLDER holds the Python modules of the wheel; prints one line
of JSON, the last of its output.
"""

from __future__ import annotations

import importlib
import json
import sys


def detect(package: str) -> dict[str, str]:
    """Return why there is no accelerator to use; nothing where there is one, or where the loader does not say.

    A loader says it with a function `find_device`, of its `ACCELERATOR` or of the package itself.
    """
    module = importlib.import_module(package)
    find_device = getattr(getattr(module, "ACCELERATOR", module), "find_device", None)
    try:
        if find_device is not None:
            find_device()
    except Exception as error:  # noqa: BLE001 - whatever the loader raises is the answer
        return {"reason": getattr(error, "what", str(error)), "error": type(error).__name__}
    return {}


if __name__ == "__main__":
    sys.path.insert(0, sys.argv[1])
    print(json.dumps(detect(sys.argv[2])))

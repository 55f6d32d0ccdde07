# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Write the modules of a loader that follow from `backend.toml`.

They hold what the loader is named, as constants: one that had to read them from a data file could not say who it is
where its wheel is damaged.
"""

from __future__ import annotations

import json

from pjrtwheel.backend import Backend

_HEADER = """# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""

_BACKEND = '''"""What this wheel is: written from `plugins/{directory}/backend.toml` when the wheel was assembled."""

from __future__ import annotations

from pathlib import Path

{imports}

PLUGIN = Plugin(
    name={pjrt_name},
    distribution={distribution},
    package=Path(__file__).parent,
    library={library},
    disable_variable={disable},
)
'''

# Upstream calls the module of the kernels that registers targets after the platform.
_KERNELS = """
KERNELS = Kernels({package}, {extension})
"""

_MAIN = '''"""`python -m {package}`: say what this plugin is, and whether it fits here."""

from __future__ import annotations

import sys

from . import backend
from .pjrt.command import run

if __name__ == "__main__":
    sys.exit(run(backend.PLUGIN, sys.modules[backend.__package__], sys.argv[1:]))
'''


def generate_modules(backend: Backend) -> dict[str, str]:
    """Return the modules that follow from a backend's facts: file name in its package → text."""
    imports = "from .pjrt.kernels import Kernels\n" if backend.kernels is not None else ""
    text = _HEADER + _BACKEND.format(
        directory=backend.name,
        imports=f"{imports}from .pjrt.plugin import Plugin",
        pjrt_name=json.dumps(backend.pjrt_name),
        distribution=json.dumps(backend.distribution),
        library=json.dumps(backend.library),
        disable=json.dumps(backend.disable),
    )
    if backend.kernels is not None:
        extension = f"{backend.pjrt_name}_plugin_extension"
        text += _KERNELS.format(package=json.dumps(backend.kernels.package), extension=json.dumps(extension))
    return {"__main__.py": _HEADER + _MAIN.format(package=backend.package), "backend.py": text}

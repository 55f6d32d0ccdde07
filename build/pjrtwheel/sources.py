# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which files of the tooling a module needs: what an action of the graph sees, and what kept results depend on."""

import functools
from modulefinder import ModuleFinder
from pathlib import Path

_BUILD = Path(__file__).resolve().parent.parent


@functools.cache
def import_closure(*modules: str, folder: Path = _BUILD) -> tuple[Path, ...]:
    """Return the files of some modules and of all that they import from the same folder, in order.

    Modules have dotted names, such as `pjrtwheel.verify`. An import counts at any depth and inside of functions as
    well, but not one whose name is computed.
    """
    finder = ModuleFinder([str(folder)])
    for name in modules:
        finder.import_hook(name)
    files = (vars(module)["__file__"] for module in finder.modules.values())  # None for what is built in
    return tuple(sorted(map(Path, filter(None, files))))

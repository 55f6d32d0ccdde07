# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Which files a module needs."""

from pathlib import Path

import pytest

from folders import write_files
from pjrtwheel.sources import import_closure

MODULES = {
    "bead/__init__.py": "",
    "bead/start.py": "import os\nfrom bead.wire import bend\nimport bead.box.lid",
    "bead/wire.py": "def bend():\n    from bead import glue",
    "bead/glue.py": "from typing import TYPE_CHECKING",
    "bead/box/__init__.py": "from bead.box import hinge",
    "bead/box/hinge.py": "",
    "bead/box/lid.py": "try:\n    import bead.start\nexcept ImportError:\n    pass",
    "other.py": "import bead.start",
    "wood/__init__.py": "",
    "wood/near.py": "from .leaf import bark",
    "wood/leaf/__init__.py": "from . import vein\nfrom .. import root as _root",
    "wood/leaf/vein.py": "from ..twig import bend as _bend",
    "wood/root.py": "",
    "wood/twig.py": "",
}


@pytest.mark.parametrize(
    ("modules", "expected"),
    [
        (["bead.start"], [name for name in MODULES if name.startswith("bead/")]),
        (["bead.glue"], ["bead/__init__.py", "bead/glue.py"]),
        (
            ["bead.box.hinge", "bead.glue"],
            ["bead/__init__.py", "bead/box/__init__.py", "bead/box/hinge.py", "bead/glue.py"],
        ),
        (["wood.near"], [name for name in MODULES if name.startswith("wood/")]),
    ],
    ids=["inside functions, blocks and circles", "the standard library is not ours", "several", "relative imports"],
)
def test_what_modules_need(tmp_path: Path, modules: list[str], expected: list[str]) -> None:
    """At any depth, with the packages on the way, and nothing else of the folder."""
    write_files(tmp_path, MODULES)
    found = [path.relative_to(tmp_path).as_posix() for path in import_closure(*modules, folder=tmp_path)]
    assert found == sorted(expected)

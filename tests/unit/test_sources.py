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
    "bead/glue.py": "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from bead import unused",
    "bead/unused.py": "",
    "bead/box/__init__.py": "from bead.box import hinge",
    "bead/box/hinge.py": "",
    "bead/box/lid.py": "try:\n    import bead.start\nexcept ImportError:\n    pass",
    "other.py": "import bead.unused",
    "wood/__init__.py": "",
    "wood/near.py": "from .leaf import bark",
    "wood/leaf/__init__.py": "from . import vein\nfrom .. import root as _root",
    "wood/leaf/vein.py": "from ..twig import bend as _bend",
    "wood/root.py": "",
    "wood/twig.py": "TYPE_CHECKING = 0\nif TYPE_CHECKING:\n    import wood.unused\nelse:\n    import wood.stem",
    "wood/stem.py": "",
    "wood/unused.py": "",
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Return a folder with a package, and a module that is not of it."""
    return write_files(tmp_path, MODULES)


def names(folder: Path, *modules: str) -> list[str]:
    """Return what some modules need, relative to the folder."""
    return [path.relative_to(folder).as_posix() for path in import_closure(*modules, folder=folder)]


def test_what_a_module_imports_at_any_depth(folder: Path) -> None:
    """Inside of functions and blocks, around circles, and the packages on the way; not for type checkers alone."""
    assert names(folder, "bead.start") == sorted(
        name for name in MODULES if name.startswith("bead/") and name != "bead/unused.py"
    )
    assert names(folder, "bead.glue") == ["bead/__init__.py", "bead/glue.py"]


def test_several_modules_need_what_each_needs(folder: Path) -> None:
    """And the standard library is no file of ours."""
    expected = ["bead/__init__.py", "bead/box/__init__.py", "bead/box/hinge.py", "bead/glue.py"]
    assert names(folder, "bead.box.hinge", "bead.glue") == expected


def test_relative_imports_and_what_runs_for_no_type_checker(folder: Path) -> None:
    """From a module and from a package, one level up and more, and in the `else` of a block for type checkers."""
    assert names(folder, "wood.near") == sorted(
        name for name in MODULES if name.startswith("wood/") and name != "wood/unused.py"
    )

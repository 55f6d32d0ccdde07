# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A `site-packages` that is put together file by file, for tests of what is found wrong with it."""

from __future__ import annotations

import json
import shutil
import sys
import sysconfig
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from folders import write_dist_info
from jaxlib_select.apply.installer import pip_installer
from jaxlib_select.choose.decision import Candidate, Decision
from jaxlib_select.doctor.choice import Surroundings
from jaxlib_select.doctor.examine import examine, has_ours
from jaxlib_select.doctor.report import Report
from jaxlib_select.facts import OURS, UPSTREAM, Facts
from jaxlib_select.installed.environment import Environment, read_environment
from jaxlib_select.machine.model import Machine
from loaders import load_toolkit, put_loader
from machines import PLAIN
from release_under_test import BACKENDS
from small_libraries import build_elf, loadable_elf

PYTHON = Path("/venv/bin/python")
CUDA13 = Decision(
    package="jaxlib-cuda-13",
    backend="cuda13",
    requirements=("jax==1.2.3", "jaxlib-cuda-13[with-cuda]==1.2.3"),
    candidates=(Candidate("cuda13", chosen=True, reason="serves H100"),),
    provider=OURS,
)
UPSTREAM13 = replace(CUDA13, package="jax-cuda13-pjrt", requirements=("jax[cuda13]==1.2.3",), provider=UPSTREAM)
UPSTREAM12 = replace(UPSTREAM13, package="jax-cuda12-pjrt", backend="cuda12", requirements=("jax[cuda12]==1.2.3",))
SOURCE = "add --index-url URL or --find-links DIR for our wheels"
INSTALL_CUDA13 = "/venv/bin/python -m pip install jax==1.2.3 'jaxlib-cuda-13[with-cuda]==1.2.3'"
SET = "jax==1.2.3 jaxlib==1.2.3"  # after which the plugins of 1.2.3 fit
AGAIN = "--force-reinstall --no-deps jaxlib==1.2.3"

# What NVIDIA's libraries are known by, and a module in place of our compiled extension, which opens any file.
COMPONENTS = (
    *("cudnnGetVersion", "cudaRuntimeGetVersion", "cublasGetProperty"),
    *("cuptiGetVersion", "cusparseGetProperty", "cufftGetVersion"),
)
EXTENSION = """
import os

def preload(path, _):
    if not os.path.isfile(path):
        raise OSError(f"{path}: cannot open shared object file")

def load(path): return None
def api_version(api): return 0, 115
def extensions(api): return []
def attributes(api): return {}
def library_version(*_): raise RuntimeError("it is made for a test")
"""


class Site:
    """A `site-packages` that is put together file by file; what is ours are the loaders of our wheels."""

    def __init__(self, folder: Path, facts: Facts) -> None:
        """Make the folders, empty; the doctor that looks at them knows these facts."""
        self.facts = facts
        self.folder = folder / "venv/lib/python3.13/site-packages"
        self.folder.mkdir(parents=True)
        self.root = folder / "root"
        self.root.mkdir()

    def write(self, path: str, content: str | bytes = "") -> Path:
        """Write one file, in the place of a link to one of the loaders' modules."""
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.unlink(missing_ok=True)
        target.write_bytes(content if isinstance(content, bytes) else content.encode())
        return target

    def distribution(
        self, name: str, version: str = "1.2.3", plugin: str = "", record: str = "", requires: Sequence[str] = ()
    ) -> None:
        """Write the metadata of a distribution."""
        needs = "".join(f"Requires-Dist: {text}\n" for text in requires)
        points = f"[jax_plugins]\nit = {plugin}\n" if plugin else ""
        write_dist_info(self.folder, name, version, metadata=needs, entry_points=points)
        if record:
            info = f"{name.replace('-', '_')}-{version}.dist-info"
            self.write(f"{info}/RECORD", "".join(f"{line},,\n" for line in record.split()))

    def jax(self, version: str = "1.2.3", jaxlib: str = "1.2.3", lock: str = "1" * 32) -> Site:
        """Install JAX and our jaxlib, or with an empty lock upstream's."""
        self.distribution("jax", version)
        self.write("jax/version.py", '_version = "1.2.3"\n_minimum_jaxlib_version = "1.2.2"\n')
        self.write("jax/_src/xla_bridge.py", "def register_plugin(*_, **__): pass\n")
        self.distribution("jaxlib", jaxlib)
        self.write("jaxlib/__init__.py")
        if lock:
            self.write("jaxlib/release_lock.json", lock_text(jaxlib, lock))
        return self

    def ours(self, name: str, *, lock: str = "1" * 32, libraries: bool = True, **elf: Any) -> Site:
        """Install one of our plugins, with the libraries of its vendor."""
        backend = BACKENDS[name]
        self.distribution(backend.distribution, plugin=backend.package)
        put_loader(name, self.folder)
        self.write(f"{backend.package}/release_lock.json", lock_text("1.2.3", lock))
        self.write(f"{backend.package}/{backend.library}", build_elf(**elf))
        self.write(f"{backend.package}/pjrt/_pjrt.py", EXTENSION)
        if backend.kernels is not None:
            module = f"{backend.kernels.package}/_solver{sysconfig.get_config_var('EXT_SUFFIX')}"
            self.distribution(backend.kernels_distribution, record=module)
            self.write(f"{backend.kernels_package}/release_lock.json", lock_text("1.2.3", lock))
            self.write(module, build_elf())
        for library in load_toolkit(name).libraries if libraries and "cuda" in name else ():
            self.write(f"nvidia/{library.folder}/lib/{library.soname}", build_elf(exports=COMPONENTS))
        return self

    def upstream(
        self, backend: str, platform: str, kernels: str = "1.2.3", source: str = "", needed: Sequence[str] = ()
    ) -> Site:
        """Install one of upstream's plugins, in the namespace package, with its vendor's libraries."""
        selects = [entry.select for entry in self.facts.backends if entry.name == backend and entry.select]
        for library in (name for select in selects for name in select.libraries):
            self.write(f"nvidia/a/lib/{library}", loadable_elf("function"))
        package = f"jax_plugins/xla_{backend}"
        self.distribution(f"jax-{backend}-pjrt", record=f"{package}/__init__.py")
        self.distribution(f"jax-{backend}-plugin", kernels)
        register = f"def initialize():\n    xb.register_plugin('{platform}', priority=500)\n"
        source = f"from jax._src import xla_bridge as xb\n{source}"
        self.write(f"{package}/__init__.py", f"{source}\n{register}")
        self.write(f"{package}/plugin.so", loadable_elf("GetPjrtApi", needed=needed))
        return self

    def node(self, path: str = "dev/nvidia0") -> Site:
        """Make a device node."""
        (self.root / path).parent.mkdir(parents=True, exist_ok=True)
        (self.root / path).touch()
        return self

    def make(self, steps: Sequence[Sequence[Any]]) -> None:
        """Take steps of a table: each is the name of a method, and its arguments, those with names as a table."""
        for name, *arguments in steps:
            options = arguments.pop() if arguments and isinstance(arguments[-1], dict) else {}
            getattr(self, name)(
                *(item.replace("SITE", str(self.folder)) if isinstance(item, str) else item for item in arguments),
                **options,
            )

    def remove(self, path: str) -> None:
        """Remove a file or a folder."""
        target = self.folder / path
        shutil.rmtree(target) if target.is_dir() else target.unlink()

    def cut(self, path: str, size: int) -> None:
        """Leave only the start of a file."""
        self.write(path, (self.folder / path).read_bytes()[:size])

    def library(self, path: str, **options: Any) -> Path:
        """Write a library as the loaders read it."""
        return self.write(path, build_elf(**options))

    def linkable(self, path: str, *symbols: str) -> Path:
        """Write a library as the dynamic linker takes it."""
        return self.write(path, loadable_elf(*symbols))

    def lock(self, package: str, lock: str, release: str = "1.2.3") -> None:
        """Write the release lock of a package."""
        self.write(f"{package}/release_lock.json", lock_text(release, lock))

    def environment(self) -> Environment:
        """Return it as the doctor reads it: a folder before the standard library of this Python."""
        stdlib = Path(sysconfig.get_path("stdlib"))
        paths = [self.folder, stdlib, stdlib / "lib-dynload"]
        return read_environment(
            paths, python=Path(sys.executable), version=sys.version_info[:3], prefix=self.folder.parents[2]
        )

    def examine(
        self,
        machine: Machine = PLAIN,
        variables: Mapping[str, str] | None = None,
        decision: Decision | None = None,
        sources: tuple[str, ...] = (),
    ) -> Report:
        """Run the doctor, for a machine that is described."""
        here = self.environment()
        provider = decision.provider if decision is not None else OURS if has_ours(here) else UPSTREAM
        around = Surroundings(
            machine, self.facts, variables or {}, decision, described=True, root=self.root, provider=provider
        )
        return examine(here, around, replace(pip_installer(PYTHON), sources=sources))


def lock_text(release: str, lock: str) -> str:
    """Return a release lock."""
    facts = {"release": release, "version": release, "build": 1, "provider": "prebuilt", "lock_id": lock}
    return json.dumps({"schema": 2, **facts})


def codes(report: Report) -> list[str]:
    """Return the codes of the findings."""
    return [finding.code for finding in report.findings]

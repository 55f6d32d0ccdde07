# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""NVIDIA's libraries on this machine: opened, asked for their versions, and judged."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from ..pjrt.installed import find_folders
from ..pjrt.kernels import Kernels, import_module
from ..pjrt.plugin import import_extension
from ..pjrt.preload import Preloaded, Wanted, places, preload, shadowed, survey
from ..pjrt.vendor import VendorLibrary
from .toolkit import Toolkit, toolkit_homes, wanted_libraries
from .versions import COMPONENTS, CUDNN, Component, Problem, as_number, as_text, find_problems, rounded_to_minor


@dataclass(frozen=True, slots=True)
class Versions:
    """What the libraries say.

    Attributes:
        found: Component → version.
        problems: What is missing or cannot be opened.
        silent: What is open and does not answer, or was not asked, in words.
    """

    found: dict[str, int]
    problems: list[Problem]
    silent: list[str]


@dataclass(eq=False)
class Inventory:
    """NVIDIA's libraries; they are opened once, when they are first asked for.

    Attributes:
        toolkit: The CUDA they are to be of.
        kernels: The kernels, which know what they were built with.
        driver_works: Returns whether there is a driver that sees a GPU.
    """

    toolkit: Toolkit
    kernels: Kernels
    driver_works: Callable[[], bool]

    @functools.cached_property
    def wanted(self) -> tuple[Wanted, ...]:
        """Which libraries there should be, and where they are looked for."""
        symbols = {component.stem: component.symbol for component in COMPONENTS}
        # Each of NVIDIA's wheels may lie in another folder of the package.
        roots, homes = find_folders("nvidia"), toolkit_homes(self.toolkit.major, os.environ)
        libraries = wanted_libraries(self.toolkit, roots, homes)
        return tuple(replace(wanted, symbol=symbols.get(_stem(wanted.soname), "")) for wanted in libraries)

    @functools.cached_property
    def preloaded(self) -> Preloaded:
        """What became of them."""
        extension = import_extension()
        folders = sorted({folder for library in self.wanted for folder in library.first})
        others = shadowed(folders, os.environ.get("LD_LIBRARY_PATH", ""), self.wanted)
        return preload((*self.wanted, *others), lambda path: extension.preload(path, False))

    def versions(self) -> Versions:
        """Ask each component for its version."""
        versions = Versions({}, [], [])
        for component in COMPONENTS:
            soname = self._soname(component)
            if soname not in self.preloaded.opened:
                versions.problems.append(self._describe_missing(component.name, soname))
                continue
            if component.driver and not self.driver_works():
                versions.silent.append(f"{component.name} was not asked for its version, which takes a working driver")
                continue
            try:
                versions.found[component.name] = self._ask(component, soname)
            except OSError as error:  # a library that the dynamic linker found, and that only has the name
                versions.problems.append(Problem(f"{soname} is not {component.name}: {error}", component.stem))
            except RuntimeError as error:
                versions.silent.append(f"{component.name} does not say its version ({error})")
        return versions

    def survey(self, devices: int | None) -> tuple[VendorLibrary, ...]:
        """Return each library with its version and what is wrong with it for so many GPUs; None: open no library."""
        opening = devices is not None
        library_path = os.environ.get("LD_LIBRARY_PATH", "")
        libraries = survey(self.wanted, self.preloaded if opening else None, library_path, needed=False)
        if devices is None:
            return tuple(libraries)
        minimum, found = self.minimum(self.built()), self.versions().found
        problems = [*self.find_problems(devices), *self.find_gaps(devices)]
        texts = {problem.stem: problem.text for problem in reversed(problems)}
        versions, oldest = _as_texts(found), _as_texts(minimum)
        stems = [_stem(library.name) for library in libraries]
        return tuple(
            replace(library, version=versions.get(stem), minimum=oldest.get(stem), problem=texts.get(stem, ""))
            for library, stem in zip(libraries, stems, strict=True)
        )

    def find_problems(self, devices: int) -> list[Problem]:
        """Return why programs cannot be run with these libraries."""
        versions = self.versions()
        built = self.built()
        return [*versions.problems, *find_problems(versions.found, self.minimum(built), built, devices)]

    def find_gaps(self, devices: int) -> list[Problem]:
        """Return what else is missing, without which JAX starts and some of its programs end."""
        checked = {self._soname(component) for component in COMPONENTS}
        needed = [item.soname for item in self.toolkit.libraries if 0 < item.gpus <= max(devices, 1)]
        missing = [name for name in needed if name in self.preloaded.failed and name not in checked]
        return [self._describe_missing(_stem(name).removeprefix("lib"), name) for name in missing]

    def find_mixture(self) -> list[str]:
        """Return what may go wrong because NVIDIA's wheels for another CUDA are installed as well."""
        soname = self._soname(CUDNN)
        if soname not in self.preloaded.opened:
            return []
        try:
            name = self.preloaded.opened[soname]
            runtime = import_extension().library_version(name, "cudnnGetCudartVersion", "value")
        except (OSError, RuntimeError):  # it does not say
            return []
        if runtime // 1000 == self.toolkit.major:
            return []
        text = (
            f"cuDNN is made for CUDA {runtime // 1000}, and the plugin for CUDA {self.toolkit.major}: NVIDIA's wheels "
            "for both write cuDNN, NCCL and NVSHMEM to the same files, and the last one installed wins; keep those of "
            "one CUDA, and install them again"
        )
        return [text]

    def built(self) -> dict[str, int]:
        """Return the versions the plugin was built with: as its kernels state them or the toolkit's table."""
        module = import_module(self.kernels, "_versions")
        functions = {component.name: f"{component.built}_build_version" for component in COMPONENTS}
        stated = {
            name: getattr(module, function)() for name, function in functions.items() if hasattr(module, function)
        }
        return {**self.toolkit.built, **stated}

    def minimum(self, built: Mapping[str, int]) -> dict[str, int]:
        """Return the oldest version of each component that works; cuDNN must be that of the build, patches aside."""
        return {**self.toolkit.minimum, CUDNN.name: rounded_to_minor(CUDNN, built[CUDNN.name])}

    def projects(self, problems: Sequence[Problem]) -> list[str]:
        """Return what to install in place of the components that have problems."""
        projects = {_stem(library.soname): library.project for library in self.toolkit.libraries}
        return list(dict.fromkeys(projects[problem.stem] for problem in problems))

    def looked_in(self) -> str:
        """Return where the libraries are looked for, for a message."""
        first = list(dict.fromkeys(folder for library in self.wanted for folder in library.first))
        looked: str = places(first or ["the package nvidia (not installed)"], self.wanted[0].last)
        return looked

    def _soname(self, component: Component) -> str:
        return next(item.soname for item in self.toolkit.libraries if _stem(item.soname) == component.stem)

    def _ask(self, component: Component, soname: str) -> int:
        name = self.preloaded.opened[soname]
        return as_number(component, import_extension().library_version(name, component.symbol, component.form))

    def _describe_missing(self, name: str, soname: str) -> Problem:
        (wanted,) = (entry for entry in self.wanted if entry.soname == soname)
        there = [folder / soname for folder in (*wanted.first, *wanted.last) if (folder / soname).is_file()]
        if there:
            return Problem(f"{name} cannot be opened: {self.preloaded.failed[soname]}", _stem(soname))
        return Problem(f"{name} is missing ({soname})", _stem(soname))


def _as_texts(versions: Mapping[str, int]) -> dict[str, str]:
    """Return the components' versions for users, by the name of the library."""
    return {item.stem: as_text(item, versions[item.name]) for item in COMPONENTS if item.name in versions}


def _stem(soname: str) -> str:
    return soname.partition(".so")[0]

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""List what a release takes from the package index; all of this is functions from values to values."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from pjrtwheel.backend import Backend, merge_tools
from pjrtwheel.errors import PinError
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.release.model import LABEL, Override
from pjrtwheel.tables import column


@dataclass(frozen=True, slots=True)
class WantedFiles:
    """Files of one version of a project: an entry of `releases/inputs.toml`, or what a backend takes.

    Attributes:
        key: Place of their pins, with `{platform}`, and with `{python}` where each Python has a file.
        project: Project name on the index.
        version: The version, in the file with `{release}` for the JAX release; of one that ends in `.*` the newest is
            taken.
        platforms: Platforms that a file is looked for; in the file none for all that wheels are made for.
        python: ABI tag of the Python whose file is taken, where the index has several and the key names none.
    """

    key: str
    project: str
    version: str
    platforms: tuple[str, ...] = ()
    python: str = ""

    @property
    def per_python(self) -> bool:
        """Whether there is a file for each Python."""
        return "{python}" in self.key


@dataclass(frozen=True, slots=True)
class Inputs:
    """The file `releases/inputs.toml`: what releases take from the index, and the label that their sets get.

    Attributes:
        input: What they take.
        label: The label that a set gets when its release is pinned.
    """

    input: tuple[WantedFiles, ...]
    label: str = column(pattern=LABEL, default="")


def plan_inputs(
    inputs: Inputs,
    backends: Iterable[Backend],
    release: str,
    *,
    series: Mapping[str, str],
    overrides: Iterable[Override] = (),
) -> tuple[WantedFiles, ...]:
    """List all files that a release takes from the index.

    They are what `releases/inputs.toml` names, and the prebuilt library, kernels and tools of each backend.
    `series` gives, for a requirement such as `jax[tpu]`, the version that it names.

    Raises:
        PinError: An input has an unknown placeholder.
        UsageError: Two backends mean different tools by one name.
    """
    try:
        named = [
            replace(entry, version=entry.version.format(release=release), platforms=entry.platforms or tuple(PLATFORMS))
            for entry in inputs.input
        ]
    except (KeyError, ValueError) as error:
        raise PinError(f"releases/inputs.toml has an unknown placeholder: {error}") from error
    known = tuple(backends)
    instead = {entry.backend: entry.version for entry in overrides}
    tools = [
        WantedFiles(f"tool.{name}.{{platform}}", tool.project, tool.version, tool.platforms)
        for name, tool in merge_tools(known).items()
    ]
    planned = (
        wanted for backend in known for wanted in plan_backend(backend, instead.get(backend.name, release), series)
    )
    return (*named, *planned, *tools)


def plan_backend(backend: Backend, version: str, series: Mapping[str, str]) -> Iterator[WantedFiles]:
    """List the library and the kernels of one backend, `version` standing for the JAX release; see `plan_inputs`."""
    library, kernels, platforms = backend.prebuilt, backend.kernels, tuple(backend.tags)
    wanted = series[library.required_by] if library.required_by else library.version.format(release=version)
    yield WantedFiles(f"plugin.{backend.name}.{{platform}}", library.project, wanted, platforms, library.python)
    if kernels:
        wanted = kernels.version.format(release=version)
        yield WantedFiles(f"kernels.{backend.name}.{{python}}.{{platform}}", kernels.project, wanted, platforms)

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Decide from which index to install PyTorch: it has one for each CUDA and ROCm it is built with."""

from __future__ import annotations

import functools

from jaxlib_select import facts as facts_package
from jaxlib_select.choose.decision import Decision
from jaxlib_select.choose.ranking import known_names, rank
from jaxlib_select.choose.resolve import Resolver
from jaxlib_select.errors import PolicyError
from jaxlib_select.facts import Backend, Facts, read_facts
from jaxlib_select.machine.model import Machine
from jaxlib_select.versions import read_version

_COMPANIONS = {"torchvision", "torchaudio"}  # versions of their own, from the same index


def decide(package: str, machine: Machine, backend: str) -> Decision:
    """Decide about `torch`, `torchvision` or `torchaudio`, with `==VERSION` if it is not to be the backend's newest."""
    name, _, version = package.partition("==")
    ranked = rank(machine, _facts().backends, backend)
    chosen = ranked.backend
    if name not in _COMPANIONS and version:
        _check_version(chosen, version)
    torch = f"torch=={version if version and name not in _COMPANIONS else chosen.version}"
    return Decision(
        package=name,
        backend=chosen.name,
        # Which version of a companion goes with which one of torch is in their metadata, for the installer.
        requirements=(torch, package) if name in _COMPANIONS else (torch,),
        candidates=ranked.candidates,
        constraints=ranked.verdict.constraints,
        # On macOS and Windows the package index itself has the wheels for the CPU.
        index_url=None if chosen.name == "cpu" and machine.os != "linux" else chosen.index_url,
        warnings=ranked.warnings,
        environment=ranked.verdict.environment,
        hidden=ranked.verdict.hidden,
    )


def _check_version(backend: Backend, version: str) -> None:
    """Make sure that a version is one whose code is known: others are built for other GPUs."""
    known, asked = read_version(backend.version) or (), read_version(version) or ()
    if asked[: len(known)] != known:
        versions: dict[str, list[str]] = {}
        for entry in _facts().backends:
            versions.setdefault(entry.version, []).append(entry.name)
        raise PolicyError(
            f"nothing is known about torch {version} for {backend.name}, which has torch {backend.version}",
            cause="known: " + "; ".join(f"{key} for {', '.join(names)}" for key, names in versions.items()),
            remedy="ask for a version of this backend, or for another backend: --backend torch=NAME",
        )


@functools.cache
def _facts() -> Facts:
    return read_facts(facts_package.FOLDER / "torch.json")


RESOLVER = Resolver(decide, backends=lambda: known_names(_facts().backends), name="torch")

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Decide from which index to install PyTorch: it has one for each CUDA and ROCm it is built with."""

from __future__ import annotations

import functools
from pathlib import Path

from jaxlib_select import facts as facts_package
from jaxlib_select.decision import Decision
from jaxlib_select.facts import Facts, read_facts
from jaxlib_select.machine import Machine
from jaxlib_select.ranking import known_names, rank
from jaxlib_select.resolve import Resolver

_COMPANIONS = {"torchvision", "torchaudio"}  # versions of their own, from the same index


def decide(package: str, machine: Machine, backend: str) -> Decision:
    """Decide about `torch`, `torchvision` or `torchaudio`.

    Raises:
        PolicyError: What is asked for cannot be given.
    """
    name, _, version = package.partition("==")
    ranked = rank(machine, _facts().backends, backend)
    chosen = ranked.backend
    torch = f"torch=={version if version and name == 'torch' else chosen.version}"
    return Decision(
        package=name,
        backend=chosen.name,
        requirements=(torch, name) if name in _COMPANIONS else (torch,),
        candidates=ranked.candidates,
        constraints=ranked.verdict.constraints,
        # On macOS and Windows the package index itself has the wheels for the CPU.
        index_url=None if chosen.name == "cpu" and machine.os != "linux" else chosen.index_url,
        warnings=ranked.warnings,
        environment=ranked.verdict.environment,
        hidden=ranked.verdict.hidden,
    )


@functools.cache
def _facts() -> Facts:
    return read_facts(Path(facts_package.__file__).parent / "torch.json")


RESOLVER = Resolver(decide, backends=lambda: known_names(_facts().backends), name="torch")

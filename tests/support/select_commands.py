# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What tests ask of `jaxlib-select`: commands in this process, and what `--backend` stands for."""

from collections.abc import Callable
from typing import NamedTuple

from jaxlib_select.choose.policy import Policy, read_policy
from jaxlib_select.machine.model import Machine


class Said(NamedTuple):
    """How a command ended, and what it printed."""

    status: int
    out: str
    err: str


Select = Callable[..., Said]
WriteMachine = Callable[[Machine], str]


def asked(*backends: str) -> Policy:
    """Return the policy of `--backend BACKEND ...`."""
    return read_policy(backends, {}, None)


def lacking(text: str, *values: str) -> list[str]:
    """Return the values that do not occur in a text."""
    return [value for value in values if value not in text]

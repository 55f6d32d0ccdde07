# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""`cost_analysis()` of compiled functions, which the plugin leaves unimplemented.

The analysis reads the optimized program and no device, and jaxlib holds the same code. It only wants a client of its
own: one of jaxlib's is made when the first analysis is asked for.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .pjrt import private


def analyse_costs(builtin: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return `LoadedExecutable.cost_analysis` for executables of any client.

    Args:
        builtin: jaxlib's method, which asks the client.
    """
    _jax, xla_client = private.jaxlib("_jax"), private.jaxlib("xla_client")

    def cost_analysis(executable: Any) -> Any:
        try:
            return builtin(executable)
        except xla_client.XlaRuntimeError as error:
            if executable.client.platform != "cpu" or "UNIMPLEMENTED" not in str(error):
                raise
            modules = executable.hlo_modules()
            if len(modules) != 1:
                raise
            return _jax.hlo_module_cost_analysis(_analysing_client(), modules[0])

    return cost_analysis


@functools.cache
def _analysing_client() -> Any:
    return private.jaxlib("xla_client").make_cpu_client(num_devices=1)

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Let a plugin take part in the HLO passes that `jax.extend.xla` registers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

# PJRT_Extension_Type of the extension that takes such passes.
TRANSFORM_EXTENSION = 24


def forward_transform(builtin: Callable[..., Any], through_api: Callable[..., Any], api: Any) -> Callable[..., Any]:
    """Return a function that does what `builtin` does, and the same for a plugin.

    Args:
        builtin: jaxlib's function for its own clients.
        through_api: jaxlib's function of the same arguments for a plugin, whose API comes first.
        api: The plugin's API.
    """

    def both(*args: Any) -> Any:
        result = builtin(*args)
        other = through_api(api, *args)
        return result or other

    return both

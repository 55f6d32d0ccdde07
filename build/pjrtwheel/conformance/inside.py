# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Say which client JAX uses, `plugin` or `built-in`, inside the environment under test: standard library and JAX only.

Started as `python -I inside.py`; the answer is the last line of its output.
"""

from __future__ import annotations

import importlib


def describe_client() -> str:
    """Return `plugin` or `built-in` for JAX's default client."""
    jax = importlib.import_module("jax")  # this file is also imported where there is no JAX
    return "plugin" if getattr(jax.devices()[0].client, "is_c_api", False) else "built-in"


if __name__ == "__main__":
    print(describe_client())

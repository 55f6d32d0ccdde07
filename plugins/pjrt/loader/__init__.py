# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What every plugin wheel does inside JAX, whatever the accelerator.

These files are copied into each plugin package as its subpackage `pjrt`, next to the extension `_pjrt`. They use the
standard library, JAX and jaxlib only, and import the latter two inside functions: nothing happens at import.
"""

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Read shared libraries, and plan how to make them fit for a wheel.

`read_image` turns a file into an `ElfImage`, `plan_repair` turns that into a list of byte ranges and edits, and
`read_pieces` carries the plan out.
"""

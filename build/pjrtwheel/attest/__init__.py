# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""One release as others receive it: its wheels, checksums, bill of materials and provenance; made and verified."""

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The model of `dist/release.json`: what is recorded of finished wheels, and what was proven of them."""

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is made from finished wheels: jaxlib-auto, jaxlib-select, and a static package index."""

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Find out which accelerator a machine has, and which package of a release will really run on it."""

__version__ = "0.1.0"

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Prove finished wheels: run real JAX on them in clean environments, and keep what was shown."""

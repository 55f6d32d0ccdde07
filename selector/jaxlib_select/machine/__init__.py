# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A machine as far as the choice of an accelerator package depends on it: its model, its file, its detection."""

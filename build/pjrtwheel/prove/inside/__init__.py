# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What is started inside the environment under test: each file by its path, with the standard library and JAX only."""

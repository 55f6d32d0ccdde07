# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Checks what it is given."""

def python_init_repositories(default_python_version, requirements):
    """The real one fails in the same way when the chosen Python has no lock file.

    Args:
        default_python_version: Version, such as 3.12.
        requirements: Version to label of a lock file.
    """
    if default_python_version not in requirements:
        fail("no lock file for Python {}".format(default_python_version))

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Actions that run the Python tooling."""

load("//build/rules/private:python_tools.bzl", _python_tool = "python_tool")

python_tool = _python_tool

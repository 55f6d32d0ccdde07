# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""XLA's own repositories, for `--//build:provider=source`: see `xla_steps`."""

load("//build/rules/private:xla_repository.bzl", _xla_steps = "xla_steps")

xla_steps = _xla_steps

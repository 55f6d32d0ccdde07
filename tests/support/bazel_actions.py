# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What Bazel ran, as its execution log has it (`--execution_log_json_file`)."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

# What an action is made of, and so what the key of its result in a cache is made of.
_KEY_FIELDS = ("commandArgs", "environmentVariables", "platform", "inputs", "listedOutputs", "mnemonic")


def read_actions(log: Path) -> list[dict[str, Any]]:
    """Return the entries of an execution log: JSON objects, one after the other."""
    return list(_objects(log.read_text("utf-8")))


def _objects(text: str) -> Iterator[dict[str, Any]]:
    decoder, at = json.JSONDecoder(), 0
    while text[at:].strip():
        found, end = decoder.raw_decode(text, at + len(text[at:]) - len(text[at:].lstrip()))
        yield found
        at = end


def key_material(action: dict[str, Any]) -> dict[str, Any]:
    """Return what the key of an action in a cache is made of; inputs and variables by name."""
    material = {field: action.get(field) for field in _KEY_FIELDS}
    material["environmentVariables"] = {item["name"]: item.get("value", "") for item in action["environmentVariables"]}
    material["inputs"] = {item["path"]: item["digest"]["hash"] for item in action["inputs"]}
    return material


def by_output(actions: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Return what the keys of actions are made of, by the output of each."""
    return {action["listedOutputs"][0]: key_material(action) for action in actions}

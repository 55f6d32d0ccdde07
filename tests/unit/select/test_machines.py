# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The table of machines: each gets the package that its row names."""

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jaxlib_select.apply.installer import release_of
from jaxlib_select.choose.resolve import resolve
from jaxlib_select.facts import OURS, PROVIDERS, UPSTREAM
from jaxlib_select.machine.file import from_json
from select_commands import asked

TABLE = Path(__file__).parents[2] / "data/machines/table.json"
PUBLISHED = {  # by JAX itself
    "jax": "jax",
    "jaxlib-cpu": "jax",
    "jaxlib-cuda-12": "jax-cuda12-pjrt",
    "jaxlib-cuda-13": "jax-cuda13-pjrt",
    "jaxlib-oneapi": "jax-oneapi-pjrt",
    "jaxlib-rocm-7": "jax-rocm7-pjrt",
    "jaxlib-rocm-10": "jax-rocm10-plugin",  # for which `jax` has no extra
    "jaxlib-tpu": "libtpu",
}
ROWS: list[dict[str, Any]] = json.loads(TABLE.read_text("utf-8"))["rows"]


def test_the_table_is_large_and_says_why() -> None:
    """At least 60 machines of different names, each with a reason and the source of it."""
    assert len(ROWS) >= 60
    assert len({row["name"] for row in ROWS}) == len(ROWS)
    assert [row["name"] for row in ROWS if not row["reason"] or not row["source"]] == []


@pytest.mark.parametrize("provider", PROVIDERS)
@pytest.mark.parametrize("row", ROWS, ids=[row["name"] for row in ROWS])
def test_a_machine_gets_its_package(row: dict[str, Any], provider: str) -> None:
    """The package, the bounds that go with it, and the devices to hide are those of the row, whoever made it."""
    policy = replace(asked(row.get("asked", "auto")), provider=provider)
    decision = resolve("jax", from_json(row["machine"]), policy)
    assert decision.package == (row["package"] if provider == OURS else PUBLISHED[row["package"]])
    if provider == UPSTREAM:
        extra = f"[{decision.backend}]" if decision.backend != "cpu" else ""
        wanted = ("jax", "jaxlib", "jax-rocm10-plugin") if decision.backend == "rocm10-local" else (f"jax{extra}",)
        assert decision.requirements == tuple(f"{name}=={release_of(decision)}" for name in wanted)
    assert [list(decision.constraints), list(decision.hidden)] == [row["constraints"], row["hidden"]]
    assert dict(decision.environment) == row.get("environment", dict(decision.environment))
    own_wheel = provider == UPSTREAM and not decision.warnings  # jaxlib of upstream's serves where ours needs another
    assert "warning" not in row or own_wheel or any(row["warning"] in warning for warning in decision.warnings)


@pytest.mark.parametrize("row", [row for row in ROWS if "torch" in row], ids=lambda row: row["name"])
def test_a_machine_gets_its_torch(row: dict[str, Any]) -> None:
    """PyTorch comes from the index of the CUDA, ROCm or oneAPI that runs on the machine."""
    decision = resolve("torch", from_json(row["machine"]))
    index = "https://download.pytorch.org/whl/" + row["torch"]
    on_package_index = row["torch"] == "cpu" and row["machine"]["os"] != "linux"
    assert (decision.backend, decision.index_url) == (row["torch"], None if on_package_index else index)

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The real command next to a program nvidia-smi that hangs, prints garbage, or works although libcuda is absent."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = [
    pytest.mark.integration,
    pytest.mark.skipif(Path("/dev/nvidiactl").exists(), reason="this machine has a driver of its own"),
]

WORKING = """case "$*" in
  *query-gpu*) echo "NVIDIA L4, 8.9, 550.54.15"; echo "NVIDIA L4, 8.9, 550.54.15" ;;
  *) echo "CUDA Version                              : 12.4" ;;
esac"""


@pytest.mark.parametrize(
    ("script", "gpus"),
    [
        (WORKING, 2),
        ("sleep 60", 0),
        ("printf '\\377\\376, 9.0\\n\\000'", 0),
        ("echo '[N/A], [N/A], [N/A]'", 0),
        ("echo 'NVIDIA-SMI has failed because it could not communicate with the NVIDIA driver'; exit 9", 0),
        ("yes | head -c 5000000", 0),
        ("kill -SEGV $$", 0),
    ],
    ids=["works", "hangs", "not UTF-8", "N/A", "fails", "floods", "crashes"],
)
def test_nvidia_smi_may_do_anything(script: str, gpus: int, root: Path, tmp_path: Path) -> None:
    """The command ends soon and well; without libcuda nothing that nvidia-smi says makes it choose CUDA."""
    program = tmp_path / "nvidia-smi"
    program.write_text(f"#!/bin/sh\n{script}\n", "utf-8")
    program.chmod(0o755)
    environ = {
        "PATH": f"{tmp_path}:/usr/bin:/bin",
        "PYTHONPATH": str(root / "selector"),
        "JAXLIB_SELECT_TIMEOUT": "1",
    }
    start = time.monotonic()
    command = [sys.executable, "-m", "jaxlib_select"]
    detected = subprocess.run([*command, "detect", "--json"], capture_output=True, text=True, check=True, env=environ)
    assert time.monotonic() - start < 10
    assert len(json.loads(detected.stdout)["nvidia"]["gpus"]) == gpus
    resolved = subprocess.run(
        [*command, "resolve", "jax", "--json"], capture_output=True, text=True, check=True, env=environ, cwd=tmp_path
    )
    decision = json.loads(resolved.stdout)
    assert decision["package"] == "jaxlib-cpu"
    assert any("not the driver's library libcuda" in warning for warning in decision["warnings"]) == bool(gpus)

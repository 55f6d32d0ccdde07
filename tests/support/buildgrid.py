# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A remote cache that speaks gRPC, on loopback: BuildGrid, from the package index."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_START_S = 120.0
_CONFIGURATION = """\
server:
  - !channel
    address: 127.0.0.1:{port}
    insecure-mode: true
description: a cache for tests
authorization: {{method: none}}
monitoring: {{enabled: false}}
instances:
  - name: ''
    storages:
      - !disk-storage &storage
        path: {folder}/storage
    caches:
      - !lru-action-cache &results
        storage: *storage
        max-cached-refs: 4096
        allow-updates: true
    services:
      - !action-cache
        cache: *results
      - !cas
        storage: *storage
      - !bytestream
        storage: *storage
"""


@contextmanager
def run_buildgrid(programs: Path, folder: Path) -> Iterator[str]:
    """Run the server on a free port of loopback, and yield its address; it ends with the block."""
    folder.mkdir(parents=True)
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    configuration = folder / "buildgrid.yml"
    configuration.write_text(_CONFIGURATION.format(port=port, folder=folder))
    command = [str(programs / "bgd"), "server", "start", str(configuration)]
    with (folder / "log").open("w") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            _wait(process, port, folder / "log")
            yield f"grpc://127.0.0.1:{port}"
        finally:
            process.kill()


def _wait(process: subprocess.Popen[bytes], port: int, log: Path) -> None:
    end = time.monotonic() + _START_S
    while True:
        assert process.poll() is None, log.read_text()  # such as for a port that a leftover of an earlier run has
        assert time.monotonic() < end, log.read_text()
        with socket.socket() as client:
            if client.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.2)

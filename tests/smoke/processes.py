# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Two processes that form one JAX program over localhost, each with a device of its own where there are two."""

import json
import os
import socket
import subprocess
import sys
import unittest

import jax

SECONDS = 150

_PROCESS = """
import json, os, sys
import jax
index, port, spread = int(sys.argv[1]), sys.argv[2], sys.argv[3] == "spread"
jax.distributed.initialize(f"localhost:{port}", 2, index, local_device_ids=[index] if spread else None)
import jax.numpy as jnp, numpy as np
from jax.experimental import multihost_utils
client = jax.devices()[0].client
answer = {
    "processes": jax.process_count(),
    "global": jax.device_count(),
    "local": jax.local_device_count(),
    "version": getattr(client, "pjrt_c_api_minor_version", 0),
    "squares": np.asarray(jax.jit(jnp.square)(jnp.arange(4.0) + index)).tolist(),
}
if spread:
    answer["gathered"] = multihost_utils.process_allgather(np.float32(10 + index)).tolist()
print(json.dumps(answer), flush=True)
if not answer["version"]:  # JAX's own client: at the end of one program in 40, a process of it hangs
    jax.distributed.shutdown()
    os._exit(0)
"""


def check() -> str:
    """Start both, and hold each to what a program of two processes must see."""
    # Asked in a process that ends: this one must not hold the device while the others run.
    count = json.loads(run([sys.executable, "-I", "-c", "import jax; print(jax.local_device_count())"]))
    spread = count >= 2
    with socket.socket() as free:
        free.bind(("localhost", 0))
        port = free.getsockname()[1]
    started = [start(index, port, spread) for index in range(2)]
    answers = [collect(process) for process in started]
    require_plugin(answers, jax.default_backend())
    devices = answers[0]["local"]
    for index, answer in enumerate(answers):
        expected = {"processes": 2, "global": 2 * devices, "local": devices}
        assert {key: answer[key] for key in expected} == expected, answer
        assert answer["squares"] == [(value + index) ** 2 for value in range(4)]
        assert answer.get("gathered") == ([10.0, 11.0] if spread else None)
    jax.devices()
    exchange = "a value gathered from both" if spread else "on one device, so nothing was exchanged"
    return f"2 processes of {devices} device each, {exchange}"


def require_plugin(answers, platform):
    """Skip where JAX never uses a plugin for such a program, which is on the host alone; elsewhere it must."""
    if not all(answer["version"] for answer in answers):
        if platform == "cpu":
            raise unittest.SkipTest("JAX forms programs of several processes on its built-in client here")
        raise AssertionError(f"a process runs on JAX's built-in client, not on the plugin for {platform}: {answers}")


def start(index, port, spread):
    """Start one of the processes; they share what memory the device has."""
    command = [sys.executable, "-I", "-c", _PROCESS, str(index), str(port), "spread" if spread else "shared"]
    environ = {**os.environ, "XLA_PYTHON_CLIENT_PREALLOCATE": "false"}
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environ)


def collect(process):
    """Return what a process answered, or fail with what it said."""
    try:
        output, talk = process.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        process.kill()
        raise AssertionError(f"no answer within {SECONDS} s: {process.communicate()[1][-1000:]}") from None
    assert process.returncode == 0, talk[-2000:]
    # Gloo prints to stdout as well, and its buffer may come last.
    return json.loads(next(line for line in output.splitlines() if line.startswith("{")))


def run(command):
    """Return the last line that a command prints."""
    result = subprocess.run(command, capture_output=True, text=True, check=True, timeout=SECONDS)
    return result.stdout.strip().splitlines()[-1]

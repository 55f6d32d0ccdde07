# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Use the extension from many threads at the same time: `python threads.py FAKE_PLUGIN.so`.

It needs the extension, NumPy and the fake plugin, so it also runs on a Python that was built with ThreadSanitizer.
"""

from __future__ import annotations

import sys
import threading
from typing import Any

import numpy as np
from fake_plugin import FakePlugin, _pjrt

THREADS = 8
ROUNDS = 200


def register(plugin: FakePlugin, thread: int) -> None:
    """Register all that can be registered; half of the threads use the same name."""
    name = f"target{thread if thread % 2 else 0}"
    handler = plugin.capsule("fake_mute_handler")
    assert plugin.bind("fake_jaxlib_handler") == plugin.type_id
    _pjrt.register_ffi_stages(plugin.api, name, {"prepare": handler, "execute": handler}, "Host", 0)
    assert _pjrt.ffi_api_version(plugin.api, "Host") == (0, 4)


def call_back(plugin: FakePlugin, number: int) -> None:
    """Run callbacks that return, and that raise; each gets its own arguments and results."""
    given, result = np.full((3, 4), number, np.float32), np.zeros((3, 4), np.float32)
    assert not plugin.call(lambda x: (x + 1,), [given], [result])
    assert (result == number + 1).all()
    error = plugin.call(lambda _: {}[number], [given], [result])
    assert error.endswith(f"KeyError: {number}"), error


def main(library: str) -> int:
    """Let all threads begin at once; the first thing that they do is to bind."""
    failures: list[Any] = []
    barrier = threading.Barrier(THREADS)

    def work(thread: int) -> None:
        try:
            barrier.wait()
            plugin = FakePlugin(library)
            for turn in range(ROUNDS):
                register(plugin, thread)
                call_back(plugin, thread * ROUNDS + turn)
                assert _pjrt.attributes(plugin.api)["number"] == 2
        except BaseException as error:  # noqa: BLE001  # a thread's own failure would be lost
            failures.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(THREADS)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    gil = getattr(sys, "_is_gil_enabled", lambda: True)()
    print(f"{_pjrt.__file__} {'with' if gil else 'without'} the GIL: {len(failures)} failures {failures[:1]}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))

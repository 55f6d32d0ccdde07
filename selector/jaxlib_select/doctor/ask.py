# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Ask plugins about themselves, by their own code, in the environment that is examined.

Ours answer `python -m <package> --json`. A small program opens any other plugin instead, and answers in the
same form. Each runs in a process of its own, since it may crash or hang.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

from jaxlib_select.installed.environment import Environment
from jaxlib_select.installed.plugins import CRASH, REFUSED, SILENT, UNUSED, Answer, Plugin, Problem, read_answer
from jaxlib_select.machine.process import run

_TIME_LIMIT = 20.0  # seconds; libraries of vendors are slow to open where disks are

# The search path is the one that was examined: `-I` alone leaves out what PYTHONPATH and the user's folder add.
_RUN_PACKAGE = """
import json, sys
paths, package, *arguments = json.loads(sys.argv[1])
sys.path[:], sys.argv[:] = paths, [package, *arguments]
try:
    __import__(package)
except BaseException as error:
    import traceback
    last = traceback.extract_tb(error.__traceback__)[-1]
    what = f"{type(error).__name__}: {error} in line {last.lineno} of {last.filename}"
    print(json.dumps({"schema": 1, "problems": [{"code": "NotImported", "effect": "unused", "what": what}]}))
    sys.exit(1)
import runpy
runpy.run_module(package, run_name="__main__", alter_sys=True)
"""


def ask_plugins(
    plugins: Sequence[Plugin],
    environment: Environment,
    variables: Mapping[str, str],
    *,
    opening: bool = True,
    here: bool = True,
) -> tuple[Plugin, ...]:
    """Return plugins with what they say about themselves; all are asked at once.

    Args:
        plugins: The plugins; those that do not exist are not asked.
        environment: The environment in which they lie.
        variables: Its environment variables.
        opening: Whether to let ours open libraries, which asks the driver, too.
        here: Whether this machine is meant: then errors of other plugins about hardware count.
    """

    def ask(plugin: Plugin) -> Plugin:
        if plugin.location is None or not (plugin.ours or plugin.libraries):
            return plugin
        answer = _ask(plugin, environment, variables, opening=opening, here=here)
        priority = plugin.priority if answer.priority is None else answer.priority
        return replace(plugin, answer=answer, platform=answer.platform or plugin.platform, priority=priority)

    with ThreadPoolExecutor(max(len(plugins), 1)) as pool:
        return tuple(pool.map(ask, plugins))


def _ask(
    plugin: Plugin, environment: Environment, variables: Mapping[str, str], *, opening: bool, here: bool
) -> Answer:
    if not plugin.ours:
        module = plugin.module if opening else ""
        return _open_foreign(plugin, environment, variables, module, here=here)
    argument = [[str(path) for path in environment.paths], plugin.module, "--json"]
    opened = _run(plugin, environment, variables, _RUN_PACKAGE, argument) if opening else None
    if opened is not None and opened.find(SILENT) is None:
        return opened
    answer = _run(plugin, environment, variables, _RUN_PACKAGE, [*argument, "--no-open"])
    if opened is None or answer.find(SILENT) is not None:
        return answer
    what = f"{plugin.label} crashes or hangs when it opens its libraries"
    return replace(answer, problems=(*answer.problems, Problem(CRASH, REFUSED, what)))


def _open_foreign(
    plugin: Plugin, environment: Environment, variables: Mapping[str, str], module: str, *, here: bool
) -> Answer:
    """Let the dynamic linker, and then JAX, open another project's plugin with the libraries of its vendor's wheels."""
    program = Path(__file__).with_name("open_plugin.py").read_text("utf-8")
    folders = [folder for path in environment.paths for folder in sorted(path.glob("nvidia/*/lib"))]
    question = {
        "libraries": [str(path) for path in plugin.libraries],
        "names": plugin.names,
        "folders": [str(folder) for folder in [*folders, environment.prefix / "lib"]],
        "paths": [str(path) for path in environment.paths],
        "module": module,
        "here": here,
    }
    answer = _run(plugin, environment, variables, program, question)
    if answer.find(SILENT) is None or not plugin.libraries:
        return answer
    what = f"{plugin.libraries[0]} cannot be used: Python does not survive opening it"
    return replace(answer, problems=(Problem("LibraryDamagedError", UNUSED, what),))


def _run(
    plugin: Plugin, environment: Environment, variables: Mapping[str, str], program: str, argument: object
) -> Answer:
    command = [str(environment.python), "-I", "-c", program, json.dumps(argument)]
    result = run(command, variables, _TIME_LIMIT)
    try:
        return read_answer(result.output.strip().rpartition("\n")[2] if plugin.ours is False else result.output)
    except ValueError:
        ended = f"within {_TIME_LIMIT:.0f} seconds" if result.timed_out else f"(status {result.status})"
        what = f"{plugin.label} does not say what it finds {ended}, so it is damaged"
        return Answer(problems=(Problem(SILENT, REFUSED, what),))

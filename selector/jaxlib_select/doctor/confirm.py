# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Ask the real JAX, in a process with a time limit, what it finds, and compare that with the prediction."""

from __future__ import annotations

import json
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from jaxlib_select.doctor.predict import Prediction
from jaxlib_select.doctor.report import ERROR, NO_REMEDY, NOTE, WARNING, Finding, Remedy
from jaxlib_select.installed.plugins import flatten
from jaxlib_select.sentences import shorten
from jaxlib_select.tables import read

_TIME_LIMIT = 180.0  # seconds; a TPU alone may take one minute to answer

_ENDED = "JAX ended with status"  # instead of an answer
# What XLA says of a flag, before it lists all flags.
_BAD_FLAG = re.compile(r".*(?:command_line_flags|parse_flags_from_env)\.cc:\d+\] (.+)")

_PROGRAM = """
import json, logging, sys, traceback
out = {"complaints": []}
class Complaints(logging.Handler):
    def emit(self, record):
        said = record.getMessage()
        if said.startswith("Jax plugin configuration error"):
            error = record.exc_info[1] if record.exc_info else None
            out["complaints"].append(said if error is None else f"{said}: {describe(error)}{place(error)}")
def describe(error):
    return f"{type(error).__name__}: {error}" if str(error) else f"{type(error).__name__}{place(error)}"
def place(error):
    last = traceback.extract_tb(error.__traceback__)[-1]
    return f" in line {last.lineno} of {last.filename}: {last.line}"
logging.getLogger("jax._src.xla_bridge").addHandler(Complaints())
try:
    from jax._src import xla_bridge
    out["default"] = next(name for name, client in xla_bridge.backends().items() if client is xla_bridge.get_backend())
    out["devices"] = [str(device) for device in xla_bridge.devices()]
except BaseException as error:
    out["error"] = describe(error)
print("\\n" + json.dumps(out), flush=True)
"""


@dataclass(frozen=True)
class JaxAnswer:
    """JAX's answer: its default platform and devices, or its error, and the plugins that it ignores, as it logs it."""

    default: str = ""
    devices: tuple[str, ...] = ()
    error: str = ""
    complaints: tuple[str, ...] = ()


def ask_jax(python: Path, variables: Mapping[str, str], limit: float = _TIME_LIMIT) -> JaxAnswer:
    """Start JAX in a process of its own, with these environment variables, and wait for some seconds."""
    with tempfile.TemporaryDirectory() as folder:  # a place without modules that could shadow any
        try:
            result = subprocess.run(
                [str(python), "-c", _PROGRAM],
                capture_output=True,
                text=True,
                errors="replace",
                timeout=limit,
                check=False,
                env=dict(variables),
                cwd=folder,
            )
        except subprocess.TimeoutExpired:
            return JaxAnswer(error=f"JAX did not start within {limit:.0f} seconds")
        except OSError as error:
            return JaxAnswer(error=f"cannot run {python}: {error}")
    return read_answer(result.stdout, result.stderr, result.returncode)


def read_answer(output: str, errors: str, status: int) -> JaxAnswer:
    """Read what the process printed; one that crashed printed nothing of use."""
    try:
        return read(JaxAnswer, json.loads(flatten(output.splitlines()[-1])))
    except (ValueError, IndexError):
        lines = errors.strip().splitlines() or ["no message"]
        said = next((found[1] for found in map(_BAD_FLAG.fullmatch, lines) if found), lines[-1])
        return JaxAnswer(error=f"{_ENDED} {status}: {said}")


def find_bad_flags(python: Path, variables: Mapping[str, str]) -> str:
    """Return why XLA ends a process because of `XLA_FLAGS`; empty if it does not, or if there are no flags."""
    flags = variables.get("XLA_FLAGS", "")
    error = ask_jax(python, {**variables, "JAX_PLATFORMS": "cpu"}).error if flags else ""
    return f"XLA_FLAGS={flags}: {error}" if error.startswith(_ENDED) else ""


def compare(
    prediction: Prediction, jax: JaxAnswer, *, renewal: Remedy = NO_REMEDY, explained: bool = False
) -> Iterator[Finding]:
    """Say whether JAX does what was predicted, and what else.

    Args:
        prediction: What was predicted.
        jax: What JAX does.
        renewal: What installs everything again, which fixes what cannot be seen from outside.
        explained: Whether an error was found before, with a command of its own.
    """
    if not explained:
        for complaint in jax.complaints:
            yield Finding(WARNING, "plugin-fails", _short(complaint), *renewal)
    if jax.error:
        known = prediction.default is None
        remedy = NO_REMEDY if known or explained else renewal
        yield Finding(NOTE if known else ERROR, "jax-fails", f"JAX itself fails: {_short(jax.error)}", *remedy)
    elif prediction.default is None:
        yield Finding(WARNING, "prediction", f"JAX starts after all, on {jax.default}")
    elif jax.default != prediction.default:
        what = f"JAX's default platform is {jax.default}, not {prediction.default} as predicted from its files"
        remedy = NO_REMEDY if explained or jax.complaints else renewal
        yield Finding(ERROR if jax.default == "cpu" else WARNING, "prediction", what, *remedy)
    else:
        yield Finding(NOTE, "confirmed", f"JAX itself agrees: {jax.default}, {len(jax.devices)} device(s)")


def _short(text: str) -> str:
    return shorten(" ".join(text.split()), 600)

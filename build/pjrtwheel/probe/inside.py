# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The process in which a plugin is opened.

Libraries print what they like, so the answer goes to a file. It is written anew before each check, with what was found
until then, so that a library which crashes leaves it.
"""

import ctypes
import json
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import Any

from pypjrt import Client, Plugin, conform, errors

_ROOM = 4096  # bytes; more than any extension that the checks read
_copies: list[Any] = []  # for as long as the library is open


def bound_extension(extension: Any) -> Any:
    """Return an extension in memory of ours, which is null behind the end that the library states.

    One that was built with an older header ends earlier. The checks take what lies behind it for a function.
    """
    copy = ctypes.create_string_buffer(_ROOM)
    ctypes.memmove(copy, extension.address, min(extension.version, _ROOM))  # `version` is its struct_size
    _copies.append(copy)
    return replace(extension, address=ctypes.addressof(copy))


def run_check(function: Callable[[Any], Any], context: Any, *, optional: bool) -> tuple[str, str]:
    """Return result and detail of one check; the whole text of an error, of which pypjrt itself keeps one line."""
    try:
        return "passed", str(function(context) or "")
    except conform._Skip as reason:  # noqa: SLF001 - pypjrt has no other name for it
        return "skipped", str(reason)
    except (errors.UnsupportedByPlugin, errors.Unimplemented) as refusal:
        return "not supported", str(refusal)
    except Exception as error:  # noqa: BLE001 - whatever a check raises is its result
        absent = optional and isinstance(error, errors.PjrtError)
        return "not supported" if absent else "failed", f"{type(error).__name__}: {error}"


def check(library: str, target: Path) -> None:
    """Open a library and run all checks on it, with options as pypjrt's own client has them.

    Its command line hands the options for GPUs to every accelerator, and libtpu refuses them. The answer has `refused`
    where the library does not open, and in `begun` what was going on if the process did not come to its end.
    """
    answer: dict[str, Any] = {"checks": []}

    def write(begun: str) -> None:
        draft = target.with_suffix(".draft")
        draft.write_text(json.dumps({**answer, "begun": begun}, default=str), encoding="utf-8")
        draft.replace(target)

    write("open")
    try:
        plugin = Plugin(library)
    except (OSError, AttributeError, RuntimeError) as error:
        answer["refused"] = str(error)
        write("")
        return
    extensions = [{"type": extension.type, "name": extension.name} for extension in plugin.extensions]
    plugin.extensions = tuple(map(bound_extension, plugin.extensions))
    answer |= {"api_version": plugin.api_version, "extensions": extensions}
    write("plugin.attributes")
    with suppress(errors.PjrtError):
        answer["attributes"] = plugin.attributes
    context = conform.Ctx(plugin, dict(Client.GPU_DEFAULTS) if plugin.is_gpu else None)
    for category, name, function, optional in conform._CHECKS:  # noqa: SLF001 - its `run` keeps all until the end
        write(f"{category}.{name}")
        result, detail = run_check(function, context, optional=optional)
        answer["checks"].append({"name": f"{category}.{name}", "result": result, "detail": detail})
    write("")
    context.close()


if __name__ == "__main__":
    check(sys.argv[1], Path(sys.argv[2]))

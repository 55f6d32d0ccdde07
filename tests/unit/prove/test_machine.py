# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What a proof says of the machine that it was made on."""

from __future__ import annotations

import platform
from dataclasses import replace
from pathlib import Path

import pytest

from abacus_backend import BACKEND
from pjrtwheel.backend import Backend, find_backend, parse_backend
from pjrtwheel.errors import UsageError
from pjrtwheel.prove.devices import Devices, ask_driver, find_machine, find_processor
from pjrtwheel.record.origin import find_signer
from pjrtwheel.record.proofs import ProofMachine

# Stands for a Python in which a plugin's loader answers: it is called with -I -m PACKAGE --json.
ANSWERS = """#!/bin/sh
test "$1 $2 $3 $4" = "-I -m jaxlib_abacus --json" || exit 9
echo "a warning" >&2
echo '{"schema": 1, "vendor": {"driver": "beads 7.1", "devices": ["Abacus"]}}'
exit 1
"""


@pytest.fixture
def backend() -> Backend:
    """Return a backend whose loader knows of a driver."""
    return parse_backend(BACKEND, Path("plugins/abacus/backend.toml"))


def write_python(folder: Path, text: str) -> Path:
    """Write a program in the place of a Python."""
    path = folder / "python"
    path.write_text(text)
    path.chmod(0o755)
    return path


def test_chip_and_driver_are_what_jax_and_the_loader_say(root: Path, tmp_path: Path, backend: Backend) -> None:
    """Also where the loader finds something else wrong; nobody is asked about the host, and others may not answer."""
    python = write_python(tmp_path, ANSWERS)
    here = ProofMachine(platform.platform(), find_processor(Path("/proc/cpuinfo")))
    found = find_machine(python, backend, Devices(2, "Abacus 3000"))
    assert found == replace(here, chip="Abacus 3000", chips=2, driver="beads 7.1")
    assert find_machine(python, backend, Devices(0, reason="no bead")) == here
    assert find_machine(python, None, Devices(0)) == here
    assert find_machine(tmp_path / "absent", find_backend(root, "cpu"), Devices(1, "cpu")).driver == ""
    for text in ("#!/bin/sh\nexit 1\n", "#!/bin/sh\necho '{\"vendor\": {}}'\n"):
        assert ask_driver(write_python(tmp_path, text), backend) == ""


@pytest.mark.parametrize(
    ("text", "expected"),
    [("processor\t: 0\nmodel name\t: A processor @ 2 GHz\n", "A processor @ 2 GHz"), ("model name:\n", ""), (None, "")],
)
def test_the_processor_calls_itself_something(tmp_path: Path, text: str | None, expected: str) -> None:
    """On some architectures the kernel does not know what."""
    path = tmp_path / "cpuinfo"
    if text is not None:
        path.write_text(text)
    assert find_processor(path) == (expected or platform.machine())


def test_somebody_signs_off(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who is named, or git's user; nobody else is invented."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert find_signer(tmp_path, "A Tester") == "A Tester"
    with pytest.raises(UsageError, match="nobody signs off"):
        find_signer(tmp_path, None)
    (tmp_path / ".gitconfig").write_text("[user]\nname = B\nemail = b@example.org\n")
    assert find_signer(tmp_path, None) == "B <b@example.org>"
    with pytest.raises(UsageError, match="not a name"):
        find_signer(tmp_path, "A\nB")

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""A vendor for automatic selection: two new modules, and the facts that `./noxw facts` writes."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from folders import write_files

DETECT = '''
"""The abacus: its PCI ids, its device nodes, and its driver."""

from __future__ import annotations

from jaxlib_select.machine.detect import Detector
from jaxlib_select.machine.host import Host, list_devices
from jaxlib_select.machine.model import Devices


def look(host: Host) -> tuple[Devices, list[str]]:
    """Return the abaci of a machine."""
    pci = list_devices(host, "abac")
    nodes = [f"/dev/{name}" for name in host.names("/dev") if name.startswith("abacus")]
    return Devices(tuple(pci), tuple(nodes), (host.read("/sys/module/abacus/version") or "").strip() or None), []


DETECTOR = Detector("abacus", look, variables=("ABACUS_VISIBLE_DEVICES",))
'''
CHOOSE = '''
"""Rules for the abacus: its chips, and a device node to reach them."""

from __future__ import annotations

from jaxlib_select.choose.rules import Fit, Verdict, matching
from jaxlib_select.facts import Backend, Select
from jaxlib_select.machine.model import Devices, Machine


def judge(machine: Machine, backend: Backend) -> Verdict:
    """Say whether a backend runs on the abaci of a machine."""
    found = machine.others.get("abacus", Devices())
    chips = matching(found.pci, (backend.select or Select("abacus")).devices)
    if not chips:
        return Verdict(Fit.NONE, "no abacus was found")
    if not found.devices:
        return Verdict(Fit.NONE, "an abacus is here, but no /dev/abacus*", "install its driver", present=True)
    return Verdict(Fit.FULL, f"serves {len(chips)} abacus with driver {found.driver}", present=True, served=len(chips))
'''
FACTS = {
    "name": "abacus",
    "distribution": "jaxlib-abacus",
    "family": "abacus",
    "tags": {"linux_x86_64": "manylinux_2_27_x86_64"},
    "variants": {"abacus": []},
    "select": {"vendor": "abacus", "rank": 5, "devices": ["abac:0001-0009"]},
}
PROGRAM = """
import json, sys
from jaxlib_select.cli.detect import format_machine
from jaxlib_select.doctor.choice import Surroundings, describe_hardware, is_silent_cpu
from jaxlib_select.doctor.predict import Prediction
from jaxlib_select.facts import load_facts
from jaxlib_select.machine.detect import detect
from jaxlib_select.machine.file import to_json
from jaxlib_select.machine.host import Host
machine, facts = detect(Host(root=sys.argv[1], environ={"ABACUS_VISIBLE_DEVICES": "0"})), load_facts()
print(json.dumps(to_json(machine)))
print(describe_hardware(machine, facts.backends), is_silent_cpu(Prediction("cpu", ()), Surroundings(machine, facts)))
print(*format_machine(machine), sep="\\n")
"""
RULES = """
from jaxlib_select.choose.vendors import find_judge
print(find_judge("slide_rule"))
find_judge("abacus")
"""
PCI = {"vendor": "0xabac", "device": "0x0005", "class": "0x120000"}


@pytest.fixture
def selector(root: Path, tmp_path: Path, shipped_release: str) -> Path:
    """Return a copy of the selector to which the vendor was added; it knows one release."""
    copy = tmp_path / "selector"
    ignored = shutil.ignore_patterns("__pycache__")
    package = Path(shutil.copytree(root / "selector/jaxlib_select", copy / "jaxlib_select", ignore=ignored))
    (package / "machine/detect/abacus.py").write_text(DETECT, "utf-8")
    (package / "choose/vendors/abacus.py").write_text(CHOOSE, "utf-8")
    known = package / "facts" / f"{shipped_release}.json"
    facts = json.loads(known.read_text("utf-8"))
    facts["backends"].append({**FACTS, "version": shipped_release})
    for path in known.parent.glob("[0-9]*.json"):
        path.unlink()
    known.write_text(json.dumps(facts), "utf-8")
    return copy


def run(selector: Path, *arguments: str | Path) -> str:
    """Run Python with that selector, and return what it printed."""
    environ = {**os.environ, "PYTHONPATH": str(selector), "PYTHONDONTWRITEBYTECODE": "1"}
    command = [sys.executable, *map(str, arguments)]
    return subprocess.run(command, env=environ, cwd=selector, stdout=subprocess.PIPE, text=True, check=True).stdout


def test_a_new_vendor_is_found_described_and_chosen(selector: Path, tmp_path: Path, shipped_release: str) -> None:
    """By what its two modules say; the machine file has its devices below `others`."""
    machine, file = tmp_path / "machine", tmp_path / "machine.json"
    write_files(machine / "sys/bus/pci/devices/0000:01:00.0", PCI)
    write_files(machine, {"dev/abacus0": "", "sys/module/abacus/version": "1.2\n"})
    described, judged, *lines = run(selector, "-c", PROGRAM, machine).splitlines()
    found = {"pci": ["abac:0005"], "devices": ["/dev/abacus0"], "driver": "1.2"}
    assert json.loads(described)["others"] == {"abacus": found}
    shown = {"abacus  abac:0005; /dev/abacus0; driver 1.2", "set     ABACUS_VISIBLE_DEVICES=0"}
    assert shown <= set(lines)
    file.write_text(described, "utf-8")
    decision = json.loads(
        run(selector, "-m", "jaxlib_select", "resolve", "jax", "--machine", file, "--provider=ours", "--json")
    )
    assert decision["requirements"][-1] == f"jaxlib-abacus=={shipped_release}"
    (chosen,) = (candidate["reason"] for candidate in decision["candidates"] if candidate["chosen"])
    assert chosen == "serves 1 abacus with driver 1.2"
    assert judged == "('abacus abac:0005',) True"  # by the doctor


def test_what_lies_next_to_the_modules_of_vendors_does_not_end_detection(selector: Path, tmp_path: Path) -> None:
    """A broken module becomes a note, and an editor's swap file is no module; the others find their devices."""
    folder = selector / "jaxlib_select/machine/detect"
    (folder / "abacus.py").write_text("import missing_library\n", "utf-8")
    for name in (".amd.py.swp", "amd.py.orig", "google-copy.py"):
        (folder / name).write_text("", "utf-8")
    lines = run(selector, "-c", PROGRAM, tmp_path).splitlines()
    (note,) = (line for line in lines if line.startswith("note"))
    assert ("missing_library" in note, "nvidia  none" in lines) == (True, True)


def test_a_module_of_rules_that_lacks_another_is_not_a_missing_module(selector: Path) -> None:
    """Else its vendor would silently be one whose accelerators cannot be detected."""
    (selector / "jaxlib_select/choose/vendors/abacus.py").write_text("import missing_library\n", "utf-8")
    with pytest.raises(subprocess.CalledProcessError) as caught:
        run(selector, "-c", RULES)
    assert caught.value.stdout == "None\n"

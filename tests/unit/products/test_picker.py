# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The install picker: what it answers for every machine, and that it is what the selector resolves."""

import functools
import json
import re
import shutil
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jaxlib_select import cli
from jaxlib_select.facts import known_releases, load_facts
from jaxlib_select.machine.file import from_json
from pjrtwheel.abis import name_python
from pjrtwheel.backend import OWN_ROOT
from pjrtwheel.errors import UsageError
from pjrtwheel.products.index.projects import list_projects
from pjrtwheel.products.index.release_pages import picker
from pjrtwheel.products.index.release_pages.form import Accelerator, join_machines, load_accelerators, read_form
from pjrtwheel.products.index.release_pages.releases import list_releases
from pjrtwheel.products.index.release_pages.stock import Stock, stock_of, stock_pinned
from pjrtwheel.record.proofs import Level, Outcome, ProgramResult, Proof, ProofMachine, PythonProof, ResultKind
from pjrtwheel.release.known import load_release
from release_entries import NO_PROOF, entry_of, proof_of
from release_index import KERNELS, NAME, abacus_release, file_of


def read_table(page: str) -> dict[str, Any]:
    """Return the table in a page, with the row of each key."""
    (text,) = re.findall(r'<script type="application/json">(.*?)</script>', page)
    table: dict[str, Any] = json.loads(text)
    return table | {"rows": {key: table["outcomes"][number] for key, number in table["answers"].items()}}


def read_systems(root: Path) -> list[dict[str, Any]]:
    """Return the systems as the file has them."""
    text = (root / "build/pjrtwheel/products/index/release_pages/picker.toml").read_text("utf-8")
    systems: list[dict[str, Any]] = tomllib.loads(text)["systems"]
    return systems


def read_machines(root: Path) -> dict[tuple[str, str, str], dict[str, Any]]:
    """Return the machine of each system, accelerator and choice; WSL2 has what Windows hands to it."""
    listed = [tomllib.loads(path.read_text("utf-8")) for path in (root / "plugins").glob("*/picker.toml")]
    found = {}
    for system in read_systems(root):
        for entry in (entry for table in listed for entry in table["accelerators"]):
            for choice in entry.get("choices", [{"label": "", "machine": {}}]):
                seen = system["name"] != "wsl" or entry.get("wsl")
                parts = [entry["machine"], choice["machine"]] if seen else []
                machine = join_machines(system["machine"], *parts)
                found[system["name"], entry["name"], choice["label"]] = machine
    return found


def on_page(text: str) -> str:
    """Return what the selector says without its advice for a command line."""
    return picker.sentence(re.sub(r"; (in WSL2 there is one|\S+ would run on the CPU)", "", text))


def list_reasons(machine: Path, capsys: pytest.CaptureFixture[str]) -> set[tuple[str, str]]:
    """Return what each release says of a machine, backend by backend."""
    said = set()
    for jax in known_releases():
        command = ["resolve", f"jax=={jax}", "--machine", str(machine), "--json", "--provider", "ours"]
        assert cli.main(command) == 0
        for each in json.loads(capsys.readouterr().out)["candidates"]:
            said.add((each["backend"], on_page(each["reason"].replace("has no", f"JAX {jax} has no"))))
    return said


@pytest.mark.parametrize("jax", known_releases())
def test_every_answer_is_what_the_selector_resolves(
    jax: str, root: Path, pages: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By its own command line, for everything on offer, of ours and of upstream; those of the newest are in a table."""
    machines, listed = read_machines(root), pages["about.html"].partition('machines">')[2]
    rows = {key: row for key, row in read_table(pages["about.html"])["rows"].items() if key.endswith(f"|{jax}")}
    assert rows.keys() == {"|".join((*named, jax)) for named in machines}
    backends = set()
    for key, row in rows.items():
        system, gpu, choice, _ = key.split("|")
        (tmp_path / "machine.json").write_text(json.dumps(machines[system, gpu, choice]), "utf-8")
        for provider, found in (("ours", row["ours"]), ("upstream", row["upstream"])):
            asked = "jax" if found and provider == "upstream" and jax not in found["title"] else f"jax=={jax}"
            command = ["resolve", asked, "--machine", str(tmp_path / "machine.json"), "--json", "--provider", provider]
            assert cli.main(command) == 0
            decision = json.loads(capsys.readouterr().out)
            chosen = next(entry for entry in decision["candidates"] if entry["chosen"])
            if found:
                reason = chosen["reason"].removeprefix("no accelerator was found; ")
                assert (found["backend"], found["reason"]) == (chosen["backend"], reason)
                assert found["notes"][: len(decision["warnings"])] == [*map(on_page, decision["warnings"])]
                needs = [picker.quote(text) for text in (*decision["requirements"], *decision["constraints"])]
                assert (found["title"], found["requirements"]) == (decision["requirements"][-1], " ".join(needs))
                backends.add(chosen["backend"])
                assert provider == "upstream" or jax != NEWEST or found["title"].partition("==")[0] in listed
            elif (
                not row["ours"]
                and gpu not in {"cpu", "other"}
                and (decision["backend"] != "cpu") < (provider == "ours")
            ):
                said = list_reasons(tmp_path / "machine.json", capsys)
                assert {tuple(problem) for problem in row["problems"] if problem[0] != "system"} <= said, key
    assert {backend.name for backend in load_facts(jax).backends if backend.select and backend.tags} <= backends


PYTHONS = ("cp312", "cp313")

PLATFORMS = ("linux_x86_64", "macos_arm64", "windows_x86_64")


def make_stock(jax: str, *names: str) -> Stock:
    """Return a stock of the bindings for every system, and of some backends."""
    backends = [backend for backend in load_facts(jax).backends if backend.name in names]
    found = [("jaxlib", platform) for platform in PLATFORMS]
    found += [(backend.distribution, platform) for backend in backends for platform in backend.tags]
    return Stock(jax, dict.fromkeys(found, dict.fromkeys(PYTHONS, "")))


def names_of(jax: str) -> set[str]:
    """Return the backends of a release."""
    return {backend.name for backend in load_facts(jax).backends if backend.tags}


NEWEST, OLDEST = known_releases()[-1], known_releases()[0]

STOCKS = {
    "all": [make_stock(jax, *names_of(jax)) for jax in reversed(known_releases())],
    "cpu": [make_stock(NEWEST, "cpu")],
    "cuda12": [make_stock(NEWEST, "cuda12")],
    "cuda13": [make_stock(NEWEST, "cuda13")],
    "none": [Stock(NEWEST, {})],
    "tpu": [make_stock(NEWEST, "cpu"), make_stock(OLDEST, "cpu", "tpu")],
}


@functools.cache
def table_of(index: str) -> tuple[dict[str, Any], dict[tuple[str, ...], Any]]:
    """Return the table of an index, and its rows."""
    table = picker.make_table(read_form(), STOCKS[index])
    return table, {tuple(key.split("|")): table["outcomes"][number] for key, number in table["answers"].items()}


@pytest.mark.parametrize("index", STOCKS)
def test_no_answer_needs_a_wheel_that_the_index_lacks(index: str, root: Path) -> None:
    """An accelerator does not get the CPU, what is offered instead is there, and the first choice is."""
    platforms = {system["name"]: system["platform"] for system in read_systems(root)}
    by_release = {stock.jax: stock.pythons for stock in STOCKS[index]}
    table, rows = table_of(index)
    for (system, gpu, choice, jax), row in rows.items():
        if found := row["ours"]:
            package = "jaxlib" if found["title"] == f"jax=={jax}" else re.split(r"[\[=]", found["title"])[0]
            assert [name_python(python) for python in by_release[jax][package, platforms[system]]] == found["pythons"]
            assert (found["backend"] == "cpu") is (gpu in {"cpu", "other"})
        elif found := row["other"]:
            assert row["problems"]
            assert rows[system, gpu, choice, found["release"]]["ours"] == {k: found[k] for k in found if k != "release"}
        else:
            assert row["problems"]
            state = {"system": system, "gpu": gpu, "driver": choice, "release": jax}
            others = [rows[tuple((state | change).values())] for change in row["instead"]]
            assert all(
                other["ours"] or other["other"] or (other["upstream"] and not row["upstream"]) for other in others
            )
            assert others or row["upstream"]
            assert row["upstream"] is None or (row["upstream"]["backend"] == "cpu") is (gpu in {"cpu", "other"})
    assert bool(rows[table["first"]]["ours"]) is any(row["ours"] for row in rows.values())


def test_what_is_offered_where_the_index_lacks_the_best() -> None:
    """Another wheel that fits, another release, another driver, the other system, JAX's own wheels."""
    assert table_of("cuda12")[1]["linux", "h100", "580 or newer", NEWEST]["ours"]["backend"] == "cuda12"
    old_driver = table_of("cuda13")[1]["linux", "b200", "570 to 579", NEWEST]
    assert (old_driver["ours"], old_driver["instead"]) == (None, [{"driver": "580 or newer"}])
    for index in ("all", "cpu"):  # there from this index, here from JAX itself
        on_windows = table_of(index)[1]["windows", "h100", "580 or newer", NEWEST]
        assert on_windows["instead"] == [{"system": "wsl"}, {"gpu": "cpu", "driver": ""}]
        assert "WSL2" not in str(on_windows["problems"])
    assert table_of("tpu")[1]["linux", "tpu", "", NEWEST]["other"]["release"] == OLDEST
    lacking = table_of("cpu")[1]["linux", "h100", "580 or newer", NEWEST]
    assert (lacking["ours"], lacking["upstream"]["requirements"]) == (None, f'"jax[cuda13]=={NEWEST}"')
    assert table_of("cpu")[0]["first"][:2] == ("linux", "cpu")
    assert table_of("cuda13")[1]["linux", "cpu", "", NEWEST]["ours"]["title"] == f"jax=={NEWEST}"


def test_what_the_machine_lacks_comes_before_what_a_release_lacks() -> None:
    """Of a machine that no release serves, the release that has the wheel says why."""
    row = table_of("all")[1]["linux", "mi300x", "6", NEWEST]
    assert {backend for backend, reason in row["problems"] if "you have ROCm 6" in reason} == {"rocm7", "rocm10"}
    assert row["advice"]
    assert {"driver": "10"} in row["instead"]


def test_wsl_has_what_the_selector_finds_there(root: Path) -> None:
    """Which is NVIDIA's GPUs alone."""
    offered = {entry.name: entry for entry in load_accelerators(root) if entry.machine}
    rows = table_of("all")[1]
    served = {key[1] for key, row in rows.items() if key[0] == "wsl" and (row["ours"] or row["upstream"])}
    served &= offered.keys()
    assert served == {gpu for gpu, entry in offered.items() if entry.machine.keys() == {"nvidia"}}
    others = [row for key, row in rows.items() if key[0] == "windows" and key[1] in offered.keys() - served]
    assert others
    assert [row["instead"] for row in others if {"system": "wsl"} in row["instead"]] == []


def test_jax_own_wheels_are_for_the_pythons_that_have_them(root: Path) -> None:
    """Upstream has no free-threaded wheel for Windows, and no kernels for some accelerators and Pythons."""
    jax = known_releases()[-1]
    table = picker.make_table(read_form(), [stock_pinned(root, jax)], closed=False)
    found = {key: table["outcomes"][number]["upstream"] for key, number in table["answers"].items()}
    pins = load_release(root, jax).pins
    for system in read_systems(root):
        platform = system["platform"]
        wanted = {key.split(".")[1] for key in pins if re.fullmatch(rf"bindings\.\w+\.{platform}", key)}
        assert {*found[f"{system['name']}|cpu||{jax}"]["pythons"]} == {*map(name_python, wanted)}
    assert "3.14t" in found[f"linux|tpu||{jax}"]["pythons"]
    assert "3.14t" not in found[f"linux|max|installed|{jax}"]["pythons"]


def test_a_word_in_an_address_means_one_accelerator() -> None:
    """It is in no label, and no name."""
    offered = load_accelerators(OWN_ROOT)
    words = [word for entry in offered for word in entry.words]
    taken = {word for entry in offered for word in (entry.name, *re.split(r"\W+", entry.label.lower()))}
    assert (len(words), {*words} & taken) == (len({*words}), set())
    assert {word.lower() for word in words} == {*words}


def test_the_stock_is_what_can_be_installed() -> None:
    """Not for a Python without kernels, and no wheel that was withdrawn."""
    bindings = [entry_of(f"jaxlib-1.2.3-{tag}-{tag}-manylinux_2_27_x86_64.whl", lock_id="ff") for tag in PYTHONS]
    needs = ("jaxlib-abacus-kernels==1.2.3+own.1; os_name >= '3'", "not a requirement", "beads")
    wheels = [entry_of(name, lock_id="ff", requires=needs) for name in (NAME, KERNELS)]
    files = [file_of(replace(entry, version="1.2.3+own.1")) for entry in (*bindings, *wheels)]
    (release,) = list_releases(list_projects(files, "the index"))
    platform = "linux_x86_64"
    assert stock_of(release).pythons == {
        ("jaxlib", platform): dict.fromkeys(PYTHONS, "static"),
        ("jaxlib-abacus", platform): {"cp312": "static"},
        ("jaxlib-abacus-kernels", platform): {"cp312": "static"},
    }
    gone = [replace(file, yanked="crashes") if file.filename == KERNELS else file for file in files]
    (release,) = list_releases(list_projects(gone, "the index"))
    assert stock_of(release).pythons["jaxlib-abacus", platform] == {}


def test_jaxlib_alone_serves_the_cpu_where_its_extras_have_no_wheel() -> None:
    """On all four systems; the plugins that its extras name are a choice."""
    extras = ('jaxlib-cpu==1; sys_platform == "linux" and extra == "cpu"', 'jaxlib-cuda-12[with-cuda]; extra == "x"')
    tags = ("manylinux_2_27_x86_64", "manylinux_2_27_aarch64", "macosx_11_0_arm64", "win_amd64")
    names = [f"jaxlib-{NEWEST}+own.1-cp312-cp312-{tag}.whl" for tag in tags]
    names += [f"jaxlib_cpu-{NEWEST}+own.1-cp312-abi3-{tags[0]}.whl"]
    stock = stock_of(abacus_release(*(entry_of(name, lock_id="ff", requires=extras) for name in names)))
    assert all([*stock.pythons["jaxlib", system["platform"]]] == ["cp312"] for system in read_systems(OWN_ROOT))
    table = picker.make_table(read_form(), [stock])
    for system in table["systems"]:
        assert table["outcomes"][table["answers"][f"{system}|cpu||{NEWEST}"]]["ours"]["backend"] == "cpu"
    assert table_of("all")[1]["linux", "cpu", "", NEWEST]["ours"]["notes"]  # that it would do there, too


def test_machines_with_one_answer_are_together() -> None:
    """Each is there once, with its driver; so is what is refused. A warning makes another answer."""
    table = table_of("all")[0]
    groups = picker.group_machines(table, ["linux"], NEWEST)
    machines = sorted(machine for _, group in groups for machine in group)
    assert machines == sorted({*machines})
    assert max(len(group) for _, group in groups) > 2
    commands = [(row["ours"]["requirements"], *row["ours"]["notes"]) for (row,), _ in groups if row["ours"]]
    assert len(commands) == len({*commands})
    ((linux, macos), _), *_ = picker.group_machines(table, ["linux", "macos"], NEWEST)
    assert (bool(linux["ours"]), macos["ours"]) == (True, None)


def test_an_answer_says_what_was_proven() -> None:
    """By the weakest proof of the wheels that the package needs on that system and Python, for these devices."""
    device = replace(proof_of(Level.DEVICE, None), machine=ProofMachine("", "", "NVIDIA H100 80GB HBM3", 1))
    compiled = (ProgramResult("aot t4", Outcome.PASSED, Level.AOT, 1.0, "", ResultKind.TARGET),)
    aot = Proof(Level.AOT, None, (PythonProof("cp312", "3.12.1", compiled),), device.origin)
    tags = {"cp312-manylinux_2_27_x86_64": device, "cp313-manylinux_2_27_x86_64": NO_PROOF, "cp312-win_amd64": NO_PROOF}
    names = {f"jaxlib-{NEWEST}+own.1-{tag[:5]}-{tag}.whl": proof for tag, proof in tags.items()}
    names |= {f"jaxlib_cuda_13-{NEWEST}+own.1-cp312-abi3-manylinux_2_27_x86_64.whl": device}
    other = {"override": {"version": "0.1"}}
    entries = [entry_of(name, lock_id="f", proof=names[name], provenance=other) for name in names]
    stock = stock_of(abacus_release(*(replace(entry, other_proofs=(aot,)) for entry in entries)))
    table, levels = picker.make_table(read_form(), [stock]), {"h100": "device", "t4": "aot", "l4": "load"}
    assert stock.level("jaxlib-cuda-13", "linux_x86_64", "cp312", ()) == "load"
    expected = {f"linux|{gpu}|580 or newer": {"3.12": level, "3.13": "static"} for gpu, level in levels.items()}
    for key, proofs in (expected | {"windows|cpu|": {"3.12": "static"}}).items():
        ours = table["outcomes"][table["answers"][f"{key}|{NEWEST}"]]["ours"]
        assert (ours["proofs"], "XLA is that of 0.1." in ours["notes"]) == (proofs, bool(ours["page"]))


def test_an_answer_names_no_other_machine_than_was_chosen() -> None:
    """What the selector repeats of a machine is what the labels say, and its targets are some that are compiled for."""
    targets = {path.stem for path in (OWN_ROOT / "plugins").glob("*/targets/*.toml")}
    for entry in load_accelerators(OWN_ROOT):
        assert targets.issuperset(entry.targets)
        for choice in entry.choices:
            machine = from_json(join_machines(entry.machine, choice.machine))
            assert {gpu.name for gpu in machine.nvidia.gpus} <= {entry.label}
            assert len(machine.nvidia.cuda or ()) <= 1
            assert all(gpu in entry.label for gpu in machine.amd.gpus)
            assert machine.amd.rocm in {None, choice.label}
    assert "1ae0" not in str(table_of("all")) + str(table_of("tpu"))
    assert "8086:" not in str(table_of("all"))


OWN = '[[accelerators]]\nname = "a5"\nlabel = "Abacus 5"\nmachine = { tpu = { pci = ["1ae0:0063"] } }\n'


def test_each_backend_says_itself_what_the_picker_offers(root: Path, tmp_path: Path) -> None:
    """A new one is a new directory; a shared directory counts once, and a small order comes first."""
    shutil.copytree(root / "plugins", tmp_path / "plugins")
    before = load_accelerators(tmp_path)
    ranges = {choice.label for entry in before for choice in entry.choices}
    said = {*re.findall(r"\d+ to \d+", (root / "INSTALL.md").read_text("utf-8"))}
    assert said & ranges == {"525 to 579", "525 to 580", "570 to 579"}
    shutil.copytree(tmp_path / "plugins/cuda13", tmp_path / "plugins/abacus")
    added = Accelerator("a5", "Abacus 5", {"tpu": {"pci": ["1ae0:0063"]}})
    for order, place in ((50, len(before) - 2), (1, 0)):
        (tmp_path / "plugins/abacus/picker.toml").write_text(f"order = {order}\n{OWN}", "utf-8")
        assert load_accelerators(tmp_path) == (*before[:place], added, *before[place:])


@pytest.mark.parametrize("word", ["a$(id)==1", "`id`", 'a"b', "a\\b", "a\nb", "a&b"])
def test_what_a_shell_reads_more_into_is_in_no_command(word: str) -> None:
    """Also within quotes."""
    with pytest.raises(ValueError, match="no word for a shell"):
        picker.quote(word)


def test_a_malformed_accelerator_is_named(root: Path, tmp_path: Path) -> None:
    """With its file."""
    shutil.copytree(root / "plugins", tmp_path / "plugins")
    for text in ("name = 'x'", "name = 'x'\nlabel = 'X'\nmachine = { nvidia = { cuda = 'newest' } }"):
        (tmp_path / "plugins/cpu/picker.toml").write_text(f"[[accelerators]]\n{text}\n", "utf-8")
        with pytest.raises(UsageError, match=r"cpu/picker\.toml"):
            load_accelerators(tmp_path)

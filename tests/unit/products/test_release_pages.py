# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The release pages as text: what they say, what leads where, and that nothing of a release becomes markup.

`tests/integration/test_release_pages.py` looks at them in a browser.
"""

import functools
import hashlib
import html
import json
import re
import shutil
import tomllib
from base64 import b64encode
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from jaxlib_select import cli
from jaxlib_select.facts import known_releases, load_facts
from jaxlib_select.machine.file import from_json
from pjrtwheel.abis import name_python
from pjrtwheel.backend import OWN_ROOT
from pjrtwheel.dist_folder.printing import print_wheels
from pjrtwheel.errors import UsageError
from pjrtwheel.products.index import installer_pages, write_index
from pjrtwheel.products.index.projects import IndexedFile, Project, WheelContents, list_projects, read_release
from pjrtwheel.products.index.release_pages import picker, render_pages
from pjrtwheel.products.index.release_pages.picker import Accelerator, load_accelerators
from pjrtwheel.products.index.release_pages.releases import ListedRelease, compare_sizes, list_releases, make_maps
from pjrtwheel.record.entries import Entry
from pjrtwheel.record.proofs import (
    Compilation,
    Level,
    Outcome,
    ProgramResult,
    Proof,
    PythonProof,
    ResultKind,
    TargetProof,
)
from pjrtwheel.release.known import load_release
from pjrtwheel.release.model import Release
from pjrtwheel.sets import SELECTOR
from release_entries import NO_PROOF, entry_of, proof_of
from release_index import MACHINE, ORIGIN, make_release_dist
from terminal_output import text_of

HOSTILE = "</script><img src=x onerror=alert(1)>\"'&{{ 71933 * 3 }}"
KERNELS = "jaxlib_abacus_kernels-1.2.3+own.1-cp312-cp312-manylinux_2_27_x86_64.whl"
NAME = "jaxlib_abacus-1.2.3+own.1-cp312-abi3-manylinux_2_27_x86_64.whl"


@pytest.fixture(scope="module")
def index(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return an index with several releases."""
    dist = make_release_dist(tmp_path_factory.mktemp("dist"))
    write_index(dist, dist / "simple")
    return dist / "simple"


@pytest.fixture(scope="module")
def projects(index: Path) -> tuple[Project, ...]:
    """Return its projects."""
    return list_projects(read_release(index.parent), "the index")


@pytest.fixture(scope="module")
def pages(index: Path) -> dict[str, str]:
    """Return its pages for people as text."""
    paths = {path.relative_to(index).as_posix(): path for path in index.rglob("*") if path.is_file()}
    return {name: path.read_text("utf-8") for name, path in paths.items() if name.startswith("about")}


class Reader(HTMLParser):
    """Collects the links, sources, identifiers and elements of a page."""

    def __init__(self) -> None:
        """Start with nothing."""
        super().__init__()
        self.links: list[str] = []
        self.names: list[str] = []
        self.elements: list[str] = []
        self.handlers: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note an element."""
        self.elements.append(tag)
        self.links += [value or "" for name, value in attrs if name in {"href", "src"}]
        self.names += [value or "" for name, value in attrs if name == "id"]
        self.handlers += [name for name, _ in attrs if name.startswith("on") or name == "style"]


def read_page(text: str) -> Reader:
    """Return what is in a page."""
    reader = Reader()
    reader.feed(text)
    return reader


def test_every_link_leads_somewhere(projects: tuple[Project, ...], pages: dict[str, str], index: Path) -> None:
    """To a page, to a place on one, to a wheel or to the index; nothing is asked of another machine."""
    files = {path.relative_to(index).as_posix() for path in index.rglob("*") if path.is_file()}
    assert check_links(pages, files) > 300
    assert len(pages) == 1 + 3 * len(known_releases()) + sum(len(project.files) for project in projects)
    assert {path for path, text in pages.items() if len(text.encode()) > 300_000} == set()  # a phone has to load it
    for project in projects:
        text = (index / project.name / "index.html").read_text("utf-8")
        ((page, place),) = re.findall(r'action="\.\./(.+?)#(.+?)"', text)
        assert place in read_page(pages[page]).names


def test_every_link_of_an_index_without_wheels_leads_somewhere() -> None:
    """The menu lists what there is."""
    pages = {path: data.decode() for path, data in render_pages(()).items()}
    assert sorted(pages) == ["about.html"]
    assert check_links(pages, {*pages, *installer_pages(())}) >= 3


def check_links(pages: dict[str, str], files: set[str]) -> int:
    """Check that each link is to a file, or to the one place of that name on a page, and return how many there are."""
    names = {path: read_page(text).names for path, text in pages.items() if path.endswith(".html")}
    checked = 0
    for path, own in names.items():
        assert len(own) == len(set(own)), path
        for link in read_page(pages[path]).links:
            parts = urlsplit(link)
            if parts.scheme:
                assert link == "data:,"
                continue
            folder = PurePosixPath("/", path).parent
            place = (folder / unquote(parts.path)).as_posix() if parts.path else f"/{path}"
            target = Path(place).resolve().relative_to("/").as_posix()
            assert target in files, (path, link)
            assert not parts.fragment or parts.fragment in names[target], (path, link)
            checked += 1
    return checked


def test_a_page_admits_its_own_style_and_script_alone(pages: dict[str, str]) -> None:
    """By their hashes; a browser runs no handler and reads no style of an element, and there is none."""
    for path, text in pages.items():
        (policy,) = re.findall(r'<meta http-equiv="Content-Security-Policy" content="(.+?)">', text)
        assert text.index("<meta http-equiv") < text.index("<style>")
        stated = dict(part.split(" ", 1) for part in html.unescape(policy).split("; "))
        hashes = {}
        for name in ("style", "script"):
            (part,) = re.findall(rf"<{name}>(.*?)</{name}>", text, re.DOTALL)
            hashes[f"{name}-src"] = f"'sha256-{b64encode(hashlib.sha256(part.encode()).digest()).decode()}'"
        others = {"default-src": "'none'", "img-src": "data:", "base-uri": "'none'", "form-action": "'none'"}
        assert (stated, read_page(text).handlers) == ({**hashes, **others}, []), path
        assert re.findall(r"<script (?!type=.application/json)|<link rel=.stylesheet", text) == []


def hostile_entry(proof: Proof) -> Entry:
    """Return an entry in which every text that can be anything is an attack."""
    origin = {"project": HOSTILE, "filename": HOSTILE, "sha256": HOSTILE, "member": HOSTILE, "xla_commit": HOSTILE}
    return entry_of(
        NAME,
        lock_id=HOSTILE,
        gpu_code=(HOSTILE,),
        requires=(HOSTILE, f'a>=1; extra == "{HOSTILE.replace(chr(34), "")}"'),
        provider=HOSTILE,
        provenance={**origin, "override": {"version": HOSTILE, "reason": HOSTILE}},
        changes={HOSTILE: (HOSTILE,)},
        built=replace(ORIGIN, commit=HOSTILE, date=HOSTILE),
        proof=proof,
    )


def hostile_proof(level: Level) -> Proof:
    """Return a proof of the same kind."""
    run = Compilation(HOSTILE, HOSTILE, 1, 0.1, (HOSTILE,), outcome=Outcome.PASSED, detail=HOSTILE)
    target = TargetProof(HOSTILE, HOSTILE, (HOSTILE,), 1.0, (run,))
    python = PythonProof("cp312", HOSTILE, (), HOSTILE, (HOSTILE,))
    machine = replace(MACHINE, processor=HOSTILE, chip=HOSTILE, driver=HOSTILE)
    origin = replace(ORIGIN, commit=HOSTILE, date=HOSTILE, signed_off_by=HOSTILE)
    return Proof(level, HOSTILE, (python,), origin, (target,), HOSTILE, machine=machine)


@pytest.mark.parametrize("level", [Level.AOT, Level.DEVICE])
def test_nothing_of_a_release_becomes_markup(level: Level) -> None:
    """Neither an element, nor a handler, nor the end of a script, nor a template."""
    entry = hostile_entry(hostile_proof(level))
    attacked = file_of(entry, yanked=HOSTILE, contents=WheelContents(1, HOSTILE, (HOSTILE,)))
    project, plain = (Project("jaxlib-abacus", (file,)) for file in (attacked, file_of(entry_of(NAME), yanked="")))
    written, usual = (render_pages([each]) for each in (project, plain))
    assert written.keys() == usual.keys()
    seen = 0
    for path, data in written.items():
        if path.endswith(".html"):
            page = read_page(data.decode())
            assert page.handlers == []
            assert "img" not in page.elements
            assert page.elements.count("script") == read_page(usual[path].decode()).elements.count("script")
            assert "215799" not in data.decode()
            seen += data.decode().count("&lt;/script&gt;")
    assert seen > 20


def test_a_release_that_the_selector_does_not_know_is_installed_by_name() -> None:
    """Its page has the command for each plugin, and no picker."""
    project = Project("jaxlib-abacus", (file_of(entry_of(NAME, lock_id="ff")),))
    text = render_pages([project])["about.html"].decode()
    assert "pip install --index-url INDEX jax jaxlib-abacus==1.2.3+own.1" in text
    assert "<form" not in text


def test_releases_are_in_order_of_their_versions(projects: tuple[Project, ...]) -> None:
    """The newest has the plain names; wheels without a lock go with all."""
    tool = f"{SELECTOR.replace('-', '_')}-9.9-py3-none-any.whl"
    loose = Project(SELECTOR, (file_of(entry_of(tool), requires_python=">=3.11"),))
    releases = list_releases([*projects, loose])
    assert [release.jax for release in releases] == list(reversed(known_releases()))
    assert [release.suffix for release in releases] == ["", *(f"-{release.version}" for release in releases[1:])]
    assert all(release.wheels[-1].entry.filename == tool for release in releases)
    assert releases[0].wheels[-1].pythons(releases[0]) == ">=3.11"  # not any, though its tag is py3
    assert releases[0].wheels[0].project == "jaxlib"
    assert releases[0].pythons == ("cp312", "cp313")
    assert render_pages(projects) == render_pages(tuple(reversed(projects)))


def file_of(entry: Entry, **more: Any) -> IndexedFile:
    """Return what an index says of a wheel."""
    return IndexedFile(entry.filename, entry.sha256, entry.size, entry=entry, **more)


def abacus_release(*entries: Entry) -> ListedRelease:
    """Return a release of such wheels."""
    return list_releases(list_projects(map(file_of, entries), "the index"))[0]


def test_the_map_has_chips_by_wheels() -> None:
    """One for each project; a cell says how many programs were compiled, or that none can be."""
    passed = Compilation("matmul", "single", 1, 0.5, ("bead_5",), outcome=Outcome.PASSED)
    failed = Compilation("pallas", "single", 1, 0.1, outcome=Outcome.EXPECTED, detail="no table")
    new = TargetProof("new", "Abacus 5", ("bead_5",), 1.0, (passed, failed))
    old = TargetProof("old", "Abacus 4", (), 1.0, (failed,))
    python = PythonProof("cp312", "3.12.1", (), "no interpreter")
    proof = Proof(Level.AOT, "0.1", (python,), ORIGIN, (new, old), "abacus", machine=MACHINE)
    nothing = Proof(Level.STATIC, None, (python,), ORIGIN)
    release = abacus_release(
        entry_of("jaxlib_abacus-1.2.3-cp312-abi3-manylinux_2_27_x86_64.whl", proof=proof),
        entry_of("jaxlib_abacus-1.2.3-cp312-abi3-manylinux_2_27_aarch64.whl", proof=nothing),
        entry_of("jaxlib_abacus-1.2.3-cp312-abi3-win_amd64.whl", proof=nothing, gpu_code=("bead_4",)),
        entry_of("jaxlib_rule-1.2.3-cp312-abi3-manylinux_2_27_x86_64.whl", proof=nothing),
    )
    first, second = make_maps(release)
    assert (first.project, [wheel.system for wheel in first.wheels]) == (
        "jaxlib-abacus",
        ["Linux x86_64", "Linux aarch64", "Windows x86_64"],
    )
    cells = {(row.label, row.detail): [(cell.level, cell.text) for cell in row.cells] for row in first.rows}
    assert cells == {
        ("Abacus 4", ""): [("expected", "as expected"), ("expected", "as on Linux x86_64"), ("static", "")],
        ("Abacus 5", "bead_5"): [("aot", "1 of 2 programs"), ("static", ""), ("static", "")],
    }
    assert [(row.label, [cell.level for cell in row.cells]) for row in second.rows] == [("any device", ["static"])]


@pytest.mark.parametrize(("chip", "label"), [("Abacus 5 Pro", "Abacus 5 Pro"), ("abacus", MACHINE.processor)])
def test_a_device_is_a_row_of_its_own(chip: str, label: str) -> None:
    """By what the chip calls itself, and for the host by its processor."""
    results = (PythonProof("cp312", "3.12.1", (ProgramResult("jit", Outcome.PASSED, Level.DEVICE, 1.0, ""),)),)
    proof = Proof(Level.DEVICE, "0.1", results, ORIGIN, backend="abacus", machine=replace(MACHINE, chip=chip))
    (found,) = make_maps(abacus_release(entry_of(NAME, proof=proof)))
    (row,) = found.rows
    assert (row.label, [(cell.level, cell.text) for cell in row.cells]) == (label, [("device", "1 passed")])


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
                machine = picker.join_machines(system["machine"], *parts)
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
        said |= {
            (each["backend"], on_page(each["reason"])) for each in json.loads(capsys.readouterr().out)["candidates"]
        }
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


def make_stock(jax: str, *names: str) -> picker.Stock:
    """Return a stock of the bindings for every system, and of some backends."""
    backends = [backend for backend in load_facts(jax).backends if backend.name in names]
    found = [("jaxlib", platform) for platform in PLATFORMS]
    found += [(backend.distribution, platform) for backend in backends for platform in backend.tags]
    return picker.Stock(jax, dict.fromkeys(found, dict.fromkeys(PYTHONS, "")))


def names_of(jax: str) -> set[str]:
    """Return the backends of a release."""
    return {backend.name for backend in load_facts(jax).backends if backend.tags}


NEWEST, OLDEST = known_releases()[-1], known_releases()[0]
STOCKS = {
    "all": [make_stock(jax, *names_of(jax)) for jax in reversed(known_releases())],
    "cpu": [make_stock(NEWEST, "cpu")],
    "cuda12": [make_stock(NEWEST, "cuda12")],
    "cuda13": [make_stock(NEWEST, "cuda13")],
    "none": [picker.Stock(NEWEST, {})],
    "tpu": [make_stock(NEWEST, "cpu"), make_stock(OLDEST, "cpu", "tpu")],
}


@functools.cache
def table_of(index: str) -> tuple[dict[str, Any], dict[tuple[str, ...], Any]]:
    """Return the table of an index, and its rows."""
    table = picker.make_table(picker.read_offer(), STOCKS[index])
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
        else:
            assert row["problems"]
            state = {"system": system, "gpu": gpu, "driver": choice, "release": jax}
            others = [rows[tuple((state | change).values())] for change in row["instead"]]
            assert all(other["ours"] or (other["upstream"] and not row["upstream"]) for other in others)
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
    assert table_of("tpu")[1]["linux", "tpu", "", NEWEST]["instead"] == [{"release": OLDEST}]
    lacking = table_of("cpu")[1]["linux", "h100", "580 or newer", NEWEST]
    assert (lacking["ours"], lacking["upstream"]["requirements"]) == (None, f'"jax[cuda13]=={NEWEST}"')
    assert table_of("cpu")[0]["first"][:2] == ("linux", "cpu")


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
    table = picker.make_table(picker.read_offer(), [picker.stock_pinned(root, jax)], closed=False)
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
    assert picker.stock_of(release).pythons == {
        ("jaxlib", platform): dict.fromkeys(PYTHONS, "static"),
        ("jaxlib-abacus", platform): {"cp312": "static"},
        ("jaxlib-abacus-kernels", platform): {"cp312": "static"},
    }
    gone = [replace(file, yanked="crashes") if file.filename == KERNELS else file for file in files]
    (release,) = list_releases(list_projects(gone, "the index"))
    assert picker.stock_of(release).pythons["jaxlib-abacus", platform] == {}


def test_jaxlib_alone_serves_the_cpu_where_its_extras_have_no_wheel() -> None:
    """On all four systems; the plugins that its extras name are a choice."""
    extras = ('jaxlib-cpu==1; sys_platform == "linux" and extra == "cpu"', 'jaxlib-cuda-12[with-cuda]; extra == "x"')
    tags = ("manylinux_2_27_x86_64", "manylinux_2_27_aarch64", "macosx_11_0_arm64", "win_amd64")
    names = [f"jaxlib-{NEWEST}+own.1-cp312-cp312-{tag}.whl" for tag in tags]
    names += [f"jaxlib_cpu-{NEWEST}+own.1-cp312-abi3-{tags[0]}.whl"]
    stock = picker.stock_of(abacus_release(*(entry_of(name, lock_id="ff", requires=extras) for name in names)))
    assert all([*stock.pythons["jaxlib", system["platform"]]] == ["cp312"] for system in read_systems(OWN_ROOT))
    table = picker.make_table(picker.read_offer(), [stock])
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
    """By the weakest proof of the wheels that the package needs on that system and Python."""
    aot, device = (proof_of(level, None) for level in (Level.AOT, Level.DEVICE))
    tags = {"cp312-manylinux_2_27_x86_64": device, "cp313-manylinux_2_27_x86_64": NO_PROOF, "cp312-win_amd64": NO_PROOF}
    names = {f"jaxlib-{NEWEST}+own.1-{tag[:5]}-{tag}.whl": proof for tag, proof in tags.items()}
    names |= {f"jaxlib_cuda_13-{NEWEST}+own.1-cp312-abi3-manylinux_2_27_x86_64.whl": aot}
    stock = picker.stock_of(abacus_release(*(entry_of(name, lock_id="f", proof=names[name]) for name in names)))
    table = picker.make_table(picker.read_offer(), [stock])
    expected = {"linux|h100|580 or newer": {"3.12": "aot", "3.13": "static"}, "windows|cpu|": {"3.12": "static"}}
    for key, levels in expected.items():
        assert table["outcomes"][table["answers"][f"{key}|{NEWEST}"]]["ours"]["proofs"] == levels


def test_an_answer_names_no_other_machine_than_was_chosen() -> None:
    """What the selector repeats of a machine is what the labels say."""
    for entry in load_accelerators(OWN_ROOT):
        for choice in entry.choices:
            machine = from_json(picker.join_machines(entry.machine, choice.machine))
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
    said = {*re.findall(r"\d+ to \d+", (root / "README.md").read_text("utf-8"))}
    assert said & ranges == {"525 to 579", "525 to 580", "570 to 579"}
    shutil.copytree(tmp_path / "plugins/cuda13", tmp_path / "plugins/abacus")
    added = Accelerator("a5", "Abacus 5", {"tpu": {"pci": ["1ae0:0063"]}})
    for order, place in ((50, len(before) - 2), (1, 0)):
        (tmp_path / "plugins/abacus/picker.toml").write_text(f"order = {order}\n{OWN}", "utf-8")
        assert load_accelerators(tmp_path) == (*before[:place], added, *before[place:])


@pytest.mark.parametrize("word", ["a$(id)==1", "`id`", 'a"b', "a\\b", "a\nb", HOSTILE])
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


def test_an_installation_is_compared_with_jax_own(release: Release) -> None:
    """With all that a plugin needs, the vendor's library too; upstream's `jaxlib` has the CPU in it."""
    bindings, cpu, tpu = (release.pins[f"{key}.linux_x86_64"] for key in ("bindings.cp312", "plugin.cpu", "plugin.tpu"))
    version = release.set_version
    needs = (f"jaxlib=={version}", f"libtpu=={tpu.version}")
    made_of = {"jaxlib": (bindings, ()), "jaxlib_cpu": (cpu, needs[:1]), "jaxlib_tpu": (tpu, needs)}
    listed = abacus_release(
        *(
            entry_of(
                f"{name}-{version}-cp312-{'cp312' if name == 'jaxlib' else 'abi3'}-manylinux_2_27_x86_64.whl",
                requires=requires,
                provenance={"sha256": pin.sha256},
                provider="prebuilt",
            )
            for name, (pin, requires) in made_of.items()
        ),
        entry_of(f"jaxlib_abacus-{version}-cp312-abi3-manylinux_2_27_x86_64.whl", provider="prebuilt"),
    )
    vendor = {"libtpu": tpu.size}
    found = {wheel.project: (ours, theirs) for wheel, ours, theirs in compare_sizes(OWN_ROOT, listed)}
    assert found == {
        "jaxlib": ({"jaxlib": 1}, {"jaxlib": bindings.size}),
        "jaxlib-abacus": ({"jaxlib-abacus": 1}, {}),  # nobody knows what it is made of
        "jaxlib-cpu": ({"jaxlib-cpu": 1, "jaxlib": 1}, {"jaxlib": bindings.size}),
        "jaxlib-tpu": ({"jaxlib-tpu": 1, "jaxlib": 1} | vendor, {"jaxlib": bindings.size} | vendor),
    }


def test_map_page_and_terminal_count_alike() -> None:
    """Each program and check once, however many Pythons ran it; one that did not run is not among those that ran."""
    results = [ProgramResult(name, Outcome.PASSED, Level.DEVICE, 1.0, "") for name in ("jit", "linalg")]
    results += [ProgramResult("probe", Outcome.PASSED, Level.LOAD, 1.0, "", ResultKind.CHECK)]
    results += [ProgramResult("torch", Outcome.NOT_RUN, Level.DEVICE, 0.0, "no torch")]
    pythons = tuple(PythonProof(tag, "3", tuple(results)) for tag in PYTHONS)
    proof = Proof(Level.DEVICE, "0.1", pythons, ORIGIN, backend="abacus", machine=MACHINE)
    entry = entry_of(NAME, proof=proof)
    pages = render_pages([Project("jaxlib-abacus", (file_of(entry),))])
    proofs, page = (pages[f"about_files/{name}.html"].decode() for name in ("proofs", NAME.removesuffix(".whl")))
    assert "<small>3 passed</small>" in proofs
    assert ", 3 passed, 1 not run," in page
    assert "3/1/0" in text_of(lambda console: print_wheels([entry], Path("dist"), console=console), 80)
    (ran,) = re.findall(r"Programs that ran</caption>(.*?)</table>", proofs, re.DOTALL)
    assert (ran.count("jit"), ran.count("torch")) == (2, 0)


def test_a_wheel_says_what_it_is_and_how_to_install_it() -> None:
    """With the extra that brings its libraries; a wheel that was withdrawn is not installed."""
    entry = entry_of(NAME, lock_id="ff")
    contents = WheelContents(1, "", (), "XLA for an abacus", ("with-beads",))
    pages = [
        render_pages([Project("jaxlib-abacus", (file_of(entry, contents=contents, yanked=yanked),))])
        for yanked in (None, "")
    ]
    page, withdrawn = (html.unescape(each[f"about_files/{NAME.removesuffix('.whl')}.html"].decode()) for each in pages)
    assert "XLA for an abacus." in page
    wanted = f'jax==1.2.3 "jaxlib-abacus[with-beads]=={entry.version}"'
    commands = [f"uv pip install --default-index INDEX {wanted}", f"pip install --index-url INDEX {wanted}"]
    assert re.findall(r"<code>((?:uv )?pip install .*)</code>", page) == commands
    assert "pip install" not in withdrawn


def test_a_wheel_names_the_machines_that_the_picker_gives_it_to(pages: dict[str, str]) -> None:
    """With what their drivers must be, for its own system."""
    found = {
        path: re.findall(r"<li>(.+?)</li>", text.partition('id="machines"')[2].partition("</section>")[0])
        for path, text in pages.items()
        if NEWEST in path
    }
    named = {path.split("/")[1].split("-")[0]: machines for path, machines in found.items() if machines}
    assert "NVIDIA T4, RTX 20 or GTX 16 series: NVIDIA driver 580 or newer" in named["jaxlib_cuda_13"]
    assert named["jaxlib_tpu"] == ["Google Cloud TPU"]
    assert "jaxlib" not in named


def test_wheels_of_a_project_have_different_labels() -> None:
    """By system, Python and variant; the variant without properties is for what no other one fits."""
    names = ("cp312-cp312-win_amd64", "py3-none-any", "py3-none-any-null", "py3-none-manylinux_2_31_x86_64-tpu")
    release = abacus_release(*(entry_of(f"jaxlib_auto-1.2.3-{name}.whl") for name in names))
    labels = {"Windows x86_64, Python 3.12", "any system", "any other machine", "Linux x86_64, tpu"}
    assert {wheel.label for wheel in release.wheels} == labels


def test_why_nothing_ran_is_not_what_ran() -> None:
    """The reason has its own column."""
    proof = Proof(Level.STATIC, None, (PythonProof("cp312", "", (), "switched off"),), ORIGIN, backend="abacus")
    entry = entry_of(NAME, proof=proof)
    page = render_pages([Project("jaxlib-abacus", (file_of(entry),))])[f"about_files/{NAME.removesuffix('.whl')}.html"]
    cells = dict(re.findall(r'<td data-label="(.+?)">(.*?)</td>', page.decode()))
    assert cells == {"What ran": "no program", "What prevented more": "switched off"}

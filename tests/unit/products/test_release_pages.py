# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The release pages as text: what they say, what leads where, and that nothing of a release becomes markup.

`tests/integration/test_release_pages.py` looks at them in a browser.
"""

from __future__ import annotations

import html
import json
import re
import shutil
import tomllib
from dataclasses import replace
from html.parser import HTMLParser
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote, urlsplit

import pytest

from jaxlib_select import cli
from jaxlib_select.choose.decision import Decision
from jaxlib_select.facts import known_releases, load_facts
from pjrtwheel.backend import load_backends
from pjrtwheel.docs.measures import Measure
from pjrtwheel.errors import UsageError
from pjrtwheel.products.index import installer_pages, write_index
from pjrtwheel.products.index.projects import IndexedFile, Project, WheelSummary
from pjrtwheel.products.index.release_pages import is_release_page, picker, proof_map, render_pages, sizes
from pjrtwheel.products.index.release_pages.accelerators import Accelerator, load_accelerators
from pjrtwheel.products.index.release_pages.releases import ListedRelease, list_releases
from pjrtwheel.record.entries import Entry
from pjrtwheel.record.proofs import Compilation, Level, Outcome, ProgramResult, Proof, PythonProof, TargetProof
from pjrtwheel.sets.projects import SELECTOR
from pjrtwheel.wheel.names import parse_name
from release_entries import entry_of
from release_index import MACHINE, ORIGIN, make_release_dist

HOSTILE = "</script><img src=x onerror=alert(1)>\"'&{{ 71933 * 3 }}"
STATIC = [f"about_files/{name}" for name in ("about.css", "about.js")]
MB = 1_000_000
NAME = "jaxlib_abacus-1.2.3+own.1-cp312-abi3-manylinux_2_27_x86_64.whl"


@pytest.fixture(scope="module")
def projects(tmp_path_factory: pytest.TempPathFactory) -> tuple[Project, ...]:
    """Return the projects of an index with several releases."""
    dist = make_release_dist(tmp_path_factory.mktemp("dist"))
    return write_index(dist, dist / "simple")


@pytest.fixture(scope="module")
def pages(projects: tuple[Project, ...]) -> dict[str, str]:
    """Return their pages as text."""
    return {path: data.decode() for path, data in render_pages(projects).items()}


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
        self.handlers += [name for name, _ in attrs if name.startswith("on")]


def read_page(text: str) -> Reader:
    """Return what is in a page."""
    reader = Reader()
    reader.feed(text)
    return reader


def test_every_link_leads_somewhere(projects: tuple[Project, ...], pages: dict[str, str], tmp_path: Path) -> None:
    """To a page, to a place on one, to a wheel or to the index; nothing is asked of another machine."""
    dist = make_release_dist(tmp_path / "dist")
    write_index(dist, dist / "simple")
    files = {path.relative_to(dist / "simple").as_posix() for path in (dist / "simple").rglob("*") if path.is_file()}
    assert pages.keys() == {path for path in files if is_release_page(path)}
    checked = check_links(pages, files)
    assert checked > 300
    written = [path for path in pages if path.endswith(".html")]
    assert len(written) == 4 * len(known_releases()) + sum(len(project.entries) for project in projects)


def test_every_link_of_an_index_without_wheels_leads_somewhere() -> None:
    """The menu lists what there is."""
    pages = {path: data.decode() for path, data in render_pages(()).items()}
    assert sorted(pages) == ["about.html", *STATIC]
    assert check_links(pages, {*pages, *installer_pages(())}) >= 4


def check_links(pages: dict[str, str], files: set[str]) -> int:
    """Check that each link of the pages is to a file, or to a place on one of them, and return how many there are."""
    names = {path: read_page(text).names for path, text in pages.items() if path.endswith(".html")}
    checked = 0
    for path in names:
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


def test_the_pages_are_small(pages: dict[str, str]) -> None:
    """One style sheet, few scripts, and no page that takes a phone long to load."""
    sizes = {path: len(text.encode()) for path, text in pages.items()}
    assert sorted(path for path in pages if not path.endswith(".html")) == STATIC
    assert {path: size for path, size in sizes.items() if size > 250_000} == {}


def test_identifiers_are_unique(pages: dict[str, str]) -> None:
    """So that an address means one place."""
    for path, text in pages.items():
        names = read_page(text).names if path.endswith(".html") else []
        assert len(names) == len(set(names)), path


def test_the_scripts_know_no_backend(pages: dict[str, str], root: Path) -> None:
    """What it knows of accelerators is data."""
    backends = load_backends(root)
    words = {*backends, *(b.distribution for b in backends.values()), *(b.package for b in backends.values())}
    words |= {"cuda", "rocm", "oneapi", "nvidia", "intel"}
    scripts = "".join(pages[path] for path in STATIC if path.endswith(".js")).lower()
    assert [word for word in words if re.search(rf"\b{re.escape(word)}", scripts)] == []


def hostile_entry(proof: Proof, **changes: Any) -> Entry:
    """Return an entry in which every text that can be anything is an attack."""
    entry = entry_of(
        NAME,
        lock_id=HOSTILE,
        gpu_code=(HOSTILE,),
        requires=(HOSTILE, f'a>=1; extra == "{HOSTILE.replace(chr(34), "")}"'),
        provider=HOSTILE,
        provenance={
            "project": HOSTILE,
            "filename": HOSTILE,
            "sha256": HOSTILE,
            "member": HOSTILE,
            "xla_commit": HOSTILE,
            "kernels": [{"filename": HOSTILE, "python": HOSTILE, "sha256": HOSTILE}],
            "override": {"version": HOSTILE, "reason": HOSTILE},
        },
        changes={HOSTILE: (HOSTILE,)},
        built=replace(ORIGIN, commit=HOSTILE, date=HOSTILE),
        proof=proof,
    )
    return replace(entry, **changes)


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
    summary = WheelSummary(1, HOSTILE, (HOSTILE,), (HOSTILE,))
    file = IndexedFile(NAME, "00", 1, yanked=HOSTILE, summary=summary)
    proof = hostile_proof(level)
    project = Project("jaxlib-abacus", ("1.2.3+own.1",), (file,), (hostile_entry(proof),))
    plain = Project("jaxlib-abacus", ("1.2.3+own.1",), (replace(file, yanked="", summary=None),), (entry_of(NAME),))
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
    project = Project("jaxlib-abacus", ("1.2.3+own.1",), (IndexedFile(NAME, "00", 1),), (entry_of(NAME, lock_id="ff"),))
    text = render_pages([project])["about.html"].decode()
    assert "pip install --extra-index-url INDEX jax jaxlib-abacus==1.2.3+own.1" in text
    assert "data-picker" not in text


def test_pages_repeat_to_the_byte(projects: tuple[Project, ...]) -> None:
    """Whatever the order in which the projects come."""
    assert render_pages(projects) == render_pages(tuple(reversed(projects)))


def test_releases_are_in_order_of_their_versions(projects: tuple[Project, ...]) -> None:
    """The newest has the plain names; wheels without a lock go with all."""
    tool = f"{SELECTOR.replace('-', '_')}-9.9-py3-none-any.whl"
    loose = Project(SELECTOR, ("9.9",), (IndexedFile(tool, "00", 1),), (entry_of(tool),))
    releases = list_releases([*projects, loose])
    assert [release.jax for release in releases] == list(reversed(known_releases()))
    assert [release.suffix for release in releases] == ["", *(f"-{release.version}" for release in releases[1:])]
    assert all(release.wheels[-1].entry.filename == tool for release in releases)
    assert releases[0].wheels[0].project == "jaxlib"
    assert releases[0].pythons == ("cp312", "cp313")


def abacus_release(*entries: Entry) -> ListedRelease:
    """Return a release of such wheels."""
    files = tuple(IndexedFile(entry.filename, entry.sha256, entry.size) for entry in entries)
    names = dict.fromkeys(entry.distribution for entry in entries)
    projects = [Project(name, ("1.2.3",), files, tuple(e for e in entries if e.distribution == name)) for name in names]
    return list_releases(projects)[0]


def test_the_map_has_chips_by_wheels() -> None:
    """Wheels that share a chip are one map; a cell says how many programs were compiled, or that none can be."""
    passed = Compilation("matmul", "single", 1, 0.5, ("bead_5",), outcome=Outcome.PASSED)
    failed = Compilation("pallas", "single", 1, 0.1, outcome=Outcome.EXPECTED, detail="no table")
    new = TargetProof("new", "Abacus 5", ("bead_5",), 1.0, (passed, failed))
    old = TargetProof("old", "Abacus 4", (), 1.0, (failed,))
    python = PythonProof("cp312", "3.12.1", (), "no interpreter")
    proof = Proof(Level.AOT, "0.1", (python,), ORIGIN, (new, old), "abacus", machine=MACHINE)
    nothing = Proof(Level.STATIC, None, (python,), ORIGIN)
    other = TargetProof("new", "Abacus 5", ("bead_5",), 1.0, (passed,))
    release = abacus_release(
        entry_of("jaxlib_abacus_1-1.2.3-cp312-abi3-manylinux_2_27_x86_64.whl", proof=proof),
        entry_of("jaxlib_abacus_1-1.2.3-cp312-abi3-manylinux_2_27_aarch64.whl", proof=nothing),
        entry_of("jaxlib_abacus_2-1.2.3-cp312-abi3-manylinux_2_27_x86_64.whl", proof=replace(proof, targets=(other,))),
        entry_of("jaxlib_rule-1.2.3-cp312-abi3-manylinux_2_27_x86_64.whl", proof=nothing),
    )
    first, second = proof_map.plugin_maps(release)
    assert list(first.columns) == [
        ("jaxlib-abacus-1", "Linux x86_64"),
        ("jaxlib-abacus-1", "Linux aarch64"),
        ("jaxlib-abacus-2", "Linux x86_64"),
    ]
    cells = {(row.label, row.detail): [(cell.level, cell.text) for cell in row.cells] for row in first.rows}
    assert cells == {
        ("Abacus 4", ""): [("expected", "as expected"), ("static", ""), ("load", "")],
        ("Abacus 5", "bead_5"): [("aot", "1 of 2 programs"), ("static", ""), ("aot", "1 of 1 programs")],
    }
    assert [(row.label, [cell.level for cell in row.cells]) for row in second.rows] == [("any device", ["static"])]


def test_a_place_on_the_map_has_a_name_of_its_own() -> None:
    """Also with two wheels of one plugin and system that show the same."""
    passed = Compilation("matmul", "single", 1, 0.5, ("bead_5",), outcome=Outcome.PASSED)
    targets = tuple(TargetProof(name, name, ("bead_5",), 1.0, (passed,)) for name in ("a", "b", "c"))
    python = PythonProof("cp312", "3.12.1", (), "no interpreter")
    proof = Proof(Level.AOT, "0.1", (python,), ORIGIN, targets, "abacus", machine=MACHINE)
    ran = replace(proof, level=Level.DEVICE, targets=(), machine=replace(MACHINE, chip="Bead 5%"))
    tags = ("cp312-abi3-manylinux_2_27_x86_64", "cp312-abi3-manylinux_2_34_x86_64")
    entries = [entry_of(f"jaxlib_abacus-1.2.3-{tag}.whl", proof=proof, other_proofs=(ran,)) for tag in tags]
    release = abacus_release(*entries)
    assert len({entry.platform for entry in entries}) == 1
    projects = [Project("jaxlib-abacus", ("1.2.3",), tuple(w.file for w in release.wheels), tuple(entries))]
    page = read_page(render_pages(projects)["about_files/proofs.html"].decode())
    anchors = [link[1:] for link in page.links if link.startswith("#proof")]
    assert len(anchors) == len(set(anchors)) == 8
    assert [page.names.count(anchor) for anchor in anchors] == [1] * 8


def test_a_device_is_a_row_of_its_own() -> None:
    """By what the chip calls itself, and for the host by its processor."""
    results = (PythonProof("cp312", "3.12.1", (ProgramResult("jit", Outcome.PASSED, Level.DEVICE, 1.0, ""),)),)
    chip = replace(MACHINE, chip="Abacus 5 Pro", chips=2, driver="driver 7")
    own = Proof(Level.DEVICE, "0.1", results, ORIGIN, backend="abacus", machine=chip)
    host = Proof(Level.DEVICE, "0.1", results, ORIGIN, backend="cpu", machine=replace(MACHINE, chip="cpu"))
    for proof, expected in ((own, ("Abacus 5 Pro", "driver 7")), (host, (MACHINE.processor, ""))):
        (found,) = proof_map.plugin_maps(abacus_release(entry_of(NAME, proof=proof)))
        (row,) = found.rows
        assert (row.label, row.detail) == expected
        assert [(cell.level, cell.text) for cell in row.cells] == [("device", "1 program")]


@pytest.mark.parametrize(
    ("environment", "version", "expected"),
    [
        ("new", "1.2.3+own.1", ["py {python}", "env get INDEX jax==1.2.3 jaxlib-a==1.2.3+own.1", "SHOW=1"]),
        ("existing", "1.2.3+own.1", ["drop up-a", "add INDEX jax==1.2.3 jaxlib-a==1.2.3+own.1", "SHOW=1"]),
        ("existing", "1.2.3", ["drop up-a", "add INDEX jax==1.2.3 jaxlib-a==1.2.3", "force jaxlib==1.2.3", "SHOW=1"]),
    ],
)
def test_commands_are_filled_in(environment: str, version: str, expected: list[str]) -> None:
    """A set without a label needs its jaxlib installed again, which has the version of upstream's."""
    commands = picker.Commands(
        ("{launcher}", "{interpreter} get {index} {requirements}"),
        ("drop {rivals}", "add {index} {requirements}"),
        ("force {bindings}",),
    )
    shell = picker.Shell("py {python}", "env", "{name}={value}")
    decision = Decision("jaxlib-a", "a", ("jax==1.2.3", f"jaxlib-a=={version}"), (), environment={"SHOW": "1"})
    found = [picker.fill_commands(commands, environment, shell, decision, rivals) for rivals in (["up-a"], [])]
    without = [line for line in expected if not line.startswith("drop")]
    assert [text.split("\n") for text in found] == [expected, without]


PICKER_DATA = re.compile(r'<script type="application/json" id="picker-data">(.*?)</script>')


def read_table(page: str) -> list[dict[str, Any]]:
    """Return the systems of the table in a page."""
    (text,) = PICKER_DATA.findall(page)
    systems: list[dict[str, Any]] = json.loads(text)["systems"]
    return systems


def read_offered(root: Path) -> tuple[list[dict[str, Any]], dict[tuple[str, str], list[dict[str, Any]]]]:
    """Return the systems, and for each accelerator and choice the parts of its machine, as the files have them."""
    systems = tomllib.loads((root / "build/pjrtwheel/products/index/release_pages/picker.toml").read_text("utf-8"))
    listed = [tomllib.loads(path.read_text("utf-8")) for path in (root / "plugins").glob("*/picker.toml")]
    return systems["systems"], {
        (entry["label"], choice["label"]): [entry["machine"], choice["machine"]]
        for table in listed
        for entry in table["accelerators"]
        for choice in entry.get("choices", [{"label": "", "machine": {}}])
    }


@pytest.mark.parametrize("jax", known_releases())
def test_every_row_is_what_the_selector_resolves(
    jax: str, root: Path, pages: dict[str, str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By its own command line, and with all that is on offer; a package by its name where the system has it."""
    page = "about.html" if jax == known_releases()[-1] else next(p for p in pages if f"install-{jax}" in p)
    systems, machines = read_offered(root)
    table = read_table(pages[page])
    assert [system["label"] for system in table] == [system["label"] for system in systems]
    packages = set()
    for system, listed in zip(systems, table, strict=True):
        rows = [(package, row) for package in listed["packages"] for row in package["answers"]]
        assert {(row["accelerator"], row["choice"]) for _, row in rows if not row["named"]} == machines.keys()
        for package, row in rows:
            machine = join(system["machine"], *([] if row["named"] else machines[row["accelerator"], row["choice"]]))
            (tmp_path / "machine.json").write_text(json.dumps(machine), "utf-8")
            options = ["--backend", row["accelerator"].partition(":")[0]] if row["named"] else []
            command = ["resolve", f"jax=={jax}", "--machine", str(tmp_path / "machine.json"), "--json", *options]
            assert cli.main(command) == 0
            decision = json.loads(capsys.readouterr().out)
            (chosen,) = (entry for entry in decision["candidates"] if entry["chosen"])
            assert (row["backend"], row["reason"]) == (chosen["backend"], chosen["reason"])
            assert row["notes"][-len(decision["warnings"]) :] == decision["warnings"] or not decision["warnings"]
            others = {(entry["backend"], entry["reason"]) for entry in decision["candidates"] if not entry["chosen"]}
            assert {tuple(other) for other in row["others"]} <= others
            needs = [picker.quote(text) for text in (*decision["requirements"], *decision["constraints"])]
            assert package["title"] == decision["requirements"][-1]
            assert package["commands"].keys() == {f"{i} {e}" for i in ("uv", "pip") for e in ("new", "existing")}
            assert all(" ".join(needs) in text for text in package["commands"].values())
            variables = decision["environment"].items()
            assert all(f'{name}="{value}"' in t for name, value in variables for t in package["commands"].values())
            packages.add(decision["package"])
    able = {backend.distribution for backend in load_facts(jax).backends if backend.select and backend.tags}
    assert len(able) >= 4
    assert able <= packages


def join(*parts: dict[str, Any]) -> dict[str, Any]:
    """Return a machine file of its parts, which nest once."""
    joined: dict[str, Any] = {}
    for part in parts:
        for key, value in part.items():
            joined[key] = {**joined.get(key, {}), **value} if isinstance(value, dict) else value
    return joined


def test_the_tables_have_what_the_script_looks_up(pages: dict[str, str]) -> None:
    """Without a script every machine on offer is on the page, with its reason and its commands."""
    for system in read_table(pages["about.html"]):
        for package in system["packages"]:
            rows = [row for row in package["answers"] if not row["named"]]
            assert all(f"<strong>{html.escape(row['accelerator'])}</strong>" in pages["about.html"] for row in rows)
            assert all(f": {html.escape(row['reason'])}." in html_quotes(pages["about.html"]) for row in rows)
            for text in package["commands"].values() if rows else ():
                filled = text.replace("{python}", system["pythons"][0])
                assert f"<code>{html.escape(filled)}</code>" in html_quotes(pages["about.html"])


def html_quotes(text: str) -> str:
    """Return a page in which quotes are written as `html.escape` does."""
    return text.replace("&#34;", "&quot;").replace("&#39;", "&#x27;")


def test_each_backend_says_itself_what_the_picker_offers(root: Path, tmp_path: Path) -> None:
    """A new one is a new directory; a shared directory counts once, and a small order comes first."""
    shutil.copytree(root / "plugins", tmp_path / "plugins")
    before = load_accelerators(tmp_path)
    assert before == load_accelerators(root) == picker.read_offer().accelerators
    assert len({entry.label for entry in before}) == len(before)
    cuda = (tmp_path / "plugins/cuda13/backend.toml").read_text("utf-8")
    (tmp_path / "plugins/abacus").mkdir()
    (tmp_path / "plugins/abacus/backend.toml").write_text(cuda, "utf-8")
    own = '[[accelerators]]\nlabel = "Abacus 5"\nmachine = { tpu = { pci = ["1ae0:0063"] } }\n'
    (tmp_path / "plugins/abacus/picker.toml").write_text(own, "utf-8")
    added = Accelerator("Abacus 5", {"tpu": {"pci": ["1ae0:0063"]}})
    after = load_accelerators(tmp_path)
    assert [entry for entry in after if entry != added] == list(before)
    assert 0 < after.index(added) < len(after)
    (tmp_path / "plugins/abacus/picker.toml").write_text(f"order = 1\n{own}", "utf-8")
    assert load_accelerators(tmp_path) == (added, *before)


@pytest.mark.parametrize(
    ("table", "cause"),
    [
        ("name = 'x'", "name"),
        ("label = 'A5'\nmachine = { nvida = { cuda = '13.0' } }", "none of its keys ('nvida') is known"),
        ("label = 'A5'\nmachine = { nvidia = { gpu = [] } }", "the machine of 'A5' has unknown keys: nvidia.gpu"),
        (
            "label = 'A5'\nmachine = {}\nchoices = [{ label = 'new', machine = { amd = { room = '7' } } }]",
            "the machine of 'new' has unknown keys: amd.room",
        ),
    ],
)
def test_a_slip_in_an_accelerator_is_found(root: Path, tmp_path: Path, table: str, cause: str) -> None:
    """The selector passes over what it does not know, so the picker would offer the CPU for it."""
    shutil.copytree(root / "plugins", tmp_path / "plugins")
    (tmp_path / "plugins/cpu/picker.toml").write_text(f"[[accelerators]]\n{table}\n", "utf-8")
    with pytest.raises(UsageError, match=r"malformed list of accelerators: .*cpu/picker\.toml") as caught:
        load_accelerators(tmp_path)
    assert cause in caught.value.cause


def test_rivals_are_the_origins_that_nothing_of_ours_needs() -> None:
    """Upstream's plugin for the same device goes; a library that ours requires stays."""
    taken = {"project": "Up_A", "kernels": [{"project": "up-a-kernels"}, {"project": "needed"}, 5]}
    plugin = entry_of(NAME, provenance=taken, requires=("needed==1; python_version >= '3'", "not a requirement"))
    bindings = entry_of("jaxlib-1.2.3-cp312-cp312-win_amd64.whl", provenance={"project": "jaxlib"})
    assert picker.find_rivals(abacus_release(plugin, bindings)) == ("up-a", "up-a-kernels")


@pytest.mark.parametrize("project", ["x; curl evil | sh #", "a$(id)", "-r evil.txt", HOSTILE])
def test_what_is_no_name_of_a_project_is_in_no_command(project: str) -> None:
    """A release file may be anybody's, and its commands are copied."""
    plugin = entry_of(NAME, provenance={"project": project, "kernels": [{"project": project}, {"project": "up-a"}]})
    assert picker.find_rivals(abacus_release(plugin)) == ("up-a",)


@pytest.mark.parametrize("word", ["a$(id)==1", "`id`", "a&b", 'a"b', "a\\b", "a\nb"])
def test_what_a_shell_reads_more_into_is_no_word(word: str) -> None:
    """Within quotes as well."""
    with pytest.raises(ValueError, match="no word for a shell"):
        picker.quote(word)


def measure(wheel: str, size: int, *, locked: bool) -> Measure:
    """Return a measured wheel that takes twice its size on disk."""
    name = parse_name(wheel)
    numbers = {"libraries": 1, "rpath_elements": 0, "rpath_useless": 0, "unneeded_bytes": 0, "license_files": 1}
    texts = {"wheel": wheel, "distribution": name.distribution, "tag": name.tag}
    more = {"exports": 2, "sboms": 1, "gpu_code": (), "findings": {}, "installed_size": 2 * size}
    return Measure(size=size, locked=locked, **texts, **numbers, **more)  # type: ignore[arg-type]


def test_bars_compare_what_an_environment_takes(root: Path) -> None:
    """Ours next to upstream's; a wheel that requires upstream's library comes on top of it, and replaces nothing."""
    backends = load_backends(root)
    bundled = next(backend for backend in backends.values() if backend.prebuilt.bundled and backend.kernels)
    apart = next(backend for backend in backends.values() if not backend.prebuilt.bundled)
    tag = "manylinux_2_27_x86_64"

    def spell(project: str, tags: str) -> str:
        return f"{project.replace('-', '_')}-1.2.3-{tags}-{tag}.whl"

    kernels = bundled.kernels.project if bundled.kernels else ""
    measures = (
        measure(spell(bundled.prebuilt.project, "py3-none"), 30 * MB, locked=False),
        *(measure(spell(kernels, f"{python}-{python}"), 10 * MB, locked=False) for python in ("cp312", "cp313")),
        measure(spell(bundled.distribution, "cp312-abi3"), 50 * MB, locked=True),
        measure(spell(apart.prebuilt.project, "cp312-cp312"), 99 * MB, locked=False),
        measure(spell(apart.distribution, "cp312-abi3"), 1 * MB, locked=True),
    )
    measured = sizes.compare(measures, backends.values())
    first, second = measured.comparisons
    assert [(row.pair.name, row.needs_upstream) for row in (first, second)] == [
        (bundled.name, False),
        (apart.name, True),
    ]
    assert first.sizes == {"download": (40 * MB, 50 * MB), "installed": (80 * MB, 100 * MB), "release": (50 * MB,) * 2}
    assert second.sizes == {kind: (99 * f * MB, 100 * f * MB) for kind, f in zip(sizes.KINDS, (1, 2, 1), strict=True)}
    assert (measured.largest("download"), measured.versions) == (100 * MB, ("1.2.3",))
    assert sizes.compare((), backends.values()).largest("download") == 1


def test_bindings_say_what_they_have_with_each_plugin() -> None:
    """The strongest level is not that of all."""
    device, aot = (
        Proof(level, "0.1", (), ORIGIN, backend=name) for level, name in ((Level.DEVICE, "cpu"), (Level.AOT, "a"))
    )
    other = replace(aot, backend="b")
    entry = entry_of("jaxlib-1.2.3-cp312-cp312-win_amd64.whl", proof=device, other_proofs=(aot, other))
    found = proof_map.bindings_map(abacus_release(entry))
    assert found is not None
    assert [(cell.level, cell.text) for cell in found.rows[0].cells] == [("device", "with cpu; aot with a, b")]

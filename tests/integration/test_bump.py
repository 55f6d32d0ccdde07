# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The command that takes up the next release, on a real, if small, package index and without builds."""

import contextlib
import io
import json
import sysconfig
from pathlib import Path

import pytest

import abacus_backend
from abacus_backend import FOLLOWING_UPSTREAM, INPUTS, add_aarch64
from folders import write_files
from package_index import make_index, put_wheel
from pjrtwheel.cli import main
from pjrtwheel.errors import FetchError, PinError
from pjrtwheel.release.known import list_releases, load_release

pytestmark = [pytest.mark.integration, pytest.mark.slow]

BACKEND = add_aarch64(abacus_backend.BACKEND) + FOLLOWING_UPSTREAM + '[jaxlib_extras]\nabacus = ["with-beads"]\n'
X86, ARM = "manylinux_2_27_x86_64", "manylinux_2_27_aarch64"


def put_release(index: Path, version: str, *, platforms: tuple[str, ...] = (X86, ARM), beads: str = "beads>=5") -> None:
    """Put all wheels of a release on the index; the library is a real one, of Python's own."""
    extensions = Path(sysconfig.get_config_var("DESTSHARED")).glob("*.so")
    library = min(extensions, key=lambda path: path.stat().st_size).read_bytes()
    requires = [f'{beads}; extra == "with-beads"']
    put_wheel(index, f"jax-{version}-py3-none-any.whl")
    for platform in platforms:
        put_wheel(index, f"jaxlib-{version}-cp312-cp312-{platform}.whl")
        put_wheel(index, f"abacus_pjrt-{version}-py3-none-{platform}.whl", members={"abacus/abacus.so": library})
        put_wheel(index, f"abacus_plugin-{version}-cp312-cp312-{platform}.whl", requires=requires)


@pytest.fixture
def index(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return a folder that is the machine's only package index."""
    folder = make_index(tmp_path / "index", monkeypatch)
    monkeypatch.setenv("PJRTWHEEL_CACHE", str(tmp_path / "cache"))
    put_release(folder, "1.2.3")
    return folder


@pytest.fixture
def repository(tmp_path: Path, index: Path) -> Path:
    """Return a repository with one backend and one release, in a path with a space and a letter beyond ASCII."""
    root = tmp_path / "ein Dépôt"
    texts = {
        "releases/inputs.toml": INPUTS,
        "releases/overrides.toml": "# Decisions.\n",
        "releases/xla.toml": "# Sources.\n",
        "plugins/abacus/backend.toml": BACKEND,
        **dict.fromkeys(
            (f"plugins/abacus/{name}" for name in ("BUILD.bazel", "README.md", "jaxlib_abacus/__init__.py")), ""
        ),
        "selector/jaxlib_select/facts/README": "",
    }
    write_files(root, texts)
    assert index.is_dir()
    assert run(root, "1.2.3", "--no-build") == 0
    return root


def run(root: Path, *arguments: str) -> int:
    """Run the command."""
    return main(["bump", "--root", str(root), *arguments])


def report_of(root: Path, *arguments: str) -> tuple[int, dict[str, list[str]]]:
    """Run the command and return its status, and the lines of its report by heading."""
    with contextlib.redirect_stdout(io.StringIO()) as printed:
        status = run(root, *arguments)
    title, *sections = printed.getvalue().split("\n## ")
    assert title.startswith("# Bump JAX to ")
    return status, {
        heading: body.strip().splitlines() for heading, _, body in (section.partition("\n") for section in sections)
    }


def test_nothing_new_is_one_line(repository: Path, index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Neither a pre-release nor a later fix of an older release is the next one."""
    for version in ("1.3.0rc1", "1.2.2.1"):
        put_wheel(index, f"jax-{version}-py3-none-any.whl")
    capsys.readouterr()
    assert run(repository) == 0
    assert capsys.readouterr().out.startswith("nothing to do: ")


def test_dry_run_changes_nothing(repository: Path, index: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """It names the newest release, and others that nobody has pinned."""
    for version in ("1.3.0", "1.4.0"):
        put_wheel(index, f"jax-{version}-py3-none-any.whl")
    capsys.readouterr()
    assert run(repository, "--dry-run") == 0
    assert capsys.readouterr().out.splitlines() == [
        "JAX 1.4.0 is to be pinned, built and compared with 1.2.3; also newer: 1.3.0"
    ]
    assert run(repository, "--json") == 0
    found = {"version": "1.4.0", "before": "1.2.3", "passed_over": ["1.3.0"], "newest": "1.2.3"}
    assert json.loads(capsys.readouterr().out) == found
    assert list_releases(repository) == ["1.2.3"]


def test_next_release_that_lost_a_platform(repository: Path, index: Path) -> None:
    """Pinned, with facts; what is lost is reported and is no error."""
    put_release(index, "1.3.0", platforms=(X86,), beads="beads>=5.1")
    status, sections = report_of(repository, "--no-build")
    assert status == 0
    assert load_release(repository).version == "1.3.0"
    facts = json.loads((repository / "selector/jaxlib_select/facts/1.3.0.json").read_text())
    assert [(entry["name"], list(entry["tags"])) for entry in facts["backends"]] == [("abacus", ["linux_x86_64"])]
    assert sections["Pythons"] == ["- abacus kernels linux_aarch64, jaxlib linux_aarch64: **gone**, was cp312"]
    assert sections["Backends"] == ["- abacus: **removed linux_aarch64**"]
    (absent,) = sections["Not on the package index"]
    assert "bindings.cp312.linux_aarch64" in absent
    assert "plugin.abacus.linux_aarch64" in absent
    assert sections["Requirements of extras"] == ["- abacus[with-beads] beads: >=5 → >=5.1"]
    (question,) = sections["To decide"]
    assert question.startswith("- [ ] `releases/xla.toml`: ")


def test_backend_that_is_late_is_a_decision(repository: Path, index: Path) -> None:
    """Once it is made, naming the release again goes on from there."""
    put_release(index, "1.3.0")
    for wheel in index.glob("abacus_p*-1.3.0-*"):
        wheel.unlink()
    status, sections = report_of(repository, "--no-build")
    assert status == 0
    assert sections["Backends"] == ["- abacus: **gone**, was linux_aarch64, linux_x86_64"]
    assert sections["To decide"][0].startswith("- [ ] `releases/overrides.toml`: abacus has no library")
    decision = '["1.3.0".abacus]\nversion = "1.2.3"\nreason = "it serves the same API"\n'
    (repository / "releases/overrides.toml").write_text(decision)
    status, sections = report_of(repository, "1.3.0", "--no-build")
    assert status == 0
    assert sections["Overrides"] == ["- abacus: new, 1.2.3 (it serves the same API)"]
    assert load_release(repository).platforms("abacus") == ("linux_aarch64", "linux_x86_64")


def test_requirement_without_bounds_is_a_failed_step(repository: Path, index: Path) -> None:
    """Nothing is pinned, and the report names the line of the backend that has to give them."""
    put_release(index, "1.3.0", beads="beads")
    status, sections = report_of(repository)
    assert status == PinError.exit_code
    (failed,) = (line for line in sections["Steps"] if "failed" in line)
    assert 'bounds = { beads = ">=...,<..." }' in failed
    assert list_releases(repository) == ["1.2.3"]


def test_build_that_fails_keeps_what_was_done(
    repository: Path, index: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """The report says which backend failed, here for want of a compiler; the rest is written all the same."""
    put_release(index, "1.3.0")
    status, sections = report_of(repository)
    assert status == FetchError.exit_code
    (failed,) = (line for line in sections["Steps"] if "failed" in line)
    assert failed.startswith("- **build abacus failed**: release 1.3.0 pins no 'compiler.")
    assert (repository / "selector/jaxlib_select/facts/1.3.0.json").is_file()
    assert "error: release 1.3.0 pins no 'compiler." in capsys.readouterr().err


def test_an_unknown_release_is_reported_first(repository: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Before anything is pinned or built."""
    capsys.readouterr()
    assert run(repository, "9.9") == PinError.exit_code
    assert "error: the package index has no release 9.9 of jax" in capsys.readouterr().err


def test_index_without_jax_and_index_that_is_gone(
    repository: Path, index: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """An empty answer is not taken for "nothing new"."""
    for wheel in index.glob("jax-*"):
        wheel.unlink()
    assert run(repository) == PinError.exit_code
    assert "the package index has no release of jax" in capsys.readouterr().err
    monkeypatch.delenv("PIP_NO_INDEX")
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:9/simple")
    assert run(repository) == FetchError.exit_code
    assert "the package index cannot be asked for jax" in capsys.readouterr().err

# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What plugins and JAX itself answer when they are asked, or do not."""

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from jaxlib_select.apply.installer import pip_installer
from jaxlib_select.choose.decision import Decision
from jaxlib_select.doctor.choice import Surroundings
from jaxlib_select.doctor.confirm import JaxAnswer, ask_jax, compare
from jaxlib_select.doctor.examine import examine
from jaxlib_select.doctor.predict import Prediction
from jaxlib_select.doctor.report import Report
from jaxlib_select.errors import UsageError
from jaxlib_select.installed.environment import find_interpreter, other_environment
from jaxlib_select.machine.model import Machine, Nvidia
from machines import H100, PLAIN
from select_commands import lacking
from site_packages import AGAIN, CUDA13, PYTHON, SOURCE, Site, codes

# In place of NVIDIA's driver.
MOCK_DRIVER = {
    "cuda/hardware.py": "\nDEVICE_NODES = ('dev/null',)\n",
    "cuda/driver.py": "\ndef ask_driver(wanted, visible): raise explain(803, visible)\n",
}


def examine_really(site: Site, machine: Machine, decision: Decision | None = None) -> Report:
    """Run the doctor for this very machine: its plugins open their libraries."""
    around = Surroundings(machine, site.facts, decision=decision, root=site.root)
    return examine(site.environment(), around, pip_installer(PYTHON))


def test_a_plugin_that_does_not_answer_is_damaged(site: Site) -> None:
    """It refuses the argument, or answers in another form; what brings its files back is the remedy."""
    site.jax().ours("cpu")
    for program in ("raise SystemExit(2)\n", "print('{\"schema\": 2}')\n"):
        site.write("jaxlib_cpu/__main__.py", program)
        (finding,) = (report := site.examine()).findings
        assert (finding.level, finding.code, report.prediction.default) == ("error", "plugin-fails", None)
        assert finding.remedy.endswith("--force-reinstall --no-deps jaxlib-cpu==1.2.3")


def test_a_plugin_that_crashes_when_it_opens_its_libraries(site: Site) -> None:
    """What it says without opening them counts, and JAX would crash as well, where it has the hardware."""
    site.jax().ours("cpu").write("jaxlib_cpu/pjrt/_pjrt.py", "import os\ndef load(path): os.kill(os.getpid(), 11)\n")
    report = examine_really(site, PLAIN)
    assert [(finding.level, finding.code) for finding in report.findings] == [("error", "plugin-fails")]
    assert (report.prediction.default, report.plugins[0].priority) == (None, 0)


def test_a_plugin_that_cannot_be_imported(site: Site) -> None:
    """JAX goes on without it; the line is named."""
    module = site.jax().ours("cpu").write("jaxlib_cpu/__init__.py", "raise ImportError('boom')\n")
    report = site.examine()
    (finding,) = report.findings
    assert (finding.level, finding.code, report.prediction.default) == ("warning", "plugin-fails", "cpu")
    assert lacking(finding.what, "ImportError: boom", f"line 1 of {module}") == []


def test_a_driver_that_does_not_start(site: Site) -> None:
    """In the words of the plugin, with its remedy; not where another machine is meant."""
    site.jax().ours("cuda13")
    for module, text in MOCK_DRIVER.items():
        path = f"jaxlib_cuda_13/{module}"
        site.write(path, (site.folder / path).read_text("utf-8") + text)
    report = examine_really(site, H100, CUDA13)
    finding = report.findings[0]
    assert (finding.code, "status 803" in finding.what, bool(finding.remedy)) == ("unfit-backend", True, True)
    assert (report.prediction.default, site.node().examine(H100, decision=CUDA13).prediction.default) == (None, "cuda")


def test_a_driver_that_hangs_is_not_asked_again(site: Site) -> None:
    """What detection found out about it counts, and no process of ours waits for it."""
    site.jax().ours("cuda13").node()
    hung = replace(H100, nvidia=Nvidia(libcuda="hung", pci=("10de:2330",)))
    report = examine_really(site, hung)
    assert (codes(report), report.prediction.error) == (["unfit-backend"], "cuda: libcuda did not answer in time")


CRASH, CPU = JaxAnswer(error="boom"), JaxAnswer("cpu", ("cpu:0",))


@pytest.mark.parametrize(
    ("default", "answer", "expected"),
    [
        ("cpu", CPU, ("note", "confirmed")),
        ("cuda", CPU, ("error", "prediction")),
        ("cpu", CRASH, ("error", "jax-fails")),
        (None, CRASH, ("note", "jax-fails")),
        (None, CPU, ("warning", "prediction")),
    ],
)
def test_the_real_jax_has_the_last_word(default: str | None, answer: JaxAnswer, expected: tuple[str, str]) -> None:
    """A difference between prediction and JAX is reported; a CPU instead of an accelerator is an error."""
    (finding,) = compare(Prediction(default, (), "" if default else "bad"), answer)
    assert (finding.level, finding.code) == expected


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (JaxAnswer("cpu", complaints=("ImportError: boom",)), ["plugin-fails", "prediction"]),
        (CPU, ["prediction"]),
        (CRASH, ["jax-fails"]),
    ],
)
def test_what_only_jax_knows_is_fixed_by_installing_again(site: Site, answer: JaxAnswer, expected: list[str]) -> None:
    """A plugin that raises when it is imported looks like any other; what another rule fixes needs no more."""
    report = site.jax().ours("cuda13").node().examine(H100, decision=CUDA13)
    again = f"/venv/bin/python -m pip install {AGAIN.replace('jaxlib', 'jax==1.2.3 jaxlib')} jaxlib-cuda-13==1.2.3"
    assert report.renewal == (again, SOURCE)
    found = list(compare(report.prediction, answer, renewal=report.renewal))
    assert [finding.code for finding in found] == expected
    assert found[0].remedy == again
    (explained,) = compare(report.prediction, answer, renewal=report.renewal, explained=True)
    assert (explained.code, explained.remedy) == (expected[-1], "")


# As XLA says it.
BAD_FLAG = "E1126 07:10:44.4 22332 command_line_flags.cc:63] Couldn'\\''t interpret value a for flag xla_x."


@pytest.mark.parametrize(
    ("script", "limit", "named"),
    [
        ("echo 'Fatal: boom' >&2\nexit 139", 9.0, "139: Fatal: boom"),
        (
            f"echo '{BAD_FLAG}\nusage:\n --xla_x=1' >&2\nexit 134",
            9.0,
            "134: Couldn't interpret value a for flag xla_x.",
        ),
        ("exec sleep 60", 0.2, "within"),
        ("", 9.0, ""),
    ],
    ids=["crashes", "has a bad flag", "hangs", "says nothing"],
)
def test_a_jax_that_crashes_or_hangs(tmp_path: Path, script: str, limit: float, named: str) -> None:
    """The process is ended; its last line is reported, or what XLA says before it lists its flags."""
    program = tmp_path / "python"
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    error = ask_jax(program, {"PATH": "/bin:/usr/bin"}, limit).error
    assert (bool(error), named in error) == (True, True)
    assert ask_jax(tmp_path / "absent", {}).error


def test_what_jax_does_not_say_is_found_out(tmp_path: Path) -> None:
    """Where an error without a word comes from, and what JAX logs about plugins that it goes on without."""
    module = tmp_path / "jax/_src/xla_bridge.py"
    module.parent.mkdir(parents=True)
    module.write_text(
        "import logging\n\nlog = logging.getLogger(__name__)\nlog.warning('else')\n"
        "try:\n    raise ImportError('boom')\nexcept ImportError:\n"
        "    log.exception('Jax plugin configuration error: y')\n\n\ndef backends():\n    assert not log\n"
    )
    answer = ask_jax(Path(sys.executable), {"PYTHONPATH": str(tmp_path)})
    assert lacking(answer.error, "AssertionError", f"line 12 of {module}") == []
    (complaint,) = answer.complaints
    assert lacking(complaint, "ImportError: boom", f"line 6 of {module}") == []


FAILING = "#!/bin/sh\necho 'Fatal Python error: no encodings' >&2\nexit 1\n"


@pytest.mark.parametrize(
    ("content", "mode", "named"),
    [
        (None, 0, ""),
        ("text", 0o644, ""),
        ("#!/nowhere\n", 0o755, ""),
        ("garbage", 0o755, ""),
        ("#!/bin/sh\necho 1\n", 0o755, ""),
        (FAILING, 0o755, "Fatal Python error: no encodings"),
    ],
    ids=["absent", "text", "lost", "garbage", "other", "failing"],
)
def test_what_is_no_interpreter_is_named(tmp_path: Path, content: str | None, mode: int, named: str) -> None:
    """A file, a program that fails, and one that is another; with what it said itself."""
    path = tmp_path / "python"
    if content is not None:
        path.write_text(content, "utf-8")
        path.chmod(mode)
    with pytest.raises(UsageError) as caught:
        other_environment(path)
    assert lacking(str(caught.value), str(path), named) == []


def test_the_folder_of_an_environment_means_its_python(tmp_path: Path) -> None:
    """Where `venv` puts it."""
    with pytest.raises(UsageError):
        other_environment(tmp_path)
    program = tmp_path / "bin/python"
    program.parent.mkdir()
    program.symlink_to(sys.executable)
    assert find_interpreter(tmp_path) == program
    assert other_environment(tmp_path).version == sys.version_info[:3]

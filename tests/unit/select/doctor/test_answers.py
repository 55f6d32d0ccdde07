# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What plugins and JAX itself answer when they are asked, or do not."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import pytest

from jaxlib_select.apply.installer import pip_installer
from jaxlib_select.doctor.choice import Surroundings
from jaxlib_select.doctor.confirm import JaxAnswer, ask_jax, compare, read_answer
from jaxlib_select.doctor.examine import examine
from jaxlib_select.doctor.predict import Prediction
from jaxlib_select.errors import UsageError
from jaxlib_select.installed.environment import find_interpreter, other_environment
from jaxlib_select.machine.model import Nvidia
from machines import H100, PLAIN
from site_packages import AGAIN, CUDA13, PYTHON, SOURCE, Site, codes
from small_libraries import loadable_elf

# In place of NVIDIA's driver.
MOCK_DRIVER = {
    "cuda/hardware.py": "\nDEVICE_NODES = ('dev/null',)\n",
    "cuda/driver.py": "\ndef ask_driver(wanted, visible): raise explain(803, visible)\n",
}


@pytest.mark.parametrize(
    ("lock", "expected"), [("1" * 32, ["plugin-silent"]), ("2" * 32, ["lock-mismatch", "plugin-silent"])]
)
def test_a_plugin_that_is_too_old_to_be_asked(site: Site, lock: str, expected: list[str]) -> None:
    """It refuses the argument; its lock is compared with that of jaxlib all the same."""
    site.jax().ours("cpu", lock=lock)
    site.write("jaxlib_cpu/__main__.py", "raise SystemExit(2)\n")
    library = site.write("jaxlib_cpu/pjrt_c_api_cpu_plugin.so", loadable_elf("GetPjrtApi"))
    report = site.examine()
    assert codes(report) == expected
    assert report.prediction.default == (None if len(expected) > 1 else "cpu")
    assert report.findings[-1].what == (
        "jaxlib-cpu does not say what it finds (status 2), so only its files were looked at"
    )
    library.write_bytes(b"no library\n" * 100)
    assert f"{library} cannot be used: {library}: invalid ELF header" in [
        finding.what for finding in site.examine().findings
    ]
    library.unlink()
    assert "library-missing" in codes(site.examine())


def test_a_plugin_that_answers_in_another_form(site: Site) -> None:
    """As one that is newer than this program may."""
    site.jax().ours("cpu")
    site.write("jaxlib_cpu/pjrt_c_api_cpu_plugin.so", loadable_elf("GetPjrtApi"))
    site.write("jaxlib_cpu/__main__.py", "print('{\"schema\": 2}')\n")
    report = site.examine()
    assert (codes(report), report.prediction.default) == (["plugin-silent"], "cpu")


def test_a_plugin_that_crashes_when_it_opens_its_libraries(site: Site) -> None:
    """What it says without opening them counts, and JAX would crash as well, where it has the hardware."""
    site.jax().ours("cpu")
    crash = "import os\ndef load(path): os.kill(os.getpid(), 11)\n"
    site.write("jaxlib_cpu/pjrt/_pjrt.py", crash)
    around = Surroundings(PLAIN, site.facts, root=site.root)
    report = examine(site.environment(), around, pip_installer(PYTHON))
    assert [(finding.level, finding.what) for finding in report.findings] == [
        ("error", "jaxlib-cpu crashes or hangs when it opens its libraries")
    ]
    assert (report.prediction.default, report.plugins[0].priority) == (None, 0)


def test_a_plugin_that_cannot_be_imported(site: Site) -> None:
    """JAX goes on without it; the line is named."""
    site.jax().ours("cpu").write("jaxlib_cpu/__init__.py", "raise ImportError('boom')\n")
    report = site.examine()
    (finding,) = report.findings
    assert (finding.level, finding.code, report.prediction.default) == ("warning", "plugin-fails", "cpu")
    assert f"ImportError: boom in line 1 of {site.folder / 'jaxlib_cpu/__init__.py'}" in finding.what


def test_a_driver_that_does_not_start(site: Site) -> None:
    """In the words of the plugin, with its remedy; not where another machine is meant."""
    site.jax().ours("cuda13")
    for module, text in MOCK_DRIVER.items():
        path = f"jaxlib_cuda_13/{module}"
        site.write(path, (site.folder / path).read_text("utf-8") + text)
    around = Surroundings(H100, site.facts, decision=CUDA13, root=site.root)
    report = examine(site.environment(), around, pip_installer(PYTHON))
    finding = report.findings[0]
    assert (finding.code, finding.what) == (
        "unfit-backend",
        "jaxlib-cuda-13 does not run here: NVIDIA's driver does not start: cuInit failed with status 803",
    )
    assert finding.remedy == "reboot, or take the other libcuda.so.1 out of LD_LIBRARY_PATH"
    assert (report.prediction.default, site.node().examine(H100, decision=CUDA13).prediction.default) == (None, "cuda")


def test_a_driver_that_hangs_is_not_asked_again(site: Site) -> None:
    """What detection found out about it counts, and no process of ours waits for it."""
    site.jax().ours("cuda13").node()
    hung = replace(H100, nvidia=Nvidia(libcuda="hung", pci=("10de:2330",)))
    report = examine(site.environment(), Surroundings(hung, site.facts, root=site.root), pip_installer(PYTHON))
    assert (codes(report), report.prediction.error) == (["unfit-backend"], "cuda: libcuda did not answer in time")


@pytest.mark.parametrize(
    ("prediction", "answer", "expected"),
    [
        (Prediction("cpu", ()), JaxAnswer("cpu", ("cpu",), ("cpu:0",)), ("warning", "prediction")),
        (Prediction("cuda", ()), JaxAnswer("cpu", ("cpu",)), ("error", "prediction")),
        (Prediction("cpu", ()), JaxAnswer(error="boom"), ("error", "jax-fails")),
        (Prediction(None, (), "bad"), JaxAnswer(error="boom"), ("note", "jax-fails")),
        (Prediction(None, (), "bad"), JaxAnswer("cpu"), ("warning", "prediction")),
    ],
)
def test_the_real_jax_has_the_last_word(prediction: Prediction, answer: JaxAnswer, expected: tuple[str, str]) -> None:
    """A difference between prediction and JAX is reported; a CPU instead of an accelerator is an error."""
    (finding,) = compare(prediction, answer)
    assert (finding.level, finding.code) == expected


def test_what_only_jax_knows_is_fixed_by_installing_again(site: Site) -> None:
    """A plugin that raises when it is imported looks like any other; what another rule fixes needs no more."""
    report = site.jax().ours("cuda13").node().examine(H100, decision=CUDA13)
    again = f"/venv/bin/python -m pip install {AGAIN.replace('jaxlib', 'jax==1.2.3 jaxlib')} jaxlib-cuda-13==1.2.3"
    assert report.renewal == (again, SOURCE)
    for answer, codes_ in (
        (
            JaxAnswer("cpu", ("cpu",), complaints=("it could not be loaded: ImportError: boom",)),
            ["plugin-fails", "prediction"],
        ),
        (JaxAnswer("cpu", ("cpu",)), ["prediction"]),
        (JaxAnswer(error="boom"), ["jax-fails"]),
    ):
        found = list(compare(report.prediction, answer, renewal=report.renewal))
        assert [finding.code for finding in found] == codes_
        assert [(finding.remedy, finding.note) for finding in found] == [report.renewal, ("", "")][: len(found)]
        explained = list(compare(report.prediction, answer, renewal=report.renewal, explained=True))
        assert [(finding.code, finding.remedy) for finding in explained] == [(codes_[-1], "")]


def test_a_jax_that_crashes_or_hangs(tmp_path: Path) -> None:
    """The process is ended, and its last line is what is reported."""
    crashing, hanging = tmp_path / "crash", tmp_path / "hang"
    crashing.write_text("#!/bin/sh\necho 'Fatal: boom' >&2\nexit 139\n")
    hanging.write_text("#!/bin/sh\nexec sleep 60\n")
    for program in (crashing, hanging):
        program.chmod(0o755)
    assert ask_jax(crashing, {}).error == "JAX ended with status 139: Fatal: boom"
    assert ask_jax(hanging, {"PATH": "/bin:/usr/bin"}, 0.2).error == "JAX did not start within 0 seconds"
    assert ask_jax(tmp_path / "absent", {}).error.startswith("cannot run")
    assert read_answer("[1]\n", "", 0).error == "JAX ended with status 0: no message"


def test_what_jax_does_not_say_is_found_out(tmp_path: Path) -> None:
    """Where an error without a word comes from, and what JAX logs about plugins that it goes on without."""
    module = tmp_path / "jax/_src/xla_bridge.py"
    module.parent.mkdir(parents=True)
    module.write_text(
        "import logging\n\nlog = logging.getLogger(__name__)\nlog.warning('else')\n"
        "log.warning('Jax plugin configuration error: Plugin module x does not exist')\n"
        "try:\n    raise ImportError('boom')\nexcept ImportError:\n"
        "    log.exception('Jax plugin configuration error: y')\n\n\ndef backends():\n    assert not log\n"
    )
    answer = ask_jax(Path(sys.executable), {"PYTHONPATH": str(tmp_path)})
    assert answer.error == f"AssertionError in line 13 of {module}: assert not log"
    assert answer.complaints == (
        "Jax plugin configuration error: Plugin module x does not exist",
        f"Jax plugin configuration error: y: ImportError: boom in line 7 of {module}: raise ImportError('boom')",
    )


def test_what_is_no_interpreter_is_said_in_one_line(tmp_path: Path) -> None:
    """A folder, a file, a program that fails, and one that is another."""

    def refusal(name: str, content: str = "", mode: int = 0o755) -> str:
        path = tmp_path / name
        if content:
            path.write_text(content, "utf-8")
            path.chmod(mode)
        with pytest.raises(UsageError) as caught:
            other_environment(path)
        return str(caught.value).replace(str(tmp_path), "PATH")

    assert refusal("") == "no Python in the folder PATH: neither bin/python nor Scripts/python.exe is there"
    assert refusal("absent") == "no such Python: PATH/absent"
    assert refusal("text", "text", 0o644) == "not a Python interpreter: PATH/text is a file that cannot be run"
    assert refusal("lost", "#!/nowhere\n") == "not a Python interpreter: PATH/lost (No such file or directory)"
    assert refusal("garbage", "garbage") == "not a Python interpreter: PATH/garbage (Exec format error)"
    assert refusal("other", "#!/bin/sh\necho 1\n") == "not a Python interpreter: PATH/other does not answer as one"
    failing = "#!/bin/sh\necho 'Fatal Python error: no encodings' >&2\nexit 1\n"
    assert refusal("failing", failing) == (
        "not a usable Python: PATH/failing ended with status 1: Fatal Python error: no encodings"
    )


def test_the_folder_of_an_environment_means_its_python(tmp_path: Path) -> None:
    """Where `venv` puts it."""
    program = tmp_path / "bin/python"
    program.parent.mkdir()
    program.symlink_to(sys.executable)
    assert find_interpreter(tmp_path) == program
    assert other_environment(tmp_path).version == sys.version_info[:3]

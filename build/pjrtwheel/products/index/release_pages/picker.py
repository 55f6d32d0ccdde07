# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The install picker: a table of machines with the answer that each of them gets from an index.

The selector decides, once, when the pages are written. A page shows the table, and holds it as JSON for the script that
looks an answer up.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote as quote_url

from jaxlib_select.choose.decision import Decision
from jaxlib_select.choose.policy import CPU, Policy, read_policy
from jaxlib_select.choose.resolve import resolve
from jaxlib_select.choose.rules import Fit
from jaxlib_select.choose.vendors import judge
from jaxlib_select.facts import UPSTREAM, known_releases, load_facts
from jaxlib_select.machine.file import from_json
from jaxlib_select.machine.model import Machine as MachineFile
from pjrtwheel.abis import name_python
from pjrtwheel.backend import OWN_ROOT
from pjrtwheel.products.index.release_pages.form import Accelerator, Form, System, join_machines
from pjrtwheel.products.index.release_pages.releases import ListedRelease
from pjrtwheel.products.index.release_pages.stock import Stock, stock_pinned
from pjrtwheel.sets import BINDINGS

Row = dict[str, Any]  # as JSON has it
Key = tuple[str, str, str, str]  # names of a system and an accelerator, the label of a choice, a release
_FIELDS = ("system", "gpu", "driver", "release")  # of the form, in the order of a key
_DEVICES = '-c "import jax; print(jax.devices())"'
# What the selector advises on a command line; here a button does it, where that helps.
_ADVICE = re.compile(r"; (in WSL2 there is one|\S+ would run on the CPU)")


def is_known(release: ListedRelease) -> bool:
    """Return whether the selector has facts about this very set of a release, whose version it would ask for."""
    if release.jax not in known_releases():
        return False
    return all(backend.version == release.version for backend in load_facts(release.jax).backends if backend.tags)


def make_table(form: Form, stocks: Sequence[Stock], *, closed: bool = True) -> Row:
    """Return the answer for everything on offer, from an index that has some releases, the newest first.

    `answers` has a key (the fields of the form, joined by `|`) → a number in `outcomes`. Each of these has

    - `ours`: what to install of ours, as `_describe` says it, the level of its `proofs`, by Python, and
      the `page` of the wheel; nothing where this release has none for the machine;
    - `other`: the same of the newest other `release` that has one;
    - `problems` and `advice`: why this one has none, backend by backend, and what would help;
    - `instead`: where no release has one, the changes in the form, field → value, with which there is one;
    - `upstream`: what to install of JAX's own wheels, or nothing where there is none for the machine, or no need.

    Args:
        form: What is on offer.
        stocks: The releases.
        closed: Whether the page is that of one index, so that JAX's own wheels are only for what it lacks.
    """
    answers = dict(_answer_all(form, stocks))
    releases = [stock.jax for stock in stocks]
    for key, row in answers.items():
        if row["ours"]:
            row["upstream"] = None if closed else row["upstream"]
        else:
            others = ((jax, answers[(*key[:3], jax)]["ours"]) for jax in releases)
            row["other"] = next((ours | {"release": jax} for jax, ours in others if ours), None)
    for key, row in answers.items():
        if not (row["ours"] or row["other"]):
            row["instead"] = _find_changes(form, key, answers)
    outcomes = list({str(row): row for row in answers.values()}.values())
    numbers = {str(row): number for number, row in enumerate(outcomes)}
    by_release = sorted(answers, key=lambda key: releases.index(key[3]))
    return {
        "systems": {one.name: {"label": one.label, "shell": one.shell, "note": one.note} for one in form.systems},
        "gpus": {
            entry.name: {
                "label": entry.label,
                "question": entry.question,
                "choices": [choice.label for choice in entry.choices],
                "words": entry.words,
                "cpu": not entry.machine,
            }
            for entry in form.accelerators
        },
        "releases": releases,
        "shells": form.shells,
        "outcomes": outcomes,
        "answers": {"|".join(key): numbers[str(row)] for key, row in answers.items()},
        "first": next((key for key in by_release if answers[key]["ours"]), by_release[0]),
    }


def group_machines(table: Row, systems: Sequence[str], jax: str) -> list[tuple[list[Row], list[tuple[str, str]]]]:
    """Return the machines of a table that get the same of a release on some systems, with the answer on each of these.

    A machine is the label of an accelerator, and its driver.
    """
    groups: dict[str, tuple[list[Row], list[tuple[str, str]]]] = {}
    for name, gpu in table["gpus"].items():
        for choice in gpu["choices"]:
            rows = [table["outcomes"][table["answers"][f"{system}|{name}|{choice}|{jax}"]] for system in systems]
            found = [row["ours"] or row["other"] or row["upstream"] or row for row in rows]
            same = str([(row.get("requirements"), row.get("notes"), row.get("advice")) for row in found])
            groups.setdefault(same, (rows, []))[1].append((gpu["label"], f"{gpu['question']} {choice}".strip()))
    return list(groups.values())


def _find_changes(form: Form, key: Key, answers: Mapping[Key, Row]) -> list[dict[str, str]]:
    """Return the first change of each field with which there is a wheel of ours: another driver, or system.

    Where JAX has no wheel either, its own count, and so does the CPU.
    """
    state = dict(zip(_FIELDS, key, strict=True))
    stuck = not answers[key]["upstream"]
    (choices,) = (entry.choices for entry in form.accelerators if entry.name == state["gpu"])
    (system,) = (entry.instead for entry in form.systems if entry.name == state["system"])
    changes = [
        *({"driver": choice.label} for choice in choices),
        *([{"system": system}] if system else []),
        *({"gpu": entry.name, "driver": ""} for entry in form.accelerators if stuck and not entry.machine),
    ]
    found: dict[str, dict[str, str]] = {}
    for change in changes:
        row = answers[tuple((state | change).values())]  # type: ignore[index]
        if row["ours"] or row["other"] or (stuck and row["upstream"]):
            found.setdefault(next(iter(change)), change)
    return list(found.values())


def _answer_all(form: Form, stocks: Sequence[Stock]) -> Iterator[tuple[Key, Row]]:
    """Yield the answer for each system, accelerator, choice and release."""
    for system in form.systems:
        for accelerator in form.accelerators:
            elsewhere = accelerator.machine.get("arch") not in {None, system.machine["arch"]}
            for choice in accelerator.choices:
                hidden = elsewhere or (system.machine.get("wsl", False) and not accelerator.wsl)
                parts = () if hidden else (accelerator.machine, choice.machine)
                machine = from_json(join_machines(system.machine, *parts))
                for stock in stocks:
                    row = _answer(machine, system, stock, accelerator)
                    yield (system.name, accelerator.name, choice.label, stock.jax), row


def _answer(machine: MachineFile, system: System, stock: Stock, accelerator: Accelerator) -> Row:
    """Return the answer for a machine; an accelerator is not replaced by the CPU."""
    wanted = bool(accelerator.machine)
    decisions = list(_decide(machine, stock.jax, wanted=wanted))
    served = [decision for decision in decisions if not wanted or decision.backend != CPU]
    # Without a wheel for the CPU, `jaxlib` serves it.
    served += [] if wanted else [replace(one, requirements=one.requirements[:1]) for one in served]
    ours = None
    for decision in served:
        package = decision.package if len(decision.requirements) > 1 else BINDINGS
        wheel = package, system.platform
        if ours is None and (pythons := stock.pythons.get(wheel)):
            ours = _describe(decision, stock, pythons, accelerator.note)
            targets = accelerator.targets if wanted else None
            levels = {name_python(python): stock.level(*wheel, python, targets) for python in pythons}
            # What ran with `jaxlib` may have run on an accelerator.
            shown = levels if package != BINDINGS or {*levels.values()} <= {"load", "static"} else None
            ours |= {"proofs": shown, "page": ""}
            if plugin := stock.plugins.get(wheel):
                ours["page"] = quote_url(plugin.page)
                ours["notes"] += [f"XLA is that of {plugin.library_version}."] if plugin.library_version else []
    row: Row = {"ours": ours, "other": None, "problems": [], "advice": "", "instead": []}
    row["upstream"] = _find_upstream(machine, system, stock, accelerator)
    if ours is None:
        # Where nothing can be installed, a release that has the wheel knows what the machine lacks.
        others = () if served or row["upstream"] else reversed(known_releases())
        advised = next((jax for jax in (stock.jax, *others) if _find_advice(machine, jax)), stock.jax)
        decision = next(_decide(machine, advised, wanted=wanted))
        candidates = [entry for entry in decision.candidates if not (entry.absent or entry.chosen)]
        lacks = "{}, or what it needs, is not in this index."
        absent = [(one.backend, lacks.format((BINDINGS, *one.requirements[1:])[-1])) for one in served[:1]]
        reasons = [(entry.backend, _say_why(advised, entry.reason)) for entry in candidates]
        row["problems"] = absent or reasons or [("system", f"JAX has no wheel for it on {system.label}.")]
        row["advice"] = "" if served else sentence(_find_advice(machine, advised))
    return row


def _say_why(jax: str, reason: str) -> str:
    """Return why a release does not serve a machine, as a sentence; the subject of a missing wheel is the release."""
    return sentence(re.sub(r"^(?=has no )", f"JAX {jax} ", _ADVICE.sub("", reason)))


def _find_advice(machine: MachineFile, jax: str) -> str:
    """Return what would make a release serve a machine; empty if nothing would."""
    return next(filter(None, (judge(machine, backend).advice for backend in load_facts(jax).backends)), "")


def _decide(machine: MachineFile, jax: str, *, wanted: bool) -> Iterator[Decision]:
    """Yield what the selector decides, and then what it says of each other backend that serves the machine."""
    asked = f"jax=={jax}"
    yield resolve(asked, machine)
    for backend in load_facts(jax).backends if wanted else ():
        if not backend.is_cpu and judge(machine, backend).fit >= Fit.PART:
            yield resolve(asked, machine, read_policy([backend.name], {}, None))


def _find_upstream(machine: MachineFile, system: System, stock: Stock, accelerator: Accelerator) -> Row | None:
    """Return what JAX itself publishes of this release for a machine, or else of the newest that serves it."""
    for asked in (f"jax=={stock.jax}", "jax"):
        decision = resolve(asked, machine, Policy(provider=UPSTREAM))
        (chosen,) = (candidate.backend for candidate in decision.candidates if candidate.chosen)
        jax = decision.requirements[0].rpartition("==")[2]
        packages = {entry.name: entry.distribution for entry in load_facts(jax).backends if not entry.is_cpu}
        package = packages.get(chosen, BINDINGS)
        pythons = stock_pinned(OWN_ROOT, jax).pythons.get((package, system.platform))
        if pythons and not (accelerator.machine and package == BINDINGS):
            return _describe(decision, stock, pythons, accelerator.note) | {"release": jax}
    return None


def _describe(decision: Decision, stock: Stock, pythons: Iterable[str], note: str) -> Row:
    """Return a decision as the page shows it.

    - `title`: the requirement that brings the accelerator, `requirements`: all of them, for a shell, and `more`: those
      that are only for this machine;
    - `check`: what Python runs to say whether it works;
    - `pythons`: those that it is for;
    - `backend` and `reason`: which one is chosen, and why; `others`: those that are not, and why;
    - `notes`: what the user should know, one sentence each, such as the `note` of the accelerator.
    """
    (chosen,) = (candidate for candidate in decision.candidates if candidate.chosen)
    packages = {entry.distribution: entry.package for entry in load_facts(stock.jax).backends}
    plugin = packages.get(decision.package, "") if len(decision.requirements) > 1 else ""
    notes = [_ADVICE.sub("", warning) for warning in decision.warnings]
    notes += [f"set {name}={value}" for name, value in decision.environment.items()]
    notes += [note] if plugin and note else []
    others = [one for one in decision.candidates if not (one.chosen or one.absent)]
    return {
        "title": decision.requirements[-1],
        "requirements": " ".join(map(quote, (*decision.requirements, *decision.constraints))),
        "more": ", ".join(decision.constraints),
        "check": f"-m {plugin}" if plugin else _DEVICES,
        "pythons": [*map(name_python, pythons)],
        "backend": chosen.backend,
        "reason": chosen.reason.removeprefix("no accelerator was found; "),
        "notes": [*map(sentence, notes)],
        "others": [(one.backend, sentence(one.reason)) for one in others],
    }


def sentence(text: str) -> str:
    """Return a sentence of a text without capital and period; names such as cuBLAS or jax keep their letters.

    >>> sentence("set TZ=UTC"), sentence("cuBLAS 12.8 is old"), sentence("jax==1.2 is enough"), sentence("")
    ('Set TZ=UTC.', 'cuBLAS 12.8 is old.', 'jax==1.2 is enough.', '')
    """
    return re.sub(r"^(?!jax)[a-z](?=[a-z]*[ ,])", lambda first: first[0].upper(), text) + "." if text else ""


def quote(word: str) -> str:
    """Return a word as the shells of all systems take it.

    >>> quote("jax==1.2.3"), quote("a[b]>=1")
    ('jax==1.2.3', '"a[b]>=1"')

    Raises:
        ValueError: A shell would read more into it than a word, also within quotes.
    """
    if re.search(r"[^\w.=+\-\[\]<>!~,;@:/ ]", word):
        raise ValueError(f"no word for a shell: {word!r}")
    return word if re.fullmatch(r"[\w.=+-]+", word) else f'"{word}"'

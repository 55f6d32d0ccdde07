# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run some jobs of a workflow again, as the server does on request; act always runs all of them."""

import io
import json
import re
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from ruamel.yaml import YAML

Outputs = Mapping[str, Mapping[str, str]]  # job → expression of an output of a step → its value
_LINES = 30


def keep_jobs(
    root: Path, workflow: str, results: Mapping[str, str], outputs: Outputs, first: str
) -> tuple[str, frozenset[str]]:
    """Return a workflow in which only a job, and those that need it, do anything; and the artifacts that these make.

    Args:
        root: A repository.
        workflow: Path of the workflow in it.
        results: Job → its result in an earlier run of it, in which all other jobs succeeded or were skipped; also those
            of another workflow that it calls.
        outputs: Outputs of steps in that run.
        first: The job.
    """
    yaml = YAML()
    document = yaml.load(root / workflow)
    jobs: dict[str, Any] = document["jobs"]
    again = _find_followers(jobs, first)
    for name in jobs.keys() - again:
        jobs[name] = _keep(root, name, jobs[name], results, outputs)
    text = io.StringIO()
    yaml.dump(document, text)
    return text.getvalue(), frozenset(_list_artifacts(jobs, again))


def _find_followers(jobs: Mapping[str, Any], first: str) -> set[str]:
    """Return a job and all that need it."""
    found = {first}
    for name, job in jobs.items():  # those that a job needs are above it
        needs = job.get("needs", [])
        if found.intersection([needs] if isinstance(needs, str) else needs):
            found.add(name)
    return found


def _keep(
    root: Path, name: str, job: Mapping[str, Any], results: Mapping[str, str], outputs: Outputs
) -> dict[str, Any]:
    """Return a job that ends as it did, with the outputs that it had; those of a called workflow are of its jobs."""
    ran, stated = name in results, _fill_in(job.get("outputs", {}), outputs.get(name, {}))
    if "uses" in job:
        called = YAML().load(root / job["uses"])
        ran = ran or not results.keys().isdisjoint(called["jobs"])
        inside = {
            f"jobs.{inner}.outputs.{output}": value
            for inner, body in called["jobs"].items()
            for output, value in _fill_in(body.get("outputs", {}), outputs.get(inner, {})).items()
        }
        declared = called["on"]["workflow_call"].get("outputs", {})
        stated = _fill_in({output: entry["value"] for output, entry in declared.items()}, inside)
    return {"if": ran, "runs-on": "ubuntu-24.04", "outputs": stated, "steps": [{"run": "true"}]}


def _fill_in(stated: Mapping[str, str], values: Mapping[str, str]) -> dict[str, str]:
    """Return outputs with the values of their expressions; those of other expressions are empty."""
    return {
        name: re.sub(r"\$\{\{ (\S+) \}\}", lambda match: values.get(match[1], ""), expression)
        for name, expression in stated.items()
    }


def read_log(log: str) -> Iterator[dict[str, Any]]:
    """Yield what act printed as JSON: all but its own warnings."""
    return (json.loads(line) for line in log.splitlines() if line.startswith("{"))


def read_failures(log: str) -> str:
    """Return the last words of each step that failed, with the name of its job; empty if none did."""
    printed: dict[tuple[str, str], list[str]] = {}
    failed = {}
    for entry in read_log(log):
        step = (entry.get("job", ""), entry.get("stepID", [""])[0])
        if entry.get("raw_output") or entry.get("command") == "error":
            printed.setdefault(step, []).append(entry["msg"])
        elif entry.get("stepResult") == "failure":
            failed[step] = entry["step"].partition("\n")[0]
    return "\n".join(
        f"{job}: {name}\n{''.join(printed.get((job, number), [])[-_LINES:])}" for (job, number), name in failed.items()
    )


def read_outputs(log: str) -> Outputs:
    """Return the outputs of the steps of a run."""
    found: dict[str, dict[str, str]] = {}
    for entry in read_log(log):
        if entry.get("command") == "set-output":
            expression = f"steps.{entry['stepID'][-1]}.outputs.{entry['name']}"
            found.setdefault(entry["jobID"], {})[expression] = entry["arg"]
    return found


def _list_artifacts(jobs: Mapping[str, Any], names: Collection[str]) -> list[str]:
    steps = [step for name in names for step in jobs[name].get("steps", [])]
    return [step["with"]["name"] for step in steps if step.get("uses", "").startswith("actions/upload-artifact@")]

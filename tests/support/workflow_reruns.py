# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Run some jobs of a workflow again, as the server does on request; act always runs all of them."""

from __future__ import annotations

import io
import json
import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from ruamel.yaml import YAML

Outputs = Mapping[str, Mapping[str, str]]  # job → expression of an output of a step → its value


def keep_jobs(workflow: str, results: Mapping[str, str], outputs: Outputs, first: str) -> tuple[str, frozenset[str]]:
    """Return a workflow in which only a job, and those that need it, do anything; and the artifacts that these make.

    Args:
        workflow: The workflow.
        results: Job → its result in an earlier run of it, in which all other jobs succeeded or were skipped; also those
            of another workflow that it calls.
        outputs: Outputs of steps in that run.
        first: The job.
    """
    yaml = YAML()
    document = yaml.load(workflow)
    jobs: dict[str, Any] = document["jobs"]
    again = _find_followers(jobs, first)
    called = bool(results.keys() - jobs.keys())
    for name in jobs.keys() - again:
        ran = called if "uses" in jobs[name] else name in results
        jobs[name] = _keep(jobs[name], outputs.get(name, {}), ran=ran)
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


def _keep(job: Mapping[str, Any], outputs: Mapping[str, str], *, ran: bool) -> dict[str, Any]:
    """Return a job that ends as it did, with the outputs that it had."""
    stated = {
        name: re.sub(r"\$\{\{ (\S+) \}\}", lambda match: outputs.get(match[1], ""), expression)
        for name, expression in job.get("outputs", {}).items()
    }
    return {"if": ran, "runs-on": "ubuntu-24.04", "outputs": stated, "steps": [{"run": "true"}]}


def read_log(log: str) -> Iterator[dict[str, Any]]:
    """Yield what act printed as JSON: all but its own warnings."""
    return (json.loads(line) for line in log.splitlines() if line.startswith("{"))


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

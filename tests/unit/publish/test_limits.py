# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Tests of what a destination takes: names, sizes, the number of files, labels and variants."""

from __future__ import annotations

from dataclasses import replace

from pjrtwheel.publish.destinations import Destination, Kind
from pjrtwheel.publish.limits import check_limits
from release_entries import entry_of

ANY = Destination(Kind.FOLDER, "anywhere", "takes all", variants=True)
CPU = entry_of("jaxlib_cpu-1.2.3+split.1-cp312-abi3-manylinux_2_27_x86_64.whl", size=100)
VARIANT = entry_of("jaxlib_auto-1.2.3-1-py3-none-any-cpu.whl", size=50)


def test_a_place_without_limits_takes_everything() -> None:
    """Not even a number of documents."""
    assert list(check_limits(ANY, [CPU, VARIANT], documents=["a"] * 2000)) == []


def test_a_file_may_have_exactly_the_limit() -> None:
    """One byte more is refused, with both figures."""
    assert list(check_limits(replace(ANY, file_limit=100), [CPU])) == []
    assert list(check_limits(replace(ANY, file_limit=99), [CPU, VARIANT])) == [
        f"{CPU.filename} has 100 bytes, anywhere takes files of at most 99"
    ]


def test_documents_count_where_they_are_taken() -> None:
    """A place that takes wheels alone has no room for them to use up."""
    limited = replace(ANY, file_count=2)
    assert list(check_limits(limited, [CPU, VARIANT])) == []
    assert list(check_limits(replace(limited, documents=False), [CPU, VARIANT], documents=["a", "b", "c"])) == []
    assert list(check_limits(limited, [CPU, VARIANT], documents=["a", "b", "c"])) == [
        "anywhere takes 2 files of one release, this one has 5"
    ]


def test_metadata_counts_where_it_is_a_file_of_its_own() -> None:
    """A GitHub Release has an asset of METADATA next to each wheel."""
    limited = replace(ANY, kind=Kind.GITHUB, file_count=5)
    assert list(check_limits(limited, [CPU, VARIANT], documents=["a"])) == []
    assert list(check_limits(limited, [CPU, VARIANT], documents=["a", "b"])) == [
        "anywhere takes 5 files of one release, this one has 6 (with METADATA of each wheel)"
    ]


def test_only_our_projects_go_where_a_project_has_to_opt_in() -> None:
    """Each project is named once, in its normal spelling."""
    ours = replace(ANY, opt_in=True, names=("JAXlib.Auto",))
    assert list(check_limits(ours, [CPU, CPU, VARIANT])) == [
        "jaxlib-cpu is not ours at anywhere: it is not in its names in releases/destinations.toml"
    ]
    assert list(check_limits(replace(ours, opt_in=False), [CPU])) == []


def test_labels_are_refused_where_they_are_not_taken() -> None:
    """With the files in order of name, of which there may be many."""
    refusing = replace(ANY, labels=False)
    assert list(check_limits(refusing, [VARIANT, CPU])) == [f"anywhere takes no local version label: {CPU.filename}"]
    several = [replace(CPU, filename=f"{letter}.whl") for letter in "cab"]
    assert list(check_limits(refusing, several)) == ["anywhere takes no local version label: a.whl, b.whl and 1 more"]


def test_variants_do_not_count_where_they_are_not_published() -> None:
    """Neither their size, nor their number, nor their project."""
    limited = replace(ANY, file_limit=40, file_count=1, opt_in=True)
    assert len(list(check_limits(limited, [VARIANT, VARIANT]))) == 1 + 2 + 1
    assert list(check_limits(replace(limited, variants=False), [VARIANT, VARIANT])) == []

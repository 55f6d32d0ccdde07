# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The text files of a wheel: names, RECORD, METADATA, WHEEL, SBOM, manifest."""

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pjrtwheel.errors import UsageError, WheelError
from pjrtwheel.wheel.members import Member, RecordEntry, encode_digest, format_record, parse_record
from pjrtwheel.wheel.metadata import add_extras, platform_marker
from pjrtwheel.wheel.names import WheelName, parse_name
from pjrtwheel.wheel.plan import PluginSpec, parse_manifest
from pjrtwheel.wheel.sbom import format_sbom
from release_under_test import BACKENDS

NAME = WheelName("jaxlib-cpu", "1.2.3", "", "cp312-abi3-manylinux_2_27_x86_64")
PROVENANCE: dict[str, Any] = {
    "provider": "prebuilt",
    "project": "some-plugin",
    "version": "1.2.3",
    "filename": "some_plugin-1.2.3-py3-none-any.whl",
    "sha256": "ab" * 32,
    "member": "some_plugin/plugin.so",
    "xla_commit": None,
    "licenses": [],
}


@pytest.mark.parametrize(
    ("filename", "name"),
    [
        ("jaxlib_cpu-1.2.3-cp312-abi3-manylinux_2_27_x86_64.whl", NAME),
        ("jaxlib-1.2.3-1-cp312-cp312-manylinux_2_27_x86_64.whl",
         WheelName("jaxlib", "1.2.3", "1", "cp312-cp312-manylinux_2_27_x86_64")),
        ("Demo.Pkg-1.0-py2.py3-none-any.whl", WheelName("demo-pkg", "1.0", "", "py2.py3-none-any")),
        ("jaxlib_auto-1.0-py3-none-any-null.whl", WheelName("jaxlib-auto", "1.0", "", "py3-none-any", "null")),
    ],
    ids=["plugin", "build tag", "old-fashioned name", "variant"],
)  # fmt: skip
def test_names_are_taken_apart(filename: str, name: WheelName) -> None:
    """Each part of a file name is found."""
    assert parse_name(filename) == name


@given(st.dictionaries(st.text("aé/,\"' ", min_size=1), st.binary(min_size=32, max_size=32)))
def test_record_is_read_back(digests: dict[str, bytes]) -> None:
    """Whatever a member is called, RECORD says about it what was written."""
    members = {path: Member(len(path), digest.hex()) for path, digest in digests.items() if path != "d/RECORD"}
    entries = {path: RecordEntry(encode_digest(member.sha256), member.size) for path, member in members.items()}
    assert parse_record(format_record(members, "d/RECORD")) == entries | {"d/RECORD": RecordEntry("", None)}


@pytest.mark.parametrize(
    "text",
    ["a,b\n", "a,,\na,,\n", "a,,many\n", "a" * 200_000 + ",,\n"],
    ids=["two fields", "twice", "no number", "no CSV"],
)
def test_malformed_record(text: str) -> None:
    """A RECORD that cannot be trusted is refused."""
    with pytest.raises(ValueError, match=r"RECORD|invalid literal"):
        parse_record(text)


def test_extras_are_added() -> None:
    """Upstream's METADATA gains one extra for each backend, and changes nowhere else."""
    upstream = "Name: jaxlib\nRequires-Dist: scipy>=1.14\nDynamic: license\n\nRequires-Dist: in the text\n"
    assert add_extras(upstream, [BACKENDS["cpu"]], "1.2.3") == (
        "Name: jaxlib\nRequires-Dist: scipy>=1.14\nProvides-Extra: cpu\n"
        'Requires-Dist: jaxlib-cpu==1.2.3; sys_platform == "linux" and extra == "cpu"\n'
        "Dynamic: license\n\nRequires-Dist: in the text\n"
    )


@pytest.mark.parametrize(
    ("platforms", "marker"),
    [
        (["linux_aarch64"], 'sys_platform == "linux" and platform_machine == "aarch64"'),
        (["macos_arm64", "linux_x86_64", "linux_aarch64"], 'sys_platform == "linux" or sys_platform == "darwin"'),
        (["windows_x86_64"], 'sys_platform == "win32"'),
        (["vax"], ""),
    ],
)
def test_an_extra_asks_for_its_wheel_where_there_is_one(platforms: list[str], marker: str) -> None:
    """By system, and by processor only where we have wheels for another one of that system."""
    assert platform_marker(platforms) == marker


def test_sbom_names_origin_and_revision() -> None:
    """The bill of materials states what the library was made from, and each reference is there once."""
    document = json.loads(format_sbom(NAME, PROVENANCE | {"xla_commit": "c0ffee"}))
    assert [component["bom-ref"] for component in document["components"]] == [
        "pkg:pypi/some-plugin@1.2.3",
        "pkg:github/openxla/xla@c0ffee",
    ]
    assert document["components"][0]["hashes"] == [{"alg": "SHA-256", "content": "ab" * 32}]
    assert document["metadata"]["component"]["purl"] == f"pkg:pypi/jaxlib-cpu@1.2.3?file_name={NAME.filename}"
    assert document["serialNumber"] != json.loads(format_sbom(NAME, PROVENANCE))["serialNumber"]
    assert set(document["metadata"]) == {"component"}, "a time of building would differ from build to build"


def test_sbom_of_an_unknown_origin() -> None:
    """A library of which nothing is known gives no component, and no error."""
    assert "components" not in json.loads(format_sbom(NAME, dict.fromkeys(PROVENANCE)))


def manifest(**changes: Any) -> str:
    """Return a manifest of kind plugin."""
    table = {
        "schema": 1, "kind": "plugin", "platform": "linux_x86_64", "release": "r.toml", "backend": "b.toml",
        "provider": "prebuilt", "readme": "README.md", "provenance": "p.json", "files": {"b": "2", "a": "1"},
        "licenses": {"LICENSE": "l"},
    }  # fmt: skip
    return json.dumps({key: value for key, value in (table | changes).items() if value is not None})


def test_plugin_manifest() -> None:
    """Every key lands in its place, and order in the manifest does not matter."""
    spec = parse_manifest(manifest())
    assert isinstance(spec, PluginSpec)
    assert (spec.platform.name, list(spec.files.items())) == ("linux_x86_64", [("a", Path("1")), ("b", Path("2"))])


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("[]", "[]"),
        (manifest(schema=2), "2"),
        (manifest(kind="sdist"), "'sdist'"),
        (manifest(files=None), "files"),
        (manifest(tools={"cuobjdump": 1}), "tools.cuobjdump"),
        (manifest(wheel="w"), "wheel"),
        (manifest(platform="windows"), "'windows'"),
    ],
    ids=["syntax", "depth", "type", "schema", "kind", "missing", "wrong type", "unknown", "platform"],
)
def test_malformed_manifest(text: str, value: str) -> None:
    """A manifest that is not understood in full is refused."""
    with pytest.raises((UsageError, WheelError)) as caught:
        parse_manifest(text)
    assert value in caught.value.what

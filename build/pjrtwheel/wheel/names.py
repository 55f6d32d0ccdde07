# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""Names and tags of wheels (PEP 427, PEP 503, PEP 425), and the labels of variants (PEP 825)."""

import contextlib
import itertools
import re
from dataclasses import dataclass
from pathlib import Path

from packaging.tags import Tag, cpython_tags
from packaging.utils import InvalidWheelFilename, canonicalize_name, parse_wheel_filename
from packaging.version import InvalidVersion, Version

from pjrtwheel.abis import python_version
from pjrtwheel.backend import FILENAME
from pjrtwheel.errors import WheelError
from pjrtwheel.platforms import PLATFORMS, Platform

# What lies next to a wheel under its name: METADATA (PEP 658), attestations as an index serves them (PEP 740), and one
# as twine and pypi-attestations write it.
METADATA_SUFFIX = ".metadata"
PROVENANCE_SUFFIX = ".provenance"
ATTESTATION_SUFFIX = ".publish.attestation"
NULL = "null"  # the label of the variant without properties (PEP 825)
VARIANTS_SUFFIX = "-variants.json"  # the list of variants (PEP 825) of a project and version

FILENAME_FORM = "NAME-VERSION-PYTHON-ABI-PLATFORM.whl"


@dataclass(frozen=True, slots=True)
class WheelName:
    """A wheel's file name in its parts.

    Attributes:
        distribution: Normalized project name, such as `jaxlib-cpu`.
        version: Version in normal form.
        build: Build tag such as `1`; empty when there is none.
        tag: Compressed tag set, such as `cp312-abi3-manylinux_2_27_x86_64`.
        label: What distinguishes a variant from the others of its release; empty for any other wheel.
    """

    distribution: str
    version: str
    build: str
    tag: str
    label: str = ""

    @property
    def stem(self) -> str:
        """Name and version as in file and directory names, such as `jaxlib_cpu-0.11.2`."""
        return f"{self.distribution.replace('-', '_')}-{self.version}"

    @property
    def filename(self) -> str:
        """The file name."""
        return "-".join(filter(None, (self.stem, self.build, self.tag, self.label))) + ".whl"

    @property
    def dist_info(self) -> str:
        """The directory of the wheel's metadata."""
        return f"{self.stem}.dist-info"

    @property
    def short(self) -> str:
        """Project and Pythons, as `jaxlib cp312` or `jaxlib-cpu cp312-abi3`: what differs between wheels of a set."""
        python, abi = (part.partition(".")[0] for part in self.tag.split("-")[:2])
        tag = python if abi == "none" else abi if abi.startswith(python) else f"{python}-{abi}"
        return " ".join(filter(None, (self.distribution, tag, self.label)))

    @property
    def python(self) -> str:
        """The one Python that it is for, by its ABI tag; empty for a wheel of several or any."""
        abi = self.tag.split("-")[1]
        return abi if re.fullmatch(r"cp\d{2,}t?", abi) else ""

    @property
    def release(self) -> str:
        """The version without the label of a set (PEP 440), such as `0.11.2`."""
        return Version(self.version).public

    @property
    def build_order(self) -> tuple[()] | tuple[int, str]:
        """What wheels of one version are ordered by: the number that a build tag begins with, then the rest of it."""
        number = "".join(itertools.takewhile(str.isdigit, self.build))
        return (int(number), self.build.removeprefix(number)) if number else ()

    def is_of(self, project: str, version: str) -> bool:
        """Return whether it names this project and version, which may be any text; each in any spelling."""
        try:
            return (canonicalize_name(project), Version(version)) == (self.distribution, Version(self.version))
        except InvalidVersion:
            return False

    @property
    def tags(self) -> tuple[Tag, ...]:
        """Every single tag of the compressed set, in the order of the file name."""
        python, abi, platform = (part.split(".") for part in self.tag.split("-"))
        return tuple(Tag(p, a, m) for p in python for a in abi for m in platform)

    @property
    def requirement(self) -> str:
        """The requirement of this very version; `==` would accept one with a local label as well (PEP 440)."""
        return f"{self.distribution}==={self.version}"

    @property
    def platform(self) -> Platform | None:
        """The platform of the wheel; None for a tag of any or another platform."""
        tags = self.tag.rsplit("-", 1)[-1].split(".")
        return next((entry for entry in PLATFORMS.values() if all(map(entry.has_tag, tags))), None)

    def fits(self, python: str) -> bool:
        """Whether the wheel is for a Python, by its ABI tag such as `cp313`; see `fits`."""
        return fits(self.tag, python)


def make_name(distribution: str, version: str, tag: str, build: str = "", label: str = "") -> WheelName:
    """Normalize the parts of a wheel's name."""
    return WheelName(canonicalize_name(distribution), str(Version(version)), build, tag, label)


def parse_name(filename: str) -> WheelName:
    """Take a wheel's file name apart.

    Raises:
        WheelError: It is not the name of a wheel.
    """
    plain, label = split_label(filename)
    try:
        name, version, build, _ = parse_wheel_filename(plain)
    except InvalidWheelFilename as error:
        raise WheelError(
            f"not a wheel filename: {filename!r} (expected {FILENAME_FORM})",
            cause=str(error).partition(": '")[0],  # the name once more
        ) from error
    tag = "-".join(plain.removesuffix(".whl").rsplit("-", 3)[1:])
    return WheelName(name, str(version), "".join(map(str, build)), tag, label)


def fits(tag: str, python: str) -> bool:
    """Whether installers take a compressed tag set for a Python, which is named by its ABI tag, such as `cp314t`.

    >>> fits("cp312-abi3-manylinux_2_27_x86_64", "cp313"), fits("cp312-cp312-manylinux_2_27_x86_64", "cp313")
    (True, False)
    >>> fits("cp312-abi3-manylinux_2_27_x86_64", "cp314t"), fits("cp315-abi3.abi3t-linux_x86_64", "cp316t")
    (False, True)
    """
    interpreters, abis, _ = (part.split(".") for part in tag.split("-"))
    taken = {(known.interpreter, known.abi) for known in cpython_tags(python_version(python), [python], ["any"])}
    return not taken.isdisjoint((interpreter, abi) for interpreter in interpreters for abi in abis)


def split_label(filename: str) -> tuple[str, str]:
    """Return a file name without the label of a variant, and the label: no other reader of names accepts one.

    >>> [split_label(f"a-1-{rest}.whl")[1] for rest in ("py3-none-any", "1-py3-none-any", "py3-none-any-null")]
    ['', '', 'null']
    """
    parts = filename.removesuffix(".whl").split("-")
    if len(parts) == 7 or (len(parts) == 6 and not parts[2][:1].isdigit()):
        return "-".join(parts[:-1]) + ".whl", parts[-1]
    return filename, ""


def is_variant(filename: str) -> bool:
    """Whether a wheel is a variant, by its file name."""
    return bool(split_label(filename)[1])


def backend_member(distribution: str) -> str:
    """Return the member of a plugin's wheel that describes its backend.

    >>> backend_member("jaxlib-foo-x")
    'jaxlib_foo_x/backend.toml'
    """
    return f"{distribution.replace('-', '_')}/{FILENAME}"


def find_name(filename: str) -> WheelName | None:
    """Return the parts of a wheel's file name; nothing for a file that only seems to be a wheel."""
    with contextlib.suppress(WheelError):
        return parse_name(filename)
    return None


def find_plain_wheels(folder: Path) -> dict[Path, WheelName]:
    """Return the wheels of a folder in order, without variants and files that only seem to be wheels."""
    paths = sorted(path for path in folder.glob("*.whl") if not is_variant(path.name))
    return {path: name for path in paths if (name := find_name(path.name))}


def requires_python(python_tag: str) -> str:
    """Return the `Requires-Python` of a wheel for one Python and later.

    >>> requires_python("cp312")
    '>=3.12'
    """
    return ">={}.{}".format(*python_version(python_tag))

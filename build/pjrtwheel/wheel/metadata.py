# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The text files of `.dist-info`: METADATA (core metadata 2.4, PEP 639), WHEEL and entry_points.txt."""

import contextlib
import re
from collections.abc import Collection, Iterable, Iterator, Sequence

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.markers import Marker
from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from pjrtwheel.backend import Backend
from pjrtwheel.errors import WheelError
from pjrtwheel.platforms import PLATFORMS
from pjrtwheel.release.model import Override, Release
from pjrtwheel.release.wheels import extras_of
from pjrtwheel.wheel.names import WheelName, requires_python

_ENTRY_POINT_GROUP = "jax_plugins"
GENERATOR = "pjrtwheel 0.1.0"
PROVENANCE_FILENAME = "provenance.json"
_LICENSE = "Apache-2.0"
_README_TYPE = "text/markdown"
_CLASSIFIERS = (
    "Development Status :: 4 - Beta",
    "Operating System :: POSIX :: Linux",
    "Programming Language :: Python :: Implementation :: CPython",
    "Topic :: Scientific/Engineering",
)


def plugin_requires(
    name: WheelName, backend: Backend, release: Release, jaxlib: str, requirement: str
) -> tuple[str, ...]:
    """Return what a plugin wheel requires: `jaxlib` and kernels of its set, the backend's needs, and its extras.

    `jaxlib` is that of its lock, and `requirement` names the distribution that carries the library, where this wheel
    does not.
    """
    own = [jaxlib]
    with_kernels = [platform for platform in backend.tags if release.kernels(backend.name, platform)]
    if backend.kernels and with_kernels:
        where = platform_marker(with_kernels) if len(with_kernels) < len(backend.tags) else ""
        own.append(f"{backend.kernels_distribution}=={name.version}" + (f"; {where}" if where else ""))
    always = [*own, *backend.requires, *filter(None, [requirement])]
    return (
        *always,
        *(_for_extra(need, extra) for extra, needs in extras_of(backend, release).items() for need in needs),
    )


def jaxlib_extras(backends: Iterable[Backend], version: str) -> dict[str, str]:
    """Return the extras of `jaxlib`, and the wheel that each asks for, on the platforms for which there is one.

    They are the same in the wheels of all platforms. uv reads METADATA of one wheel of a version and takes it for that
    of all; elsewhere an extra then asks for nothing, and JAX has the client for the CPU that is part of `jaxlib`.

    Raises:
        WheelError: Two backends want the same extra.
    """
    extras: dict[str, str] = {}
    for backend in backends:
        for extra, chosen in backend.jaxlib_extras.items():
            if extra in extras:
                raise WheelError(f"{backend.path} gives jaxlib the extra {extra!r}, as another backend does")
            options = f"[{','.join(chosen)}]" if chosen else ""
            where = platform_marker(backend.tags)
            extras[extra] = f"{backend.distribution}{options}=={version}" + (f"; {where}" if where else "")
    return extras


def platform_marker(names: Collection[str]) -> str:
    """Return the environment marker that holds on these platforms and no others of ours (PEP 508).

    >>> platform_marker(["linux_x86_64"]), platform_marker(["linux_x86_64", "linux_aarch64"])
    ('sys_platform == "linux" and platform_machine == "x86_64"', 'sys_platform == "linux"')
    """
    markers: dict[str, None] = {}
    for platform in (entry for entry in PLATFORMS.values() if entry.name in names):
        alike = {entry.name for entry in PLATFORMS.values() if entry.system == platform.system}
        machine = "" if alike <= set(names) else f' and platform_machine == "{platform.architecture}"'
        markers[platform.marker + machine] = None
    return " or ".join(markers)


def _for_extra(requirement: str, extra: str) -> str:
    """Return a requirement that holds for one extra only (PEP 508).

    >>> _for_extra("a>=1", "x"), _for_extra('a; python_version < "3.13" or os_name == "posix"', "x")
    ('a>=1; extra == "x"', 'a; (python_version < "3.13" or os_name == "posix") and extra == "x"')
    """
    parsed = Requirement(requirement)
    if parsed.marker is None:
        return f'{requirement}; extra == "{extra}"'  # as it was written: a Requirement would sort its bounds
    parsed.marker = Marker(f'({parsed.marker}) and extra == "{extra}"')
    return str(parsed)


def _is_exact(requirement: Requirement) -> bool:
    """Whether a requirement allows one version, wherever it is read.

    >>> [_is_exact(Requirement(text)) for text in ("a==1.0", "a==1.*", "a==1.0; extra == 'b'", "a==1.0,!=1.0")]
    [True, False, False, False]
    """
    specifiers = [(item.operator, item.version.endswith(".*")) for item in requirement.specifier]
    return specifiers == [("==", False)] and requirement.marker is None


def find_requirement(requires: Iterable[str], project: str) -> Requirement | None:
    """Return the first requirement that allows one version of a project."""
    for requirement in read_requirements(requires):
        if canonicalize_name(requirement.name) == canonicalize_name(project) and _is_exact(requirement):
            return requirement
    return None


def read_requirements(lines: Iterable[str]) -> Iterator[Requirement]:
    """Yield what METADATA requires, without the lines that cannot be read."""
    for line in lines:
        with contextlib.suppress(InvalidRequirement):
            yield Requirement(line)


def kernels_metadata(name: WheelName, backend: Backend, *, licenses: Iterable[str]) -> str:
    """Return METADATA of a wheel with kernels; see `core_metadata`."""
    summary = f"GPU kernels for one Python, which {backend.distribution} requires"
    readme = f"JAX's own kernels for [{backend.distribution}]: {backend.summary}.\n"
    return core_metadata(name, backend, summary, [f"jaxlib=={name.version}"], licenses=licenses, readme=readme)


def _find_license(backend: Backend) -> str:
    """Return the licence of a wheel: that of our loader and of the library in it; empty if nobody states the latter.

    Raises:
        WheelError: It is no SPDX expression.
    """
    if not backend.prebuilt.bundled or backend.license == _LICENSE:
        return _LICENSE
    stated = f"({backend.license})" if " " in backend.license else backend.license
    try:
        return stated and canonicalize_license_expression(f"{_LICENSE} AND {stated}")
    except InvalidLicenseExpression as error:
        raise WheelError(
            f"the licence of {backend.distribution} is no SPDX expression: {backend.license!r}",
            remedy="write a name of spdx.org/licenses, or LicenseRef- and a name of your own",
        ) from error


def core_metadata(
    name: WheelName, backend: Backend, summary: str, requires: Iterable[str], *, licenses: Iterable[str], readme: str
) -> str:
    """Return METADATA; `licenses` are file names below `licenses/`, and `readme` is Markdown."""
    fields = [
        ("Metadata-Version", "2.4"),
        ("Name", name.distribution),
        ("Version", name.version),
        ("Summary", summary),
        *(("Author-email" if "<" in author else "Author", author) for author in filter(None, [backend.author])),
        *(("License-Expression", text) for text in filter(None, [_find_license(backend)])),
        *(("License-File", file) for file in licenses),
        *(("Project-URL", f"{label}, {address}") for label, address in backend.urls.items() if address),
        *(("Classifier", classifier) for classifier in _CLASSIFIERS),
        # That of the kernels as well: uv reads METADATA of one wheel of a version and takes it for that of all.
        ("Requires-Python", requires_python(backend.python_tag)),
        *(("Requires-Dist", need) for need in requires),
        *(("Provides-Extra", extra) for extra in backend.extras if name.distribution == backend.distribution),
        ("Description-Content-Type", _README_TYPE),
    ]
    return "".join(f"{key}: {value}\n" for key, value in fields) + f"\n{readme}"


def describe_override(override: Override | None, release: str) -> str:
    """Return what the description of a wheel says, at its end, of a library of another release; empty if it is not."""
    if override is None:
        return ""
    return f"\n## Library of {override.version}\n\nIn this wheel of {release}, by decision: {override.reason}.\n"


def replace_version(metadata: str, version: str) -> str:
    r"""Return METADATA with another version, and the rest as it is.

    >>> replace_version("Name: jaxlib\nVersion: 1.0\n\nVersion: 1.0\n", "1.0+split.1")
    'Name: jaxlib\nVersion: 1.0+split.1\n\nVersion: 1.0\n'
    """
    head, blank, body = metadata.replace("\r\n", "\n").partition("\n\n")
    return re.sub(r"(?im)^version:.*$", f"Version: {version}", head) + blank + body


def add_extras(metadata: str, backends: Sequence[Backend], version: str) -> str:
    r"""Add the extras of all backends to METADATA, and leave the rest as it is.

    >>> add_extras("Name: jaxlib\nRequires-Dist: numpy\n\nText\n", [], "1.0")
    'Name: jaxlib\nRequires-Dist: numpy\n\nText\n'
    """
    head, blank, body = metadata.replace("\r\n", "\n").partition("\n\n")
    lines = head.removesuffix("\n").split("\n")
    extras = jaxlib_extras(backends, version)
    added = [f"Provides-Extra: {extra}" for extra in extras]
    added += [f"Requires-Dist: {_for_extra(requirement, extra)}" for extra, requirement in extras.items()]
    # After the last requirement, where a reader looks for them.
    place = max(
        (index for index, line in enumerate(lines) if line.startswith("Requires-Dist:")), default=len(lines) - 1
    )
    lines[place + 1 : place + 1] = added
    return "\n".join(lines) + blank + body


def read_field(metadata: str, field: str) -> tuple[str, ...]:
    r"""Return every value of a field of METADATA or WHEEL.

    >>> read_field("Name: a\nRequires-Dist: b\nRequires-Dist: c\n\nRequires-Dist: d", "Requires-Dist")
    ('b', 'c')
    """
    head = metadata.replace("\r\n", "\n").partition("\n\n")[0]
    return tuple(re.findall(rf"^{re.escape(field)}:[ \t]*(.*?)[ \t]*$", head, re.MULTILINE | re.IGNORECASE))


def find_other_name(metadata: str, name: WheelName) -> str:
    r"""Return which project and version METADATA names, if they are not those of the file name, in any spelling.

    >>> find_other_name("Name: A\nVersion: 1.0", WheelName("a", "1", "", "py3-none-any"))
    ''
    >>> find_other_name("Name: b\nVersion: 1", WheelName("a", "1", "", "py3-none-any"))
    'b 1'
    """
    project, version = ("".join(read_field(metadata, field)[:1]) for field in ("Name", "Version"))
    return "" if name.is_of(project, version) else f"{project} {version}".strip() or "nothing"


def wheel_metadata(name: WheelName, *, purelib: bool = False) -> str:
    """Return the file WHEEL; a pure wheel goes where wheels without libraries go."""
    fields = [
        ("Wheel-Version", "1.0"),
        ("Generator", GENERATOR),
        ("Root-Is-Purelib", str(purelib).lower()),
        *(("Tag", tag) for tag in name.tags),
        *((("Build", name.build),) if name.build else ()),
    ]
    return "".join(f"{key}: {value}\n" for key, value in fields)


def entry_points(backend: Backend) -> str:
    """Return entry_points.txt of a plugin wheel, by which JAX finds it."""
    return f"[{_ENTRY_POINT_GROUP}]\n{backend.pjrt_name} = {backend.package}\n"

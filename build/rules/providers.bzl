# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""What targets of this repository hand to each other."""

FlagInfo = provider(
    doc = "The value of a build setting, or of a fixed value in its place.",
    fields = {"value": "string, or list of string for a flag that takes several"},
)

PythonToolInfo = provider(
    doc = "How an action runs the Python tooling.",
    fields = {
        "environment": "dict: variables that the interpreter needs; all paths are relative to the execution root",
        "inputs": "depset of File: interpreter with all that it needs, tooling and packages",
        "interpreter": "File: the Python to run",
    },
)

CompilerInfo = provider(
    doc = "The pinned C compiler.",
    fields = {
        "executable": "File: the compiler",
        "inputs": "depset of File: the compiler, its headers and libraries",
    },
)

HeadersInfo = provider(
    doc = "C headers that are included with <...>.",
    fields = {
        "directories": "list of string: include directories relative to the execution root, first one wins",
        "files": "depset of File",
    },
)

PjrtLibraryInfo = provider(
    doc = "A PJRT plugin library, whatever provider it came from.",
    fields = {
        "library": "File: the shared library; None if the wheel requires it instead of carrying it",
        "licenses": "list of File: licence texts and notices that go with it",
        "provenance": "dict: where the library came from",
        "requirement": "string: the distribution that brings the library, such as a==1.2; empty if the wheel carries it",
    },
)

KernelsInfo = provider(
    doc = "Extension modules for one Python that JAX imports in addition to a PJRT plugin.",
    fields = {
        "files": "list of File: the modules and the libraries they need",
        "licenses": "list of File: licence texts and notices that go with them",
        "package": "string: the package in which JAX looks for them",
        "provenance": "dict: where they came from",
        "python": "string: The Python, by its ABI tag, such as cp312",
    },
)

BackendInfo = provider(
    doc = "One accelerator: its facts, and the files of its wheel except library and extension.",
    fields = {
        "library_name": "string: file name of the PJRT plugin inside the package",
        "licenses": "list of File: licence texts of the library that are in the backend's directory",
        "loader": "depset of File: the import package that runs inside JAX",
        "package": "string: name of that import package",
        "readme": "File: the long description of the wheel",
        "table": "File: backend.toml",
    },
)

WheelInfo = provider(
    doc = "A finished wheel.",
    fields = {"directory": "File: directory with the wheel and its report.json"},
)

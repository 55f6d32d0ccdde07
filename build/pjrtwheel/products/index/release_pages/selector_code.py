# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The decision functions of `jaxlib-select` as data, which `static/selector.js` calls in a browser.

The picker must decide as `jaxlib-select resolve` does, in the same words. So nothing is written twice: the selector's
own functions, from the one that decides down to all that it uses, become data (`definitions.py`, `syntax.py`), and the
interpreter (`static/python.js`) knows the language only. A new rule or a new vendor of the selector is in the pages
that are written next. If it uses something that the interpreter does not know, writing them fails with its place.
Methods are known by their names, for any type that has one: a list's, called on a string, fails in the browser, where
the picker then gives no answer.
"""

from __future__ import annotations

import pkgutil
from functools import cache
from typing import Any

from jaxlib_select.choose import vendors
from jaxlib_select.facts import Facts, known_releases, load_facts
from jaxlib_select.tables import write
from pjrtwheel.products.index.release_pages.definitions import Definitions

_PACKAGE = "jaxlib_select"
# What the script starts with, by the name under which it looks for it.
_ENTRIES = {
    "decide": f"{_PACKAGE}.choose.resolvers.jax.decide",
    "known_names": f"{_PACKAGE}.choose.resolvers.jax._known_names",
    "find_name": f"{_PACKAGE}.choose.policy.find_name",
    "choice": f"{_PACKAGE}.choose.policy.Choice",
    "machine": f"{_PACKAGE}.machine.model.Machine",
    "facts": f"{_PACKAGE}.facts.Facts",
}
# What reads files or imports modules there is done by `static/selector.js`, from the data that comes with it.
_NATIVE = {
    f"{_PACKAGE}.errors.SelectError": "SelectError",
    f"{_PACKAGE}.facts.load_facts": "load_facts",
    f"{_PACKAGE}.facts.known_releases": "known_releases",
    f"{_PACKAGE}.choose.vendors.find_judge": "find_judge",
    f"{_PACKAGE}.tables.Form": "Form",
    f"{_PACKAGE}.tables.column": "column",
}


@cache
def selector_code() -> dict[str, Any]:
    """Return the functions, and where they begin.

    Raises:
        UnknownSyntaxError: One uses something that the script does not know.
    """
    judges = {
        vendor.name: f"{vendors.__name__}.{vendor.name}.judge" for vendor in pkgutil.iter_modules(vendors.__path__)
    }
    code = Definitions(_PACKAGE, _NATIVE)
    for start in (*_ENTRIES.values(), *judges.values()):
        code.add(start)
    return {
        "definitions": code.finish(),
        "entries": {entry: code.shorten(name) for entry, name in _ENTRIES.items()},
        "judges": {vendor: code.shorten(name) for vendor, name in sorted(judges.items())},
    }


def selector_facts() -> dict[str, Any]:
    """Return what the selector knows of each release, in the form of its files, without what no decision reads."""
    facts: dict[str, Facts] = {release: load_facts(release) for release in known_releases()}
    documents: dict[str, Any] = write(facts)
    for document in documents.values():
        for backend in document["backends"]:
            del backend["sources"]
    return documents

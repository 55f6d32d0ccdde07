# SPDX-FileCopyrightText: The split JAX wheel authors
# SPDX-License-Identifier: Apache-2.0
"""The templates of the release pages, and what these can call."""

from __future__ import annotations

import json
from urllib.parse import quote

import jinja2
from markupsafe import Markup

from pjrtwheel.products.index.release_pages import proof_map, wheel_page


def open_templates() -> jinja2.Environment:
    """Return the templates; whatever they are given is escaped, and a name that they lack is an error."""
    templates = jinja2.Environment(
        loader=jinja2.PackageLoader(__package__, "templates"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    templates.filters |= {
        "megabytes": lambda size: f"{size / 1e6:,.1f} MB" if size >= 1e5 else f"{size / 1e3:,.1f} kB",
        "url": quote,
        "json": as_json,
        "breakable": breakable,
        "code": as_code,
    }
    templates.globals |= {
        "legend": proof_map.LEGEND,
        "describe_pythons": proof_map.describe_pythons,
        "requirements": wheel_page.group_requirements,
        "changes": wheel_page.group_changes,
        "origins": wheel_page.list_origins,
        "facts": wheel_page.list_facts,
    }
    return templates


def as_json(value: object) -> Markup:
    """Return JSON as the content of a script element, in which no string can end it (WHATWG HTML, 4.12.1.3)."""
    text = json.dumps(value, ensure_ascii=True, separators=(",", ":"))
    return Markup(text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026"))  # noqa: S704


def breakable(text: str) -> Markup:
    """Return a file name that may be broken where its parts end."""
    parts = Markup.escape(text)
    for sign in ("-", "_", "."):
        parts = parts.replace(sign, Markup(f"{sign}<wbr>"))  # noqa: S704  # three constants
    return parts


def as_code(text: str) -> Markup:
    """Return text in which backticks enclose code."""
    parts = Markup.escape(text).split("`")
    return Markup("").join(Markup("<code>{}</code>").format(part) if i % 2 else part for i, part in enumerate(parts))

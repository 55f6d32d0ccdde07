// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
// Decides as `jaxlib-select resolve` does, with its own functions, which the page holds as data (selector_code.py), and
// does itself what these leave to files and imports: facts, the rules of a vendor, machine files, errors.
"use strict";

class SelectorError extends Error {
  constructor(what, { cause = "", remedy = "" } = {}) {
    super([what, cause, remedy].filter(Boolean).join("\n"));
    Object.assign(this, { name: "SelectError", what, cause, remedy });
  }
}

class Selector {
  constructor({ code, facts }) {
    this.code = code;
    const read = new Map();
    const load = (release) => {
      if (!read.has(release)) read.set(release, this.read(["class", code.entries.facts], facts[release], "facts"));
      return read.get(release);
    };
    this.load = load;
    const { native } = Python;
    this.python = new Python.Interpreter(code.definitions, {
      known_releases: native(0, 0, () => Python.Tuple.from(Object.keys(facts))),
      load_facts: native(1, 1, load),
      find_judge: native(1, 1, (vendor) => (Object.hasOwn(code.judges, vendor) ? this.python.global(code.judges[vendor]) : null)),
      // Columns of a table are fields that may have a form, which is a pattern, what to expect, and how to read it.
      column: native(0, 0, (_, named) => new Python.Field(named), ["*"]),
      Form: native(2, 4, (pattern, expected, parse = null) => ({ pattern: new Python.Pattern(pattern), expected, parse })),
      SelectError: native(1, 1, ([what], named) => new SelectorError(what, named), ["cause", "remedy"]),
    });
  }

  // The decision about a machine, in the form of `jaxlib-select resolve --json`.
  resolve(document, release, asked = "auto") {
    const machine = this.machine(document);
    const call = (entry, ...values) => this.python.call(this.code.entries[entry], ...values);
    const name = call("find_name", call("choice", asked), call("known_names"));
    if (name === null) throw new SelectorError(`unknown backend: ${asked}`);
    return Python.toJson(call("decide", `jax==${release}`, machine, name));
  }

  // Read a machine file; one without a single known key is something else.
  machine(document) {
    const machine = this.read(["class", this.code.entries.machine], document, "");
    const keys = Object.keys(document);
    if (keys.length && !keys.some((key) => Object.hasOwn(machine.fields, key))) {
      throw new SelectorError(`no machine description: none of its keys (${keys.join(", ").slice(0, 60)}) is known`,
        { remedy: "'jaxlib-select detect --json' writes the expected form" });
    }
    return machine;
  }

  platformOf(document) { return this.python.attribute(this.machine(document), "platform"); }

  // The facts about the backends of a release.
  backends(release) { return this.load(release).fields.backends.map((backend) => backend.fields); }

  // Read a value of JSON as the selector's tables do: null is a missing key, unknown keys are passed over.
  read(kind, value, where, form) {
    const fail = (expected) => {
      throw new SelectorError(`${where || "the document"} is ${JSON.stringify(value)?.slice(0, 60)}, expected ${expected}`);
    };
    const [shape, inner] = Array.isArray(kind) ? kind : [kind];
    if (form && (shape !== "list" || inner !== "str")) {
      if (typeof value !== "string" || form.pattern.find("fullmatch", value) === null) fail(form.expected);
      return form.parse ? form.parse([value]) : value;
    }
    if (shape === "list") {
      if (!Array.isArray(value)) fail("a list");
      return Python.Tuple.from(value, (entry, place) => this.read(inner, entry, `${where}[${place}]`, form));
    }
    if (shape === "mapping" || shape === "class") {
      if (value === null || typeof value !== "object" || Array.isArray(value)) fail("an object");
      return shape === "mapping" ? this.readMapping(inner, value, where) : this.readClass(inner, value, where);
    }
    if (shape === "str" && typeof value !== "string") fail("a string");
    if (shape === "str" && !Python.isPrintable(value)) fail("a string that can be printed");
    if (shape === "int" && !Number.isSafeInteger(value)) fail("a whole number");
    if (shape === "bool" && typeof value !== "boolean") fail("true or false");
    return Python.fromJson(value);
  }

  readMapping(inner, value, where) {
    const entries = Object.entries(value).map(([key, entry]) => {
      if (!Python.isPrintable(key)) throw new SelectorError(`${where || "the document"} has keys that cannot be printed`);
      return [key, this.read(inner, entry, `${where}.${key}`)];
    });
    return new Python.Dict(entries);
  }

  readClass(name, value, where) {
    const { type } = this.python.global(name);
    const named = {};
    for (const { name: field, kind, options } of type.columns) {
      const key = options.key || field;
      const entry = Object.hasOwn(value, key) ? value[key] : null;
      const place = where ? `${where}.${key}` : key;
      if (entry !== null) named[field] = this.read(kind, entry, place, options.form);
      else if (!Object.hasOwn(options, "default") && !Object.hasOwn(options, "default_factory")) throw new SelectorError(`${place} is missing`);
    }
    return type.make([], named);
  }
}

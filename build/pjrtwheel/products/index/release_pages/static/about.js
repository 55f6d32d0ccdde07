// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
// The release pages without this script say all that they have to say; with it, the picker answers for one machine.
"use strict";

// --- Decide: evaluate the selector's own functions, which the page holds as data (selector_code.py says how). -------

// Values of Python: lists and tuples are arrays, None is null, numbers, strings and truth values are themselves.
class Dict {
  constructor(pairs = []) {
    this.entries = new Map();
    for (const [key, value] of pairs) this.set(key, value);
  }
  set(key, value) { this.entries.set(keyOf(key), [key, value]); }
  get(key, otherwise = null) { return this.has(key) ? this.entries.get(keyOf(key))[1] : otherwise; }
  has(key) { return this.entries.has(keyOf(key)); }
  keys() { return [...this.entries.values()].map(([key]) => key); }
  values() { return [...this.entries.values()].map(([, value]) => value); }
  items() { return [...this.entries.values()].map(([key, value]) => [key, value]); }
}
class PySet {
  constructor(values = []) { this.entries = new Map(values.map((value) => [keyOf(value), value])); }
  has(value) { return this.entries.has(keyOf(value)); }
  keys() { return [...this.entries.values()]; }
}
class Instance {
  constructor(type, fields) { this.type = type; this.fields = fields; }
}
class SelectorError extends Error {
  constructor(name, what, named) {
    super([what, named.cause, named.remedy].filter(Boolean).join("\n"));
    Object.assign(this, { name, what, cause: named.cause || "", remedy: named.remedy || "" });
  }
}

const keyOf = (value) => JSON.stringify(value);
const listOf = (value) => {
  if (Array.isArray(value)) return value;
  if (typeof value === "string") return [...value];
  return value.keys();
};
const isTrue = (value) => {
  if (Array.isArray(value) || typeof value === "string") return value.length > 0;
  if (value instanceof Dict || value instanceof PySet) return value.entries.size > 0;
  return Boolean(value);
};
const equal = (a, b) => {
  if (Array.isArray(a)) return Array.isArray(b) && a.length === b.length && a.every((v, i) => equal(v, b[i]));
  if (a instanceof Dict) return b instanceof Dict && keyOf(a.items()) === keyOf(b.items());
  if (a instanceof Instance) {
    return b instanceof Instance && a.type === b.type && Object.keys(a.fields).every((k) => equal(a.fields[k], b.fields[k]));
  }
  return a === b || (typeof a !== typeof b && typeof a !== "string" && typeof b !== "string"
    && a !== null && b !== null && Number(a) === Number(b));
};
const order = (a, b) => { // as Python orders numbers, texts and lists of them
  if (Array.isArray(a)) {
    for (let i = 0; i < Math.min(a.length, b.length); i += 1) {
      if (!equal(a[i], b[i])) return order(a[i], b[i]);
    }
    return a.length - b.length;
  }
  return a < b ? -1 : Number(a > b);
};
const contains = (holder, value) => {
  if (typeof holder === "string") return holder.includes(value);
  if (Array.isArray(holder)) return holder.some((entry) => equal(entry, value));
  return holder.has(value);
};
const textOf = (value) => {
  if (value === null) return "None";
  return typeof value === "boolean" ? (value ? "True" : "False") : String(value);
};
const quoted = (value) => (typeof value === "string" ? (value.includes("'") ? `"${value}"` : `'${value}'`) : textOf(value));

const COMPARE = {
  "==": equal, "!=": (a, b) => !equal(a, b), is: (a, b) => a === b, "is not": (a, b) => a !== b,
  "<": (a, b) => order(a, b) < 0, "<=": (a, b) => order(a, b) <= 0,
  ">": (a, b) => order(a, b) > 0, ">=": (a, b) => order(a, b) >= 0,
  in: (a, b) => contains(b, a), "not in": (a, b) => !contains(b, a),
};
const BINARY = {
  "+": (a, b) => (Array.isArray(a) ? [...a, ...b] : a + b),
  "-": (a, b) => (a instanceof PySet ? new PySet(a.keys().filter((v) => !contains(b, v))) : a - b),
  "*": (a, b) => {
    if (typeof a === "string") return a.repeat(Math.max(0, b));
    return Array.isArray(a) ? Array.from({ length: Math.max(0, b) }, () => a).flat() : a * b;
  },
  "|": (a, b) => (a instanceof Dict ? new Dict([...a.items(), ...b.items()]) : new PySet([...a.keys(), ...b.keys()])),
  "&": (a, b) => new PySet(a.keys().filter((v) => contains(b, v))),
};
const strip = (text, characters, start, end) => {
  const [all, drop] = [[...text], characters === undefined ? /\s/ : null];
  const drops = (character) => (drop ? drop.test(character) : characters.includes(character));
  while (start && all.length && drops(all[0])) all.shift();
  while (end && all.length && drops(all[all.length - 1])) all.pop();
  return all.join("");
};
const parts = (text, separator, at) => (at < 0 ? null : [text.slice(0, at), separator, text.slice(at + separator.length)]);
const format = (text, values) => { let next = 0; return text.replace(/\{\}/g, () => textOf(values[next++])); };
const TEXT = { // methods of strings
  lower: (s) => s.toLowerCase(), upper: (s) => s.toUpperCase(), join: (s, values) => listOf(values).join(s),
  strip: (s, c) => strip(s, c, true, true), lstrip: (s, c) => strip(s, c, true, false), rstrip: (s, c) => strip(s, c, false, true),
  startswith: (s, start) => [start].flat().some((one) => s.startsWith(one)),
  endswith: (s, end) => [end].flat().some((one) => s.endsWith(one)),
  split: (s, separator) => (separator === undefined ? s.split(/\s+/).filter(Boolean) : s.split(separator)),
  partition: (s, separator) => parts(s, separator, s.indexOf(separator)) || [s, "", ""],
  rpartition: (s, separator) => parts(s, separator, s.lastIndexOf(separator)) || ["", "", s],
  replace: (s, old, new_) => s.replaceAll(old, new_), format: (s, ...values) => format(s, values),
  removeprefix: (s, start) => (start && s.startsWith(start) ? s.slice(start.length) : s),
  removesuffix: (s, end) => (end && s.endsWith(end) ? s.slice(0, -end.length) : s),
};
const LIST = {
  append: (list, value) => { list.push(value); return null; }, extend: (list, more) => { list.push(...listOf(more)); return null; },
  index: (list, value) => list.findIndex((entry) => equal(entry, value)), count: (list, value) => list.filter((e) => equal(e, value)).length,
};
const DICT = {
  get: (d, key, otherwise = null) => d.get(key, otherwise), keys: (d) => d.keys(), values: (d) => d.values(), items: (d) => d.items(),
  setdefault: (d, key, value = null) => { if (!d.has(key)) d.set(key, value); return d.get(key); },
  update: (d, more) => { for (const [key, value] of pairsOf(more)) d.set(key, value); return null; },
};
const SET = { add: (set, value) => { set.entries.set(keyOf(value), value); return null; } };
const pairsOf = (value) => (value instanceof Dict ? value.items() : listOf(value));
const matchOf = (found) => found && { methods: { group: (_, number = 0) => found[number] ?? null, groups: () => found.slice(1) } };
const regex = (pattern) => ({ methods: {
  match: (_, text) => matchOf(new RegExp(`^(?:${pattern})`).exec(text)),
  fullmatch: (_, text) => matchOf(new RegExp(`^(?:${pattern})$`).exec(text)),
  search: (_, text) => matchOf(new RegExp(pattern).exec(text)),
} });
const sorted = (values, named = {}) => {
  const key = named.key ? (value) => named.key([value], {}) : (value) => value;
  const keyed = listOf(values).map((value, place) => [key(value), place, value]);
  const sign = named.reverse ? -1 : 1; // equal ones keep their order in both directions
  return keyed.sort((a, b) => sign * order(a[0], b[0]) || a[1] - b[1]).map(([, , value]) => value);
};
const extreme = (values, named, sign) => {
  const all = values.length === 1 ? listOf(values[0]) : values;
  if (!all.length && "default" in named) return named.default;
  const key = named.key ? (value) => named.key([value], {}) : (value) => value;
  return all.reduce((best, value) => (sign * order(key(value), key(best)) > 0 ? value : best));
};
const plain = (call) => (values) => call(...values); // a function without named arguments
const compared = (sign) => plain(COMPARE[sign]);
const BUILTINS = {
  len: plain((v) => listOf(v).length), any: plain((v) => listOf(v).some(isTrue)), all: plain((v) => listOf(v).every(isTrue)),
  bool: plain((v) => isTrue(v)), int: plain((v, base = 10) => (typeof v === "string" ? parseInt(v, base) : Number(v))),
  str: plain(textOf), repr: plain(quoted), list: plain((v = []) => [...listOf(v)]), tuple: plain((v = []) => [...listOf(v)]),
  set: plain((v = []) => new PySet(listOf(v))), frozenset: plain((v = []) => new PySet(listOf(v))),
  dict: plain((v = []) => new Dict(pairsOf(v))), iter: plain((v) => [...listOf(v)]), reversed: plain((v) => [...listOf(v)].reverse()),
  next: plain((v, otherwise) => (v.length ? v[0] : otherwise)), enumerate: plain((v) => listOf(v).map((entry, i) => [i, entry])),
  range: plain((a, b) => Array.from({ length: b === undefined ? a : b - a }, (_, i) => (b === undefined ? i : a + i))),
  map: plain((call, ...lists) => listOf(lists[0]).map((_, i) => call(lists.map((l) => listOf(l)[i]), {}))),
  zip: plain((...lists) => Array.from({ length: Math.min(...lists.map((l) => listOf(l).length)) }, (_, i) => lists.map((l) => listOf(l)[i]))),
  sum: plain((v) => listOf(v).reduce((a, b) => a + b, 0)), sorted: (values, named) => sorted(values[0], named),
  min: (values, named) => extreme(values, named, -1), max: (values, named) => extreme(values, named, 1),
  ValueError: (values) => new SelectorError("ValueError", textOf(values[0]), {}),
  "collections.Counter": plain((v) => {
    const counts = new Dict();
    for (const value of listOf(v)) counts.set(value, counts.get(value, 0) + 1);
    return counts;
  }),
  "dataclasses.field": (_, named) => ({ column: named }), column: (_, named) => ({ column: named }),
  "dataclasses.replace": ([instance], named) => new Instance(instance.type, { ...instance.fields, ...named }),
  Form: plain((pattern, expected, parse = null) => ({ pattern, expected, parse })), "re.compile": plain(regex),
  "re.sub": plain((pattern, replacement, text) => text.replace(new RegExp(pattern, "g"), () => replacement)),
  "operator.lt": compared("<"), "operator.le": compared("<="), "operator.gt": compared(">"), "operator.ge": compared(">="),
  "operator.eq": compared("=="), "operator.ne": compared("!="),
};
Object.assign(BUILTINS.dict, { members: { fromkeys: plain((keys, value = null) => new Dict(listOf(keys).map((key) => [key, value]))) } });
Object.assign(BUILTINS.str, { members: Object.fromEntries(Object.entries(TEXT).map(([name, call]) => [name, plain(call)])) });

class Selector {
  constructor({ code, facts }) {
    this.code = code;
    this.globals = new Map();
    this.releases = Object.keys(facts);
    const read = new Map();
    const load = (release) => {
      if (!read.has(release)) read.set(release, this.read(["class", code.entries.facts], facts[release], "facts"));
      return read.get(release);
    };
    this.builtins = {
      ...BUILTINS,
      known_releases: () => this.releases,
      load_facts: plain(load),
      find_judge: plain((vendor) => (vendor in code.judges ? this.global(code.judges[vendor]) : null)),
    };
  }

  // The decision about a machine, in the form of `jaxlib-select resolve --json`.
  resolve(document, release, asked = "auto") {
    const machine = this.machine(document);
    const call = (entry, ...values) => this.global(this.code.entries[entry])(values, {});
    const name = call("find_name", call("choice", asked), call("known_names"));
    if (name === null) throw new SelectorError("UsageError", `unknown backend: ${asked}`, {});
    return toJson(call("decide", `jax==${release}`, machine, name));
  }

  // Read a machine file; one without a single known key is something else.
  machine(document) {
    const kind = ["class", this.code.entries.machine];
    const machine = this.read(kind, document, "");
    const keys = Object.keys(document);
    if (keys.length && !keys.some((key) => key in machine.fields)) {
      throw new SelectorError("MachineError", `no machine description: none of its keys (${keys.join(", ").slice(0, 60)}) is known`,
        { remedy: "'jaxlib-select detect --json' writes the expected form" });
    }
    return machine;
  }

  platformOf(document) { return this.attribute(this.machine(document), "platform"); }

  // The facts about the backends of a release.
  backends(release) { return this.builtins.load_facts([release]).fields.backends.map((backend) => backend.fields); }

  global(name) {
    if (!this.globals.has(name)) this.globals.set(name, this.define(name, this.code.definitions[name]));
    return this.globals.get(name);
  }

  define(name, [kind, content, body]) {
    if (kind === "function") return this.function([kind, content, body], Object.create(null));
    if (kind === "value") return this.evaluate(content, Object.create(null));
    if (kind === "enum") return { members: content.members };
    if (kind === "error") return ([what], named) => new SelectorError(content.name, what, named);
    return this.class(content);
  }

  class(content) {
    const type = { name: content.name, columns: [], methods: content.methods };
    for (const [name, kind, value] of content.fields) {
      const written = value === null ? {} : this.evaluate(value, Object.create(null));
      const isColumn = written !== null && typeof written === "object" && "column" in written;
      const column = isColumn ? written.column : value === null ? {} : { default: written };
      type.columns.push({ name, kind, ...column });
    }
    const make = (values, named) => {
      const fields = {};
      type.columns.forEach((column, place) => {
        if (place < values.length) fields[column.name] = values[place];
        else if (column.name in named) fields[column.name] = named[column.name];
        else fields[column.name] = column.default_factory ? column.default_factory([], {}) : column.default;
      });
      return new Instance(type, fields);
    };
    make.type = type;
    return make;
  }

  // Read a value of JSON as the selector's tables do: null is a missing key, unknown keys are passed over.
  read(kind, value, where, form) {
    const fail = (expected) => {
      throw new SelectorError("MachineError", `${where || "the document"} is ${JSON.stringify(value)?.slice(0, 60)}, expected ${expected}`, {});
    };
    const [shape, inner] = Array.isArray(kind) ? kind : [kind];
    if (form && shape !== "list") {
      if (typeof value !== "string" || !new RegExp(`^(?:${form.pattern})$`).test(value)) fail(form.expected);
      return form.parse ? form.parse([value], {}) : value;
    }
    if (shape === "list") {
      if (form && inner !== "str") return this.read("any", value, where, form);
      if (!Array.isArray(value)) fail("a list");
      return value.map((entry, place) => this.read(inner, entry, `${where}[${place}]`, form));
    }
    if (shape === "mapping" || shape === "class") {
      if (value === null || typeof value !== "object" || Array.isArray(value)) fail("an object");
      if (shape === "mapping") return new Dict(Object.entries(value).map(([key, entry]) => [key, this.read(inner, entry, `${where}.${key}`)]));
      const make = this.global(inner);
      const named = {};
      for (const column of make.type.columns) {
        const entry = value[column.name];
        const place = where ? `${where}.${column.name}` : column.name;
        if (entry !== undefined && entry !== null) named[column.name] = this.read(column.kind, entry, place, column.form);
        else if (!("default" in column) && !column.default_factory) throw new SelectorError("MachineError", `${place} is missing`, {});
      }
      return make([], named);
    }
    if (shape === "str" && typeof value !== "string") fail("a string");
    if (shape === "int" && !Number.isInteger(value)) fail("a whole number");
    if (shape === "bool" && typeof value !== "boolean") fail("true or false");
    return value;
  }

  function([, parameters, body], outer) {
    return (values, named = {}) => {
      const scope = Object.create(outer);
      parameters.forEach(([name, otherwise], place) => {
        if (place < values.length) scope[name] = values[place];
        else scope[name] = name in named ? named[name] : this.evaluate(otherwise, outer);
      });
      const result = this.run(body, scope);
      return result?.returned ?? null;
    };
  }

  run(statements, scope) {
    for (const [kind, ...operands] of statements) {
      const result = this.statement(kind, operands, scope);
      if (result !== undefined) return result;
    }
    return undefined;
  }

  statement(kind, operands, scope) {
    const [first, second, third] = operands;
    switch (kind) {
      case "return": return { returned: first === null ? null : this.evaluate(first, scope) };
      case "assign": this.assign(first, this.evaluate(second, scope), scope); return undefined;
      case "if": return this.run(isTrue(this.evaluate(first, scope)) ? second : third, scope);
      case "for":
        for (const value of listOf(this.evaluate(second, scope))) {
          this.assign(first, value, scope);
          const result = this.run(third, scope);
          if (result?.returned !== undefined) return result;
        }
        return undefined;
      case "continue": return { next: true };
      case "raise": throw this.evaluate(first, scope);
      default: this.evaluate(first, scope); return undefined;
    }
  }

  assign([kind, target, index], value, scope) {
    if (kind === "name") scope[target] = value;
    else if (kind === "item") this.evaluate(target, scope).set(this.evaluate(index, scope), value);
    else {
      const rest = target.findIndex(([inner]) => inner === "rest");
      const values = [...listOf(value)];
      if (rest >= 0) values.splice(rest, 0, values.splice(rest, values.length - target.length + 1));
      target.forEach((part, place) => this.assign(part[0] === "rest" ? part[1] : part, values[place], scope));
    }
  }

  spread(nodes, scope) {
    return nodes.flatMap((node) => (node[0] === "spread" ? listOf(this.evaluate(node[1], scope)) : [this.evaluate(node, scope)]));
  }

  evaluate([kind, first, second, third], scope) {
    const value = (node) => this.evaluate(node, scope);
    switch (kind) {
      case "constant": return first;
      case "name": return scope[first];
      case "global": return this.global(first);
      case "builtin": return this.builtins[first];
      case "attribute": return this.attribute(value(first), second);
      case "call": return value(first)(this.spread(second, scope), Object.fromEntries(Object.entries(third).map(([k, v]) => [k, value(v)])));
      case "binary": return BINARY[first](value(second), value(third));
      case "not": return !isTrue(value(first));
      case "and": case "or": {
        let result = null;
        for (const node of first) {
          result = value(node);
          if (isTrue(result) === (kind === "or")) break;
        }
        return result;
      }
      case "compare": {
        let left = value(first);
        return second.every(([sign, node]) => {
          const [before, right] = [left, value(node)];
          left = right;
          return COMPARE[sign](before, right);
        });
      }
      case "choose": return isTrue(value(first)) ? value(second) : value(third);
      case "sequence": return this.spread(first, scope);
      case "set": return new PySet(this.spread(first, scope));
      case "dict": return new Dict(first.flatMap(([key, node]) => (key === null ? value(node).items() : [[value(key), value(node)]])));
      case "item": {
        const [owner, index] = [value(first), value(second)];
        return owner instanceof Dict ? owner.get(index) : owner.at(index);
      }
      case "slice": return value(first).slice(second === null ? 0 : value(second), third === null ? undefined : value(third));
      case "text": return first.map(([part, node]) => (part === "constant" ? node : (part === "repr" ? quoted : textOf)(value(node)))).join("");
      case "collect": return this.collect(first, second, third, scope);
      case "lambda": return this.function(first, scope);
      case "walrus": { const result = value(second); scope[first] = result; return result; }
      default: throw new Error(`unknown operation ${kind}`);
    }
  }

  collect(kind, nodes, loops, scope) {
    const found = [];
    const loop = (depth, inner) => {
      if (depth === loops.length) { found.push(nodes.map((node) => this.evaluate(node, inner))); return; }
      const [target, values, tests] = loops[depth];
      for (const entry of listOf(this.evaluate(values, inner))) {
        const own = Object.create(inner);
        this.assign(target, entry, own);
        if (tests.every((test) => isTrue(this.evaluate(test, own)))) loop(depth + 1, own);
      }
    };
    loop(0, scope);
    if (kind === "dict") return new Dict(found);
    const values = found.map(([entry]) => entry);
    return kind === "set" ? new PySet(values) : values;
  }

  attribute(owner, name) {
    if (owner instanceof Instance) {
      if (name in owner.fields) return owner.fields[name];
      const [isProperty, code] = owner.type.methods[name];
      const call = this.function(code, Object.create(null));
      return isProperty ? call([owner]) : (values, named) => call([owner, ...values], named);
    }
    if (owner.members) return owner.members[name];
    const methods = typeof owner === "string" ? TEXT : Array.isArray(owner) ? LIST
      : owner instanceof Dict ? DICT : owner instanceof PySet ? SET : owner.methods;
    return (values) => methods[name](owner, ...values);
  }
}

const toJson = (value) => {
  if (Array.isArray(value)) return value.map(toJson);
  if (value instanceof Dict) return Object.fromEntries(value.items().map(([key, entry]) => [key, toJson(entry)]));
  if (value instanceof Instance) return Object.fromEntries(Object.entries(value.fields).map(([key, entry]) => [key, toJson(entry)]));
  return value;
};

// --- The picker ------------------------------------------------------------------------------------------------------

const joinMachines = (...parts) => parts.reduce((all, part) => {
  for (const [key, value] of Object.entries(part)) {
    const both = [value, all[key]].every((entry) => entry && typeof entry === "object" && !Array.isArray(entry));
    all[key] = both ? joinMachines(all[key], value) : value;
  }
  return all;
}, {});
const shellQuote = (word) => (/^[\w.=+-]+$/.test(word) ? word : `"${word}"`);
const fill = (line, values) => line.replace(/\{(\w+)\}/g, (_, name) => values[name]);

// The commands for a decision; picker.py fills them in the same way.
const commandsFor = (data, decision, { release, shell, installer, environment, python, index }) => {
  const own = decision.requirements.find((text) => !text.startsWith("jax==")) || decision.requirements[0];
  const version = own.split("==")[1];
  const commands = data.commands[shell][installer];
  const lines = [...commands[environment], ...(environment === "existing" && !version.includes("+") ? commands.again : [])];
  const values = {
    python, index, rivals: release.rivals.join(" "), bindings: shellQuote(`${data.bindings}==${version}`),
    requirements: [...decision.requirements, ...decision.constraints].map(shellQuote).join(" "),
  };
  const settings = Object.entries(decision.environment).map(([name, value]) => fill(data.variables[shell], { name, value }));
  return [...lines.filter((line) => !line.includes("{rivals}") || release.rivals.length).map((line) => fill(line, values)), ...settings];
};

const element = (name, attributes = {}, ...children) => {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...children);
  return made;
};
const commandBlock = (lines) => {
  const block = element("div", { className: "command" }, element("pre", { tabIndex: 0 }, element("code", { textContent: lines.join("\n") })));
  block.append(copyButton(element("button", { type: "button", className: "copy", textContent: "Copy" })));
  return block;
};

// Within quotes, too, a shell reads $ and ` in an address; as %24 and %60 they name the same.
const escaped = (text) => text.replace(/[^\w.~:/%@=+,[\]-]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
const indexAddress = (path) => shellQuote(escaped(new URL(path, location.href).href.replace(/\/*$/, "/")));
// The tables name the address of the index by a word, because nobody knew it when they were written.
const nameIndex = (note) => {
  const [word, address] = [note.querySelector("code").textContent, indexAddress(note.dataset.address)];
  for (const code of document.querySelectorAll("section .command code")) {
    code.textContent = code.textContent.replace(new RegExp(`\\b${word}\\b`, "g"), () => address);
  }
  note.hidden = true;
};

class Picker {
  constructor(form, answer, data) {
    Object.assign(this, { form, answer, data, selector: new Selector(data) });
    this.index = indexAddress(".");
    form.hidden = answer.hidden = false;
    form.addEventListener("input", () => this.show());
    form.addEventListener("submit", (event) => event.preventDefault());
    this.show();
  }

  get release() { return this.data.releases[Number(this.form.elements.release?.value || 0)]; }

  options(select, entries) { // keeps what was chosen, where it is still there
    const before = select.value;
    const same = select.options.length === entries.length && entries.every(([value, label], i) => select.options[i].value === value && select.options[i].label === label);
    if (same) return;
    select.replaceChildren(...entries.map(([value, label]) => element("option", { value, textContent: label })));
    if (entries.some(([value]) => value === before)) select.value = before;
  }

  // What the form says: a machine, and which backend is asked for.
  read() {
    const { elements } = this.form;
    const names = this.form.querySelector("[data-names]");
    if (names.dataset.release !== this.release.version) {
      names.dataset.release = this.release.version;
      names.replaceChildren(...this.release.names.map(({ name, package: made }) => element("option", { value: `name:${name}`, textContent: `${name}: ${made}` })));
    }
    const system = this.data.systems[Number(elements.system.value)];
    const pasted = elements.machine.value.trim();
    for (const field of [elements.system, elements.accelerator, elements.choice]) field.disabled = Boolean(pasted);
    if (pasted) return { machine: this.parse(pasted), asked: "auto" };
    const question = this.form.querySelector("[data-question]");
    const [, name] = elements.accelerator.value.split("name:");
    const accelerator = name ? { machine: {}, choices: [] } : this.data.accelerators[Number(elements.accelerator.value)];
    question.hidden = accelerator.choices.length === 0;
    question.querySelector("span").textContent = accelerator.question || "";
    this.options(elements.choice, accelerator.choices.map((choice, place) => [String(place), choice.label]));
    const choice = accelerator.choices[Number(elements.choice.value || 0)] || { machine: {} };
    return { machine: joinMachines({}, system.machine, accelerator.machine, choice.machine), asked: name || "auto" };
  }

  parse(text) {
    try {
      return JSON.parse(text);
    } catch (error) {
      throw new SelectorError("MachineError", "this is not JSON", { cause: error.message, remedy: "paste all that 'jaxlib-select detect --json' prints" });
    }
  }

  show() {
    try {
      const { machine, asked } = this.read();
      const decision = this.selector.resolve(machine, this.release.jax, asked);
      const platform = this.selector.platformOf(machine);
      const pythons = this.release.pythons[platform] || [];
      const packages = this.release.packages[platform] || [];
      const { notes } = this.data;
      const missing = [
        ...(pythons.length ? [] : [fill(notes.bindings, { package: this.data.bindings })]),
        ...(decision.requirements.length < 2 || packages.includes(decision.package) ? [] : [fill(notes.package, decision)]),
      ];
      const { elements } = this.form;
      this.options(elements.python, pythons.map((python) => [python, python]));
      elements.python.disabled = pythons.length === 0;
      const shell = this.data.systems.find((system) => system.platform === platform)?.shell || "posix";
      const lines = commandsFor(this.data, decision, {
        release: this.release, shell, installer: elements.installer.value, environment: elements.environment.value,
        python: elements.python.value || "3", index: this.index,
      });
      this.tell(decision, lines, this.data.interpreters[shell][elements.environment.value], [...missing, ...decision.warnings]);
    } catch (error) {
      if (!(error instanceof SelectorError)) throw error;
      this.answer.replaceChildren(element("h2", { textContent: "No answer" }),
        ...[error.what, error.cause, error.remedy].filter(Boolean).map((text) => element("p", { textContent: text })));
      this.answer.className = "answer refused";
    }
  }

  tell(decision, lines, interpreter, notes) {
    const chosen = decision.candidates.find((candidate) => candidate.chosen);
    const others = decision.candidates.filter((candidate) => !candidate.chosen);
    const list = element("dl", { className: "reasons" }, ...others.map((candidate) => element("div", {},
      element("dt", { textContent: candidate.backend }), element("dd", { textContent: candidate.reason }))));
    this.answer.className = "answer";
    this.answer.replaceChildren(
      element("h2", { textContent: decision.requirements.length > 1 ? decision.package : decision.requirements[0] }),
      element("p", { className: "why" }, element("strong", { textContent: `${chosen.backend}: ` }), chosen.reason, "."),
      commandBlock(lines),
      ...notes.map((text) => element("p", { className: "note", textContent: `${text[0].toUpperCase()}${text.slice(1)}.` })),
      element("p", { className: "check" }, "Then see whether it fits: ", element("code", { textContent: this.checkCommand(decision, interpreter) })),
      element("details", {}, element("summary", { textContent: "Why not another one" }), list),
    );
  }

  checkCommand(decision, interpreter) {
    const found = this.selector.backends(this.release.jax).find((backend) => backend.distribution === decision.package);
    return found && found.package && decision.requirements.length > 1 ? `${interpreter} -m ${found.package}` : `${interpreter} -c "import jax; print(jax.devices())"`;
  }
}

// --- Copying, the theme, and the map of proofs -----------------------------------------------------------------------

const copyButton = (button) => {
  const label = button.textContent;
  button.hidden = false;
  button.addEventListener("click", async () => {
    const code = button.parentElement.querySelector("code");
    try {
      await navigator.clipboard.writeText(code.textContent);
    } catch { // refused, or not there over plain http: the user can copy what is selected
      getSelection().selectAllChildren(code);
      document.execCommand("copy");
    }
    button.textContent = "Copied";
    setTimeout(() => { button.textContent = label; }, 1500);
  });
  return button;
};

const startTheme = (button) => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const remember = (value) => { try { localStorage.setItem("theme", value); } catch { /* a file: page may have no storage */ } };
  const recall = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const name = () => { button.textContent = isDark() ? "Light" : "Dark"; button.setAttribute("aria-label", `${button.textContent} theme`); };
  const before = recall();
  if (before) root.dataset.theme = before;
  button.hidden = false;
  button.addEventListener("click", () => { root.dataset.theme = isDark() ? "light" : "dark"; remember(root.dataset.theme); name(); });
  dark.addEventListener("change", name);
  name();
};

// One proof at a time, under its map, instead of a list of all.
const startMaps = (links) => {
  const open = (link, move) => {
    const inner = document.getElementById(link.hash.slice(1));
    const card = inner.closest("details");
    for (const other of card.parentElement.children) { other.hidden = other !== card; other.open = other === card; }
    for (const other of links) other.removeAttribute("aria-current");
    link.setAttribute("aria-current", "true");
    if (move) { card.scrollIntoView({ block: "nearest" }); inner.focus({ preventScroll: true }); }
  };
  for (const panel of document.querySelectorAll(".evidence")) for (const card of panel.children) card.hidden = true;
  for (const link of links) {
    link.addEventListener("click", (event) => { event.preventDefault(); history.replaceState(null, "", link.hash); open(link, true); });
  }
  const named = links.find((link) => link.hash === location.hash);
  if (named) open(named, true);
};

const start = () => {
  startTheme(document.querySelector("[data-theme-switch]"));
  document.querySelectorAll("[data-copy]").forEach(copyButton);
  startMaps([...document.querySelectorAll("[data-proof]")]);
  document.querySelectorAll("[data-address]").forEach(nameIndex);
  const data = document.getElementById("picker-data");
  if (data) new Picker(document.querySelector("[data-picker]"), document.querySelector("[data-answer]"), JSON.parse(data.textContent));
};
if (typeof document !== "undefined") start();

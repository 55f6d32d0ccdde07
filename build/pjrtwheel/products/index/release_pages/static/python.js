// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
// Evaluates Python that syntax.py wrote as nested lists. It knows the language, and of the standard library what
// known_python.py lists; a test compares it with Python itself. Where Python would answer and this does not (numbers
// beyond 2**53, texts of instances, functions as keys), it fails. Members of an enumeration are their numbers.
"use strict";

const Python = (() => {
  class PythonError extends Error {
    constructor(name, message = "") { super(message); this.name = name; }
  }
  const fail = (name, message) => { throw new PythonError(name, message); };
  const mistyped = (message) => fail("TypeError", message);
  const { hasOwn } = Object;

  // --- Values: None is null, whole numbers, strings and truth values are themselves, lists are arrays. ---------------

  class Tuple extends Array {}
  class Dict {
    constructor(pairs = []) {
      this.entries = new Map();
      for (const [key, value] of pairs) this.set(key, value);
    }
    set(key, value) {
      const [id, before] = [keyOf(key), this.entries.get(keyOf(key))];
      this.entries.set(id, [before ? before[0] : key, value]); // Python, too, keeps the first of equal keys
    }
    has(key) { return this.entries.has(keyOf(key)); }
    get(key, otherwise = null) { return this.has(key) ? this.entries.get(keyOf(key))[1] : otherwise; }
    items() { return [...this.entries.values()].map(([key, value]) => Tuple.of(key, value)); }
    * [Symbol.iterator]() { yield* unchanged(this, ([key]) => key); }
  }
  class Counter extends Dict {}
  class PySet {
    constructor(values = [], frozen = false) {
      this.entries = new Map();
      this.frozen = frozen;
      for (const value of values) this.add(value);
    }
    add(value) { if (!this.has(value)) this.entries.set(keyOf(value), value); }
    has(value) { return this.entries.has(keyOf(value)); }
    * [Symbol.iterator]() { yield* unchanged(this, (value) => value); }
  }
  class View { // what keys(), values() and items() return
    constructor(dict, kind) { this.dict = dict; this.kind = kind; }
    * [Symbol.iterator]() {
      yield* unchanged(this.dict, ([key, value]) => ({ keys: key, values: value, items: Tuple.of(key, value) }[this.kind]));
    }
  }
  class Range { constructor(numbers) { this.numbers = numbers; } }
  class Iterator { // ends for good, and a loop that is left early leaves the rest of it
    constructor(inner) { this.inner = inner; }
    [Symbol.iterator]() { return { next: () => this.inner.next() }; }
  }
  class Instance {
    constructor(type, fields) { this.type = type; this.fields = fields; }
  }
  class Field { // what dataclasses.field returns; `options` may have more, of whoever reads such a class
    constructor(options) { this.options = options; }
  }
  class Pattern {
    constructor(source) {
      const text = translate(source);
      const make = (pattern) => new RegExp(pattern, "u");
      this.expressions = { match: make(`^(?:${text})`), fullmatch: make(`^(?:${text})(?![\\s\\S])`), search: make(text) };
      this.everywhere = new RegExp(text, "gu");
    }
    find(how, text) {
      const found = this.expressions[how].exec(checkText(text));
      return found && new Match(found);
    }
  }
  class Match {
    constructor(found) { this.groups = Tuple.from(found, (group) => group ?? null); }
  }

  function* unchanged(holder, pick) {
    const size = holder.entries.size;
    for (const entry of holder.entries.values()) {
      yield pick(entry);
      if (holder.entries.size !== size) fail("RuntimeError", "changed size during iteration");
    }
  }

  const isNumber = (value) => typeof value === "number" || typeof value === "boolean";
  const isDict = (value) => value instanceof Dict;
  // Counts are added where other values are replaced; that is not here.
  const notCounter = (value) => (value instanceof Counter ? fail("NotImplementedError", "a Counter does not do this here") : value);
  const typeOf = (value) => {
    if (value === null) return "NoneType";
    if (typeof value === "string") return "str";
    if (isNumber(value)) return typeof value === "boolean" ? "bool" : "int";
    if (Array.isArray(value)) return value instanceof Tuple ? "tuple" : "list";
    if (isDict(value)) return "dict";
    if (value instanceof PySet) return value.frozen ? "frozenset" : "set";
    if (value instanceof Pattern) return "re.Pattern";
    return value instanceof Match ? "re.Match" : "object";
  };
  const whole = (number) => (Number.isSafeInteger(number) ? number : fail("OverflowError", "too large a number"));
  const checkText = (value) => (typeof value === "string" ? value : mistyped(`expected str, not ${typeOf(value)}`));
  const checkNumber = (value) => (isNumber(value) ? Number(value) : mistyped(`expected int, not ${typeOf(value)}`));

  // What tells equal keys from others.
  const keyOf = (value) => {
    if (value === null) return "None";
    if (isNumber(value)) return `i${Number(value)}`;
    if (typeof value === "string") return `s${value}`;
    if (value instanceof Tuple) return `t${JSON.stringify(Array.from(value, keyOf))}`;
    if (value instanceof PySet && value.frozen) return `f${JSON.stringify([...value.entries.keys()].sort())}`;
    if (value instanceof Instance) return `o${JSON.stringify([value.type.name, ...Object.values(value.fields).map(keyOf)])}`;
    return mistyped(`unhashable type: ${typeOf(value)}`);
  };

  // What a loop goes through; an array or a string, too, gives one value after the other.
  const each = (value) => {
    if (value instanceof Range) return value.numbers;
    const goes = Array.isArray(value) || typeof value === "string" || isDict(value) || value instanceof PySet
      || value instanceof View || value instanceof Iterator;
    return goes ? value : mistyped(`${typeOf(value)} is not iterable`);
  };
  const sizeOf = (value) => {
    if (typeof value === "string") return [...value].length;
    if (Array.isArray(value)) return value.length;
    if (isDict(value) || value instanceof PySet) return value.entries.size;
    if (value instanceof View) return value.dict.entries.size;
    return value instanceof Range ? value.numbers.length : null;
  };
  const isTrue = (value) => (value === null || isNumber(value) ? Boolean(value) : sizeOf(value) !== 0);
  // Sets, and what compares as a set does; nothing for others.
  const setOf = (value) => {
    if (value instanceof PySet) return value;
    return value instanceof View && value.kind !== "values" ? new PySet(value) : null;
  };
  const isWithin = (a, b) => [...a].every((value) => b.has(value));

  const equal = (a, b) => {
    if (a === b) return true;
    if (isNumber(a) && isNumber(b)) return Number(a) === Number(b);
    if (Array.isArray(a)) {
      return Array.isArray(b) && typeOf(a) === typeOf(b) && a.length === b.length && a.every((value, place) => equal(value, b[place]));
    }
    if (a instanceof Counter && b instanceof Counter) { // what is missing is there no times
      return [...a, ...b].every((key) => equal(a.get(key, 0), b.get(key, 0)));
    }
    if (isDict(a)) return isDict(b) && sizeOf(a) === sizeOf(b) && a.items().every(([key, value]) => b.has(key) && equal(value, b.get(key)));
    if (a instanceof Range) return b instanceof Range && equal(a.numbers, b.numbers);
    if (a instanceof Instance) {
      return b instanceof Instance && a.type === b.type && Object.keys(a.fields).every((name) => equal(a.fields[name], b.fields[name]));
    }
    const [first, second] = [setOf(a), setOf(b)];
    return Boolean(first && second) && sizeOf(first) === sizeOf(second) && isWithin(first, second);
  };
  // Negative, zero or positive, for numbers, strings, tuples and lists.
  const order = (a, b) => {
    if (isNumber(a) && isNumber(b)) return a - b;
    const [texts, alike] = [typeof a === "string" && typeof b === "string", Array.isArray(a) && typeOf(a) === typeOf(b)];
    if (!texts && !alike) return mistyped(`${typeOf(a)} and ${typeOf(b)} have no order`);
    const [x, y] = texts ? [a, b].map((text) => Array.from(text, (sign) => sign.codePointAt(0))) : [a, b];
    const place = x.findIndex((value, i) => i >= y.length || !equal(value, y[i]));
    if (place < 0) return x.length - y.length;
    return place < y.length ? order(x[place], y[place]) : 1;
  };
  const ordered = (decide, include) => (a, b) => {
    const [first, second] = [setOf(a), setOf(b)];
    return first && second ? include(first, second) : decide(order(a, b));
  };
  const contains = (holder, value) => {
    if (typeof holder === "string") return holder.includes(checkText(value));
    if (isDict(holder) || holder instanceof PySet) return holder.has(value);
    for (const entry of each(holder)) if (equal(entry, value)) return true;
    return false;
  };
  const COMPARE = {
    "==": equal, "!=": (a, b) => !equal(a, b), is: (a, b) => a === b, "is not": (a, b) => a !== b,
    "<": ordered((found) => found < 0, (a, b) => sizeOf(a) < sizeOf(b) && isWithin(a, b)),
    "<=": ordered((found) => found <= 0, isWithin),
    ">": ordered((found) => found > 0, (a, b) => sizeOf(b) < sizeOf(a) && isWithin(b, a)),
    ">=": ordered((found) => found >= 0, (a, b) => isWithin(b, a)),
    in: (a, b) => contains(b, a), "not in": (a, b) => !contains(b, a),
  };

  const combine = (sign, a, b, choose) => {
    const [first, second] = [setOf(a), setOf(b)];
    if (!first || !second) return mistyped(`${typeOf(a)} ${sign} ${typeOf(b)}`);
    return new PySet(choose([...first], [...second], first, second), first.frozen);
  };
  const bits = (call, a, b) => {
    const found = Number(call(BigInt(Number(a)), BigInt(Number(b))));
    return typeof a === "boolean" && typeof b === "boolean" ? Boolean(found) : found;
  };
  const repeat = (value, times) => {
    const count = Math.max(0, checkNumber(times));
    if (typeof value === "string") return value.repeat(count);
    return value.constructor.from(Array.from({ length: count }, () => [...value]).flat());
  };
  const isSequence = (value) => typeof value === "string" || Array.isArray(value);
  const BINARY = {
    "+": (a, b) => {
      if (isNumber(a) && isNumber(b)) return whole(Number(a) + Number(b));
      if (isSequence(a) && typeOf(a) === typeOf(b)) return a.concat(b);
      return mistyped(`${typeOf(a)} + ${typeOf(b)}`);
    },
    "-": (a, b) => (isNumber(a) && isNumber(b) ? whole(a - b) : combine("-", a, b, (x, _, __, second) => x.filter((v) => !second.has(v)))),
    "*": (a, b) => {
      if (isNumber(a) && isNumber(b)) return whole(a * b) + 0;
      if (isSequence(a)) return repeat(a, b);
      return isSequence(b) ? repeat(b, a) : mistyped(`${typeOf(a)} * ${typeOf(b)}`);
    },
    "|": (a, b) => {
      if (isDict(a) && isDict(b)) return new Dict([...notCounter(a).items(), ...notCounter(b).items()]);
      return isNumber(a) && isNumber(b) ? bits((x, y) => x | y, a, b) : combine("|", a, b, (x, y) => [...x, ...y]);
    },
    "&": (a, b) => (isNumber(a) && isNumber(b) ? bits((x, y) => x & y, a, b)
      : combine("&", a, b, (x, _, __, second) => x.filter((v) => second.has(v)))),
  };
  // a += b changes a list, a dict or a set itself, which others may hold as well.
  const augment = (sign, a, b) => {
    if (sign === "+" && typeOf(a) === "list") { a.push(...each(b)); return a; }
    if (sign === "*" && typeOf(a) === "list") { a.splice(0, a.length, ...repeat(a, b)); return a; }
    if (sign === "|" && isDict(a)) { notCounter(a); for (const [key, value] of pairsOf(b)) a.set(key, value); return a; }
    const found = BINARY[sign](a, b);
    if (typeOf(a) !== "set") return found;
    a.entries = found.entries;
    return a;
  };

  // --- Strings -------------------------------------------------------------------------------------------------------

  const WHITE = "\\t-\\r\\x1c-\\x20\\x85\\xa0\\u1680\\u2000-\\u200a\\u2028\\u2029\\u202f\\u205f\\u3000";
  const isWhite = (sign) => new RegExp(`^[${WHITE}]$`, "u").test(sign);
  const isPrintable = (text) => !/[\p{C}\p{Z}]/u.test(text.replaceAll(" ", ""));
  const ESCAPES = { "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t" };
  const quote = (text) => {
    const mark = text.includes("'") && !text.includes('"') ? '"' : "'";
    const escaped = Array.from(text, (sign) => {
      if (sign === mark) return `\\${sign}`;
      if (hasOwn(ESCAPES, sign)) return ESCAPES[sign];
      if (isPrintable(sign)) return sign;
      const code = sign.codePointAt(0).toString(16);
      return code.length <= 2 ? `\\x${code.padStart(2, "0")}` : code.length <= 4 ? `\\u${code.padStart(4, "0")}` : `\\U${code.padStart(8, "0")}`;
    });
    return `${mark}${escaped.join("")}${mark}`;
  };
  const represent = (value) => {
    const list = (values) => Array.from(values, represent).join(", ");
    if (value === null) return "None";
    if (typeof value === "string") return quote(value);
    if (isNumber(value)) return typeof value === "boolean" ? (value ? "True" : "False") : String(value);
    if (value instanceof Tuple) return value.length === 1 ? `(${list(value)},)` : `(${list(value)})`;
    if (Array.isArray(value)) return `[${list(value)}]`;
    if (isDict(value) && !(value instanceof Counter)) return `{${value.items().map(([key, entry]) => `${represent(key)}: ${represent(entry)}`).join(", ")}}`;
    if (value instanceof PySet && sizeOf(value) < 2) { // more have no order
      const inner = sizeOf(value) ? `{${list(value)}}` : "";
      return value.frozen ? `frozenset(${inner})` : inner || "set()";
    }
    return mistyped("the picker has no text for it");
  };
  const textOf = (value) => (typeof value === "string" ? value : represent(value));
  const strip = (text, signs, start, end) => {
    const drops = signs === null ? isWhite : (sign) => checkText(signs).includes(sign);
    const all = [...text];
    let [first, last] = [0, all.length];
    while (start && first < last && drops(all[first])) first += 1;
    while (end && first < last && drops(all[last - 1])) last -= 1;
    return all.slice(first, last).join("");
  };
  const cut = (text, separator, at, otherwise) => {
    if (!checkText(separator)) return fail("ValueError", "empty separator");
    const found = text[at](separator);
    return found < 0 ? Tuple.from(otherwise) : Tuple.of(text.slice(0, found), separator, text.slice(found + separator.length));
  };
  const split = (text, separator = null) => {
    if (separator === null) return strip(text, null, true, true).split(new RegExp(`[${WHITE}]+`, "u")).filter(Boolean);
    return checkText(separator) ? text.split(separator) : fail("ValueError", "empty separator");
  };
  const format = (text, ...values) => {
    let next = 0;
    return text.replace(/\{\{|\}\}|\{\}|[{}]/g, (found) => {
      if (found !== "{}") return found.length === 2 ? found[0] : fail("ValueError", "only {} is known in a format");
      next += 1;
      return next <= values.length ? textOf(values[next - 1]) : fail("IndexError", "too few values");
    });
  };
  const anyOf = (value) => (value instanceof Tuple ? value.map(checkText) : [checkText(value)]);
  const DIGIT = /^\p{Decimal_Number}$/u;
  const digitOf = (sign) => { // digits of all scripts come in runs that begin with zero
    if (/[a-z]/i.test(sign)) return sign.toLowerCase().charCodeAt(0) - 87;
    if (!DIGIT.test(sign)) return Infinity;
    let [first, code] = [sign.codePointAt(0), sign.codePointAt(0)];
    while (DIGIT.test(String.fromCodePoint(first - 1))) first -= 1;
    code -= first;
    return code % 10;
  };
  const PREFIXES = { 2: "b", 8: "o", 16: "x" };
  const integer = (value = 0, base = undefined) => {
    if (base === undefined && isNumber(value)) return Number(value);
    const radix = base === undefined ? 10 : checkNumber(base);
    const unreadable = () => fail("ValueError", `invalid literal for int(): ${quote(value)}`);
    if (radix < 2 || radix > 36) return fail("ValueError", "bases are 2 to 36 here");
    const [, sign, found] = /^([+-]?)([\s\S]*)$/.exec(strip(checkText(value), null, true, true));
    const prefix = hasOwn(PREFIXES, radix) && found.toLowerCase().startsWith(`0${PREFIXES[radix]}`);
    const digits = prefix ? found.slice(2).replace(/^_/, "") : found;
    if (!/^[^_]+(?:_[^_]+)*$/u.test(digits)) return unreadable();
    const number = Array.from(digits.replaceAll("_", ""), digitOf)
      .reduce((all, digit) => (digit < radix ? whole(all * radix + digit) : unreadable()), 0);
    return sign === "-" ? 0 - number : number;
  };

  // A pattern of Python's as one of JavaScript's with the flag u; known_python.py refuses what is not handled here.
  const CLASSES = { d: "\\p{Decimal_Number}", w: "\\p{L}\\p{N}_", s: WHITE, n: "\\n", t: "\\t", r: "\\r" };
  const escapeOf = (sign) => CLASSES[sign] ?? `\\u{${sign.codePointAt(0).toString(16)}}`;
  const translate = (pattern) => checkText(pattern).replace(
    /\\([\s\S])|\[(\^?)((?:\\[\s\S]|[^\]\\])+)\]|([$.])/gu,
    (_, escaped, negated, set, sign) => {
      if (escaped) return "dws".includes(escaped) ? `[${CLASSES[escaped]}]` : escapeOf(escaped);
      if (sign) return sign === "." ? "[^\\n]" : "(?=\\n?(?![\\s\\S]))";
      return `[${negated}${set.replace(/\\([\s\S])/gu, (__, inner) => escapeOf(inner))}]`;
    },
  );

  // --- Functions: each takes values, and named ones; `signature` says how many, and which. ---------------------------

  const native = (least, most, call, names = []) => {
    const run = (values, named = {}) => {
      const odd = Object.keys(named).find((name) => !names.includes(name) && !names.includes("*"));
      if (values.length < least || (most !== null && values.length > most) || odd) mistyped("other arguments were expected");
      return names.length ? call(values, named) : call(...values);
    };
    run.signature = [least, most, names];
    return run;
  };
  const pairsOf = (value) => (isDict(value) ? value.items() : Array.from(each(value), (pair) => {
    const both = [...each(pair)];
    return both.length === 2 ? both : fail("ValueError", "expected pairs");
  }));
  const made = (make) => new Iterator((function* run() { yield* make(); })());
  const iterator = (value) => {
    if (value instanceof Iterator) return value;
    const goes = each(value);
    return made(() => goes);
  };
  const place = (owner, index, size = owner.length) => {
    const at = checkNumber(index);
    return at >= -size && at < size ? (at < 0 ? at + size : at) : fail("IndexError", "index out of range");
  };
  const indexOf = (values, value) => {
    const found = values.findIndex((entry) => equal(entry, value));
    return found < 0 ? fail("ValueError", "it is not in the list") : found;
  };
  const keyed = (named) => (named.key ? (value) => named.key([value]) : (value) => value);
  const sorted = ([values], named) => {
    const [key, sign] = [keyed(named), isTrue(named.reverse ?? false) ? -1 : 1]; // equal ones keep their order in both
    const all = Array.from(each(values), (value) => [key(value), value]);
    return all.sort((a, b) => sign * order(a[0], b[0])).map(([, value]) => value);
  };
  const extreme = (sign) => (values, named) => {
    if (values.length > 1 && hasOwn(named, "default")) mistyped("a default is for one list only");
    const key = keyed(named);
    let best = null;
    for (const value of values.length > 1 ? values : each(values[0])) {
      const found = [key(value), value];
      if (!best || sign * order(found[0], best[0]) > 0) best = found;
    }
    if (best) return best[1];
    return hasOwn(named, "default") ? named.default : fail("ValueError", "it is empty");
  };
  const some = (wanted) => (values) => {
    for (const value of each(values)) if (isTrue(value) === wanted) return wanted;
    return !wanted;
  };
  const range = (first, last, step = 1) => {
    const [start, end] = last === undefined ? [0, checkNumber(first)] : [checkNumber(first), checkNumber(last)];
    if (!checkNumber(step)) fail("ValueError", "a step of zero");
    const length = Math.max(0, Math.ceil((end - start) / Number(step)));
    return new Range(Array.from({ length: length < 1e6 ? length : fail("OverflowError", "too long") }, (_, i) => start + i * step));
  };
  const reversed = (value) => {
    if (value instanceof PySet || value instanceof Iterator) mistyped(`${typeOf(value)} is not reversible`);
    const all = [...each(value)].reverse();
    return made(() => all);
  };
  const count = (values = []) => {
    const counts = new Counter();
    for (const value of isDict(values) ? [] : each(values)) counts.set(value, counts.get(value, 0) + 1);
    for (const [key, value] of isDict(values) ? values.items() : []) counts.set(key, value);
    return counts;
  };
  const next = (values, ...otherwise) => {
    if (!(values instanceof Iterator)) mistyped(`${typeOf(values)} is not an iterator`);
    const found = values.inner.next();
    if (!found.done) return found.value;
    return otherwise.length ? otherwise[0] : fail("StopIteration");
  };
  function* zip(lists, strict) {
    const all = lists.map((list) => list.inner);
    for (;;) {
      const row = new Tuple();
      for (const one of all) {
        const found = one.next();
        if (found.done) {
          if (strict && (row.length || all.slice(1).some((other) => !other.next().done))) fail("ValueError", "lengths differ");
          return;
        }
        row.push(found.value);
      }
      if (!row.length) return;
      yield row;
    }
  }
  const sum = (values, start = 0) => {
    if (typeof start === "string") mistyped("strings are not summed");
    let total = start;
    for (const value of each(values)) total = BINARY["+"](total, value);
    return total;
  };
  const replaceFields = ([instance], named) => {
    if (!(instance instanceof Instance)) mistyped("expected an instance of a dataclass");
    return instance.type.make([], { ...instance.fields, ...named });
  };
  const compared = (sign) => native(2, 2, (a, b) => COMPARE[sign](a, b));
  const FUNCTIONS = {
    all: native(1, 1, some(false)), any: native(1, 1, some(true)), bool: native(0, 1, (value = false) => isTrue(value)),
    dict: native(0, 1, ([value = []], named) => new Dict([...pairsOf(value), ...Object.entries(named)]), ["*"]),
    "dict.fromkeys": native(1, 2, (keys, value = null) => new Dict(Array.from(each(keys), (key) => [key, value]))),
    enumerate: native(1, 2, (values, start = 0) => {
      const all = iterator(values);
      let number = checkNumber(start) - 1;
      return made(function* run() { for (const value of all) { number += 1; yield Tuple.of(number, value); } });
    }),
    frozenset: native(0, 1, (values = []) => new PySet(each(values), true)), int: native(0, 2, integer), iter: native(1, 1, iterator),
    len: native(1, 1, (value) => sizeOf(value) ?? mistyped(`${typeOf(value)} has no length`)),
    list: native(0, 1, (values = []) => [...each(values)]),
    map: native(2, null, (call, ...lists) => {
      const rows = zip(lists.map(iterator), false);
      return made(function* run() { for (const row of rows) yield call([...row]); });
    }),
    max: native(1, null, extreme(1), ["default", "key"]), min: native(1, null, extreme(-1), ["default", "key"]), next: native(1, 2, next),
    range: native(1, 3, range), repr: native(1, 1, represent), reversed: native(1, 1, reversed),
    set: native(0, 1, (values = []) => new PySet(each(values))), sorted: native(1, 1, sorted, ["key", "reverse"]),
    str: native(0, 1, (value = "") => textOf(value)), "str.lower": native(1, 1, (text) => checkText(text).toLowerCase()), sum: native(1, 2, sum),
    tuple: native(0, 1, (values = []) => Tuple.from(each(values))),
    zip: native(0, null, (lists, named) => {
      const rows = zip(lists.map(iterator), isTrue(named.strict ?? false));
      return made(() => rows);
    }, ["strict"]),
    ValueError: native(0, null, (...values) => new PythonError("ValueError", values.map(textOf).join(", "))),
    "collections.Counter": native(0, 1, count),
    "dataclasses.field": native(0, 0, (_, named) => new Field(named), ["default", "default_factory"]),
    "dataclasses.replace": native(1, 1, replaceFields, ["*"]),
    "operator.lt": compared("<"), "operator.le": compared("<="), "operator.gt": compared(">"), "operator.ge": compared(">="),
    "operator.eq": compared("=="), "operator.ne": compared("!="),
    "re.compile": native(1, 1, (source) => new Pattern(source)),
    "re.sub": native(3, 3, (source, replacement, text) => checkText(text).replace(new Pattern(source).everywhere, () => replacement)),
  };

  // Methods take what they are of first.
  const occurrences = (list, value) => list.filter((entry) => equal(entry, value)).length;
  const method = (least, most, call, names) => {
    const run = native(least + 1, most === null ? null : most + 1, call, names);
    run.signature = [least, most, names ?? []];
    return run;
  };
  const METHODS = {
    str: {
      endswith: method(1, 1, (text, ends) => anyOf(ends).some((end) => text.endsWith(end))), format: method(0, null, format),
      join: method(1, 1, (text, values) => Array.from(each(values), checkText).join(text)), lower: method(0, 0, (text) => text.toLowerCase()),
      lstrip: method(0, 1, (text, signs = null) => strip(text, signs, true, false)),
      partition: method(1, 1, (text, separator) => cut(text, separator, "indexOf", [text, "", ""])),
      removeprefix: method(1, 1, (text, start) => (text.startsWith(checkText(start)) ? text.slice(start.length) : text)),
      removesuffix: method(1, 1, (text, end) => (text.endsWith(checkText(end)) ? text.slice(0, text.length - end.length) : text)),
      replace: method(2, 2, (text, old, fresh) => (checkText(old) ? text.split(old).join(checkText(fresh)) : ["", ...text, ""].join(checkText(fresh)))),
      rpartition: method(1, 1, (text, separator) => cut(text, separator, "lastIndexOf", ["", "", text])),
      rstrip: method(0, 1, (text, signs = null) => strip(text, signs, false, true)), split: method(0, 1, split),
      startswith: method(1, 1, (text, starts) => anyOf(starts).some((start) => text.startsWith(start))),
      count: method(1, 1, (text, part) => (checkText(part) ? text.split(part).length - 1 : [...text].length + 1)),
      index: method(1, 1, (text, part) => {
        const at = text.indexOf(checkText(part));
        return at < 0 ? fail("ValueError", "substring not found") : [...text.slice(0, at)].length;
      }),
      strip: method(0, 1, (text, signs = null) => strip(text, signs, true, true)), upper: method(0, 0, (text) => text.toUpperCase()),
    },
    list: {
      append: method(1, 1, (list, value) => { list.push(value); return null; }),
      count: method(1, 1, occurrences),
      extend: method(1, 1, (list, values) => { list.push(...each(values)); return null; }), index: method(1, 1, indexOf),
    },
    tuple: { count: method(1, 1, occurrences), index: method(1, 1, indexOf) },
    dict: {
      get: method(1, 2, (dict, key, otherwise = null) => dict.get(key, otherwise)),
      items: method(0, 0, (dict) => new View(dict, "items")), keys: method(0, 0, (dict) => new View(dict, "keys")),
      setdefault: method(1, 2, (dict, key, value = null) => { if (!dict.has(key)) dict.set(key, value); return dict.get(key); }),
      update: method(0, 1, ([dict, more = []], named) => {
        for (const [key, value] of [...pairsOf(more), ...Object.entries(named)]) notCounter(dict).set(key, value);
        return null;
      }, ["*"]),
      values: method(0, 0, (dict) => new View(dict, "values")),
    },
    set: { add: method(1, 1, (set, value) => { set.add(value); return null; }) },
    "re.Pattern": Object.fromEntries(["fullmatch", "match", "search"].map((how) => [how, method(1, 1, (pattern, text) => pattern.find(how, text))])),
    "re.Match": {
      group: method(0, 1, ({ groups }, number = 0) => groups[checkNumber(number) >= 0 ? place(groups, number) : fail("IndexError", "no such group")]),
      groups: method(0, 0, ({ groups }) => groups.slice(1)),
    },
  };

  // --- Evaluation: one function for each kind of node. ---------------------------------------------------------------

  const OWNER = Symbol("the function that a scope is in");
  const newScope = (outer) => { // of a function; those of comprehensions inherit from it
    const scope = Object.create(outer);
    scope[OWNER] = scope;
    return scope;
  };
  const item = (owner, index) => {
    if (isDict(owner)) {
      if (owner.has(index)) return owner.get(index);
      return owner instanceof Counter ? 0 : fail("KeyError", represent(index));
    }
    const values = typeof owner === "string" ? [...owner] : owner instanceof Range ? owner.numbers : owner;
    return Array.isArray(values) ? values[place(values, index)] : mistyped(`${typeOf(owner)} has no items`);
  };
  const EXPRESSIONS = {
    constant: (py, scope, value) => value,
    name: (py, scope, name) => (name in scope ? scope[name] : fail("UnboundLocalError", name)),
    global: (py, scope, name) => py.global(name),
    builtin: (py, scope, name) => (hasOwn(py.functions, name) ? py.functions[name] : fail("NameError", name)),
    attribute: (py, scope, owner, name) => py.attribute(py.evaluate(owner, scope), name),
    call: (py, scope, called, values, named) => {
      const call = py.evaluate(called, scope);
      const given = py.spread(values, scope);
      const names = Object.fromEntries(Object.entries(named).map(([name, node]) => [name, py.evaluate(node, scope)]));
      return typeof call === "function" ? call(given, names) : mistyped(`${typeOf(call)} is not callable`);
    },
    binary: (py, scope, sign, a, b) => BINARY[sign](py.evaluate(a, scope), py.evaluate(b, scope)),
    not: (py, scope, node) => !isTrue(py.evaluate(node, scope)),
    and: (py, scope, nodes) => py.first(nodes, scope, false),
    or: (py, scope, nodes) => py.first(nodes, scope, true),
    compare: (py, scope, first, others) => {
      let left = py.evaluate(first, scope);
      return others.every(([sign, node]) => {
        const [before, right] = [left, py.evaluate(node, scope)];
        left = right;
        return COMPARE[sign](before, right);
      });
    },
    choose: (py, scope, test, yes, no) => py.evaluate(isTrue(py.evaluate(test, scope)) ? yes : no, scope),
    list: (py, scope, nodes) => py.spread(nodes, scope),
    tuple: (py, scope, nodes) => Tuple.from(py.spread(nodes, scope)),
    set: (py, scope, nodes) => new PySet(py.spread(nodes, scope)),
    dict: (py, scope, pairs) => new Dict(pairs.flatMap(([key, node]) => {
      if (key !== null) return [[py.evaluate(key, scope), py.evaluate(node, scope)]];
      const value = py.evaluate(node, scope);
      return isDict(value) ? value.items() : mistyped(`${typeOf(value)} is no mapping`);
    })),
    item: (py, scope, owner, index) => item(py.evaluate(owner, scope), py.evaluate(index, scope)),
    slice: (py, scope, owner, lower, upper) => {
      const value = py.evaluate(owner, scope);
      if (!isSequence(value)) mistyped(`${typeOf(value)} has no slices`);
      const [start, end] = [lower, upper].map((node) => (node === null ? null : py.evaluate(node, scope))).map((at) => (at === null ? undefined : checkNumber(at)));
      return typeof value === "string" ? [...value].slice(start, end).join("") : value.slice(start, end);
    },
    text: (py, scope, nodes) => nodes.map((node) => py.evaluate(node, scope)).join(""),
    show: (py, scope, quoted, node) => (quoted ? represent : textOf)(py.evaluate(node, scope)),
    collect: (py, scope, kind, nodes, loops) => {
      const own = Object.create(scope); // one for all turns: a function that is made in one sees the last values
      const rows = py.loop(nodes, loops, 0, own, each(py.evaluate(loops[0][1], scope)));
      if (kind === "dict") return new Dict(rows);
      const values = made(function* run() { for (const [value] of rows) yield value; });
      return kind === "iterator" ? values : kind === "set" ? new PySet(values) : [...values];
    },
    lambda: (py, scope, node) => py.function(node, scope),
    walrus: (py, scope, name, node) => { scope[OWNER][name] = py.evaluate(node, scope); return scope[OWNER][name]; },
  };
  const LEFT = { next: true }; // a loop goes on
  const STATEMENTS = { // nothing, or what ends the block
    return: (py, scope, node) => ({ returned: node === null ? null : py.evaluate(node, scope) }),
    assign: (py, scope, target, node) => { py.assign(target, py.evaluate(node, scope), scope); },
    augment: (py, scope, name, sign, node) => {
      const before = EXPRESSIONS.name(py, scope, name);
      scope[name] = augment(sign, before, py.evaluate(node, scope));
    },
    if: (py, scope, test, body, others) => py.run(isTrue(py.evaluate(test, scope)) ? body : others, scope),
    for: (py, scope, target, node, body) => {
      for (const value of each(py.evaluate(node, scope))) {
        py.assign(target, value, scope);
        const ended = py.run(body, scope);
        if (ended && ended !== LEFT) return ended;
      }
      return undefined;
    },
    continue: () => LEFT,
    raise: (py, scope, node) => {
      const found = py.evaluate(node, scope);
      const error = typeof found === "function" ? found([]) : found; // a class is called
      throw error instanceof Error ? error : new PythonError("TypeError", "only errors are raised");
    },
    do: (py, scope, node) => { py.evaluate(node, scope); },
  };

  class Interpreter {
    constructor(definitions, natives = {}) {
      this.definitions = definitions;
      this.functions = { ...FUNCTIONS, ...natives };
      this.globals = new Map();
    }

    global(name) {
      if (!this.globals.has(name)) {
        if (!hasOwn(this.definitions, name)) fail("NameError", name);
        this.globals.set(name, this.define(this.definitions[name]));
      }
      return this.globals.get(name);
    }

    call(name, ...values) { return this.global(name)(values); }

    define(node) {
      const [kind, content, body] = node;
      if (kind === "function") return this.function(node, newScope(null));
      if (kind === "value") return this.evaluate(content, newScope(null));
      if (kind === "enum") {
        const numbers = Object.values(content.members);
        const make = native(1, 1, (value) => numbers.find((number) => equal(number, value)) ?? fail("ValueError", "no such member"));
        return Object.assign(make, { members: content.members });
      }
      if (kind === "class") return this.class(content);
      const base = this.evaluate(body, newScope(null));
      return (values, named) => Object.assign(base(values, named), { name: content });
    }

    class({ name, fields, methods }) {
      const columns = fields.map(([field, kind, node]) => {
        const value = node === null ? undefined : this.evaluate(node, newScope(null));
        const options = value instanceof Field ? value.options : value === undefined ? {} : { default: value };
        return { name: field, kind, options };
      });
      const scope = newScope(null);
      const type = { name, columns, methods: {} };
      for (const [method_, [isProperty, code]] of Object.entries(methods)) type.methods[method_] = [isProperty, this.function(code, scope)];
      type.make = (values, named = {}) => {
        const own = {};
        if (values.length > columns.length || Object.keys(named).some((key) => !columns.some((column) => column.name === key))) mistyped("it has no such field");
        columns.forEach(({ name: field, options }, at) => {
          if (at < values.length && hasOwn(named, field)) mistyped(`two values for ${field}`);
          if (at < values.length) own[field] = values[at];
          else if (hasOwn(named, field)) own[field] = named[field];
          else if (hasOwn(options, "default")) own[field] = options.default;
          else own[field] = hasOwn(options, "default_factory") ? options.default_factory([]) : mistyped(`${field} is missing`);
        });
        return new Instance(type, own);
      };
      return Object.assign((values, named) => type.make(values, named), { type });
    }

    function([, parameters, body], outer) {
      const defaults = parameters.map(([, node]) => (node === null ? undefined : this.evaluate(node, outer)));
      const positional = parameters.filter(([, , kind]) => kind !== "name").length;
      return (values, named = {}) => {
        const scope = newScope(outer);
        const known = (name) => parameters.some(([own, , kind]) => own === name && kind !== "position");
        if (values.length > positional || !Object.keys(named).every(known)) mistyped("other arguments were expected");
        parameters.forEach(([name], at) => {
          const given = at < positional && at < values.length;
          if (given && hasOwn(named, name)) mistyped(`two values for ${name}`);
          if (given) scope[name] = values[at];
          else if (hasOwn(named, name)) scope[name] = named[name];
          else scope[name] = defaults[at] === undefined ? mistyped(`${name} is missing`) : defaults[at];
        });
        return this.run(body, scope)?.returned ?? null;
      };
    }

    run(statements, scope) {
      for (const [kind, ...operands] of statements) {
        const ended = STATEMENTS[kind](this, scope, ...operands);
        if (ended) return ended;
      }
      return undefined;
    }

    evaluate(node, scope) { return EXPRESSIONS[node[0]](this, scope, node[1], node[2], node[3]); }

    first(nodes, scope, wanted) {
      let value = null;
      for (const node of nodes) {
        value = this.evaluate(node, scope);
        if (isTrue(value) === wanted) break;
      }
      return value;
    }

    spread(nodes, scope) {
      return nodes.flatMap((node) => (node[0] === "spread" ? [...each(this.evaluate(node[1], scope))] : [this.evaluate(node, scope)]));
    }

    assign([kind, target, index], value, scope) {
      if (kind === "name") { scope[target] = value; return; }
      if (kind === "item") {
        const [owner, at] = [this.evaluate(target, scope), this.evaluate(index, scope)];
        if (isDict(owner)) owner.set(at, value);
        else if (typeOf(owner) === "list") owner[place(owner, at)] = value;
        else mistyped(`${typeOf(owner)} does not take items`);
        return;
      }
      const values = [...each(value)];
      const rest = target.findIndex(([inner]) => inner === "rest");
      if (rest < 0 ? values.length !== target.length : values.length < target.length - 1) fail("ValueError", "another number of values was expected");
      if (rest >= 0) values.splice(rest, 0, values.splice(rest, values.length - target.length + 1));
      target.forEach((part, at) => this.assign(part[0] === "rest" ? part[1] : part, values[at], scope));
    }

    * loop(nodes, loops, depth, scope, values) {
      const [target, , tests] = loops[depth];
      for (const value of values) {
        this.assign(target, value, scope);
        if (tests.every((test) => isTrue(this.evaluate(test, scope)))) {
          if (depth + 1 === loops.length) yield nodes.map((node) => this.evaluate(node, scope));
          else yield* this.loop(nodes, loops, depth + 1, scope, each(this.evaluate(loops[depth + 1][1], scope)));
        }
      }
    }

    attribute(owner, name) {
      if (owner instanceof Instance) {
        if (hasOwn(owner.fields, name)) return owner.fields[name];
        if (hasOwn(owner.type.methods, name)) {
          const [isProperty, call] = owner.type.methods[name];
          return isProperty ? call([owner]) : (values, named) => call([owner, ...values], named);
        }
      } else if (typeof owner === "function") {
        if (hasOwn(owner, "members") && hasOwn(owner.members, name)) return owner.members[name];
      } else if (hasOwn(METHODS, typeOf(owner)) && hasOwn(METHODS[typeOf(owner)], name)) {
        return (values, named) => METHODS[typeOf(owner)][name]([owner, ...values], named);
      }
      return fail("AttributeError", name);
    }
  }

  // What a JSON document holds, and back.
  const fromJson = (value) => {
    if (Array.isArray(value)) return value.map(fromJson);
    return value !== null && typeof value === "object" ? new Dict(Object.entries(value).map(([key, entry]) => [key, fromJson(entry)])) : value;
  };
  const toJson = (value) => {
    if (Array.isArray(value)) return Array.from(value, toJson);
    if (isDict(value)) return Object.fromEntries(value.items().map(([key, entry]) => [key, toJson(entry)]));
    if (value instanceof Instance) return Object.fromEntries(Object.entries(value.fields).map(([key, entry]) => [key, toJson(entry)]));
    return value;
  };
  // What it knows, for the test that compares this with known_python.py and syntax.py.
  const known = () => {
    const signatures = (table) => Object.fromEntries(Object.entries(table).map(([name, call]) => [name, call.signature]));
    return {
      functions: signatures(FUNCTIONS),
      methods: Object.fromEntries(Object.entries(METHODS).map(([type, table]) => [type, signatures(table)])),
      compare: Object.keys(COMPARE), binary: Object.keys(BINARY), expressions: Object.keys(EXPRESSIONS), statements: Object.keys(STATEMENTS),
    };
  };

  return {
    Dict, Field, Instance, Interpreter, Pattern, PySet, PythonError, Tuple, fromJson, isPrintable, known, native, toJson,
  };
})();

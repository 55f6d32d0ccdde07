// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
// The release pages without this script say all that they have to say; with it, the picker answers for one machine.
"use strict";

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
      throw new SelectorError("this is not JSON", { cause: error.message, remedy: "paste all that 'jaxlib-select detect --json' prints" });
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
      this.answer.replaceChildren(element("h2", { textContent: "No answer" }),
        ...[error.what || error.message, error.cause, error.remedy].filter(Boolean).map((text) => element("p", { textContent: text })));
      this.answer.className = "answer refused";
      if (!(error instanceof SelectorError || error instanceof Python.PythonError)) throw error;
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
  const openNamed = () => {
    const named = links.find((link) => link.hash === location.hash);
    if (named) open(named, true);
  };
  addEventListener("hashchange", openNamed);
  openNamed();
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

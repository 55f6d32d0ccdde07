// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
// The release pages without this script say all that they have to say; with it, the picker looks up one machine.
"use strict";

// --- The picker: a lookup in the table that picker.py wrote into the page --------------------------------------------

const element = (name, attributes = {}, ...children) => {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...children);
  return made;
};
const sentence = (text) => `${text[0].toUpperCase()}${text.slice(1)}.`;

// Within quotes, too, a shell reads $ and ` in an address; as %24 and %60 they name the same.
const escaped = (text) => text.replace(/[^\w.~:/%@=+,[\]-]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
const indexAddress = (path) => {
  const address = escaped(new URL(path, location.href).href.replace(/\/*$/, "/"));
  return /^[\w.=+-]+$/.test(address) ? address : `"${address}"`;
};

// The tables name the address of the index by a word, because nobody knew it when they were written.
const nameIndex = (note) => {
  const word = note.querySelector("code").textContent;
  for (const code of document.querySelectorAll("section .command code")) {
    code.textContent = code.textContent.replace(new RegExp(`\\b${word}\\b`, "g"), () => indexAddress(note.dataset.address));
  }
  note.hidden = true;
};

// Offer labels, and keep what was chosen where it is still there.
const offer = (parent, labels) => {
  const select = parent.closest("select");
  const before = select.value;
  if ([...parent.children].map((option) => option.value).join("\n") === labels.join("\n")) return;
  parent.replaceChildren(...labels.map((label) => element("option", { value: label, textContent: label })));
  if (labels.includes(before)) select.value = before;
};

const startPicker = (form, answer, { index, python, systems }) => {
  const { elements } = form;
  const question = form.querySelector("[data-question]");
  const address = indexAddress(document.querySelector("[data-address]").dataset.address);
  const [machines, packages] = elements.accelerator.children;

  // The rows of what the form says: one for each choice of a driver.
  const findRows = (system) => {
    const rows = system.packages.flatMap((found) => found.answers.map((row) => ({ ...row, found })));
    offer(machines, [...new Set(rows.filter((row) => !row.named).map((row) => row.accelerator))]);
    offer(packages, rows.filter((row) => row.named).map((row) => row.accelerator));
    return rows.filter((row) => row.accelerator === elements.accelerator.value);
  };

  const show = () => {
    const system = systems[elements.system.value];
    const rows = findRows(system);
    question.hidden = !rows[0].question;
    question.querySelector("span").textContent = rows[0].question;
    offer(elements.choice, rows.map((row) => row.choice));
    offer(elements.python, system.pythons);
    elements.python.disabled = system.pythons.length === 0;
    const row = rows.find((found) => found.choice === elements.choice.value);
    const environment = elements.environment.value;
    const commands = row.found.commands[`${elements.installer.value} ${environment}`]
      .replaceAll(python, elements.python.value || "3").replaceAll(index, () => address);
    const others = row.others.map(([backend, reason]) => element("div", {},
      element("dt", { textContent: backend }), element("dd", { textContent: reason })));
    answer.replaceChildren(
      element("h2", { textContent: row.found.title }),
      element("p", { className: "why" }, element("strong", { textContent: `${row.backend}: ` }), `${row.reason}.`),
      commandBlock(commands),
      ...row.notes.map((note) => element("p", { className: "note", textContent: sentence(note) })),
      element("p", { className: "check" }, "Then see whether it works: ", element("code", { textContent: row.found.checks[environment] })),
      ...(others.length ? [element("details", {}, element("summary", { textContent: "Why not another one" }), element("dl", { className: "reasons" }, ...others))] : []),
    );
  };

  form.hidden = answer.hidden = false;
  form.addEventListener("input", show);
  form.addEventListener("submit", (event) => event.preventDefault());
  show();
};

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

const commandBlock = (lines) => {
  const button = element("button", { type: "button", className: "copy", textContent: "Copy" });
  return element("div", { className: "command" }, element("pre", { tabIndex: 0 }, element("code", { textContent: lines })), copyButton(button));
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

// One proof at a time, under its map, instead of lists of all.
const startMaps = (links) => {
  const cards = document.querySelectorAll(".evidence > details");
  const open = (link, move) => {
    const inner = document.getElementById(link.hash.slice(1));
    const card = inner.closest("details");
    for (const other of cards) { other.hidden = other !== card; other.open = other === card; }
    for (const other of links) other.removeAttribute("aria-current");
    link.setAttribute("aria-current", "true");
    if (move) { card.scrollIntoView({ block: "nearest" }); inner.focus({ preventScroll: true }); }
  };
  for (const card of cards) card.hidden = true;
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
  if (data) startPicker(document.querySelector("[data-picker]"), document.querySelector("[data-answer]"), JSON.parse(data.textContent));
};
start();

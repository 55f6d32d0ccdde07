// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
// The install picker: a lookup in the table that picker.py wrote into the page. Its state is in the page's address.
"use strict";

const element = (name, attributes = {}, ...children) => {
  const made = Object.assign(document.createElement(name), attributes);
  made.append(...children);
  return made;
};

// Within quotes, too, a shell reads $ and ` and ! and \ in an address; as %24, %60, %21 and %5C they name the same.
const escaped = (address) => address.replace(/[$`!'()*\\]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`);
const parsed = (text) => { try { return new URL(text); } catch { return {}; } };
const quoted = (text) => (/^[\w.=+:/-]+$/.test(text) ? text : `"${text}"`);

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
// A word breaks only where it is longer than its line.
const words = (line) => line.split(" ").flatMap((word, i) => [i ? " " : "", element("span", { textContent: word })]);
const commandBlock = (line) => element("div", { className: "command" },
  element("pre", { tabIndex: 0 }, element("code", {}, ...words(line))),
  copyButton(element("button", { type: "button", className: "copy", textContent: "Copy" })));

// Offer labels, and keep what was chosen where it is still there.
const offer = (select, labels) => {
  const before = select.value;
  select.replaceChildren(...labels.map((label) => element("option", { value: label, textContent: label })));
  if (labels.includes(before)) select.value = before;
};

const startPicker = (root) => {
  const data = JSON.parse(root.querySelector("script").textContent);
  const form = root.querySelector("form");
  const answer = root.querySelector("[data-answer]");
  const question = root.querySelector("[data-question]");
  const more = root.querySelector("[data-more]"); // of a small screen, where fields that seldom change are folded
  const { elements } = form;
  let linked = false; // whether the index is that of a link, which anybody may have made
  const replaced = new Map(); // field → why it has another value than was asked for
  const readIndex = () => (elements.index ? elements.index.value.trim() : new URL(root.dataset.address, location.href).href);
  // A shell would read more into a host than a name; browsers let such characters through.
  const isAddress = ({ protocol, hostname }) => ["https:", "http:", "file:"].includes(protocol) && /^([\w.-]*|\[[\da-f:.]+\])$/.test(hostname);
  const isOpen = ({ protocol, hostname }) => protocol === "http:" && !/^(localhost$|127\.|\[)/.test(hostname);
  const remember = () => {
    const chosen = new URLSearchParams(new FormData(form));
    if (chosen.get("index")?.includes("@")) chosen.delete("index"); // with a password
    history.replaceState(null, "", `?${chosen}`);
  };

  const named = (index) => quoted(escaped(index.replace(/\/*(about\.html)?\/*$/, "/")));
  const showDetect = (index) => {
    const command = index && data.detect[elements.installer.value];
    const link = element("a", { href: "selector.html", textContent: "jaxlib-select resolve jax" });
    const what = element("p", { className: "why" }, command ? "This command" : elements.index ? link : "The program jaxlib-select",
      " names the package for a machine, also for devices that are not listed here. What follows installs JAX for the CPU.");
    return [what, ...(command ? [commandBlock(command.replaceAll("{index}", named(index)))] : [])];
  };
  // Three lines, each with its own button; without an index the option that names it goes, too.
  const showSteps = (found, index) => {
    const { shell, note } = data.systems[elements.system.value];
    const trust = isOpen(parsed(index)) && elements.installer.value === "pip"; // uv needs no option
    const where = `${named(index)}${trust ? ` --trusted-host ${parsed(index).hostname}` : ""}`;
    const values = { python: elements.python.value, index: where, requirements: found.requirements, check: found.check };
    const lines = data.shells[shell][elements.installer.value].map((line) => (index ? line : line.replace(/ \S+ \{index\}/, ""))
      .replace(/\{(\w+)\}/g, (_, word) => values[word]));
    const names = ["Make an environment", "Install", "Check"];
    const meaning = found.check.startsWith("-m") ? "The first line says whether JAX can use it; if not, the last line says how to fix that."
      : data.gpus[elements.gpu.value].cpu ? "" : "It lists your accelerator. If it lists only CpuDevice, JAX does not use it.";
    return [
      ...found.notes.map((text) => element("p", { className: "note", textContent: text })),
      ...(note ? [element("p", { className: "why", textContent: note })] : []),
      element("ol", { className: "steps" }, ...lines.map((line, i) => element("li", {}, element("p", { textContent: names[i] }), commandBlock(line)))),
      ...(meaning ? [element("p", { className: "why", textContent: meaning })] : []),
    ];
  };

  const showReasons = (reasons) => element("dl", { className: "reasons" }, ...reasons.map(([backend, reason]) => element("div", {},
    element("dt", { textContent: backend }), element("dd", { textContent: reason }))));
  const fold = (summary, ...parts) => element("details", {}, element("summary", { textContent: summary }), ...parts);

  const showProof = (level, page) => element("p", { className: ["device", ""].includes(level) ? "why" : "note" }, `${data.proofs[level]} `,
    element("a", { href: page, textContent: "What was proven" }));

  const nameRelease = (release) => (release && release !== elements.release.value ? `JAX ${release}, not ${elements.release.value}: ` : "");
  const showFound = (state, found, index) => [
    element("h2", {}, element("span", { className: "state", textContent: state }), nameRelease(found.release), found.title),
    element("p", { className: "why" }, element("strong", { textContent: `${found.backend}: ` }), `${found.reason}.`),
    ...(found.proofs ? [showProof(found.proofs[elements.python.value], found.page ? `${data.base}${found.page}#proof` : data.pages[found.release ?? elements.release.value])] : []),
    ...(elements.gpu.value === "other" ? showDetect(index) : []),
    ...showSteps(found, index),
    ...(found.others.length ? [fold("Why not the others?", showReasons(found.others))] : []),
  ];

  const foldUpstream = (row) => (row.upstream ? [fold(elements.index ? "Not in your index? Take JAX's own wheels" : "Or take JAX's own wheels", ...showFound("JAX's own wheels", row.upstream, ""))] : []);
  // Ours, of this release or of another one, and why; whether an index that the reader names has it is not known.
  const showOurs = (row, index) => {
    const found = row.ours ?? row.other;
    const why = row.ours ? [] : [(row.problems.find(([backend]) => backend === found.backend) ?? row.problems[0])[1]];
    const state = elements.index ? "If your index has this release" : row.ours ? "Available" : "Use another release";
    return [...showFound(state, { ...found, notes: [...why, ...found.notes] }, index), ...foldUpstream(row)];
  };

  // Why there is no wheel of ours, what to change with one click, and what JAX itself publishes.
  const showMissing = (row) => {
    const { label, question, cpu } = data.gpus[elements.gpu.value];
    const names = {
      gpu: () => "the CPU",
      driver: (value) => `${question} ${value}`,
      system: (value) => data.systems[value].label,
    };
    const buttons = row.instead.map((change) => {
      const name = Object.keys(names).find((key) => key in change);
      const textContent = `Use ${names[name](change[name])}`;
      const onclick = () => { replaced.clear(); choose(name, change[name]); remember(); elements[name].focus(); };
      return element("button", { type: "button", className: "instead", textContent, onclick });
    });
    const reasons = showReasons(row.problems.length ? row.problems : [["upstream", "JAX itself publishes no wheel for it: name an index with ours."]]);
    const state = row.upstream ? "Not in this index" : row.advice ? "Something is missing" : "Not possible";
    const release = row.advice ? "" : `JAX ${elements.release.value} ${cpu ? "on" : "for"} `;
    return [
      element("h2", { className: "missing" }, element("span", { className: "state", textContent: state }),
        `${release}${cpu ? "the CPU," : `${label} on`} ${data.systems[elements.system.value].label}`),
      ...(row.advice ? [element("p", { className: "note", textContent: row.advice })] : []),
      element("p", {}, ...buttons),
      row.upstream ? fold("Why none of ours?", reasons) : reasons,
      ...(buttons.length || !row.upstream ? foldUpstream(row) : showFound("JAX's own wheels", row.upstream, "")),
    ];
  };

  const shownValue = (name) => elements[name].selectedOptions?.[0]?.textContent ?? elements[name].value;
  const show = () => {
    const gpu = data.gpus[elements.gpu.value];
    question.hidden = !gpu.question;
    question.querySelector("span").textContent = gpu.question;
    offer(elements.driver, gpu.choices);
    const key = ["system", "gpu", "driver", "release"].map((name) => elements[name].value).join("|");
    const row = data.outcomes[data.answers[key]];
    const typed = readIndex();
    const index = isAddress(parsed(typed)) ? parsed(typed).href : "";
    const ours = index && (row.ours ?? row.other);
    const found = ours || row.upstream;
    offer(elements.python, found ? found.pythons : []);
    elements.python.parentElement.hidden = !found;
    more.textContent = [data.systems[elements.system.value].label, found && `Python ${elements.python.value}`, `JAX ${elements.release.value}`].filter(Boolean).join(" · ");
    const notes = [
      ...[...replaced].map(([name, why]) => `${why}: "${shownValue(name)}" is chosen.`),
      typed && !index && "Not an index address: it must begin with https://, http:// or file://. Leave the field empty for JAX's own wheels.",
      isOpen(parsed(index)) && "Without https, anybody on the way can change what is installed.",
      linked && index && `The address of this page names the index ${index}: install from it only if you trust it.`,
    ].filter(Boolean).map((text) => element("p", { className: "note", textContent: text }));
    const shown = () => (index || !found ? showMissing(row) : showFound("JAX's own wheels", found, ""));
    const mistyped = typed && !index; // no command: JAX's own wheels are not what somebody with an index wants
    answer.replaceChildren(...notes, ...(mistyped ? [] : ours ? showOurs(row, index) : shown()));
  };

  const choose = (name, value) => {
    const field = elements[name];
    const before = field.value;
    field.value = value;
    if (field.selectedIndex < 0) field.value = before; // it is not on offer
    show();
  };
  const findGpu = (word) => word && (Object.keys(data.gpus).find((name) => name === word)
    || Object.keys(data.gpus).find((name) => data.gpus[name].label.toLowerCase().split(/\W+/).includes(word) || data.gpus[name].words.includes(word)));

  form.hidden = answer.hidden = false;
  for (const kind of ["input", "change"]) form.addEventListener(kind, (event) => {
    replaced.clear();
    if (event.target === elements.index) linked = false;
    show();
    remember();
  });
  more.addEventListener("click", () => more.setAttribute("aria-expanded", "true"));
  form.addEventListener("submit", (event) => event.preventDefault());
  show();
  const wanted = new URLSearchParams(location.search);
  linked = wanted.has("index") && Boolean(elements.index);
  const called = (wanted.get("gpu") ?? "").toLowerCase();
  const meant = findGpu(called) || findGpu(called.replace(/^[^\d]+/, "")); // RTX 4090 is 4090
  if (wanted.has("gpu")) wanted.set("gpu", meant || "other");
  const fields = ["system", "release", "gpu", "driver", "index", "python", "installer"].filter((name) => wanted.has(name) && elements[name]);
  for (const name of fields) choose(name, wanted.get(name));
  const isOther = (name) => (name === "gpu" && called && !meant) || (shownValue(name) && elements[name].value !== wanted.get(name));
  for (const name of fields.filter(isOther)) replaced.set(name, `The address asks for ${name}=${new URLSearchParams(location.search).get(name)}, which is not on offer here`);
  show();
  if (wanted.get("index")?.includes("@")) remember(); // without the password
};

for (const root of document.querySelectorAll("[data-picker]")) startPicker(root);

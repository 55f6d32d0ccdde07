// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
// The theme and the map of proofs. The release pages without this script say all that they have to say.

const startTheme = (button) => {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  const root = document.documentElement;
  const remember = (value) => { try { localStorage.setItem("theme", value); } catch { /* a file: page may have no storage */ } };
  const recall = () => { try { return localStorage.getItem("theme"); } catch { return null; } };
  const isDark = () => (root.dataset.theme ? root.dataset.theme === "dark" : dark.matches);
  const name = () => { button.textContent = isDark() ? "Light" : "Dark"; button.setAttribute("aria-label", `${button.textContent} theme`); };
  root.dataset.theme = recall() ?? "";
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

// A command that is copied has the address of this index.
for (const part of document.querySelectorAll("[data-index] code")) {
  part.replaceChildren(...words(part.textContent.replaceAll("INDEX", new URL(part.closest("[data-index]").dataset.index, location.href).href)));
}
startTheme(document.querySelector("[data-theme-switch]"));
document.querySelectorAll("[data-copy]").forEach(copyButton);
startMaps([...document.querySelectorAll("[data-proof]")]);

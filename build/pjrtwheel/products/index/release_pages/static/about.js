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

// The address names the proof that is open; a button and Escape close it, as its own cell does.
const startProofs = (proofs) => {
  const hash = (proof) => `#${proof.querySelector(".evidence").id}`;
  const close = () => {
    for (const proof of proofs) if (proof.open) { proof.open = false; proof.querySelector("summary").focus(); }
  };
  const openNamed = () => { for (const proof of proofs) if (hash(proof) === location.hash) proof.open = true; };
  for (const proof of proofs) {
    proof.addEventListener("toggle", () => {
      if (!proof.open && hash(proof) !== location.hash) return;
      history.replaceState(null, "", proof.open ? hash(proof) : location.pathname + location.search);
      if (proof.open) proof.closest("tr").scrollIntoView({ block: "nearest" }); // the map is narrower now
    });
    const button = proof.querySelector("[data-close]");
    button.hidden = false;
    button.addEventListener("click", close);
  }
  addEventListener("keydown", ({ key }) => { if (key === "Escape") close(); });
  addEventListener("hashchange", openNamed);
  openNamed();
};

// A command that is copied has the address of this index.
for (const part of document.querySelectorAll("[data-index] code")) {
  part.replaceChildren(...words(part.textContent.replaceAll("INDEX", new URL(part.closest("[data-index]").dataset.index, location.href).href)));
}
startTheme(document.querySelector("[data-theme-switch]"));
document.querySelectorAll("[data-copy]").forEach(copyButton);
startProofs(document.querySelectorAll("[data-proof]"));

// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
// The menu shows the page that is read, however far down it is. On a phone each cell of a table says what it is, and no
// option breaks at its dashes.
"use strict";

const menu = document.querySelector(".sidebar-scroll");
const current = menu?.querySelector(".current-page");
if (current) {
  const below = current.getBoundingClientRect().top - menu.getBoundingClientRect().top;
  menu.scrollBy({ top: below - menu.clientHeight / 2, behavior: "instant" });
}

for (const cell of document.querySelectorAll("td")) {
  for (const part of [cell, ...cell.children]) part.dataset.label = cell.closest("table").tHead?.rows[0].cells[cell.cellIndex]?.textContent ?? "";
}
for (const word of document.querySelectorAll("code .pre")) word.classList.toggle("short", word.textContent.length < 28);
for (const block of document.querySelectorAll(".highlight-console pre")) {
  block.innerHTML = block.innerHTML.replace(/(?<=[\s>])-[\w-]+/g, '<span class="short">$&</span>');
}

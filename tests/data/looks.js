// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
// What is wrong with the looks of a page: `return` of a function body that a test runs in a browser, as a list of texts.

const shown = (part) => part.checkVisibility({ visibilityProperty: true, opacityProperty: true });
const name = (part) => `${part.tagName} ${part.textContent.trim().slice(0, 60)}`;

// Tables and code that are wider than their frame, so that something is cut off; commands and what they print scroll.
const isWide = (part) => part.scrollWidth > part.clientWidth + 1
  || part.getBoundingClientRect().right > part.parentElement.getBoundingClientRect().right + 1;
const scrolls = (part) => part.matches(":is(.highlight-console, .highlight-text) pre") && getComputedStyle(part).overflowX === "auto";
const wide = [...document.querySelectorAll("table, pre, .table-wrapper")].filter((part) => shown(part) && isWide(part) && !scrolls(part));

// Plain words that are broken inside, over two lines.
const texts = [];
const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
while (walker.nextNode()) if (walker.currentNode.data.trim() && shown(walker.currentNode.parentElement)) texts.push(walker.currentNode);
const inTable = (part) => part.closest("td, th") && !part.closest("code") && part.closest("tr").clientWidth > 1;
const broken = texts.filter((text) => inTable(text.parentElement)).flatMap((text) => [...text.data.matchAll(/(?<![\w-])[A-Za-z]{2,}(?![\w-])/g)]
  .filter((word) => {
    const range = document.createRange();
    range.setStart(text, word.index);
    range.setEnd(text, word.index + word[0].length);
    return new Set([...range.getClientRects()].map((rect) => Math.round(rect.top))).size > 1;
  }).map((word) => word[0]));

// Contrast of a text with the ground that it is on (WCAG 2).
const canvas = document.createElement("canvas").getContext("2d", { willReadFrequently: true });
const read = (color) => {
  canvas.clearRect(0, 0, 1, 1);
  canvas.fillStyle = color;
  canvas.fillRect(0, 0, 1, 1);
  return [...canvas.getImageData(0, 0, 1, 1).data];
};
const light = ([red, green, blue]) => [red, green, blue].map((value) => value / 255)
  .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4))
  .reduce((sum, value, i) => sum + value * [0.2126, 0.7152, 0.0722][i], 0);
const groundOf = (part) => {
  for (let at = part; at; at = at.parentElement) {
    const color = read(getComputedStyle(at).backgroundColor);
    if (color[3] > 127) return color;
  }
  return [255, 255, 255];
};
const faint = texts.filter(({ parentElement: part }) => !part.closest("option, svg, :disabled")).flatMap((text) => {
  const part = text.parentElement;
  const [high, low] = [light(read(getComputedStyle(part).color)), light(groundOf(part))].sort((a, b) => b - a);
  const ratio = (high + 0.05) / (low + 0.05);
  return ratio < arguments[0] ? [`${ratio.toFixed(2)} ${name(part)}`] : [];
});

return [...wide.map((part) => `wide: ${name(part)}`), ...broken.map((word) => `broken: ${word}`), ...new Set(faint.map((text) => `faint: ${text}`))];

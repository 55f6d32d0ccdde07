/* SPDX-FileCopyrightText: The split JAX wheel authors
 * SPDX-License-Identifier: Apache-2.0
 *
 * How the search of the site orders results: pages about a task before the reference, and a word of the title first.
 */
var Scorer = {
  score([page, title, , , score]) {
    const query = new URLSearchParams(location.search).get("q") || "";
    const named = query.toLowerCase().split(/\s+/).some((word) => word && title.toLowerCase().includes(word));
    return score + (named ? 10 : 0) - (page.startsWith("reference/") ? 20 : 0);
  },
  objNameMatch: 11,
  objPartialMatch: 6,
  objPrio: { 0: 15, 1: 5, 2: -5 },
  objPrioDefault: 0,
  title: 15,
  partialTitle: 7,
  term: 5,
  partialTerm: 2,
};

// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
// The menu shows the page that is read, however far down it is.
"use strict";

const menu = document.querySelector(".sidebar-scroll");
const current = menu?.querySelector(".current-page");
if (current) menu.scrollTop += current.getBoundingClientRect().top - menu.getBoundingClientRect().top - menu.clientHeight / 2;

// SPDX-FileCopyrightText: The split JAX wheel authors
// SPDX-License-Identifier: Apache-2.0
//
// Give back the memory that only the start of a large library needed.
//
// XLA has thousands of initializers all over its code. Each maps the page it lies on and its neighbours, which count as
// memory of the process from then on, though most of them are never used again. They are pages of the file: the system
// keeps them as long as it has room, and maps again what is used again.
#define _GNU_SOURCE  // dl_iterate_phdr
#include <fcntl.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include "module.h"

#define LARGE ((size_t)16 << 20)  // bytes; of smaller segments there is little to give back
#define PAGES_AT_ONCE 256

// Of an entry of /proc/self/pagemap (proc_pid_pagemap(5)).
#define PAGE_OF_FILE ((uint64_t)1 << 61)
#define PAGE_SWAPPED ((uint64_t)1 << 62)
#define PAGE_PRESENT ((uint64_t)1 << 63)

typedef struct {
  int pagemap;
  size_t page_size;
} Pages;

// Returns whether the process has pages of its own there, such as those with a debugger's breakpoints. They would be
// lost. Where the system does not say it, there may be some.
static int has_changes(const Pages *pages, uintptr_t start, size_t count) {
  uint64_t entries[PAGES_AT_ONCE];
  const size_t size = count * sizeof(entries[0]);
  if (pread(pages->pagemap, entries, size, (off_t)(start / pages->page_size * sizeof(entries[0]))) != (ssize_t)size) {
    return 1;
  }
  for (size_t i = 0; i < count; ++i) {
    if ((entries[i] & (PAGE_PRESENT | PAGE_SWAPPED)) != 0 && (entries[i] & PAGE_OF_FILE) == 0) {
      return 1;
    }
  }
  return 0;
}

static void release_segment(const Pages *pages, uintptr_t start, uintptr_t end) {
  while (start < end) {
    const size_t left = (end - start) / pages->page_size, count = left < PAGES_AT_ONCE ? left : PAGES_AT_ONCE;
    const size_t length = count * pages->page_size;
    if (!has_changes(pages, start, count)) {
      // It fails for memory that is locked, which then stays as it is.
      (void)madvise((void *)start, length, MADV_DONTNEED);
    }
    start += length;
  }
}

static int release_library(struct dl_phdr_info *library, size_t size, void *data) {
  (void)size;
  const Pages *pages = data;
  for (int i = 0; i < library->dlpi_phnum; ++i) {
    const ElfW(Phdr) *segment = &library->dlpi_phdr[i];
    if (segment->p_type == PT_LOAD && (segment->p_flags & PF_W) == 0 && segment->p_memsz >= LARGE) {
      const uintptr_t start = library->dlpi_addr + segment->p_vaddr, end = start + segment->p_memsz;
      const uintptr_t within = pages->page_size - 1;
      release_segment(pages, (start + within) & ~within, end & ~within);
    }
  }
  return 0;
}

void release_pages(void) {
  Pages pages = {open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC), (size_t)sysconf(_SC_PAGESIZE)};
  if (pages.pagemap >= 0) {
    dl_iterate_phdr(release_library, &pages);
    close(pages.pagemap);
  }
}

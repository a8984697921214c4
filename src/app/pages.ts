import { readFileSync } from "node:fs";
import { keepLoaded } from "#wire/connections/keep-loaded.ts";

/** madvise(2) of Linux: the pages are read again from the file when they are wanted. */
const MADV_DONTNEED = 4;

/**
 * Lets go of pages that the process holds since its start and does not need: what the C library keeps of memory that was
 * freed, and what was used of Node's own program. Of the latter half comes back, which is what a running server uses. Does
 * nothing where koffi does not load, or the system has another C library than Linux mostly has.
 */
export async function giveBackPages(): Promise<void> {
  try {
    const { default: koffi } = await import("koffi");
    keepLoaded(koffi);
    const libc = koffi.load("libc.so.6");
    libc.func("int malloc_trim(size_t keep)")(0);
    const advise = libc.func("int madvise(uintptr_t start, size_t bytes, int advice)");
    for (const { start, bytes } of unchangedMappings(process.execPath)) advise(start, bytes, MADV_DONTNEED);
  } catch {
    // The pages stay, as they would without us.
  }
}

/** Where a file stands in the process's memory as it is on disk, and cannot be written to (proc(5), smaps). */
function* unchangedMappings(path: string): Generator<{ readonly start: number; readonly bytes: number }> {
  for (const mapping of readFileSync("/proc/self/smaps", "latin1").split(/^(?=[\da-f]+-[\da-f]+ )/m)) {
    const [head = "", first, end] = /^([\da-f]+)-([\da-f]+) r-.p .*/.exec(mapping) ?? [];
    if (first === undefined || end === undefined || !head.endsWith(` ${path}`) || !/^Anonymous: +0 kB$/m.test(mapping)) continue;
    const start = Number.parseInt(first, 16);
    yield { start, bytes: Number.parseInt(end, 16) - start };
  }
}

import { readFileSync } from "node:fs";
import { type OnMissing, reasonOf } from "#kernel/process/native-transport.ts";
import { loadKoffi } from "#wire/native/koffi.ts";
import { LINUX } from "#wire/native/linux.ts";

/** Unneeded memory pages of the process. */
export interface Pages {
  /**
   * Returns freed memory that the C library keeps, in another thread: it takes some milliseconds, and 0.2 s after a large
   * change.
   */
  giveBackFreed(): Promise<void>;
  /** Releases used pages of Node's own program: half of them were for the start, and the other half is loaded again. */
  giveBackProgram(): void;
}

/** By then most threads have returned the heap memory of their start. */
const FIRST_MS = 12_500;
/** Afterwards, if the process has worked this long since the last time. */
const EVERY_MS = 2_500;
const WORKED_US = 500_000;
/**
 * Threads that allocate wait for it, so it is delayed while a CPU is busy for more than a fifth of the time, but only
 * this often.
 */
const BUSY_US = 500_000;
const PUT_OFF_MAX = 12;

/** Releases the pages left by the start, and later those left by work. */
export function trimMemory(onMissing: OnMissing): void {
  // If the system does not allow it, the pages stay.
  setTimeout(() => void begin(onMissing).catch(() => undefined), FIRST_MS).unref();
}

async function begin(onMissing: OnMissing): Promise<void> {
  const pages = await loadMemoryTrim(onMissing);
  if (pages === null) return;
  let seen = 0;
  let worked = 0;
  let putOff = 0;
  const look = (): void => {
    const { user, system } = process.cpuUsage();
    const now = user + system;
    const isBusy = now - seen > BUSY_US;
    seen = now;
    if (now < worked + WORKED_US || (isBusy && putOff++ < PUT_OFF_MAX)) return;
    worked = now;
    putOff = 0;
    void pages.giveBackFreed();
  };
  void pages.giveBackFreed();
  setInterval(look, EVERY_MS).unref();
  pages.giveBackProgram();
}

/** Null, with a call of `onMissing`, if koffi does not load, or the C library differs from Linux's usual one. */
export async function loadMemoryTrim(onMissing: OnMissing = () => undefined): Promise<Pages | null> {
  try {
    const koffi = await loadKoffi();
    const libc = koffi.load("libc.so.6");
    const trim = libc.func("int malloc_trim(size_t keep)");
    const advise = libc.func("int madvise(uintptr_t start, size_t bytes, int advice)");
    return {
      giveBackFreed: () => new Promise((resolve) => void trim.async(0, () => resolve())),
      giveBackProgram: () => {
        // madvise(2): the pages are read from the file again on use.
        for (const { start, bytes } of unchangedMappings(process.execPath)) advise(start, bytes, LINUX.MADV_DONTNEED);
      },
    };
  } catch (error) {
    onMissing("memory", reasonOf(error));
    return null;
  }
}

/** Read-only mappings of a file that are unchanged from disk (proc(5), smaps). */
function* unchangedMappings(path: string): Generator<{ readonly start: number; readonly bytes: number }> {
  // linear: pumped
  for (const mapping of readFileSync("/proc/self/smaps", "latin1").split(/^(?=[\da-f]+-[\da-f]+ )/m)) {
    const [head = "", first, end] = /^([\da-f]+)-([\da-f]+) r-.p .*/.exec(mapping) ?? [];
    if (first === undefined || end === undefined || !head.endsWith(` ${path}`) || !/^Anonymous: +0 kB$/m.test(mapping)) continue;
    const start = Number.parseInt(first, 16);
    yield { start, bytes: Number.parseInt(end, 16) - start };
  }
}

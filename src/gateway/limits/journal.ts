import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/** An amount in one window of one key, in whole billionths of a US dollar. */
export interface SpendEntry {
  readonly key: string;
  readonly windowMs: number;
  readonly startMs: number;
  readonly amount: number;
}

/** Keeps spent amounts across restarts. */
export interface SpendJournal {
  /** Amounts that still count: sums, and reservations of requests that a crash ended, because they may have been charged. */
  open(nowMs: number): readonly SpendEntry[];
  /** Returns the id with which the reservation is settled. */
  reserved(entries: readonly SpendEntry[]): number;
  settled(id: number, entries: readonly SpendEntry[]): void;
  close(): void;
}

/** For a gateway that stores nothing on disk. */
export const NO_JOURNAL: SpendJournal = { open: () => [], reserved: () => 0, settled: () => undefined, close: () => undefined };

/** A line: reserved under an id, or settled under it (0: counted without a reservation). */
type Line = readonly ["r" | "s", id: number, ...entries: (readonly [key: string, windowMs: number, startMs: number, amount: number])[]];

/** At this size the file is rewritten with the sums alone. */
const FILE_BYTES_MAX = 8 * 1024 * 1024;

/**
 * A file with a line per event, written in the tick of the event: unlike a row on its way to another thread, it survives
 * the death of the process at any moment. It costs a few microseconds for requests with limits, and nothing for others. A
 * power failure can lose some seconds, which the kernel had not written yet. Lines that do not fit on a full disk count
 * in memory and are written when there is room; `failed` is called for each of them.
 */
export function createSpendJournal(path: string, failed: () => void = () => undefined): SpendJournal {
  const sums = new Map<string, SpendEntry>();
  const open = new Map<number, readonly SpendEntry[]>();
  let file = -1;
  let bytes = 0;
  let ids = 0;
  let isClosed = true;
  /** Whether the file lacks lines, or ends with a partial line. */
  let isBehind = false;

  const add = (entry: SpendEntry): void => {
    if (!(entry.amount > 0)) return;
    const name = `${entry.windowMs}\n${entry.startMs}\n${entry.key}`;
    const known = sums.get(name);
    sums.set(name, known === undefined ? entry : { ...known, amount: known.amount + entry.amount });
  };
  const write = (line: Line): void => {
    if (isClosed) return;
    try {
      append(`${isBehind ? "\n" : ""}${JSON.stringify(line)}\n`);
      if (isBehind || bytes > FILE_BYTES_MAX) rewrite(line);
    } catch {
      isBehind = true;
      failed();
    }
  };
  const append = (text: string): void => {
    if (file < 0) file = openSync(path, "a", 0o600);
    const written = writeSync(file, text);
    bytes += written;
    if (written < Buffer.byteLength(text)) throw new Error("the disk is full");
  };
  /** Written beside the old file and renamed over it, so that one of them is always complete. */
  const rewrite = (last: Line | undefined): void => {
    // Not the latest of all, which may be of a clock that was ahead.
    const latest = Math.max(0, ...(last?.slice(2) ?? []).map((entry) => Number((entry as ReturnType<typeof packed>)[2])));
    for (const [name, { startMs, windowMs }] of sums) if (startMs + 2 * windowMs <= latest) sums.delete(name);
    const lines: Line[] = Array.from(sums.values(), (entry) => ["s", 0, packed(entry)]);
    for (const [id, entries] of open) lines.push(["r", id, ...entries.map(packed)]);
    const text = lines.map((line) => `${JSON.stringify(line)}\n`).join("");
    try {
      writeFileSync(`${path}.new`, text, { mode: 0o600, flush: true });
      renameSync(`${path}.new`, path);
    } catch (error) {
      rmSync(`${path}.new`, { force: true });
      throw error;
    }
    if (file >= 0) closeSync(file);
    file = -1;
    isBehind = false;
    // Counted from the rewritten size on, so that a file that cannot shrink is not rewritten for each line.
    bytes = last === undefined ? 0 : -text.length;
  };

  return {
    open: (nowMs) => {
      mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
      const unsettled = new Map<number, readonly SpendEntry[]>();
      for (const [kind, id, ...entries] of readLines(path)) {
        if (kind === "r") unsettled.set(id, entries.map(unpacked));
        else {
          unsettled.delete(id);
          entries.map(unpacked).forEach(add);
        }
      }
      for (const entries of unsettled.values()) entries.forEach(add);
      // The clock was ahead, and has been set since: the amount counts now, and not in each window until then.
      for (const [name, entry] of sums)
        if (entry.startMs > nowMs) {
          sums.delete(name);
          add({ ...entry, startMs: nowMs - (nowMs % entry.windowMs) });
        }
      for (const [name, { startMs, windowMs }] of sums) if (startMs + 2 * windowMs <= nowMs) sums.delete(name);
      isClosed = false;
      try {
        rewrite(undefined);
      } catch {
        // The old file is still there, with lines that no longer count.
        isBehind = true;
        failed();
      }
      return [...sums.values()];
    },
    reserved: (entries) => {
      open.set(++ids, entries);
      write(["r", ids, ...entries.map(packed)]);
      return ids;
    },
    settled: (id, entries) => {
      open.delete(id);
      entries.forEach(add);
      write(["s", id, ...entries.map(packed)]);
    },
    close: () => {
      if (file >= 0) closeSync(file);
      file = -1;
      isClosed = true;
    },
  };
}

const packed = ({ key, windowMs, startMs, amount }: SpendEntry) => [key, windowMs, startMs, amount] as const;

const unpacked = ([key, windowMs, startMs, amount]: ReturnType<typeof packed>): SpendEntry => ({ key, windowMs, startMs, amount });

/** Ignores a partial last line and anything else that is not a line. */
function* readLines(path: string): Iterable<Line> {
  let text: string;
  try {
    text = readFileSync(path, "utf8");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return;
    throw error;
  }
  for (const line of text.split("\n")) {
    const value = line === "" ? undefined : parsed(line);
    if (isLine(value)) yield value;
  }
}

function parsed(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
}

const isLine = (value: unknown): value is Line =>
  Array.isArray(value) &&
  (value[0] === "r" || value[0] === "s") &&
  Number.isSafeInteger(value[1]) &&
  value
    .slice(2)
    .every(
      (entry: unknown) =>
        Array.isArray(entry) &&
        typeof entry[0] === "string" &&
        entry.slice(1).length === 3 &&
        entry.slice(1).every((number: unknown) => typeof number === "number" && Number.isFinite(number) && number >= 0) &&
        Number(entry[1]) > 0,
    );

import { closeSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { dirname } from "node:path";

/** An amount in one window of one key, in whole billionths of a US dollar. */
export interface SpendEntry {
  readonly key: string;
  readonly windowMs: number;
  readonly startMs: number;
  readonly amount: number;
}

/** Where spent amounts outlive the process. */
export interface SpendJournal {
  /** What counts still: sums, and what was set aside by requests that a crash ended, since they may have cost it. */
  open(nowMs: number): readonly SpendEntry[];
  /** Gives the name under which it is settled. */
  reserved(entries: readonly SpendEntry[]): number;
  settled(id: number, entries: readonly SpendEntry[]): void;
  close(): void;
}

/** For a gateway that keeps nothing on disk. */
export const NO_JOURNAL: SpendJournal = { open: () => [], reserved: () => 0, settled: () => undefined, close: () => undefined };

/** A line: set aside under a number, or settled under it (0: counted without). */
type Line = readonly ["r" | "s", id: number, ...entries: (readonly [key: string, windowMs: number, startMs: number, amount: number])[]];

/** Above it the file is written again with the sums alone. */
const FILE_BYTES_MAX = 8 * 1024 * 1024;

/**
 * A file with a line for each event, written in the same turn in which it happens: it survives the death of the process at any
 * moment, which a row on its way to another thread would not, and costs a few microseconds for requests that have limits and
 * nothing for others. What a power cut may take is what the kernel had not written yet, some seconds. What a full disk has no room for
 * counts all the same, and is written once there is some; `failed` is told of each such line.
 */
export function createSpendJournal(path: string, failed: () => void = () => undefined): SpendJournal {
  const sums = new Map<string, SpendEntry>();
  const open = new Map<number, readonly SpendEntry[]>();
  let file = -1;
  let bytes = 0;
  let ids = 0;
  let isClosed = true;
  /** Whether the file lacks something, or ends with a part of a line. */
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
  /** Beside the old file and in its place, so that there is always a whole one. */
  const rewrite = (last: Line | undefined): void => {
    let latest = 0;
    for (const { startMs } of sums.values()) latest = Math.max(latest, startMs);
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
    // Counted from what is kept, so that a file that cannot shrink is not written again at each line.
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
      for (const [name, { startMs, windowMs }] of sums) if (startMs + 2 * windowMs <= nowMs) sums.delete(name);
      isClosed = false;
      try {
        rewrite(undefined);
      } catch {
        // What was read is still there, with what does not count any more.
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

/** The last line may be torn; it and whatever is no line count for nothing. */
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

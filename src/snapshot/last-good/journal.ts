import { type FileHandle, open } from "node:fs/promises";
import { crc32 } from "node:zlib";
import { type BaseFile, FORMAT, NO_HISTORY } from "./base-file.ts";
import { type Delta, opsWeight } from "#snapshot/entries.ts";
import { readLines } from "#kernel/file-lines.ts";

/**
 * Deltas that follow a base file, so that a change costs a line and not a new copy of everything. Each line is a CRC-32
 * in eight hexadecimal digits, a space and a JSON value: first the header that names the base file, then deltas in order.
 */
export interface Journal {
  append(deltas: readonly Delta[]): Promise<void>;
  close(): Promise<void>;
}

export interface JournalContent {
  /** The revision it reaches; the base file's revision if the journal adds nothing. */
  readonly rev: number;
  readonly ops: number;
  /** Number of valid bytes; 0 if the journal does not belong to the base file. */
  readonly bytes: number;
  /** Whether a line is invalid and not just the cut-off last one. */
  readonly damaged: boolean;
}

/** Replaces any existing journal by an empty one. */
export async function createJournal(path: string, base: BaseFile): Promise<Journal> {
  const file = await open(path, "w", 0o600);
  await file.write(line(header(base)));
  return journalOver(file);
}

/** Continues after the valid bytes of a journal. */
export async function continueJournal(path: string, { bytes }: JournalContent): Promise<Journal> {
  const file = await open(path, "a");
  await file.truncate(bytes);
  return journalOver(file);
}

/** Reads the deltas that follow the base file, up to the first invalid one. A truncated journal only gives an older revision. */
export async function readJournal(path: string, base: BaseFile, onDelta: (delta: Delta) => void): Promise<JournalContent> {
  let { rev } = base;
  let ops = 0;
  let bytes = 0;
  for await (const bytesOfLine of readLines(path)) {
    const value = parseLine(bytesOfLine);
    if (bytes === 0) {
      if (value !== header(base)) return { rev, ops, bytes, damaged: value === null };
    } else {
      const delta = value === null ? null : (JSON.parse(value) as Delta);
      if (delta?.from !== rev) return { rev, ops, bytes, damaged: true };
      onDelta(delta);
      rev = delta.rev;
      ops += opsWeight(delta.ops);
    }
    bytes += bytesOfLine.length;
  }
  return { rev, ops, bytes, damaged: false };
}

// A power cut makes the copy older, not wrong; therefore only the last write waits for the disk.
const journalOver = (file: FileHandle): Journal => ({
  append: async (deltas) => {
    await file.appendFile(deltas.map((delta) => line(JSON.stringify(delta))).join(""));
  },
  close: async () => {
    await file.sync();
    await file.close();
  },
});

const CRC_CHARS = 8;

const header = ({ history, rev, sha256 }: BaseFile): string =>
  JSON.stringify({ format: FORMAT, base: sha256, ...(history === NO_HISTORY ? {} : { history }), rev });

const checksum = (json: string): string => crc32(json).toString(16).padStart(CRC_CHARS, "0");

const line = (json: string): string => `${checksum(json)} ${json}\n`;

function parseLine(bytes: Buffer): string | null {
  const text = bytes.toString();
  const json = text.slice(CRC_CHARS + 1, -1);
  return text === line(json) ? json : null;
}

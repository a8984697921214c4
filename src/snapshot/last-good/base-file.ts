import { createHash, type Hash } from "node:crypto";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { Position, SnapshotPages } from "#snapshot/feed.ts";
import { readLines } from "#kernel/file-lines.ts";

/** The base file that a journal continues. */
export interface BaseFile extends Position {
  readonly ops: number;
  readonly sha256: string;
}

/** For a file from before histories existed: planes serve it, and it is rewritten at the next start with the database. */
export const NO_HISTORY = "";

/** Increased when entries change their shape; a file of another format is refused. */
export const FORMAT = 1;

/**
 * Writes a full copy, page by page, so that the file is always the old one or the new one, complete and on disk. One JSON
 * value per line: a header `{format, history, rev}`, the ops, and a footer `{ops, sha256}` over all bytes before it.
 */
export async function writeBaseFile(path: string, { history, rev }: Position, pages: SnapshotPages): Promise<BaseFile> {
  const aside = `${path}.new`;
  const file = await open(aside, "w", 0o600);
  const hash = createHash("sha256");
  let sha256: string;
  let ops = 0;
  const write = async (text: string): Promise<void> => {
    hash.update(text);
    await file.write(text);
  };
  try {
    await write(`${JSON.stringify({ format: FORMAT, history, rev })}\n`);
    for await (const page of pages) {
      ops += page.length;
      await write(page.map((op) => `${JSON.stringify(op)}\n`).join(""));
    }
    sha256 = hash.digest("hex");
    await file.write(`${JSON.stringify({ ops, sha256 })}\n`);
    await file.sync();
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  await rename(aside, path);
  await syncDirectory(dirname(path));
  return { history, rev, ops, sha256 };
}

/** Throws if the file is damaged, cut off or of another format. Ops passed to `onOp` are valid only if it does not throw. */
export async function readBaseFile(path: string, onOp: (line: Buffer) => void): Promise<BaseFile> {
  const hash = createHash("sha256");
  let at: Position | null = null;
  let ops = 0;
  // The last line is the footer, so each line is processed once the next one has been read.
  let last: Buffer | null = null;
  for await (const line of readLines(path)) {
    if (last !== null) {
      hash.update(last);
      if (at === null) at = headerPosition(last);
      else {
        onOp(last);
        ops++;
      }
    }
    last = line;
  }
  if (at === null || last === null) throw new Error("it is truncated");
  return { ...at, ops, sha256: checkedFooter(last, ops, hash) };
}

/** The position of the file's header, without a check of the rest; null without a valid one. */
export async function basePosition(path: string): Promise<Position | null> {
  try {
    for await (const line of readLines(path)) return headerPosition(line);
  } catch {
    // The start itself reports a damaged copy, and goes on without it.
  }
  return null;
}

function headerPosition(line: Buffer): Position {
  const { format, history = NO_HISTORY, rev } = JSON.parse(line.toString()) as { format?: unknown; history?: unknown; rev?: unknown };
  if (format !== FORMAT || typeof rev !== "number") throw new Error(`its format is ${String(format)}, not ${FORMAT}`);
  if (typeof history !== "string") throw new Error("it does not name its history");
  return { history, rev };
}

function checkedFooter(line: Buffer, ops: number, hash: Hash): string {
  const footer = JSON.parse(line.toString()) as { ops?: unknown; sha256?: unknown };
  const sha256 = hash.digest("hex");
  if (footer.ops !== ops || footer.sha256 !== sha256) throw new Error("its checksum is wrong");
  return sha256;
}

/** Makes the rename itself durable. */
async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}

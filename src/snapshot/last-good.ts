import { createHash, type Hash } from "node:crypto";
import { createReadStream } from "node:fs";
import { open, rename, rm } from "node:fs/promises";
import { dirname } from "node:path";
import type { Op } from "./entries.ts";
import type { FeedLog, FullCopy } from "./feed.ts";

/**
 * The last good copy: what a plane serves when it starts and control is not there. One JSON value a line:
 * a header `{format, rev}`, the ops, and a footer `{ops, sha256}` over all bytes before it.
 */
export async function writeLastGood(path: string, { rev, ops }: FullCopy): Promise<void> {
  const aside = `${path}.new`;
  const file = await open(aside, "w", 0o600);
  try {
    const hash = createHash("sha256");
    for (const chunk of chunks(rev, ops)) {
      hash.update(chunk);
      await file.write(chunk);
    }
    await file.write(`${JSON.stringify({ ops: ops.length, sha256: hash.digest("hex") })}\n`);
    await file.sync();
  } catch (error) {
    await rm(aside, { force: true });
    throw error;
  } finally {
    await file.close();
  }
  await rename(aside, path);
  await syncDirectory(dirname(path));
}

/** Null where there is none, or where it is damaged or of another format, which is logged as an error. */
export async function readLastGood(path: string, log: FeedLog): Promise<FullCopy | null> {
  const ops: Op[] = [];
  const rev = await scan(path, log, (line) => ops.push(JSON.parse(line) as Op));
  return rev === null ? null : { rev, ops };
}

/** The revision of an undamaged copy, without building its entries. */
export const readLastGoodRevision = (path: string, log: FeedLog): Promise<number | null> => scan(path, log, () => {});

/** Grows when entries change their shape; a copy of another format is refused. */
const FORMAT = 1;
const CHUNK_CHARS = 1 << 20;

function* chunks(rev: number, ops: readonly Op[]): Generator<string> {
  let chunk = `${JSON.stringify({ format: FORMAT, rev })}\n`;
  for (const op of ops) {
    chunk += `${JSON.stringify(op)}\n`;
    if (chunk.length < CHUNK_CHARS) continue;
    yield chunk;
    chunk = "";
  }
  yield chunk;
}

async function scan(path: string, log: FeedLog, onOp: (line: string) => void): Promise<number | null> {
  try {
    return await scanLines(path, onOp);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    log("error", "the last good copy is refused", { path, reason: (error as Error).message });
    return null;
  }
}

async function scanLines(path: string, onOp: (line: string) => void): Promise<number> {
  const hash = createHash("sha256");
  let rev: number | null = null;
  let ops = 0;
  // The last line is the footer, so that each line is looked at once the next one is there.
  let last: Buffer | null = null;
  for await (const line of lines(path)) {
    if (last !== null) {
      hash.update(last);
      if (rev === null) rev = headerRevision(last);
      else {
        onOp(last.toString());
        ops++;
      }
    }
    last = line;
  }
  if (rev === null || last === null) throw new Error("it is cut off");
  checkFooter(last, ops, hash);
  return rev;
}

function headerRevision(line: Buffer): number {
  const { format, rev } = JSON.parse(line.toString()) as { format?: unknown; rev?: unknown };
  if (format !== FORMAT || typeof rev !== "number") throw new Error(`its format is ${String(format)}, not ${FORMAT}`);
  return rev;
}

function checkFooter(line: Buffer, ops: number, hash: Hash): void {
  const footer = JSON.parse(line.toString()) as { ops?: unknown; sha256?: unknown };
  if (footer.ops !== ops || footer.sha256 !== hash.digest("hex")) throw new Error("its checksum is wrong");
}

const LINE_END = 0x0a;

/** Lines with their ends, as bytes: one string of a whole copy could be longer than a string may be. */
async function* lines(path: string): AsyncGenerator<Buffer> {
  let parts: Buffer[] = [];
  for await (const chunk of createReadStream(path, { highWaterMark: CHUNK_CHARS }) as AsyncIterable<Buffer>) {
    let start = 0;
    for (let end = chunk.indexOf(LINE_END); end !== -1; end = chunk.indexOf(LINE_END, start)) {
      const tail = chunk.subarray(start, end + 1);
      yield parts.length === 0 ? tail : Buffer.concat([...parts, tail]);
      parts = [];
      start = end + 1;
    }
    if (start < chunk.length) parts.push(chunk.subarray(start));
  }
  if (parts.length > 0) throw new Error("it is cut off");
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

import { mkdir, readdir, readFile, rename, unlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { CachedResponse } from "./cached-response.ts";

/**
 * Stored answers in a directory, which outlive the process. The files are encrypted, because answers reveal the
 * questions. After an error, the answer is treated as not stored.
 */
export interface DiskAnswers {
  has(key: string, nowMs: number): boolean;
  get(key: string, nowMs: number): Promise<CachedResponse | undefined>;
  put(key: string, answer: CachedResponse): void;
  /** Resolves when all answers that were put are on disk. */
  settled(): Promise<void>;
}

interface File {
  readonly expiresMs: number;
  readonly bytes: number;
}

/** `{key}.{expires}.{bytes}`: the name holds all that finding and evicting need, so that a start reads only the directory. */
const NAME = /^([0-9a-f]{64})\.(\d{1,16})\.(\d{1,9})$/;
/** Writes that may wait; further answers stay in memory only. */
const WRITES_MAX = 64;
const FILES_MAX = 100_000;
const PIECE_BYTES = 16 * 1024;

export interface DiskAnswersDeps {
  readonly directory: string;
  readonly bytesMax: number;
  readonly sealer: Sealer;
}

/** Opens the directory with the files of earlier processes. */
export async function openDiskAnswers({ directory, bytesMax, sealer }: DiskAnswersDeps): Promise<DiskAnswers> {
  /** Least recently used first. */
  const files = new Map<string, File>();
  const writing = new Set<Promise<void>>();
  let total = 0;
  const pathOf = (key: string, { expiresMs, bytes }: File): string => join(directory, `${key}.${expiresMs}.${bytes}`);

  const forget = (key: string): void => {
    const file = files.get(key);
    if (file === undefined) return;
    files.delete(key);
    total -= file.bytes;
    void unlink(pathOf(key, file)).catch(ignore);
  };
  const remember = (key: string, file: File): void => {
    const before = files.get(key);
    if (before !== undefined) {
      total -= before.bytes;
      files.delete(key);
      if (before.expiresMs !== file.expiresMs || before.bytes !== file.bytes) void unlink(pathOf(key, before)).catch(ignore);
    }
    files.set(key, file);
    total += file.bytes;
    for (const oldest of files.keys()) {
      if (total <= bytesMax && files.size <= FILES_MAX) break;
      forget(oldest);
    }
  };

  const write = async (key: string, answer: CachedResponse): Promise<void> => {
    const body = Buffer.concat(answer.chunks as Buffer[]);
    const head = JSON.stringify({ status: answer.status, contentType: answer.contentType });
    const bytes = sealer.seal(Buffer.concat([Buffer.from(`${head}\n`), body]), contextOf(key));
    if (bytes.length > bytesMax) return;
    const file = { expiresMs: answer.expiresMs, bytes: bytes.length };
    const path = pathOf(key, file);
    // Written to another name and renamed, so that a partial file is never found.
    await writeFile(`${path}.tmp`, bytes, { mode: 0o600 });
    await rename(`${path}.tmp`, path);
    remember(key, file);
  };

  await mkdir(directory, { recursive: true, mode: 0o700 });
  for (const name of await readdir(directory)) {
    const [, key, expires, bytes] = NAME.exec(name) ?? [];
    if (key !== undefined) remember(key, { expiresMs: Number(expires), bytes: Number(bytes) });
    else if (name.endsWith(".tmp")) await unlink(join(directory, name)).catch(ignore);
  }

  const isFresh = (key: string, nowMs: number): boolean => {
    const file = files.get(key);
    if (file !== undefined && file.expiresMs <= nowMs) forget(key);
    return file !== undefined && file.expiresMs > nowMs;
  };
  return {
    has: isFresh,
    get: async (key, nowMs) => {
      const file = isFresh(key, nowMs) ? files.get(key) : undefined;
      if (file === undefined) return undefined;
      files.delete(key);
      files.set(key, file);
      const text = await readFile(pathOf(key, file), "latin1").catch(ignore);
      const answer = text === undefined ? undefined : decoded(sealer, key, text, file.expiresMs);
      if (answer === undefined) forget(key);
      return answer;
    },
    put: (key, answer) => {
      if (writing.size >= WRITES_MAX) return;
      const done = write(key, answer)
        .catch(ignore)
        .finally(() => writing.delete(done));
      writing.add(done);
    },
    settled: async () => void (await Promise.all(writing)),
  };
}

const ignore = (): undefined => undefined;

const contextOf = (key: string): string => `answer-cache:${key}`;

/** Undefined for a file that is incomplete, of another key or of another format. */
function decoded(sealer: Sealer, key: string, text: string, expiresMs: number): CachedResponse | undefined {
  try {
    const bytes = sealer.open(text, contextOf(key));
    const line = bytes.indexOf(10);
    const head = JSON.parse(bytes.toString("utf8", 0, line)) as { status: number; contentType: string };
    const body = bytes.subarray(line + 1);
    const chunks: Buffer[] = [];
    for (let at = 0; at < body.length; at += PIECE_BYTES) chunks.push(body.subarray(at, at + PIECE_BYTES));
    return { status: head.status, contentType: head.contentType, chunks, bytes: body.length, expiresMs };
  } catch {
    return undefined;
  }
}

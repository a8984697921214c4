import { appendFileSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, unlinkSync, writeFileSync } from "node:fs";
import { readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { setImmediate } from "node:timers/promises";
import { crc32 } from "node:zlib";
import { BLOCK_BYTES, bodyIn, describe, describedIn, FILE_MODE, onDisk, readDescribed } from "./disk-files.ts";
import { createDiskWriter, type DiskWriter, writeDescribed } from "./disk-writer.ts";
import { createResponseStore, isReplaced } from "./response-store.ts";
import type { StoredResponse } from "./stored-response.ts";

/** Responses in files of one directory, which survive a restart. */
export interface DiskStore {
  readonly directory: string;
  /** Size limit of a body. */
  readonly objectBytesMax: number;
  find(key: string): readonly StoredResponse[];
  /** Copies a response from memory to disk; skipped if too many writes are pending. */
  save(response: StoredResponse): void;
  /** Writes a body as it arrives. The response is found after `put`. */
  writer(): DiskWriter;
  put(response: StoredResponse): void;
  /** Reads the body. Null if a checksum is wrong; the response is then removed. */
  load(response: StoredResponse): Promise<readonly Buffer[] | null>;
  /** Replaces the description of a response; `next` has the same body. */
  describeAnew(response: StoredResponse, next: StoredResponse): void;
  remove(response: StoredResponse): void;
  /** Removes responses to the same requests. */
  removeSame(response: StoredResponse): void;
  sweep(isGone: (response: StoredResponse) => boolean): void;
  /** Records a purge before it is acknowledged, because after a crash the files may be older. */
  notePurges(zoneId: string, count: number): void;
  readonly bytes: number;
  readonly size: number;
  close(): Promise<void>;
}

export interface DiskStoreDeps {
  readonly directory: string;
  readonly bytesMax: number;
  /** Memory limit for the index of responses on disk. */
  readonly indexBytesMax: number;
  /** Whether a response found on disk was purged; `purges` is the recorded number of purges of its zone. */
  isGone(response: StoredResponse, purges: number): boolean;
  onError(error: unknown): void;
}

const OBJECT_SHARE = 1 / 8;
/** Limit of bytes that wait to be written. */
const PENDING_BYTES_MAX = 16_777_216;
const PURGES = "purges";
/** Lines after which the purge file is rewritten. */
const PURGES_KEPT_MAX = 10_000;

/** Reads the directory, which takes some time, and removes responses that are corrupt, purged or over the limit. */
export function createDiskStore(deps: DiskStoreDeps): DiskStore {
  const { directory, onError } = deps;
  const removing = new Set<Promise<void>>();
  /** Responses whose files now belong to another description. */
  const moved = new WeakSet<StoredResponse>();
  const removeFiles = (id: string): void => {
    try {
      unlinkSync(describedIn(directory, id));
    } catch {
      // It was never written, or is already removed.
    }
    const removed = rm(bodyIn(directory, id), { force: true })
      .catch(onError)
      .finally(() => void removing.delete(removed));
    removing.add(removed);
  };
  const index = createResponseStore(
    [
      { max: deps.bytesMax, weightOf: ({ file }) => file?.bytes ?? 0 },
      { max: deps.indexBytesMax, weightOf: ({ weight }) => weight },
    ],
    (response) => {
      if (response.file !== null && !moved.has(response)) removeFiles(response.file.id);
    },
  );
  const put = (response: StoredResponse): void => {
    index.put(response);
    if (!response.isStored && response.file !== null) removeFiles(response.file.id);
  };
  const { purges, isNotedAnew } = openDirectory(deps, put);
  const writing = new Set<DiskWriter>();
  let noted = isNotedAnew ? 0 : PURGES_KEPT_MAX - 1;
  let saving: Promise<void> = Promise.resolve();
  let pendingBytes = 0;

  const save = async (response: StoredResponse): Promise<void> => {
    const writer = createDiskWriter(directory, onError);
    for (const piece of response.body) writer.append(piece, 0, piece.length);
    const written = await writer.finish(() => response);
    if (written === null) return;
    const copy = onDisk(response, written.id, written.checks, written.described);
    // It may have been purged or replaced while it was written.
    if (response.isStored) put(copy);
    else removeFiles(written.id);
  };

  return {
    directory,
    objectBytesMax: deps.bytesMax * OBJECT_SHARE,
    find: index.find,
    save: (response) => {
      if (pendingBytes + response.length > PENDING_BYTES_MAX) return;
      response.isSaved = true;
      pendingBytes += response.length;
      saving = saving
        .then(() => save(response))
        .catch(onError)
        .finally(() => void (pendingBytes -= response.length));
    },
    writer: () => {
      const writer = createDiskWriter(directory, onError);
      writing.add(writer);
      void writer.done.then(() => writing.delete(writer));
      return writer;
    },
    put,
    load: async (response) => {
      const body = await readFile(bodyIn(directory, response.file!.id)).catch(() => null);
      if (body !== null && isWhole(body, response)) return [body];
      index.remove(response);
      return null;
    },
    describeAnew: (response, next) => {
      const { id, checks } = response.file!;
      const text = describe(next, checks);
      moved.add(response);
      index.remove(response);
      const copy = onDisk(next, id, checks, text.length);
      put(copy);
      saving = saving
        .then(() => writeDescribed(directory, id, text))
        // The response may have been removed before its write began.
        .then(() => void (!copy.isStored && !moved.has(copy) && removeFiles(id)))
        .catch(onError);
    },
    remove: index.remove,
    removeSame: (response) => {
      for (const other of index.find(response.asked.key)) if (isReplaced(other, response)) index.remove(other);
    },
    sweep: index.sweep,
    notePurges: (zoneId, count) => {
      purges.set(zoneId, count);
      noted = (noted + 1) % PURGES_KEPT_MAX;
      try {
        if (noted === 0) writePurges(directory, purges);
        else appendFileSync(join(directory, PURGES), `${zoneId} ${count}\n`, { mode: FILE_MODE });
      } catch (error) {
        onError(error);
        // If a purge cannot be recorded, remove all responses of the zone, and rewrite the file, which may end in a torn line.
        noted = PURGES_KEPT_MAX - 1;
        index.sweep(({ asked }) => asked.zoneId === zoneId);
      }
    },
    get bytes() {
      return index.used;
    },
    get size() {
      return index.size;
    },
    close: async () => {
      await Promise.all([saving, ...Array.from(writing, ({ done }) => done)]);
      // Code that awaited these writes adds its removals before the next tick.
      await setImmediate();
      await Promise.all(removing);
    },
  };
}

function isWhole(body: Buffer, { length, file }: StoredResponse): boolean {
  if (body.length !== length) return false;
  return file!.checks.every((check, block) => crc32(body.subarray(block * BLOCK_BYTES, (block + 1) * BLOCK_BYTES)) === check);
}

interface OpenedDirectory {
  /** Recorded number of purges of each zone. */
  readonly purges: Map<string, number>;
  /** False if the disk was full: the old file remains, perhaps with a truncated last line. */
  readonly isNotedAnew: boolean;
}

function openDirectory({ directory, isGone, onError }: DiskStoreDeps, put: (response: StoredResponse) => void): OpenedDirectory {
  mkdirSync(directory, { recursive: true, mode: 0o700 });
  const purges = readPurges(join(directory, PURGES));
  const found = new Set<string>();
  const names = readdirSync(directory);
  for (const name of names) {
    const id = /^([0-9a-f]{24})\.json$/.exec(name)?.[1];
    const response = id === undefined ? null : readDescribed(directory, id);
    if (id === undefined || response === null || isGone(response, purges.get(response.asked.zoneId) ?? 0)) continue;
    put(response);
    if (response.isStored) found.add(id);
  }
  for (const name of names)
    if (/^[0-9a-f]{24}\./.test(name) && !found.has(name.slice(0, 24))) rmSync(join(directory, name), { force: true });
  try {
    writePurges(directory, purges);
    return { purges, isNotedAnew: true };
  } catch (error) {
    onError(error);
    return { purges, isNotedAnew: false };
  }
}

/** Replaces the file atomically. */
function writePurges(directory: string, purges: ReadonlyMap<string, number>): void {
  const path = join(directory, PURGES);
  try {
    writeFileSync(`${path}.new`, [...purges].map(([zoneId, count]) => `${zoneId} ${count}\n`).join(""), { mode: FILE_MODE });
    renameSync(`${path}.new`, path);
  } catch (error) {
    // A full disk may leave a partial file.
    rmSync(`${path}.new`, { force: true });
    throw error;
  }
}

function readPurges(path: string): Map<string, number> {
  let text: string;
  try {
    text = readFileSync(path, "latin1");
  } catch {
    return new Map();
  }
  // A torn last line belongs to a purge that was never acknowledged.
  // linear: pumped
  return new Map([...text.matchAll(/^(\S+) (\d+)\n/gm)].map(([, zoneId, count]) => [zoneId!, Number(count)]));
}

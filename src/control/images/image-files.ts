import { createHash, randomBytes } from "node:crypto";
import { mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { join } from "node:path";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { ObjectStore } from "#wire/s3/object-store.ts";
import { IMAGE_BYTES_MAX } from "./image-facts.ts";

/**
 * Files of images in the data directory, by random names: `3f/3f…`. A file never changes. With a bucket, the bucket has all
 * files, and the directory has copies of those that this machine has used.
 */
export interface ImageFiles {
  /** Resolves once the file and its name are on disk. */
  add(bytes: Buffer): Promise<StoredFile>;
  /** Copies an added file to the bucket, if there is one, before an image refers to it. */
  keep(blobId: string): Promise<void>;
  /** The path of the file on this machine; null if it does not exist. */
  find(blobId: string): Promise<string | null>;
  /** Null if the file does not exist. */
  read(blobId: string): Promise<Buffer | null>;
  /** Files that stay, because the bucket does not answer, go with the next sweep. */
  remove(blobId: string): Promise<void>;
  /** Names of files that are older than the time, in groups. */
  olderThan(ms: number): AsyncGenerator<readonly string[]>;
  /** Deletes copies of files in the bucket that are older than the time. */
  evict(ms: number): Promise<void>;
}

export interface StoredFile {
  readonly blob_id: string;
  readonly path: string;
  readonly digest: string;
}

const NAME = /^[0-9a-f]{32}$/;
const OBJECTS = "images/";
const folderOf = (blobId: string): string => blobId.slice(0, 2);

export function createImageFiles(directory: string, bucket: ObjectStore | null = null): ImageFiles {
  const pathOf = (blobId: string): string => join(directory, folderOf(blobId), blobId);
  const keyOf = (blobId: string): string => `${OBJECTS}${blobId}`;
  const write = async (blobId: string, bytes: Buffer): Promise<void> => {
    const folder = join(directory, folderOf(blobId));
    const made = await mkdir(folder, { recursive: true, mode: 0o700 });
    // Another request may write the same copy, and a reader must never see half of it.
    const unfinished = join(folder, `${blobId}.${randomBytes(4).toString("hex")}`);
    const file = await open(unfinished, "wx", 0o600);
    try {
      await file.writeFile(bytes);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(unfinished, pathOf(blobId));
    await syncFolder(folder);
    if (made !== undefined) await syncFolder(directory);
  };
  const asked = <T>(answer: Promise<T>): Promise<T> =>
    answer.catch((error: unknown) => {
      throw new PlatformError("image_storage", { detail: String(error) });
    });
  const find = async (blobId: string): Promise<string | null> => {
    const path = pathOf(blobId);
    if ((await stat(path).catch(missing)) !== null) return path;
    const bytes = bucket === null ? null : await asked(bucket.get(keyOf(blobId), IMAGE_BYTES_MAX));
    if (bytes === null) return null;
    await write(blobId, bytes);
    return path;
  };
  async function* localOlderThan(ms: number): AsyncGenerator<readonly string[]> {
    for (const folder of (await readdir(directory).catch(missing)) ?? []) {
      const old: string[] = [];
      for (const name of (await readdir(join(directory, folder)).catch(missing)) ?? []) {
        const facts = await stat(join(directory, folder, name)).catch(missing);
        if (facts !== null && facts.mtimeMs < ms) old.push(name);
      }
      for (const name of old.filter((one) => !NAME.test(one) && one.startsWith(folder)))
        await rm(join(directory, folder, name), { force: true });
      yield old.filter((name) => NAME.test(name));
    }
  }
  return {
    find,
    add: async (bytes) => {
      const blobId = randomBytes(16).toString("hex");
      await write(blobId, bytes);
      return { blob_id: blobId, path: pathOf(blobId), digest: createHash("sha256").update(bytes).digest("hex") };
    },
    keep: async (blobId) => {
      if (bucket !== null) await asked(bucket.put(keyOf(blobId), await readFile(pathOf(blobId))));
    },
    read: async (blobId) => {
      const path = await find(blobId);
      return path === null ? null : readFile(path).catch(missing);
    },
    remove: async (blobId) => {
      await rm(pathOf(blobId), { force: true });
      await bucket?.remove(keyOf(blobId)).catch(() => undefined);
    },
    olderThan: async function* (ms) {
      yield* localOlderThan(ms);
      if (bucket === null) return;
      for await (const objects of bucket.list(OBJECTS))
        yield objects.flatMap(({ key, modifiedMs }) => {
          const name = key.slice(OBJECTS.length);
          return modifiedMs < ms && NAME.test(name) ? [name] : [];
        });
    },
    evict: async (ms) => {
      if (bucket === null) return;
      for await (const names of localOlderThan(ms)) for (const name of names) await rm(pathOf(name), { force: true });
    },
  };
}

function missing(error: NodeJS.ErrnoException): null {
  if (error.code === "ENOENT" || error.code === "ENOTDIR") return null;
  throw error;
}

async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, "r");
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}

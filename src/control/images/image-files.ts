import { createHash, randomBytes } from "node:crypto";
import { mkdir, open, readdir, readFile, rm, stat } from "node:fs/promises";
import { join } from "node:path";

/** Files of images in the data directory, by random names: `3f/3f…`. A file never changes. */
export interface ImageFiles {
  /** Resolves once the file and its name are on disk. */
  add(bytes: Buffer): Promise<StoredFile>;
  pathOf(blobId: string): string;
  /** Null if the file is not on this machine. */
  read(blobId: string): Promise<Buffer | null>;
  has(blobId: string): Promise<boolean>;
  remove(blobId: string): Promise<void>;
  /** Names of files that are older than the time, by folder. */
  olderThan(ms: number): AsyncGenerator<readonly string[]>;
}

export interface StoredFile {
  readonly blob_id: string;
  readonly path: string;
  readonly digest: string;
}

const NAME = /^[0-9a-f]{32}$/;
const folderOf = (blobId: string): string => blobId.slice(0, 2);

export function createImageFiles(directory: string): ImageFiles {
  const pathOf = (blobId: string): string => join(directory, folderOf(blobId), blobId);
  return {
    pathOf,
    add: async (bytes) => {
      const blobId = randomBytes(16).toString("hex");
      const path = pathOf(blobId);
      const folder = join(directory, folderOf(blobId));
      const made = await mkdir(folder, { recursive: true, mode: 0o700 });
      const file = await open(path, "wx", 0o600);
      try {
        await file.writeFile(bytes);
        await file.sync();
      } finally {
        await file.close();
      }
      await syncFolder(folder);
      if (made !== undefined) await syncFolder(directory);
      return { blob_id: blobId, path, digest: createHash("sha256").update(bytes).digest("hex") };
    },
    read: (blobId) => readFile(pathOf(blobId)).catch(missing),
    has: async (blobId) => (await stat(pathOf(blobId)).catch(missing)) !== null,
    remove: (blobId) => rm(pathOf(blobId), { force: true }),
    olderThan: async function* (ms) {
      for (const folder of (await readdir(directory).catch(missing)) ?? []) {
        const names = ((await readdir(join(directory, folder)).catch(missing)) ?? []).filter((name) => NAME.test(name));
        const old: string[] = [];
        for (const name of names) {
          const facts = await stat(pathOf(name)).catch(missing);
          if (facts !== null && facts.mtimeMs < ms) old.push(name);
        }
        yield old;
      }
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

import { createHash } from "node:crypto";
import {
  createReadStream,
  createWriteStream,
  existsSync,
  linkSync,
  openSync,
  fsyncSync,
  closeSync,
  readdirSync,
  rmSync,
  statSync,
} from "node:fs";
import { dirname, join, resolve } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGzip } from "node:zlib";
import type { Clock } from "#kernel/clock.ts";
import { encryptAge } from "#kernel/crypto/age.ts";
import type { AgeLock } from "#kernel/crypto/age-keys.ts";
import { isFull } from "#events/database/full-disk.ts";
import { BACKUP_PARTS, type BackupPart, CHECKSUMS, MANIFEST, type Manifest } from "./backup-parts.ts";
import { noteLastBackup } from "./last-backup.ts";
import { type TarEntry, writeTar } from "./tar-writer.ts";
import { makeWorkDirectory, type WorkDirectory } from "./work-directory.ts";

export interface BackupRequest {
  readonly dataDir: string;
  /** The control database as a file; null if it is elsewhere. */
  readonly controlPath: string | null;
  /** Must not exist. Others may not read it. */
  readonly file: string;
  /** Null: not encrypted. */
  readonly lock: AgeLock | null;
  readonly version: string;
  readonly clock: Clock;
}

export interface BackupMade {
  readonly file: string;
  readonly bytes: number;
  readonly created_on: string;
  /** Paths in the data directory. */
  readonly parts: readonly string[];
}

/** Copies the pages of a database in one step: between two steps a write of the server would restart the copy, forever on a busy server. */
const PAGES_AT_ONCE = 0x7fff_ffff;

/**
 * Writes a backup of a data directory, whose server may run: `.tar.gz`, encrypted in the format of age if requested.
 * The file appears once it is completely on disk. Throws an Error for the operator, and then leaves no file behind.
 */
export async function makeBackup(request: BackupRequest): Promise<BackupMade> {
  const { dataDir, lock, clock } = request;
  const file = resolve(request.file);
  if (existsSync(file)) throw new Error(`${file} exists already: choose another name, or remove it`);
  if (!existsSync(join(dataDir, "seal.key"))) throw new Error(`nothing to back up in ${dataDir}: no server has been started with it`);
  // In the same directory as the file: the last step is a link, and copies of databases need as much space.
  let work: WorkDirectory | null = null;
  try {
    work = makeWorkDirectory(dirname(file));
    const workDir = work.path;
    const written = join(workDir, "backup");
    const created_on = new Date(clock.nowMs()).toISOString();
    const parts: string[] = [];
    const manifest: Manifest = {
      format: 1,
      version: request.version,
      created_on,
      database: request.controlPath === null ? "elsewhere" : "included",
    };
    const tar = writeTar(withChecksums(entriesOf({ ...request, workDir, manifest }), parts, clock));
    const target = createWriteStream(written, { mode: 0o600, flush: true });
    const steps = lock === null ? [createGzip()] : [createGzip(), encryptAge(lock)];
    await pipeline([Readable.from(tar, { objectMode: false }), ...steps, target]);
    linkSync(written, file);
    syncDirectory(dirname(file));
    const { size: bytes } = statSync(file);
    noteLastBackup(dataDir, { created_on, file, bytes });
    return { file, bytes, created_on, parts };
  } catch (error) {
    if (isFull(error)) {
      const advice = "a backup needs room for itself and for the largest database at the same time";
      throw new Error(`the disk of ${dirname(file)} is full: ${advice}`, { cause: error });
    }
    const { code, syscall } = error as NodeJS.ErrnoException;
    throw code === "EEXIST" && syscall === "link" ? new Error(`${file} exists already: choose another name, or remove it`) : error;
  } finally {
    work?.remove();
  }
}

interface Work extends BackupRequest {
  readonly workDir: string;
  readonly manifest: Manifest;
}

async function* entriesOf(work: Work): AsyncGenerator<TarEntry> {
  yield textEntry(MANIFEST, JSON.stringify(work.manifest), work.clock);
  for (const part of BACKUP_PARTS) yield* entriesOfPart(part, work);
}

async function* entriesOfPart({ path, kind }: BackupPart, { dataDir, controlPath, workDir }: Work): AsyncGenerator<TarEntry> {
  const source = path === "control.db" ? controlPath : join(dataDir, path);
  if (source === null || !existsSync(source)) return;
  if (kind === "directory") {
    for (const { name, path: found } of filesIn(source, path)) yield* fileEntry(name, found);
  } else if (kind === "database") {
    const copy = join(workDir, path);
    await copyDatabase(source, copy);
    yield* fileEntry(path, copy);
    rmSync(copy);
  } else yield* fileEntry(path, source);
}

/** Contains everything committed before the call, and nothing later. */
async function copyDatabase(source: string, copy: string): Promise<void> {
  // Creates it with the mode of a private file, which the copy keeps.
  closeSync(openSync(copy, "wx", 0o600));
  const db = new DatabaseSync(source, { readOnly: true, timeout: 10_000 });
  try {
    await backup(db, copy, { rate: PAGES_AT_ONCE });
  } finally {
    db.close();
  }
}

/** With the directory's files at the time of the call; its files may be deleted meanwhile. */
function filesIn(directory: string, name: string): readonly { readonly name: string; readonly path: string }[] {
  return readdirSync(directory, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .toSorted()
    .map((path) => ({ path, name: `${name}${path.slice(directory.length)}` }));
}

function* fileEntry(name: string, path: string): Generator<TarEntry> {
  const stat = statSync(path, { throwIfNoEntry: false });
  // Their retention may have removed it.
  if (stat === undefined) return;
  const { size, mtimeMs } = stat;
  yield {
    name,
    size,
    modified: mtimeMs / 1000,
    content: size === 0 ? [] : createReadStream(path, { end: size - 1, highWaterMark: 1 << 18 }),
  };
}

const textEntry = (name: string, text: string, clock: Clock): TarEntry => {
  const content = Buffer.from(`${text}\n`);
  return { name, size: content.length, modified: clock.nowMs() / 1000, content: [content] };
};

/** Yields the entries, collects their paths, and then yields the checksums of the read data. */
async function* withChecksums(entries: AsyncIterable<TarEntry>, paths: string[], clock: Clock): AsyncGenerator<TarEntry> {
  const lines: string[] = [];
  for await (const entry of entries) {
    const hash = createHash("sha256");
    yield { ...entry, content: hashed(entry.content, hash) };
    lines.push(`${hash.digest("hex")}  ${entry.name}`);
    if (entry.name !== MANIFEST) paths.push(entry.name);
  }
  yield textEntry(CHECKSUMS, lines.join("\n"), clock);
}

async function* hashed(content: TarEntry["content"], hash: ReturnType<typeof createHash>): AsyncGenerator<Buffer> {
  for await (const bytes of content) {
    hash.update(bytes);
    yield bytes;
  }
}

export function syncDirectory(path: string): void {
  const fd = openSync(path, "r");
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
}

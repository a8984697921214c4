import { createHash, type Hash } from "node:crypto";
import {
  createReadStream,
  existsSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeSync,
  fsyncSync,
  closeSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import type { Clock } from "#kernel/clock.ts";
import { decryptAge } from "#kernel/crypto/age.ts";
import type { AgeKey } from "#kernel/crypto/age-keys.ts";
import { cutPageOf } from "#store/database/backends/cut-page.ts";
import { openStore } from "#store/database/open.ts";
import { giveToOwner } from "#app/control/give-to-owner.ts";
import { lockDataDirectory } from "#app/control/data-lock.ts";
import { hasUnfinishedRestore, RESTORE_DIRECTORY } from "#app/control/unfinished-restore.ts";
import { BACKUP_PARTS, CHECKSUMS, isPartPath, MANIFEST, type Manifest } from "./backup-parts.ts";
import { syncDirectory } from "./make-backup.ts";
import { readTar, type TarTaker } from "./tar-reader.ts";

export interface RestoreRequest {
  readonly file: string;
  /** Empty or missing, or with the files of a killed restore. */
  readonly dataDir: string;
  /** Null: the file is not encrypted. */
  readonly key: AgeKey | null;
  readonly clock: Clock;
}

export interface Restored {
  readonly manifest: Manifest;
  readonly parts: readonly string[];
}

const AGE_MAGIC = "age-encryption.org/";
const GZIP_MAGIC = 0x1f8b;

/**
 * Creates a data directory from a backup. Everything is read and checked before any file gets its final name, and the
 * database starts another history, so that planes and secondaries fetch everything again. Throws an Error for the
 * operator, and leaves the directory empty. A killed restore can be repeated.
 */
export async function restoreBackup({ file, dataDir, key, clock }: RestoreRequest): Promise<Restored> {
  checkKind(file, key);
  refuseUsed(dataDir);
  const lock = lockDataDirectory(dataDir);
  const workDir = join(dataDir, RESTORE_DIRECTORY);
  try {
    refuseUsed(dataDir);
    removeUnfinished(dataDir);
    mkdirSync(workDir, { mode: 0o700 });
    const unpacked = createUnpacked(workDir);
    try {
      const archive = createGunzip();
      const steps = key === null ? [archive] : [decryptAge(key), archive];
      await Promise.all([pipeline([createReadStream(file), ...steps]), readTar(archive, unpacked.taker)]);
    } catch (error) {
      throw new Error(`cannot restore ${file}: ${reason(error)}`, { cause: error });
    }
    const manifest = unpacked.checked(file);
    for (const { path, kind } of BACKUP_PARTS) if (kind === "database") checkDatabase(join(workDir, path), path);
    if (manifest.database === "included") await renewHistory(join(workDir, "control.db"), clock);
    // The last of them is the one without which no server starts.
    for (const name of readdirSync(workDir).toSorted((a, b) => Number(a === "control.db") - Number(b === "control.db")))
      renameSync(join(workDir, name), join(dataDir, name));
    giveToOwner(dataDir);
    syncDirectory(dataDir);
    return { manifest, parts: unpacked.parts() };
  } finally {
    rmSync(workDir, { recursive: true, force: true });
    lock.release();
  }
}

/** It started in an empty directory, and no server starts in one with its files, so all files belong to the restore. */
function removeUnfinished(dataDir: string): void {
  for (const { path } of BACKUP_PARTS) rmSync(join(dataDir, topOf(path)), { recursive: true, force: true });
  rmSync(join(dataDir, RESTORE_DIRECTORY), { recursive: true, force: true });
}

const topOf = (path: string): string => path.split("/")[0] ?? path;

/** The lock file exists while another process checks. */
function refuseUsed(dataDir: string): void {
  const own = hasUnfinishedRestore(dataDir) ? BACKUP_PARTS.map(({ path }) => topOf(path)) : [];
  const used = existsSync(dataDir)
    ? readdirSync(dataDir).filter((name) => !name.startsWith("lock.db") && name !== RESTORE_DIRECTORY && !own.includes(name))
    : [];
  if (used.length === 0) return;
  throw new Error(
    `${dataDir} is not empty (it holds ${used.slice(0, 3).join(", ")}): restore into another directory with --data, or move this one away first`,
  );
}

/** Before a directory is made for it. */
function checkKind(file: string, key: AgeKey | null): void {
  const fd = openSync(file, "r");
  const start = Buffer.alloc(AGE_MAGIC.length);
  try {
    const bytes = readInto(fd, start);
    const isEncrypted = start.toString("latin1") === AGE_MAGIC;
    if (isEncrypted && key === null)
      throw new Error(`${file} is encrypted: give the passphrase with --passphrase-file, or the identity with --identity-file`);
    if (!isEncrypted && (bytes < 2 || start.readUInt16BE() !== GZIP_MAGIC)) throw new Error(`${file} is not a Selvedge backup`);
    if (!isEncrypted && key !== null) throw new Error(`${file} is not encrypted: leave out --passphrase-file and --identity-file`);
  } finally {
    closeSync(fd);
  }
}

const readInto = (fd: number, into: Buffer): number => process.getBuiltinModule("node:fs").readSync(fd, into, 0, into.length, 0);

/** Messages of zlib and of the system that an operator sees as one error. */
const reason = (error: unknown): string => {
  const { code = "", message } = error as NodeJS.ErrnoException;
  return code.startsWith("Z_") ? "the file is damaged or incomplete" : message;
};

interface Unpacked {
  readonly taker: TarTaker;
  parts(): readonly string[];
  /** Throws if a file is missing or has another checksum. */
  checked(file: string): Manifest;
}

function createUnpacked(workDir: string): Unpacked {
  const sums = new Map<string, string>();
  let open: { readonly name: string; readonly fd: number; readonly hash: Hash } | null = null;
  const textOf = (name: string): string => (sums.has(name) ? readFileSync(join(workDir, name), "utf8") : "");
  return {
    taker: {
      begin: (name) => {
        if (name !== MANIFEST && name !== CHECKSUMS && !isPartPath(name))
          throw new Error(`it contains ${name}, which does not belong in a backup`);
        if (sums.has(name)) throw new Error(`it contains ${name} twice`);
        const path = join(workDir, name);
        mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
        open = { name, fd: openSync(path, "wx", 0o600), hash: createHash("sha256") };
      },
      bytes: (bytes) => {
        if (open === null) return;
        open.hash.update(bytes);
        for (let at = 0; at < bytes.length;) at += writeSync(open.fd, bytes, at);
      },
      end: () => {
        if (open === null) return;
        fsyncSync(open.fd);
        closeSync(open.fd);
        sums.set(open.name, open.hash.digest("hex"));
        open = null;
      },
    },
    parts: () => [...sums.keys()].filter((name) => name !== MANIFEST && name !== CHECKSUMS),
    checked: (file) => {
      const damaged = (what: string): Error => new Error(`cannot restore ${file}: ${what}`);
      const manifest = manifestOf(textOf(MANIFEST));
      if (manifest === null) throw damaged("its manifest is missing, or a newer version of Selvedge wrote it");
      const listed = new Map(
        textOf(CHECKSUMS)
          .split("\n")
          .filter((line) => line !== "")
          .map((line) => [line.slice(66), line.slice(0, 64)]),
      );
      for (const [name, sum] of sums) if (name !== CHECKSUMS && listed.get(name) !== sum) throw damaged(`${name} is damaged`);
      for (const name of listed.keys()) if (!sums.has(name)) throw damaged(`${name} is missing`);
      for (const { path, isNeeded } of BACKUP_PARTS)
        if (isNeeded && !sums.has(path) && !(path === "control.db" && manifest.database === "elsewhere"))
          throw damaged(`${path} is missing`);
      for (const name of [MANIFEST, CHECKSUMS]) rmSync(join(workDir, name));
      return manifest;
    },
  };
}

function manifestOf(text: string): Manifest | null {
  try {
    const manifest = JSON.parse(text) as Manifest;
    return manifest.format === 1 ? manifest : null;
  } catch {
    return null;
  }
}

function checkDatabase(path: string, name: string): void {
  if (!existsSync(path)) return;
  const cut = cutPageOf(path);
  if (cut !== null) throw new Error(`${name} in the backup is damaged: ${cut}`);
  const db = new DatabaseSync(path);
  try {
    const found = String(Object.values(db.prepare("PRAGMA quick_check(1)").get() ?? {})[0]);
    if (found !== "ok") throw new Error(`${name} in the backup is damaged: ${found}`);
  } finally {
    db.close();
  }
}

/** The server was at a later revision when the backup was made, or since: the restored database must not pass for its continuation. */
async function renewHistory(path: string, clock: Clock): Promise<void> {
  const store = await openStore({ url: `sqlite:${path}`, clock });
  try {
    await store.renewHistory();
  } finally {
    await store.close();
  }
}

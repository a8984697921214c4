import { randomBytes } from "node:crypto";
import { closeSync, fchmodSync, fstatSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { Store } from "./store.ts";

export interface KeyFileConfig {
  /** `DIR/seal.key`. */
  readonly path: string;
  /** Forbids creating a key, because it could not decrypt the existing data. */
  readonly databaseExists: boolean;
}

/**
 * The key that seals secrets in the database: 32 random bytes in a file that only its owner may read. Created and synced
 * to disk before the first database. Throws an Error whose message tells the operator what to do.
 */
export function openKeyFile({ path, databaseExists }: KeyFileConfig): Buffer {
  const key = readKey(path);
  if (key) return key;
  if (databaseExists)
    throw new Error(
      `${path} is missing and the database needs it: restore the file from a backup, or copy it from another server that uses this database`,
    );
  createKey(path);
  return readKey(path)!;
}

const KEY_BYTES = 32;

function readKey(path: string): Buffer | null {
  let fd: number;
  try {
    fd = openSync(path, "r");
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return null;
    throw error;
  }
  try {
    const mode = fstatSync(fd).mode & 0o777;
    if ((mode & 0o077) !== 0) throw new Error(`${path} has mode ${mode.toString(8).padStart(4, "0")}, others may read it: chmod 600 it`);
    const key = readFileSync(fd);
    if (key.length !== KEY_BYTES)
      throw new Error(`${path} has ${key.length} bytes instead of ${KEY_BYTES}: restore the file from a backup`);
    return key;
  } finally {
    closeSync(fd);
  }
}

/** Writes a temporary file and links it, so that the key file is never incomplete and never replaces another process's key. */
function createKey(path: string): void {
  const aside = join(dirname(path), `.seal-${randomBytes(8).toString("hex")}.key`);
  const fd = openSync(aside, "wx", 0o600);
  try {
    fchmodSync(fd, 0o600);
    writeSync(fd, randomBytes(KEY_BYTES));
    fsyncSync(fd);
    linkSync(aside, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  } finally {
    closeSync(fd);
    rmSync(aside, { force: true });
  }
  const directory = openSync(dirname(path), "r");
  try {
    fsyncSync(directory);
  } finally {
    closeSync(directory);
  }
}

/** The secret by which a start recognizes the database of its key. */
export const CHECK_NAME = "seal_check";

/** Checks at start that the key belongs to this database, so that a wrong key is not discovered later. */
export async function verifyKey(store: Store, sealer: Sealer, createdOn: string): Promise<void> {
  const find = store.read.selectFrom("secrets").select("value").where("name", "=", CHECK_NAME);
  const stored = await find.executeTakeFirst();
  if (!stored) {
    const row = { name: CHECK_NAME, value: sealer.seal(CHECK_NAME, CHECK_NAME), created_on: createdOn };
    // Another node may have inserted its row first; the row is checked below.
    await store.write(({ db }) =>
      db
        .insertInto("secrets")
        .values(row)
        .onConflict((conflict) => conflict.doNothing())
        .execute(),
    );
  }
  const { value } = await find.executeTakeFirstOrThrow();
  requireOwnKey(sealer, value);
}

/** Throws unless the key has sealed the database's value of `CHECK_NAME`. */
export function requireOwnKey(sealer: Sealer, value: string): void {
  try {
    sealer.open(value, CHECK_NAME);
  } catch (cause) {
    throw new Error("the sealing key does not belong to this database: restore seal.key from a backup", { cause });
  }
}

import { copyFileSync, existsSync, fsyncSync, mkdirSync, openSync, closeSync, renameSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { type RecoveredKind, recoverDatabase } from "#control/recovery/recover-database.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { createSealer, type Sealer } from "#kernel/crypto/seal.ts";
import { NO_HISTORY } from "#snapshot/last-good/base-file.ts";
import { journalPath, readLastGood } from "#snapshot/last-good/last-good.ts";
import type { Position, Snapshot } from "#snapshot/feed.ts";
import { createSnapshotState } from "#snapshot/state.ts";
import { isSameInstallation } from "#store/database/history.ts";
import { openKeyFile, verifyKey } from "#store/database/key-file.ts";
import { DatabaseFault } from "#store/database/database-fault.ts";
import { dialectOf } from "#store/database/backends/backend.ts";
import { cutPageOf } from "#store/database/backends/cut-page.ts";
import { inspectDatabase } from "#store/database/inspect.ts";
import { openStore } from "#store/database/open.ts";
import { openSqlite } from "#store/database/backends/sqlite.ts";
import { type Config, databaseUrl } from "#app/config/config.ts";
import { withoutCredentials } from "#app/config/config-formats.ts";
import { presets } from "./control-config.ts";
import { planeFiles } from "#app/planes/plane-files.ts";

export interface Rebuilt {
  /** Of the copy. */
  readonly at: Position;
  readonly kinds: readonly RecoveredKind[];
  /** The directory with the previous files. */
  readonly aside: string;
  /** Errors of the copy, if only a part of it is usable. */
  readonly complaints: readonly string[];
}

const SQLITE = "sqlite:";

/**
 * Writes a new database file from the last good copy, replacing one that is damaged, missing or behind the copy, which
 * is kept. The caller holds the lock of the data directory. Throws an Error for the operator, and has changed nothing
 * then.
 */
export async function rebuildDatabase(config: Config, clock: Clock): Promise<Rebuilt> {
  const url = databaseUrl(config);
  if (dialectOf(url) !== "sqlite")
    throw new Error(
      `the database ${withoutCredentials(url)} is PostgreSQL, which this command does not rebuild: restore its last dump with pg_restore. Until then, servers use the last good copy`,
    );
  const path = url.slice(SQLITE.length);
  const files = planeFiles(config.data);
  const complaints: string[] = [];
  const state = createSnapshotState();
  const copy = state.replacement();
  const at = await readLastGood(
    files.lastGood,
    (_level, message, fields) => complaints.push(`${message} ${JSON.stringify(fields)}`),
    copy.add,
  );
  if (at === null)
    throw new Error(`${config.data} has no last good copy to rebuild from (${complaints[0] ?? "it is missing"}): restore a backup`);
  copy.take(at.rev);
  await assertLost(url, path, at);
  const sealer = createSealer(openKeyFile({ path: files.sealKey, databaseExists: true }));
  assertOpens(state, sealer);
  const made = `${path}.rebuilt`;
  removeDatabase(made);
  try {
    const kinds = await recovered(config, clock, sealer, state, at, made);
    const aside = join(config.data, `damaged-${isoMicros(clock.nowMicros()).replaceAll(":", "-")}`);
    keepAside(path, files.lastGood, aside);
    putInPlace(made, path);
    return { at, kinds, aside, complaints };
  } finally {
    removeDatabase(made);
  }
}

/** An intact database has more data than the copy. Throws if it is intact, or belongs to another installation. */
async function assertLost(url: string, path: string, at: Position): Promise<void> {
  try {
    const { exists, position } = await inspectDatabase(url);
    if (!exists) return;
    if ((await wrongIn(path)) !== null) return;
    const { history = null, rev = 0 } = position ?? {};
    const isKnown = history !== null && at.history !== NO_HISTORY;
    if (isKnown && !isSameInstallation(history, at.history))
      throw new Error(
        `the database at ${path} is intact but belongs to another installation than the last good copy: set --data to the right directory`,
      );
    if ((!isKnown || history === at.history) && rev < at.rev) return;
  } catch (error) {
    if (error instanceof DatabaseFault && error.absence.fault === "database_damaged") return;
    throw error;
  }
  throw new Error(`the database at ${path} is intact and needs no rebuilding. To return to an older state, restore a backup`);
}

/** Encrypted values would be unusable with another key. */
function assertOpens(snapshot: Snapshot, sealer: Sealer): void {
  const [signed] = snapshot.entries("dnssec");
  const [certificate] = snapshot.entries("certificate");
  const key = signed?.[1].keys[0];
  try {
    if (key !== undefined) sealer.open(key.private_key, `dnssec:${key.id}`);
    if (certificate !== undefined) sealer.open(certificate[1].private_key, `certificate:${certificate[0]}`);
  } catch (cause) {
    throw new Error("the sealing key does not belong to the last good copy: restore seal.key from a backup", { cause });
  }
}

async function recovered(
  config: Config,
  clock: Clock,
  sealer: Sealer,
  snapshot: Snapshot,
  at: Position,
  path: string,
): Promise<readonly RecoveredKind[]> {
  const store = await openStore({ url: `${SQLITE}${path}`, clock });
  try {
    await verifyKey(store, sealer, isoMicros(clock.nowMicros()));
    const nameServers = config.dns.name_servers;
    const owner = { email: config.bootstrap.email, ...presets(config) };
    return await recoverDatabase({ store, clock, sealer, snapshot, nameServers }, owner, at);
  } finally {
    await store.close();
  }
}

const PARTS = ["", "-wal", "-shm"] as const;

const removeDatabase = (path: string): void => PARTS.forEach((part) => rmSync(`${path}${part}`, { force: true }));

/** The copy too: the next start with the new database writes another one over it. */
function keepAside(path: string, lastGood: string, aside: string): void {
  mkdirSync(aside, { mode: 0o700 });
  for (const file of [lastGood, journalPath(lastGood)]) if (existsSync(file)) copyFileSync(file, join(aside, basename(file)));
  for (const part of PARTS) if (existsSync(`${path}${part}`)) renameSync(`${path}${part}`, join(aside, basename(`${path}${part}`)));
}

/** SQLite has folded its log into the file when the last connection was closed. */
function putInPlace(made: string, path: string): void {
  syncFile(made);
  renameSync(made, path);
  syncFile(dirname(path));
}

function syncFile(path: string): void {
  const file = openSync(path, "r");
  try {
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
}

/** The first fault that SQLite finds, indexes and references included, or null. */
export async function wrongIn(path: string): Promise<string | null> {
  try {
    const cut = cutPageOf(path);
    if (cut !== null) return cut;
    const session = openSqlite(path, "read");
    try {
      const [first] = (await session.query("PRAGMA integrity_check(1)")).rows;
      const text = String(Object.values(first ?? {})[0]);
      return text === "ok" ? null : text.replaceAll("\n", " ");
    } finally {
      await session.close();
    }
  } catch (error) {
    return (error as Error).message;
  }
}

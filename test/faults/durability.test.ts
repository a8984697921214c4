import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { test } from "node:test";
import { sql } from "kysely";
import { systemClock } from "#kernel/clock.ts";
import { databaseTest, storeTest } from "../support/store.ts";
import { toolOrSkip } from "../support/tools.ts";
import { openStore } from "#store/database/open.ts";

const WRITER = join(import.meta.dirname, "../support/store-writer.ts");
const ENDLESS = "1000000";
const ROUNDS = 4;

/** Starts a writing process, kills it without warning after some acknowledgements, and returns those. */
async function writeUntilKilled(url: string, acknowledgements: number): Promise<readonly string[]> {
  const child = spawn(process.execPath, [WRITER, url, ENDLESS, "16"], { stdio: ["ignore", "pipe", "inherit"] });
  const names: string[] = [];
  for await (const name of createInterface({ input: child.stdout })) {
    if (names.push(name) === acknowledgements) child.kill("SIGKILL");
  }
  // Completely printed names were acknowledged; the rest of a last line may be missing.
  return names.filter((name) => name.length === 32);
}

databaseTest("acknowledged data exists after kill -9, complete and in order", async (url, dialect) => {
  const acknowledged = new Set<string>();
  for (let round = 1; round <= ROUNDS; round++) {
    for (const name of await writeUntilKilled(url, 40 * round)) acknowledged.add(name);
    const store = await openStore({ url, clock: systemClock });
    // One view of all: a server may finish the commit of a client that is gone.
    const { rows, audits, changes, rev } = await store.readAt(async (db, revision) => ({
      rows: (await db.selectFrom("secrets").select("name").orderBy("name").execute()).map(({ name }) => name),
      audits: (await db.selectFrom("audit_log").select("resource_id").orderBy("resource_id").execute()).map((row) => row.resource_id),
      changes: await db.selectFrom("changes").select(["rev", "id"]).orderBy("rev").execute(),
      rev: revision,
    }));
    assert.deepEqual(
      [...acknowledged].filter((name) => !rows.includes(name)),
      [],
      "acknowledged and gone",
    );
    assert.deepEqual(audits, rows);
    assert.deepEqual(changes.map(({ id }) => id).toSorted(), rows);
    assert.deepEqual(
      changes.map((change) => change.rev),
      Array.from({ length: rev }, (_, at) => at + 1),
    );
    if (dialect === "sqlite") assert.deepEqual((await sql`PRAGMA integrity_check`.execute(store.read)).rows, [{ integrity_check: "ok" }]);
    await store.close();
  }
  assert.ok(acknowledged.size >= 40 * 10);
});

storeTest("PostgreSQL syncs every commit, and SQLite's log is synced before its next use and by the store", async ({ store, dialect }) => {
  const query =
    dialect === "sqlite"
      ? sql<{ synchronous: unknown }>`PRAGMA synchronous`
      : sql<{ synchronous: unknown }>`SELECT current_setting('synchronous_commit') AS synchronous`;
  const { result } = await store.write(({ db }) => query.execute(db));
  assert.deepEqual(result.rows, [{ synchronous: dialect === "sqlite" ? 1 : "on" }]);
});

test("the log is synced before a unit is acknowledged, and after the last byte of its commit", { skip: toolOrSkip("strace") }, (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-order-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  for (const kind of ["usual", "bulk"]) {
    const run = join(directory, kind);
    const calls = "trace=fsync,fdatasync,pwrite64,write";
    const program = [process.execPath, WRITER, `sqlite:${run}.db`, "20", "1", kind];
    const { status, stderr } = spawnSync("strace", ["-f", "-y", "-qq", "-e", calls, "-o", `${run}.trace`, ...program], {
      encoding: "utf8",
    });
    assert.equal(status, 0, stderr);
    let isSynced = false;
    const acknowledged: boolean[] = [];
    /** Threads whose sync of the log has begun, and whether all that was written then is all there is. */
    const syncing = new Map<string, boolean>();
    for (const line of readFileSync(`${run}.trace`, "utf8").split("\n")) {
      const thread = line.slice(0, line.indexOf(" "));
      if (/ pwrite64\(\d+<[^>]*-wal>/.test(line)) {
        isSynced = false;
        for (const other of syncing.keys()) syncing.set(other, false);
      }
      if (/ f(?:data)?sync\(\d+<[^>]*-wal>/.test(line)) {
        if (line.endsWith("<unfinished ...>")) syncing.set(thread, true);
        else isSynced = true;
      }
      if (/<\.\.\. f(?:data)?sync resumed>/.test(line)) {
        isSynced ||= syncing.get(thread) ?? false;
        syncing.delete(thread);
      }
      if (/ write\(1<.*"[0-9a-f]{32}"/.test(line)) acknowledged.push(isSynced);
    }
    assert.deepEqual(
      acknowledged,
      Array.from({ length: 20 }, () => true),
      kind,
    );
  }
});

test("each commit is one fsync, and concurrent writes share one", { skip: toolOrSkip("strace") }, (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-sync-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  let runs = 0;
  const syncs = (units: number, concurrency: number, kind = "usual", calls = /\b(?:fsync|fdatasync)\(/g): number => {
    const run = join(directory, String(++runs));
    const program = [process.execPath, WRITER, `sqlite:${run}.db`, String(units), String(concurrency), kind];
    const { status, stderr } = spawnSync("strace", ["-f", "-qq", "-e", "trace=fsync,fdatasync", "-o", `${run}.trace`, ...program], {
      encoding: "utf8",
    });
    assert.equal(status, 0, stderr);
    return readFileSync(`${run}.trace`, "utf8").match(calls)?.length ?? 0;
  };
  const few = syncs(5, 1);
  assert.ok(syncs(45, 1) - few >= 40);
  assert.ok(syncs(45, 40) - few < 20);
  // Another thread syncs: SQLite itself calls fsync.
  for (const kind of ["bulk", "usual"]) assert.equal(syncs(45, 1, kind, /\bfdatasync\(/g), 45);
});

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { DatabaseSync } from "node:sqlite";
import { type EventQueries, openEventQueries } from "#events/read/queries.ts";
import type { EventTable } from "#events/rows/rows.ts";
import { roundsOf } from "../support/rounds.ts";
import { removeDirectory } from "../support/temporary.ts";

const ROUNDS = roundsOf(10);
const TABLES = ["requests", "security_events"] as const;

/**
 * kill -9 of the writer of events, during batches. The guarantee: acknowledged events all exist, once; a batch exists
 * completely or not at all; counts match the rows; and a reader that follows arrivals gets each row once, over all
 * starts.
 */
test(`kill -9: each acknowledged event is stored and counted once, over ${ROUNDS} rounds`, { timeout: 300_000 }, async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-events-kill-"));
  t.after(() => removeDirectory(directory));
  const path = join(directory, "events.db");
  const queries = openEventQueries(path);
  t.after(() => queries.close());
  const acknowledged = new Map<string, number>();
  const followed = { requests: follow(queries, "requests"), security_events: follow(queries, "security_events") };
  for (let round = 0; round < ROUNDS; round++) {
    const lines = await writeUntilKilled(path, `${round}`, (round * 37) % 150);
    for (const line of lines) acknowledged.set(line.split(" ")[0]!, Number(line.split(" ")[1]));
    for (const table of TABLES) followed[table]();
  }
  assert.ok(acknowledged.size > ROUNDS * 2, `only ${acknowledged.size} batches were acknowledged`);
  // The next one brings the log of the last one into the file.
  const sizes = new Map<string, number>();
  for (const line of await writeUntilKilled(path, "last", 0)) acknowledged.set(line.split(" ")[0]!, Number(line.split(" ")[1]));
  for (const table of TABLES) {
    const rays = followed[table]();
    const stored = Map.groupBy(rays, (ray) => ray);
    for (const [batch, size] of acknowledged) assert.equal(stored.get(batch)?.length, size, `${table} of batch ${batch}`);
    for (const [batch, { length }] of stored) {
      assert.equal(sizes.get(batch) ?? length, length, `both tables of batch ${batch}, or none`);
      sizes.set(batch, length);
    }
    assert.equal(queries.count(table, []), rays.length);
    for (const level of ["minutes", "hours"]) assert.equal(counted(path, `${table}_${level}`), rays.length, `${table}_${level}`);
  }
  const ids = queries.list("security_events", { where: [], limit: 1e6 }).map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length);
  t.diagnostic(`${acknowledged.size} acknowledged batches, ${ids.length} events`);
});

/** Lines of what was acknowledged. */
async function writeUntilKilled(path: string, name: string, afterMs: number): Promise<readonly string[]> {
  const program = new URL("../support/event-writer.ts", import.meta.url).pathname;
  const child = spawn(process.execPath, [program, path, name], { stdio: ["ignore", "pipe", "pipe"] });
  const [output, errors] = [text(child.stdout), text(child.stderr)];
  await Promise.race([once(child.stdout, "data"), once(child, "exit")]);
  await delay(afterMs);
  child.kill("SIGKILL");
  await once(child, "close");
  assert.equal(await errors, "");
  return (await output).split("\n").slice(0, -1);
}

/** Gives the rays of all rows that have arrived since the first call. */
function follow(queries: EventQueries, table: EventTable & ("requests" | "security_events")): () => readonly string[] {
  const rays: string[] = [];
  let afterRow = 0;
  return () => {
    for (let hasMore = true; hasMore;) {
      const found = queries.arrivals(table, {
        where: [],
        afterRow,
        rowsMax: 5_000,
        unitsMax: Infinity,
        lookedAtMax: 20_000,
        behindMax: 1_000_000,
      });
      assert.equal(found.passedOver, 0);
      for (const row of found.rows) rays.push(row.ray_id);
      ({ lastRow: afterRow, hasMore } = found);
    }
    return rays;
  };
}

function counted(path: string, table: string): number {
  const db = new DatabaseSync(path, { readOnly: true });
  try {
    return Number(db.prepare(`SELECT SUM(rows) AS n FROM ${table}`).get()?.["n"]);
  } finally {
    db.close();
  }
}

import assert from "node:assert/strict";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { MessageChannel, Worker } from "node:worker_threads";
import { once } from "node:events";
import { PlatformError } from "#kernel/errors/errors.ts";
import { openEventDatabase } from "#events/database/database.ts";
import type { PageQuery } from "./queries.ts";
import { createThreadReads, type ReadMessage, type ReadReply } from "./read-client.ts";
import { cutResult, joinResult } from "./reply-pieces.ts";
import { packed, testRequestRow } from "#events/testing/rows.ts";

const is = (name: string) => (error: unknown) => error instanceof PlatformError && error.errorName === name;

test("a separate thread answers queries, and its errors keep their names", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-reads-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const path = join(directory, "events.db");
  const database = openEventDatabase(path);
  database.insert([
    packed("requests", [
      testRequestRow(),
      testRequestRow({ status: 500 }),
      ...Array.from({ length: 500 }, () => testRequestRow({ at_ms: 1 })),
    ]),
  ]);
  database.close();
  const thread = new Worker(new URL("./reader.ts", import.meta.url), { workerData: { path } });
  t.after(() => thread.terminate());
  await once(thread, "message");
  const { port1, port2 } = new MessageChannel();
  thread.postMessage({ type: "attach", port: port2 }, [port2]);
  const reads = createThreadReads();
  t.after(() => reads.close());
  reads.connect(port1);
  const [group] = await reads.groups("requests", {
    where: [{ column: "status", operator: "eq", value: 500 }],
    by: [],
    measures: [],
    order: [],
    limit: 1,
  });
  assert.equal(group?.count, 1);
  assert.equal((await reads.page("requests", { where: [], limit: 1 })).hasMore, true);
  const long = await reads.page("requests", { where: [], limit: 1_000, direction: "asc" });
  assert.deepEqual([long.rows.length, long.hasMore], [502, false]);
  assert.deepEqual(long.rows.at(-1), testRequestRow({ status: 500 }));
  assert.equal(await reads.lastRow("requests"), 502);

  rmSync(path);
  for (const part of ["-wal", "-shm"]) rmSync(path + part, { force: true });
  writeFileSync(path, "no database, but longer than a header of one would be".repeat(40));
  await assert.rejects(reads.lastRow("requests"), is("database_damaged"));
});

test("a long reply crosses in pieces, of which the receiver reads one in each tick", async () => {
  const rows = Array.from({ length: 1_050 }, (_, n) => ({ n }));
  assert.equal(cutResult({ rows: rows.slice(0, 200), hasMore: true }), undefined);
  for (const result of [rows, { rows, last: null, hasMore: true }, { values: rows, events: 3 }]) {
    const cut = cutResult(result);
    assert.ok(cut);
    assert.equal(cut.pieces.length, 6);
    let ticks = 0;
    let isRead = false;
    const count = (): void => {
      ticks++;
      if (!isRead) setImmediate(count);
    };
    setImmediate(count);
    assert.deepEqual(await joinResult(cut), result);
    isRead = true;
    assert.ok(ticks >= 6, String(ticks));
  }
});

test("without a thread, new queries and queries in progress fail with database_unavailable", async (t) => {
  const reads = createThreadReads();
  await assert.rejects(reads.lastRow("requests"), is("database_unavailable"));
  const { port1, port2 } = new MessageChannel();
  t.after(() => port1.close());
  reads.connect(port1);
  // Two are with the thread, and so many wait behind them.
  const waiting = Array.from({ length: 66 }, () => reads.lastRow("requests"));
  const refused = Promise.all(waiting.map((one) => assert.rejects(one, is("database_unavailable"))));
  await assert.rejects(reads.lastRow("requests"), is("database_unavailable"), "so many are under way at most");
  port2.close();
  await refused;
});

test("an owner with many queries delays only its own", async (t) => {
  const reads = createThreadReads();
  const { port1, port2 } = new MessageChannel();
  t.after(() => {
    reads.close();
    port2.close();
  });
  reads.connect(port1);
  const asked: unknown[] = [];
  port2.on("message", ({ request, args }: ReadMessage) => {
    asked.push((args[1] as PageQuery<"requests">).where.map((part) => ("value" in part ? part.value : null)).join());
    port2.postMessage({ request, result: request } satisfies ReadReply);
  });
  const page = async (zone: string) => reads.page("requests", { where: [{ column: "zone_id", operator: "eq", value: zone }], limit: 1 });
  const flood = Array.from({ length: 66 }, async () => page("greedy"));
  const refused = assert.rejects(page("greedy"), is("database_unavailable"));
  const others = ["quiet", "calm"].map(page);
  await Promise.all([...others, refused]);
  assert.ok(asked.indexOf("quiet") <= 4 && asked.indexOf("calm") <= 4, asked.join(" "));
  await Promise.all(flood);
  assert.equal(asked.length, 68);
});

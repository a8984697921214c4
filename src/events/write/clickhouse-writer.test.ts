import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { zstdCompressSync } from "node:zlib";
import { startClickHouseStub } from "../../../test/support/clickhouse-stub.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { createBlockSpool } from "#events/clickhouse/block-spool.ts";
import { insertedColumns } from "#events/clickhouse/tables.ts";
import { openEventQueries } from "#events/read/queries.ts";
import type { NodeBatch } from "#events/rows/node-batch.ts";
import { encodeRows } from "#events/rows/rows-form.ts";
import { createSpool } from "#events/spool/spool.ts";
import { packed, testGatewayRow, testRequestRow } from "#events/testing/rows.ts";
import { startTestWriter } from "#events/testing/writer.ts";
import { clickHouseSpoolOf } from "./writer-config.ts";

test("with ClickHouse, the writer keeps rows for it on the disk, and takes each batch of a node once even after a crash", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-clickhouse-writer-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, "events.db");
  const stub = await startClickHouseStub(t);
  const clickHouse = { url: stub.url, ca: "" };
  const start = () => startTestWriter(t, path, undefined, { clickHouse });

  stub.fault = (response) => response.destroy();
  const first = await start();
  for (const ray_id of ["a", "b"]) first.sink.push("requests", testRequestRow({ ray_id, query: "card=4111111111111111" }));
  first.sink.push("gateway_logs", testGatewayRow());
  await eventually(async () => (await first.metric("selvedge_events_written_rows_total")) === 3);
  const batches = batchesOf(join(directory, "node"), ["c", "d", "e"]);
  assert.deepEqual((await first.take(batches[0]!)).stored, batches[0]!.to);
  await eventually(() => first.logged.some((line) => line.startsWith("ClickHouse does not take events")));
  await first.drain();
  const queries = openEventQueries(path);
  assert.equal(queries.count("requests", []), 0);
  assert.equal(queries.count("gateway_logs", []), 1);
  queries.close();

  // The process ended after the rows of a batch were on disk, and before the database had its place.
  const spool = createBlockSpool({ directory: clickHouseSpoolOf(path), bytesMax: 1e9, monotonicMs: () => 0, damaged: () => undefined });
  spool.appendBatch(batches[1]!, [packed("requests", [testRequestRow({ ray_id: "d" })])]);
  spool.close();
  stub.fault = null;
  const second = await start();
  assert.deepEqual((await second.take(batches[1]!)).stored, batches[1]!.to);
  assert.deepEqual((await second.take(batches[2]!)).stored, batches[2]!.to);
  const rows = () => stub.stored.get("selvedge_requests") ?? [];
  const cell = (name: string) => rows().map((row) => row[insertedColumns("requests").indexOf(name)]);
  await eventually(() => rows().length >= 5);
  await eventually(async () => (await second.metric("selvedge_events_clickhouse_spool_bytes")) === 0);
  await second.drain();
  assert.deepEqual(cell("ray_id"), ["a", "b", "c", "d", "e"]);
  assert.deepEqual(cell("node"), ["", "", "fra-1", "fra-1", "fra-1"]);
  assert.ok(
    cell("query").every((query) => !String(query).includes("4111111111111111")),
    "masked before they are kept",
  );
  const inserts = stub.calls.filter((call) => /^[0-9a-f]{40}-/.test(call));
  assert.equal(inserts.length, new Set(inserts).size, "no block is sent twice");
});

/** Batches of a node with one request each. */
function batchesOf(directory: string, rays: readonly string[]): readonly NodeBatch[] {
  const spool = createSpool({ directory, bytesMax: 1e9, damaged: () => undefined });
  let from = { segment: 0, at: 0 };
  return rays.map((ray_id) => {
    spool.append([zstdCompressSync(encodeRows(packed("requests", [testRequestRow({ ray_id })])))]);
    const { to, bytes } = spool.next(from, 1)!;
    const batch = { node: "fra-1", source: "rows", epoch: "e", from, to, bytes } as const;
    from = to;
    return batch;
  });
}

import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { zstdCompressSync } from "node:zlib";
import { systemClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { fc } from "../../../test/support/property.ts";
import { type EventDatabase, openEventDatabase } from "#events/database/database.ts";
import { createLogBodyStore } from "#events/logs/bodies.ts";
import { createLogIndexer } from "#events/logs/indexer.ts";
import { createLogJournal } from "#events/logs/journal.ts";
import { openEventQueries } from "#events/read/queries.ts";
import type { BatchAnswer, BatchRange, BatchSource } from "#events/rows/node-batch.ts";
import { encodeRows } from "#events/rows/rows-form.ts";
import { createBatchSender } from "#events/spool/batch-sender.ts";
import { epochOf } from "#events/spool/epoch.ts";
import { createLogFiles } from "#events/spool/log-files.ts";
import { type BatchFiles, createSpool, type Spool, SpoolFullError } from "#events/spool/spool.ts";
import { packed, testGatewayRow, testRequestRow } from "#events/testing/rows.ts";
import { createNodeBatches, type NodeBatches } from "./node-batches.ts";

function directory(t: TestContext): string {
  const path = mkdtempSync(join(tmpdir(), "selvedge-node-batches-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
}

interface Control {
  readonly database: EventDatabase;
  readonly batches: NodeBatches;
  readonly refused: string[];
}

function openControl(path: string): Control {
  const database = openEventDatabase(join(path, "events.db"));
  const refused: string[] = [];
  const batches = createNodeBatches({
    database,
    directory: join(path, "gateway-logs"),
    metrics: createMetrics(),
    clock: systemClock,
    makeRoom: () => undefined,
    refused: (_, reason) => refused.push(reason),
  });
  return { database, batches, refused };
}

const recordOf = (ray_id: string): Uint8Array => zstdCompressSync(encodeRows(packed("requests", [testRequestRow({ ray_id })])));

type Fault = "none" | "node" | "control" | "answer" | "away" | "late";

test("a batch whose records decompress to more than a batch may have is refused before the rest is decompressed", (t) => {
  const { batches, refused } = openControl(directory(t));
  const files = createSpool({ directory: directory(t), bytesMax: 1e9, damaged: () => assert.fail("no file is damaged") });
  const bomb = zstdCompressSync(Buffer.alloc(60 * 1024 * 1024));
  files.append(Array.from({ length: 200 }, () => bomb));
  const { to, bytes } = files.next({ segment: 0, at: 0 }, 64 * 1024 * 1024) ?? assert.fail("nothing to send");
  const before = process.memoryUsage().arrayBuffers;
  const answer = batches.take({ source: "rows", epoch: "e", from: { segment: 0, at: 0 }, to, node: "fra-1", bytes });
  assert.deepEqual([answer.stored, refused.length], [to, 1]);
  assert.match(answer.refused ?? "", /larger than/);
  assert.ok(process.memoryUsage().arrayBuffers - before < 400 * 1024 * 1024);
  files.close();
});

test("rows of a node whose clock is ahead get the time of control", (t) => {
  const controlDir = directory(t);
  const { batches } = openControl(controlDir);
  const files = createSpool({ directory: directory(t), bytesMax: 1e9, damaged: () => assert.fail("no file is damaged") });
  const nowMs = Date.now();
  const times = [nowMs - 5_000, nowMs + 200_000, nowMs + 86_400_000, 8e15, -1];
  files.append([
    zstdCompressSync(
      encodeRows(
        packed(
          "requests",
          times.map((at_ms) => testRequestRow({ at_ms, ray_id: String(at_ms) })),
        ),
      ),
    ),
  ]);
  const { to, bytes } = files.next({ segment: 0, at: 0 }, 1e6) ?? assert.fail("nothing to send");
  assert.equal(batches.take({ source: "rows", epoch: "e", from: { segment: 0, at: 0 }, to, node: "fra-1", bytes }).refused, undefined);
  const queries = openEventQueries(join(controlDir, "events.db"));
  const found = new Map(queries.list("requests", { where: [], limit: 10 }).map(({ ray_id, at_ms }) => [Number(ray_id), Number(at_ms)]));
  for (const at of times.slice(0, 2)) assert.equal(found.get(at), at);
  for (const at of times.slice(2, 4)) assert.ok(Math.abs(found.get(at)! - nowMs) < 60_000, String(found.get(at)));
  assert.equal(found.get(-1), 0);
  queries.close();
  files.close();
});

test("a batch whose answer is lost is sent again as it was, although more records have come", async (t) => {
  const nodeDir = directory(t);
  const spool = createSpool({ directory: nodeDir, bytesMax: 1e9, damaged: () => assert.fail("no file is damaged") });
  spool.append([recordOf("a"), recordOf("b")]);
  const asked: BatchRange[] = [];
  const sender = createBatchSender({
    ...{ source: "rows", epoch: epochOf(nodeDir), files: spool },
    ask: async (range, bytes) => {
      if (bytes.length === 0) return { stored: range.from };
      asked.push(range);
      if (asked.length > 2) return { stored: range.to };
      spool.append([recordOf("c")]);
      return { error: "lost" };
    },
    refused: (_, reason) => assert.fail(reason),
  });
  await eventually(() => asked.length === 4);
  sender.stop();
  spool.close();
  assert.deepEqual([asked[1], asked[2]], [asked[0], asked[0]]);
  assert.deepEqual(asked[3]?.from, asked[0]?.to, "then the others");
});

test(
  "property: rows that the disk has acknowledged arrive once each, even if the node, control or an answer fails",
  { timeout: 300_000 },
  async (t) => {
    const faults = fc.array(fc.constantFrom<Fault>("none", "node", "control", "answer", "away", "late"), { minLength: 3, maxLength: 12 });
    await fc.assert(
      fc.asyncProperty(faults, async (plan) => {
        const [nodeDir, controlDir] = [directory(t), directory(t)];
        const rays: string[] = [];
        let control = openControl(controlDir);
        const openSpool = (): Spool =>
          createSpool({ directory: nodeDir, bytesMax: 1e9, segmentBytesMax: 700, damaged: () => assert.fail("no file is damaged") });
        let spool = openSpool();
        for (const [round, fault] of plan.entries()) {
          let hasFailed = false;
          let late = (): void => undefined;
          const sender = createBatchSender({
            ...{ source: "rows", epoch: epochOf(nodeDir), files: spool },
            ask: async (range, bytes) => {
              await pause(0);
              if (fault === "away" && !hasFailed) return { error: "away" };
              if (fault === "late" && bytes.length > 0 && !hasFailed) {
                hasFailed = true;
                late = () => void control.batches.take({ ...range, node: "fra-1", bytes });
                return { error: "no answer in time" };
              }
              const answer = control.batches.take({ ...range, node: "fra-1", bytes });
              late();
              late = () => undefined;
              if (fault !== "answer" || hasFailed) return answer;
              hasFailed = true;
              return { error: "lost" };
            },
            refused: (_, reason) => assert.fail(reason),
          });
          for (let i = 0; i < 5; i++) {
            const names = [`${round}-${i}-a`, `${round}-${i}-b`];
            spool.append(names.map(recordOf));
            rays.push(...names);
            sender.wake();
            await pause(i % 2);
          }
          if (fault === "late") await pause(600);
          sender.stop();
          if (fault === "node") {
            spool.close();
            spool = openSpool();
          }
          if (fault === "control") {
            control.batches.close();
            control.database.close();
            control = openControl(controlDir);
          }
        }
        const last = await sendAll({ source: "rows", files: spool, epoch: epochOf(nodeDir), control: control.batches });
        assert.equal(spool.next(last, 1e6), null);
        const queries = openEventQueries(join(controlDir, "events.db"));
        const stored = queries.list("requests", { where: [], limit: 1e5 }).map(({ ray_id }) => ray_id);
        queries.close();
        control.database.close();
        assert.deepEqual(stored.toSorted(), rays.toSorted());
        // The node deletes files that control has, except the newest, whose number must not be used again.
        assert.ok(spool.bytes() < 2_000, `${spool.bytes()} bytes are left`);
      }),
      { numRuns: 8 },
    );
  },
);

/** Sends until nothing is left; the last place. */
async function sendAll(deps: {
  readonly source: BatchSource;
  readonly files: BatchFiles;
  readonly epoch: string;
  readonly control: NodeBatches;
}): Promise<{ readonly segment: number; readonly at: number }> {
  const { source, files, epoch, control } = deps;
  let place = { segment: 0, at: 0 };
  const ask = (range: Pick<BatchRange, "from" | "to">, bytes: Uint8Array): Omit<BatchAnswer, "request"> =>
    control.take({ ...range, source, epoch, node: "fra-1", bytes });
  place = ask({ from: place, to: place }, new Uint8Array()).stored!;
  for (let next = files.next(place, 400); next !== null; next = files.next(place, 400)) {
    const { stored, error } = ask({ from: place, to: next.to }, next.bytes);
    assert.equal(error, undefined);
    place = stored!;
    files.release(place);
  }
  return place;
}

test("a full spool refuses new rows, keeps the stored ones, and has space again once control has them", (t) => {
  const [nodeDir, control] = [directory(t), openControl(directory(t))];
  const spool = createSpool({ directory: nodeDir, bytesMax: 3_000, segmentBytesMax: 500, damaged: () => undefined });
  let kept = 0;
  assert.throws(() => {
    for (;;) {
      spool.append([recordOf(`ray-${kept}`)]);
      kept++;
    }
  }, SpoolFullError);
  assert.ok(kept > 2);
  const batch = spool.next({ segment: 0, at: 0 }, 1e6)!;
  const { stored } = control.batches.take({ source: "rows", epoch: "e", node: "n", from: { segment: 0, at: 0 }, ...batch });
  assert.deepEqual(stored, batch.to);
  spool.release(stored!);
  spool.append([recordOf("after")]);
  control.database.close();
});

test("control refuses a batch that it can never store, and takes the next one", (t) => {
  const control = openControl(directory(t));
  const at = (offset: number): { readonly segment: number; readonly at: number } => ({ segment: 1, at: offset });
  const take = (source: BatchSource, from: number, to: number, bytes: Uint8Array): Omit<BatchAnswer, "request"> =>
    control.batches.take({ source, epoch: "e", node: "n", from: at(from), to: at(to), bytes });
  const spoiled = take("rows", 0, 10, Buffer.from("no records"));
  assert.deepEqual([spoiled.stored, spoiled.refused], [at(10), "a record is damaged"]);
  assert.deepEqual(take("logs", 0, 10, Buffer.from("no records")).stored, at(10));
  assert.equal(control.refused.length, 2);
  const spool = createSpool({ directory: directory(t), bytesMax: 1e6, damaged: () => undefined });
  spool.append([recordOf("good")]);
  const { bytes } = spool.next({ segment: 0, at: 0 }, 1e6)!;
  assert.deepEqual(take("rows", 10, 20, bytes), { stored: at(20) });
  // Again, and a part of it again: nothing is added.
  assert.deepEqual(take("rows", 10, 20, bytes), { stored: at(20) });
  assert.deepEqual(take("rows", 5, 25, bytes), { stored: at(20) });
  control.database.close();
});

test("gateway logs of a node arrive once each with their bodies, beside those of control's own gateway", async (t) => {
  const [nodeDir, controlDir] = [directory(t), directory(t)];
  let control = openControl(controlDir);
  const entryOf = (id: string, bytes = 10) => ({
    row: testGatewayRow({ id }),
    keep: { mode: "STOP_INSERTING", rowsMax: null } as const,
    request: Buffer.from(`ask ${id}`),
    response: [Buffer.alloc(bytes, id)],
  });
  const journal = createLogJournal({ directory: nodeDir, metrics: createMetrics(), segmentBytesMax: 2_000 });
  const own = createLogJournal({ directory: join(controlDir, "gateway-logs"), metrics: createMetrics(), segmentBytesMax: 2_000 });
  const names = Array.from({ length: 30 }, (_, i) => `node-${i}`);
  // One has bodies that no single message of the bus could carry.
  for (const [i, id] of names.entries()) {
    journal.append(entryOf(id, i === 7 ? 3_000_000 : 10));
    own.append(entryOf(`own-${i}`));
    await new Promise((resolve) => void setImmediate(resolve));
  }
  journal.close();
  own.close();
  const files = createLogFiles({ directory: nodeDir, damaged: () => assert.fail("no segment is damaged") });
  for (let round = 0; round < 2; round++) {
    await sendAll({ source: "logs", files, epoch: epochOf(nodeDir), control: control.batches });
    control.batches.close();
    control.database.close();
    control = openControl(controlDir);
  }
  const indexer = createLogIndexer({
    directory: join(controlDir, "gateway-logs"),
    logs: control.database.logs,
    damaged: () => assert.fail("no"),
  });
  while (indexer.step());
  const queries = openEventQueries(join(controlDir, "events.db"));
  const rows = queries.list("gateway_logs", { where: [], limit: 1e5 });
  queries.close();
  assert.deepEqual(rows.map(({ id }) => id).toSorted(), [...names, ...names.map((_, i) => `own-${i}`)].toSorted());
  const bodies = createLogBodyStore(join(controlDir, "gateway-logs"));
  for (const { id, segment, segment_at } of rows) {
    const found = bodies.read({ segment: segment!, at: segment_at! });
    assert.equal(found?.request.toString(), `ask ${id}`);
    assert.equal(found?.response.subarray(0, id.length).toString(), id);
  }
  // Only the newest segment of the node is left, whose number must not be used again.
  assert.ok(files.bytes() < 4_000);
  control.database.close();
});

test("gateway logs above the limit are deleted, oldest first, and those that control lacks are counted", (t) => {
  const nodeDir = directory(t);
  const files = createLogFiles({ directory: nodeDir, damaged: () => undefined });
  const journal = createLogJournal({ directory: nodeDir, metrics: createMetrics(), segmentBytesMax: 500 });
  t.after(() => journal.close());
  for (let i = 0; i < 20; i++) {
    journal.append({ row: testGatewayRow({ id: `log-${i}` }), keep: { mode: "none", rowsMax: null }, request: null, response: [] });
    journal.close();
  }
  const before = files.bytes();
  const lost = files.trim(2_000, { segment: 3, at: 0 });
  assert.ok(lost > 0 && lost < before - files.bytes());
  assert.ok(files.bytes() <= 2_000);
});

import assert from "node:assert/strict";
import { appendFileSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { createMetrics } from "#kernel/process/metrics.ts";
import { openEventDatabase, type EventDatabase } from "#events/database/database.ts";
import { openEventQueries } from "#events/read/queries.ts";
import type { GatewayLogRow } from "#events/rows/rows.ts";
import { testGatewayRow } from "#events/testing/rows.ts";
import { logSegmentsOf, segmentPath } from "./segment.ts";
import { createLogBodyStore } from "./bodies.ts";
import type { GatewayLogEntry, KeepRule } from "./entry.ts";
import { createLogIndexer, type LogIndexer } from "./indexer.ts";
import { createLogJournal, type LogJournal } from "./journal.ts";

interface Stage {
  readonly directory: string;
  readonly database: EventDatabase;
  readonly damages: number[];
  journal(segmentBytesMax?: number): LogJournal;
  indexer(): LogIndexer;
  rows(): readonly GatewayLogRow[];
}

const KEEP: KeepRule = { mode: "STOP_INSERTING", rowsMax: null };

const entry = (row: Partial<GatewayLogRow> = {}, value: Partial<GatewayLogEntry> = {}): GatewayLogEntry => ({
  row: testGatewayRow(row),
  keep: KEEP,
  request: Buffer.from(`ask ${row.id ?? ""}`),
  response: [Buffer.from("answer "), Buffer.from(row.id ?? "")],
  ...value,
});

function stage(t: TestContext): Stage {
  const data = mkdtempSync(join(tmpdir(), "selvedge-journal-"));
  const path = join(data, "events.db");
  const directory = logSegmentsOf(path);
  const database = openEventDatabase(path);
  const queries = openEventQueries(path);
  const damages: number[] = [];
  t.after(() => {
    queries.close();
    database.close();
    rmSync(data, { recursive: true });
  });
  return {
    directory,
    database,
    damages,
    journal: (segmentBytesMax) =>
      createLogJournal({ directory, metrics: createMetrics(), ...(segmentBytesMax === undefined ? {} : { segmentBytesMax }) }),
    indexer: () => createLogIndexer({ directory, logs: database.logs, damaged: (segment) => damages.push(segment) }),
    rows: () => queries.list("gateway_logs", { where: [], direction: "asc", limit: 100_000 }),
  };
}

/** Appended entries are in their file at the end of the turn of the event loop. */
const turnEnd = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
const readAll = async (indexer: LogIndexer): Promise<void> => {
  await turnEnd();
  while (indexer.step());
};
const ids = ({ rows }: Stage): string =>
  rows()
    .map((row) => row.id)
    .join(" ");

test("rows and bodies are read back unchanged, from files that only their owner may read", async (t) => {
  const at = stage(t);
  const journal = at.journal();
  const row = { id: "a", model: "mödel'\"", success: false, cost: null, tokens_cache_read: 7, metadata: '{"a":1}' };
  journal.append(entry(row));
  journal.append(entry({ id: "none" }, { request: null, response: [] }));
  await readAll(at.indexer());
  const [first, none] = at.rows();
  const { segment, segment_at, ...rest } = first as GatewayLogRow;
  const { segment: _, segment_at: __, ...expected } = testGatewayRow({ ...row, request_kept: 5, response_kept: 8 });
  assert.deepEqual(rest, expected);
  const bodies = createLogBodyStore(at.directory).read({ segment: segment as number, at: segment_at as number });
  assert.deepEqual([bodies?.request.toString(), bodies?.response.toString()], ["ask a", "answer a"]);
  assert.deepEqual([none?.segment, none?.segment_at], [null, null]);
  assert.equal(statSync(at.directory).mode & 0o777, 0o700);
  assert.equal(statSync(segmentPath(at.directory, 1)).mode & 0o777, 0o600);
});

test("a large record is written completely, in order with others", async (t) => {
  const at = stage(t);
  const journal = at.journal();
  const [request, piece] = [Buffer.alloc(3_000_000, "q"), Buffer.alloc(1000, "r")];
  journal.append(entry({ id: "a" }, { request, response: Array<Buffer>(3000).fill(piece) }));
  journal.append(entry({ id: "b" }));
  await readAll(at.indexer());
  assert.equal(ids(at), "a b");
  const [row] = at.rows();
  const bodies = createLogBodyStore(at.directory).read({ segment: row?.segment as number, at: row?.segment_at as number });
  assert.ok(bodies?.request.equals(request));
  assert.ok(bodies?.response.equals(Buffer.alloc(3_000_000, "r")));
});

test("each row is inserted once, across restarts of reader and writer and across segments", async (t) => {
  const at = stage(t);
  const expected: string[] = [];
  for (let start = 0; start < 6; start++) {
    const journal = at.journal(1_200);
    const indexer = at.indexer();
    for (let i = 0; i < 5; i++) {
      expected.push(`${start}-${i}`);
      journal.append(entry({ id: `${start}-${i}` }));
      // The reader is stopped at random times: it never ends by itself.
      if (i % 2 === start % 2) {
        await turnEnd();
        indexer.step();
      }
    }
    await turnEnd();
  }
  await readAll(at.indexer());
  assert.equal(ids(at), expected.join(" "));
  assert.ok(readdirSync(at.directory).length > 6);
  assert.deepEqual(at.damages, []);
});

test("a record that a power cut truncates ends its segment, and later records are read", async (t) => {
  const at = stage(t);
  at.journal().append(entry({ id: "a" }));
  await turnEnd();
  const torn = segmentPath(at.directory, 1);
  const record = readFileSync(torn);
  appendFileSync(torn, record.subarray(record.indexOf("\n") + 1, -3));
  const indexer = at.indexer();
  await readAll(indexer);
  assert.equal(ids(at), "a", "half a record is waited for");
  const journal = at.journal();
  journal.append(entry({ id: "b" }));
  await readAll(indexer);
  assert.equal(ids(at), "a b");
  assert.deepEqual(at.damages, [1]);
});

test("STOP_INSERTING keeps the first rows of a gateway and DELETE_OLDEST the last, and other gateways are not affected", async (t) => {
  const at = stage(t);
  const journal = at.journal();
  const indexer = at.indexer();
  for (let i = 0; i < 8; i++) {
    journal.append(entry({ id: `s${i}`, at_ms: i, gateway_id: "stop" }, { keep: { mode: "STOP_INSERTING", rowsMax: 3 } }));
    journal.append(entry({ id: `d${i}`, at_ms: i, gateway_id: "drop" }, { keep: { mode: "DELETE_OLDEST", rowsMax: 3 } }));
    journal.append(entry({ id: `n${i}`, at_ms: i, gateway_id: "none" }, { keep: { mode: "none", rowsMax: null } }));
    journal.append(entry({ id: `u${i}`, at_ms: i, account_id: "b", gateway_id: "stop" }));
    if (i % 3 === 2) await readAll(indexer);
  }
  await readAll(indexer);
  assert.deepEqual(
    at
      .rows()
      .map((row) => row.id)
      .sort(),
    [..."012"]
      .map((n) => `s${n}`)
      .concat(
        [..."567"].map((n) => `d${n}`),
        [..."01234567"].map((n) => `u${n}`),
      )
      .sort(),
  );
  at.database.deleteBefore(2, 100);
  journal.append(entry({ id: "s9", at_ms: 9, gateway_id: "stop" }, { keep: { mode: "STOP_INSERTING", rowsMax: 3 } }));
  await readAll(indexer);
  assert.ok(
    at.rows().some((row) => row.id === "s9"),
    "retention makes room",
  );
});

test("erasing a body overwrites it in the file, and leaves its neighbours", async (t) => {
  const at = stage(t);
  const journal = at.journal();
  for (const id of ["a", "b", "c"]) journal.append(entry({ id }, { request: Buffer.from(`secret-${id}`) }));
  await readAll(at.indexer());
  const places = at.rows().map((row) => ({ segment: row.segment as number, at: row.segment_at as number }));
  const store = createLogBodyStore(at.directory);
  store.erase([places[1] as (typeof places)[0]]);
  assert.deepEqual(
    places.map((place) => store.read(place)?.request.toString()),
    ["secret-a", undefined, "secret-c"],
  );
  assert.ok(!readFileSync(segmentPath(at.directory, 1)).includes("secret-b"));
  // A new database reads every segment again, except erased records.
  const fresh = openEventDatabase(join(at.directory, "fresh.db"));
  t.after(() => fresh.close());
  await readAll(createLogIndexer({ directory: at.directory, logs: fresh.logs, damaged: () => assert.fail() }));
  const queries = openEventQueries(join(at.directory, "fresh.db"));
  t.after(() => queries.close());
  assert.equal(queries.count("gateway_logs", []), 2);
});

test("a segment is deleted with its last row, and the oldest segments when they exceed the byte limit", async (t) => {
  const at = stage(t);
  const journal = at.journal(1_500);
  const indexer = at.indexer();
  for (let i = 0; i < 12; i++) journal.append(entry({ id: String(i), at_ms: i }));
  await readAll(indexer);
  const before = readdirSync(at.directory);
  at.database.deleteBefore(6, 100);
  indexer.tidy(Infinity);
  const after = readdirSync(at.directory);
  assert.ok(after.length < before.length && after.length > 1);
  assert.deepEqual(after, before.slice(before.length - after.length));
  const store = createLogBodyStore(at.directory);
  const readable = (): number =>
    at.rows().filter((row) => store.read({ segment: row.segment as number, at: row.segment_at as number }) !== null).length;
  assert.equal(readable(), at.rows().length);
  indexer.tidy(100);
  assert.ok(readable() < at.rows().length);
  journal.append(entry({ id: "later", at_ms: 99 }));
  await readAll(indexer);
  assert.ok(at.rows().some((row) => row.id === "later"));
});

test("a caller that waits for an entry is notified in order once it is in its file, and also on failure", async (t) => {
  const at = stage(t);
  const metrics = createMetrics();
  const journal = createLogJournal({ directory: at.directory, metrics });
  const told: string[] = [];
  const watcher = (id: string) => ({
    onKept: () => void told.push(`${id} ${readFileSync(segmentPath(at.directory, 1)).includes(`"${id}"`)}`),
  });
  journal.append(entry({ id: "one" }), watcher("one"));
  journal.append(entry({ id: "large" }, { request: Buffer.alloc(1_000_000) }), watcher("large"));
  journal.append(entry({ id: "two" }), watcher("two"));
  assert.deepEqual(told, [], "nobody is told amid the turn");
  await turnEnd();
  assert.deepEqual(told, ["one true", "large true", "two true"]);

  journal.append(entry({ id: "closing" }), watcher("closing"));
  journal.close();
  assert.equal(told.at(-1), "closing true");
  rmSync(at.directory, { recursive: true });
  let isTold = false;
  journal.append(entry({ id: "lost" }), { onKept: () => (isTold = true) });
  await turnEnd();
  assert.ok(isTold);
  assert.equal(metrics.counter("selvedge_gateway_logs_lost_total", "").value, 1);
});

test("sums stay at a column's maximum, and other logs continue", async (t) => {
  const at = stage(t);
  const journal = at.journal();
  const indexer = at.indexer();
  const tokens_in = Number.MAX_SAFE_INTEGER;
  for (let round = 0; round < 3; round++) {
    for (let n = 0; n < 1_200; n++) journal.append(entry({ id: `${round}-${n}`, account_id: "much", tokens_in, cached: true }));
    await readAll(indexer);
  }
  journal.append(entry({ id: "other", account_id: "other" }));
  await readAll(indexer);
  assert.deepEqual([at.rows().length, at.rows().at(-1)?.id], [3_601, "other"]);
  assert.deepEqual(at.damages, []);
});

test("a row that the database refuses is skipped and reported, and its neighbours are stored", async (t) => {
  const at = stage(t);
  const journal = at.journal();
  const indexer = at.indexer();
  for (const id of ["a", "b"]) journal.append(entry({ id }));
  journal.append(entry({ id: "bad", tokens_in: 1.5 }));
  journal.append(entry({ id: "c" }));
  await readAll(indexer);
  assert.equal(ids(at), "a b c");
  assert.deepEqual(at.damages, [1]);
  journal.append(entry({ id: "d" }));
  await readAll(at.indexer());
  assert.equal(ids(at), "a b c d");
  assert.deepEqual(at.damages, [1]);
});

for (const [what, header] of [
  ["noise", "noise\n"],
  ["other JSON", "7\n"],
  ["names that are none", '{"columns":[null]}\n'],
] as const)
  test(`a segment that begins with ${what} is skipped and reported, and its file is closed`, async (t) => {
    const at = stage(t);
    const journal = at.journal();
    journal.append(entry({ id: "lost" }));
    await turnEnd();
    journal.close();
    const bytes = readFileSync(segmentPath(at.directory, 1));
    writeFileSync(segmentPath(at.directory, 1), Buffer.concat([Buffer.from(header), bytes.subarray(bytes.indexOf(0x0a) + 1)]));
    const openFiles = (): number => readdirSync("/proc/self/fd").length;
    const indexer = at.indexer();
    const before = openFiles();
    for (let n = 0; n < 5; n++) assert.equal(indexer.step(), false);
    assert.equal(openFiles(), before);
    at.journal().append(entry({ id: "next" }));
    await readAll(indexer);
    assert.equal(ids(at), "next");
    assert.deepEqual(at.damages, [1]);
  });

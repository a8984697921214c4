import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { mkdtempSync, rmSync, statSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { eventually } from "../../../test/support/eventually.ts";
import { fillDisk, smallDisk } from "../../../test/support/small-disk.ts";
import { openEventDatabase } from "#events/database/database.ts";
import { openEventQueries } from "#events/read/queries.ts";
import { packed, testRequestRow, testSecurityRow } from "#events/testing/rows.ts";
import { startTestWriter, type TestWriter } from "#events/testing/writer.ts";
import { reserveOf } from "./writer-config.ts";

const BATCH_ROWS = 200;
const WRITTEN = "selvedge_events_written_rows_total";
const FAILED = "selvedge_events_failed_rows_total";

/** Some 600 KB that nothing makes smaller; waits until the thread is through with them. */
async function writeBatch(writer: TestWriter, batch: number): Promise<void> {
  const through = async (): Promise<number> => (await writer.metric(WRITTEN)) + (await writer.metric(FAILED));
  const before = await through();
  for (let row = 0; row < BATCH_ROWS; row++)
    writer.sink.push(
      "security_events",
      testSecurityRow({ id: `${batch}-${row}`, at_ms: Date.now(), query: randomBytes(2_250).toString("base64") }),
    );
  await eventually(async () => (await through()) === before + BATCH_ROWS);
}

const idsOf = (path: string, batch: number): number => {
  const queries = openEventQueries(path);
  try {
    const rows = queries.list("security_events", { where: [], direction: "desc", limit: 10 * BATCH_ROWS });
    return rows.filter(({ id }) => id.startsWith(`${batch}-`)).length;
  } finally {
    queries.close();
  }
};

test("on a disk that fills up, new events replace the oldest ones, whatever fills the disk", async (t) => {
  const disk = smallDisk(t, 48);
  if (typeof disk !== "string") return t.skip(disk.skip);
  const path = join(disk, "events.db");
  const writer = await startTestWriter(t, path);
  await eventually(() => (statSync(reserveOf(path), { throwIfNoEntry: false })?.size ?? 0) > 4e6);
  let batch = 0;
  // Twice as much as there is room for.
  for (; batch < 160; batch++) await writeBatch(writer, batch);
  assert.equal(await writer.metric(FAILED), 0);
  assert.equal(idsOf(path, batch - 1), BATCH_ROWS);
  assert.equal(idsOf(path, 0), 0);
  assert.ok((await writer.metric("selvedge_events_disk_full_deletions_total")) > 0);

  fillDisk(join(disk, "filler"));
  const end = batch + 40;
  for (; batch < end; batch++) await writeBatch(writer, batch);
  const failed = await writer.metric(FAILED);
  assert.ok(failed <= 2 * BATCH_ROWS, `${failed} of ${40 * BATCH_ROWS}`);
  assert.equal(idsOf(path, batch - 1), BATCH_ROWS, "the newest are there");

  await writer.drain();
  rmSync(join(disk, "filler"));
  const again = await startTestWriter(t, path);
  await writeBatch(again, 1_000);
  assert.equal(await again.metric(FAILED), 0);
  assert.equal(idsOf(path, 1_000), BATCH_ROWS);
  await again.drain();
});

test("a start on a full disk uses the reserved space", async (t) => {
  const disk = smallDisk(t, 48);
  if (typeof disk !== "string") return t.skip(disk.skip);
  const path = join(disk, "events.db");
  const first = await startTestWriter(t, path);
  await writeBatch(first, 1);
  await first.drain();
  fillDisk(join(disk, "filler"));
  const again = await startTestWriter(t, path);
  await writeBatch(again, 2);
  assert.deepEqual([await again.metric(FAILED), idsOf(path, 2)], [0, BATCH_ROWS]);
  await again.drain();
});

/** Makes the first imports of the detectors fail as too many open files do. */
const failingImports = (times: number): string =>
  `data:text/javascript,${encodeURIComponent(`
    import { registerHooks } from "node:module";
    let left = ${times};
    registerHooks({ load(url, context, next) {
      if (url.includes("text-masker") && left-- > 0) throw Object.assign(new Error("too many open files"), { code: "EMFILE" });
      return next(url, context);
    } });`)}`;

const directory = (t: TestContext): string => {
  const path = mkdtempSync(join(tmpdir(), "selvedge-writer-"));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
};
const CARD = "/pay/4111111111111111/now";

test("rows wait until their masker is loaded, and rows that need no masker do not wait", async (t) => {
  const path = join(directory(t), "events.db");
  const writer = await startTestWriter(t, path, failingImports(2));
  writer.sink.push("requests", testRequestRow({ path: CARD }));
  await eventually(async () => (await writer.metric("selvedge_events_masker_failures_total")) > 0);
  assert.deepEqual([await writer.metric(WRITTEN), await writer.metric("selvedge_events_waiting_rows")], [0, 1]);
  writer.sink.push("requests", testRequestRow({ path: "/", user_agent: "a" }));
  await eventually(async () => (await writer.metric(WRITTEN)) === 1);
  await eventually(async () => (await writer.metric(WRITTEN)) === 2);
  const queries = openEventQueries(path);
  t.after(() => queries.close());
  assert.deepEqual(
    queries
      .list("requests", { where: [], limit: 10 })
      .map((row) => row.path)
      .toSorted(),
    ["/", "/pay/[masked]/now"],
  );
  await writer.drain();
});

test("rows that could not be scanned are dropped and counted at the end", async (t) => {
  const path = join(directory(t), "events.db");
  const writer = await startTestWriter(t, path, failingImports(1_000));
  writer.sink.push("requests", testRequestRow({ path: CARD }));
  await eventually(async () => (await writer.metric("selvedge_events_masker_failures_total")) > 0);
  await writer.drain(300);
  assert.ok(writer.logged.includes("writing event rows failed"));
  const queries = openEventQueries(path);
  t.after(() => queries.close());
  assert.equal(queries.count("requests", []), 0);
});

const DAY_MS = 86_400_000;

for (const [what, writtenMs, left] of [
  ["was switched off for 20 days, or was set ahead", Date.now() - 20 * DAY_MS, 1],
  ["went on all the time", Date.now(), 0],
] as const)
  test(`with a clock that ${what}, ${left} row of 40 days ago remains after the start`, async (t) => {
    const path = join(directory(t), "events.db");
    const database = openEventDatabase(path);
    database.insert([packed("requests", [testRequestRow({ at_ms: Date.now() - 40 * DAY_MS })])]);
    database.close();
    utimesSync(path, writtenMs / 1000, writtenMs / 1000);
    const writer = await startTestWriter(t, path);
    // Set after each step of tidying.
    await eventually(async () => (await writer.metric("selvedge_events_database_bytes")) > 0);
    const queries = openEventQueries(path);
    t.after(() => queries.close());
    assert.equal(queries.count("requests", []), left);
    assert.equal(writer.logged.length, left);
    await writer.drain();
  });

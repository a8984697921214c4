import assert from "node:assert/strict";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test, type TestContext } from "node:test";
import { PlatformError } from "#kernel/errors/errors.ts";
import { openEventDatabase } from "./database.ts";
import { openEventQueries } from "#events/read/queries.ts";
import { openRepairedDatabase } from "./repair.ts";
import { packed, testGatewayRow } from "#events/testing/rows.ts";

const NOISE = "this was an events database once. ".repeat(4096);

function setUp(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-events-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, "events.db");
  const asides: string[] = [];
  let nowMs = 0;
  const open = () =>
    openRepairedDatabase({
      path,
      nowMs: () => ++nowMs,
      damaged: (aside) => asides.push(aside),
      replaced: () => undefined,
      full: () => false,
    });
  return { path, asides, open };
}

const row = (id: string) => packed("gateway_logs", [testGatewayRow({ id })]);

const all = { where: [], limit: 10 } as const;

test("a file that is not a database is set aside, and events continue in a new one", (t) => {
  const { path, asides, open } = setUp(t);
  writeFileSync(path, NOISE);
  const database = open();
  t.after(() => database.close());
  database.insert([row("first")]);
  assert.deepEqual(asides, [`${path}.damaged-1`]);
  assert.equal(readFileSync(`${path}.damaged-1`, "utf8"), NOISE);
  const queries = openEventQueries(path);
  t.after(() => queries.close());
  assert.deepEqual(
    queries.list("gateway_logs", all).map(({ id }) => id),
    ["first"],
  );
});

test("a directory in the place of the file is set aside, and events continue in a new file", (t) => {
  const { path, asides, open } = setUp(t);
  mkdirSync(join(path, "below"), { recursive: true });
  const database = open();
  t.after(() => database.close());
  database.insert([row("first")]);
  assert.deepEqual(asides, [`${path}.damaged-1`]);
  assert.ok(existsSync(`${path}.damaged-1/below`));
});

/** Overwrites the first page of a table, which nothing reads before the table is used. */
function damageTable(path: string, table: string): void {
  const db = new DatabaseSync(path);
  const root = Number(db.prepare("SELECT rootpage FROM sqlite_master WHERE name = ?").get(table)?.["rootpage"]);
  const { page_size } = db.prepare("PRAGMA page_size").get() as { page_size: number };
  db.close();
  const bytes = readFileSync(path);
  writeFileSync(path, bytes.fill(0x5a, (root - 1) * page_size, root * page_size));
}

test("damage at runtime loses no new row, and readers open the new file", (t) => {
  const { path, asides, open } = setUp(t);
  const before = openEventDatabase(path);
  before.insert([row("before")]);
  before.close();
  damageTable(path, "gateway_logs");
  const database = open();
  t.after(() => database.close());
  const queries = openEventQueries(path);
  t.after(() => queries.close());
  assert.equal(queries.count("requests", []), 0, "what is not damaged can be read");
  assert.deepEqual(asides, []);
  database.insert([row("after")]);
  assert.deepEqual(asides, [`${path}.damaged-1`]);
  assert.ok(existsSync(asides[0] ?? ""));
  assert.deepEqual(
    queries.list("gateway_logs", all).map(({ id }) => id),
    ["after"],
  );
});

test("readers get the error database_damaged for a damaged file", (t) => {
  const { path } = setUp(t);
  writeFileSync(path, NOISE);
  const queries = openEventQueries(path);
  t.after(() => queries.close());
  for (let i = 0; i < 2; i++)
    assert.throws(
      () => queries.list("gateway_logs", all),
      (error) => error instanceof PlatformError && error.errorName === "database_damaged",
    );
});

test("other errors do not replace the file", (t) => {
  const { path, asides, open } = setUp(t);
  const database = open();
  t.after(() => database.close());
  assert.throws(() => database.insert([packed("gateway_logs", [testGatewayRow({ at_ms: Number.NaN })])]));
  assert.deepEqual(asides, []);
  assert.ok(existsSync(path));
});

test("the two newest damaged files stay on disk, with their logs", (t) => {
  const { path, asides, open } = setUp(t);
  writeFileSync(`${path}.damaged-by-me`, "");
  for (let n = 0; n < 4; n++) {
    writeFileSync(path, NOISE);
    open().close();
    writeFileSync(`${asides[n]}-wal`, "");
  }
  const kept = readdirSync(dirname(path)).filter((name) => name.includes("damaged"));
  const expected = asides.slice(-2).flatMap((aside) => [basename(aside), `${basename(aside)}-wal`]);
  assert.deepEqual(kept.toSorted(), [...expected, `${basename(path)}.damaged-by-me`].toSorted());
});

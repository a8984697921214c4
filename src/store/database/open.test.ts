import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { test } from "node:test";
import { sql } from "kysely";
import { systemClock } from "#kernel/clock.ts";
import { fc } from "../../../test/support/property.ts";
import { someAudit } from "../../../test/support/audit.ts";
import { databaseTest, storeTest } from "../../../test/support/store.ts";
import { databaseExists, type DatabaseState, inspectDatabase } from "./inspect.ts";
import { DatabaseFault } from "./database-fault.ts";
import { openStore } from "./open.ts";
import { isUniqueViolation } from "#store/queries/session.ts";
import type { Unit } from "./store.ts";

const causedBy = (message: RegExp) => (error: Error) => error.cause instanceof Error && message.test(error.cause.message);
const secret = (name: string) => ({ name, value: "v", created_on: "2026-01-01" });
const insert = (unit: Unit, name: string) => unit.db.insertInto("secrets").values(secret(name)).execute();

storeTest("a unit's rows, audit entry and changes become visible together", async ({ store }) => {
  const { result, rev } = await store.write(async (unit) => {
    await insert(unit, "one");
    unit.change({ kind: "zone", id: "z", value: { a: 1 } });
    unit.change({ kind: "zone", id: "y", value: null });
    unit.audit({ ...someAudit, action: "zone.create", after: { a: 1 } });
    assert.equal((await store.read.selectFrom("secrets").selectAll().execute()).length, 0, "uncommitted data is visible");
    return "done";
  });
  assert.deepEqual({ result, rev }, { result: "done", rev: 1 });
  assert.deepEqual(await store.read.selectFrom("secrets").selectAll().execute(), [secret("one")]);
  assert.deepEqual(await store.changesSince(0, 10), [
    {
      rev: 1,
      changes: [
        { kind: "zone", id: "z", value: { a: 1 } },
        { kind: "zone", id: "y", value: null },
      ],
    },
  ]);
  const audit = await store.read.selectFrom("audit_log").select(["action", "actor_type", "before", "after", "at"]).execute();
  assert.equal(audit.length, 1);
  assert.deepEqual([audit[0]!.action, audit[0]!.actor_type, audit[0]!.before, audit[0]!.after], ["zone.create", "system", null, '{"a":1}']);
  assert.match(audit[0]!.at, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
});

storeTest("counts, sums and affected rows are numbers, and LIKE is case-sensitive", async ({ store }) => {
  await store.write(async (unit) => {
    await insert(unit, "abc");
    await insert(unit, "ABC");
  });
  const row = await store.read
    .selectFrom("secrets")
    .select((eb) => [eb.fn.countAll().as("count"), sql`sum(length(name))`.as("sum"), sql`max(length(name))`.as("max")])
    .executeTakeFirstOrThrow();
  assert.deepEqual(row, { count: 2, sum: 6, max: 3 });
  assert.deepEqual(await store.read.selectFrom("secrets").select("name").where("name", "like", "A%").execute(), [{ name: "ABC" }]);
  assert.deepEqual(await store.read.selectFrom("secrets").select("name").orderBy("name").execute(), [{ name: "ABC" }, { name: "abc" }]);
  const { result } = await store.write(({ db }) => db.updateTable("secrets").set({ value: "w" }).executeTakeFirstOrThrow());
  assert.equal(result.numUpdatedRows, 2n);
});

storeTest("the read connection cannot write, and only the store opens transactions", async ({ store, dialect }) => {
  if (dialect === "sqlite") await assert.rejects(store.read.insertInto("secrets").values(secret("x")).execute(), causedBy(/readonly/));
  await assert.rejects(
    store.read.transaction().execute(async () => {}),
    /store\.write/,
  );
  await assert.rejects(
    store.write(({ db }) => db.transaction().execute(async () => {})),
    /store\.write/,
  );
  await assert.rejects(
    store.readAt((db) => db.insertInto("secrets").values(secret("x")).execute()),
    causedBy(/read-?only/),
  );
});

storeTest("readAt sees one revision while others commit", async ({ store }) => {
  const change = (id: string) =>
    store.write(async (unit) => {
      await insert(unit, id);
      unit.change({ kind: "zone", id, value: {} });
      unit.audit(someAudit);
    });
  await change("a");
  const seen = await store.readAt(async (db, rev) => {
    await change("b");
    const rows = await db.selectFrom("secrets").select("name").execute();
    const outbox = await db.selectFrom("changes").select("id").execute();
    return { rev, rows, outbox };
  });
  assert.deepEqual(seen, { rev: 1, rows: [{ name: "a" }], outbox: [{ id: "a" }] });
  assert.equal(await store.revision(), 2);
});

storeTest("a duplicate key differs from other errors", async ({ store }) => {
  await store.write((unit) => insert(unit, "a"));
  await assert.rejects(
    store.write((unit) => insert(unit, "a")),
    isUniqueViolation,
  );
  await assert.rejects(
    store.write(({ db }) => sql`SELECT no_such_column`.execute(db)),
    (error) => !isUniqueViolation(error),
  );
});

storeTest("an account has one entry point per phase and any number of custom rulesets", async ({ store }) => {
  const ruleset = (id: string, kind: string) => ({
    id,
    kind,
    level: "zone",
    owner_id: "z",
    name: "",
    description: "",
    phase: "p",
    version: 1,
    rules: "[]",
    last_updated: "",
  });
  const add = (id: string, kind: string) => store.write(({ db }) => db.insertInto("rulesets").values(ruleset(id, kind)).execute());
  await add("1", "custom");
  await add("2", "custom");
  await add("3", "zone");
  await assert.rejects(add("4", "zone"), isUniqueViolation);
});

databaseTest("a database survives closing, and one of a newer version is refused", async (url) => {
  assert.equal(await databaseExists(url), false);
  const first = await openStore({ url, clock: systemClock });
  assert.equal(await databaseExists(url), true);
  await first.write((unit) => insert(unit, "kept"));
  await first.close();
  const second = await openStore({ url, clock: systemClock });
  assert.deepEqual(await second.read.selectFrom("secrets").select("name").execute(), [{ name: "kept" }]);
  await second.write(({ db }) => sql`INSERT INTO schema_migrations VALUES (9999, 'later', '')`.execute(db));
  await second.close();
  await assert.rejects(openStore({ url, clock: systemClock }), /schema version 9999 .* knows up to \d+:/);
});

databaseTest("nodes that start concurrently create one schema", async (url) => {
  const stores = await Promise.all([1, 2, 3].map(() => openStore({ url, clock: systemClock })));
  assert.deepEqual(await Promise.all(stores.map((store) => store.revision())), [0, 0, 0]);
  for (const store of stores) await store.close();
});

test("a URL that does not name a database is refused", async () => {
  for (const url of ["", "mysql://x", "sqlite:", "sqlite::memory:"]) {
    await assert.rejects(openStore({ url, clock: systemClock }), /database\.url/);
  }
  await assert.rejects(openStore({ url: "postgres://postgres@127.0.0.1:1/none", clock: systemClock }), /ECONNREFUSED/);
});

test("a file that is not a database is refused and left unchanged", async (t) => {
  const directory = mkdtempSync("/tmp/selvedge-store-");
  t.after(() => rmSync(directory, { recursive: true }));
  writeFileSync(`${directory}/x`, "this is a letter to my aunt, not a database");
  await assert.rejects(openStore({ url: `sqlite:${directory}/x`, clock: systemClock }), /not a database/);
  assert.match(readFileSync(`${directory}/x`, "utf8"), /^this is a letter/);
});

test("a changed file header is reported as damage, or the file is read unchanged", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-header-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, "control.db");
  const store = await openStore({ url: `sqlite:${path}`, clock: systemClock });
  await store.close();
  const whole = readFileSync(path);
  const noise = fc.record({ at: fc.integer({ min: 0, max: 99 }), bytes: fc.uint8Array({ minLength: 1, maxLength: 60 }) });
  let damaged = 0;
  await fc.assert(
    fc.asyncProperty(noise, async ({ at, bytes }) => {
      const broken = Buffer.from(whole);
      broken.set(bytes.subarray(0, 100 - at), at);
      writeFileSync(path, broken);
      const state = await inspectDatabase(`sqlite:${path}`).catch((error: unknown) => error);
      if (state instanceof Error) {
        assert.ok(state instanceof DatabaseFault, state.message);
        assert.equal(state.absence.fault, "database_damaged");
        assert.ok(state.message.includes(path));
        damaged += 1;
      } else {
        const { position, schema } = state as DatabaseState;
        assert.deepEqual(state, { exists: true, isFile: true, position, schema, keyCheck: null, hasFirstToken: false });
      }
    }),
    { numRuns: 200, examples: [[{ at: 24, bytes: new Uint8Array(60).fill(0xa7) }]] },
  );
  assert.ok(damaged > 20, `${damaged} were damaged`);
});

test("damage to a page is found at the start, in a small file and in one that a thread checks", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-page-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  for (const bytes of [0, 5_000_000]) {
    const path = join(directory, `${bytes}.db`);
    const url = `sqlite:${path}`;
    await (await openStore({ url, clock: systemClock })).close();
    const db = new DatabaseSync(path);
    db.exec("CREATE TABLE filler (bytes BLOB)");
    db.prepare("INSERT INTO filler VALUES (zeroblob(?))").run(bytes);
    db.close();
    await (await openStore({ url, clock: systemClock, onDamaged: assert.fail })).close();
    const broken = readFileSync(path);
    // The third page is the root of a table or an index.
    broken.fill(0xa7, 2 * 4_096, 3 * 4_096);
    writeFileSync(path, broken);
    await assert.rejects(openStore({ url, clock: systemClock, onDamaged: assert.fail }), DatabaseFault, `${bytes} bytes`);
  }
});

test("a file that was cut within its last page is reported as damage, however few bytes are missing", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-cut-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const path = join(directory, "control.db");
  const url = `sqlite:${path}`;
  await (await openStore({ url, clock: systemClock })).close();
  const whole = readFileSync(path);
  for (const missing of [1, 50, 100, 4_095]) {
    writeFileSync(path, whole.subarray(0, whole.length - missing));
    await assert.rejects(openStore({ url, clock: systemClock, onDamaged: assert.fail }), DatabaseFault, `${missing} bytes`);
  }
  writeFileSync(path, whole);
  await (await openStore({ url, clock: systemClock, onDamaged: assert.fail })).close();
});

databaseTest(
  "a database that PostgreSQL does not have is refused with its name and advice, and without the password",
  async (url, dialect) => {
    if (dialect === "sqlite") return;
    const wrong = url.replace(/\/[^/?]+\?/, "/nothing_there?").replace(/^postgres:\/\/(?:[^@/]*@)?/, "postgres://postgres:hidden-word@");
    for (const use of [() => openStore({ url: wrong, clock: systemClock }), () => inspectDatabase(wrong)])
      await assert.rejects(use, ({ message }: Error) => {
        assert.match(message, /^cannot use the database .*nothing_there.* does not exist; restore it from a backup, create it/);
        assert.doesNotMatch(message, /hidden-word/);
        return true;
      });
  },
);

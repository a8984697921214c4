import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
// Tests on both databases get no t; the one that mocks the clock resets it in its finally.
// oxlint-disable-next-line eslint/no-restricted-imports
import { mock, test } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { sql } from "kysely";
import { fixedClock, systemClock } from "#kernel/clock.ts";
import { someAudit } from "../../../test/support/audit.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { itemsPerTurn } from "../../../test/support/items-per-turn.ts";
import { storeTest } from "../../../test/support/store.ts";
import { createGroupCommit } from "./group-commit.ts";
import { createHighestPosition } from "./history.ts";
import { openStore } from "./open.ts";
import { VALUES_AT_ONCE } from "./paced-session.ts";
import { DIALECTS } from "#store/queries/session.ts";
import type { Store, Unit } from "./store.ts";

const insert = (unit: Unit, name: string): Promise<unknown> =>
  unit.db.insertInto("secrets").values({ name, value: "v", created_on: "" }).execute();

/** A unit that writes one row, one change and one audit entry. */
const put = (store: Store, name: string, then: (unit: Unit) => unknown = () => {}) =>
  store.write(async (unit) => {
    await insert(unit, name);
    unit.change({ kind: "serial", id: name, value: { serial: 1 } });
    unit.audit({ ...someAudit, action: name });
    await then(unit);
    return name;
  });

async function contents(store: Store) {
  const names = await store.read.selectFrom("secrets").select("name").orderBy("name").execute();
  const audits = await store.read.selectFrom("audit_log").select("action").orderBy("action").execute();
  const sets = (await store.changesSince(0, 1_000)) ?? [];
  return {
    rows: names.map(({ name }) => name),
    audits: audits.map(({ action }) => action),
    changes: sets.flatMap(({ changes }) => changes.map(({ id }) => id)).toSorted(),
    revs: sets.map(({ rev }) => rev),
  };
}

storeTest(
  "of a unit that fails nothing remains, not even statements that waited for their tick beside the one that failed",
  async ({ store }) => {
    await put(store, "a");
    const rows = Array.from({ length: VALUES_AT_ONCE / 10 }, (_, i) => ({ name: `many-${i}`, value: "v", created_on: "" }));
    const failing = (): Promise<unknown> =>
      put(store, "fails", async (unit) => {
        await unit.db.insertInto("secrets").values(rows).execute();
        await Promise.all([insert(unit, "a"), insert(unit, "beside"), insert(unit, "beside too")]);
      });
    await assert.rejects(failing());
    const [failed] = await Promise.allSettled([failing(), put(store, "b"), put(store, "c")]);
    assert.equal(failed?.status, "rejected");
    await delay(20);
    assert.deepEqual((await contents(store)).rows, ["a", "b", "c"]);
  },
);

storeTest("a failing unit is rolled back without the others of its group", async ({ store }) => {
  const failing = (name: string, then: (unit: Unit) => unknown) => put(store, name, then);
  const outcomes = await Promise.allSettled([
    put(store, "a"),
    failing("throws", () => {
      throw new RangeError("as the test wants");
    }),
    put(store, "b"),
    failing("violates", (unit) => insert(unit, "a")),
    failing("misspells", ({ db }) => sql`SELEKT`.execute(db)),
    failing("cannot be JSON", (unit) => unit.change({ kind: "serial", id: "x", value: { big: 1n } })),
    put(store, "c"),
  ]);
  assert.deepEqual(
    outcomes.map((outcome) => (outcome.status === "fulfilled" ? outcome.value : "failed")),
    [{ result: "a", rev: 1 }, "failed", { result: "b", rev: 2 }, "failed", "failed", "failed", { result: "c", rev: 3 }],
  );
  assert.ok(outcomes[1]?.status === "rejected" && outcomes[1].reason instanceof RangeError, "the unit's own error arrives");
  assert.deepEqual(await contents(store), { rows: ["a", "b", "c"], audits: ["a", "b", "c"], changes: ["a", "b", "c"], revs: [1, 2, 3] });
});

storeTest("a unit that ignores a failed statement is stored as it reported, or not at all", async ({ store, dialect }) => {
  const swallowed = put(store, "first", (unit) => insert(unit, "first").catch(() => {}));
  // PostgreSQL refuses everything after an error; then the unit is undone as a whole. Neither keeps half.
  if (dialect === "postgres") await assert.rejects(swallowed, /aborted/);
  else await swallowed;
  const { rows, audits, changes } = await contents(store);
  assert.deepEqual(audits, rows);
  assert.deepEqual(changes, rows);
});

storeTest("a failed commit rejects every unit of the group and stores nothing", async ({ store, dialect }) => {
  if (dialect === "postgres") {
    await store.write(({ db }) => sql`ALTER TABLE memberships ALTER CONSTRAINT memberships_account_id_fkey DEFERRABLE`.execute(db));
  }
  const orphan = put(store, "orphan", async ({ db }) => {
    await (dialect === "sqlite" ? sql`PRAGMA defer_foreign_keys = ON` : sql`SET CONSTRAINTS ALL DEFERRED`).execute(db);
    await sql`INSERT INTO users (id, email, created_on, modified_on) VALUES ('u', 'u@example.com', '', '')`.execute(db);
    await sql`INSERT INTO memberships (id, account_id, user_id, roles, status, created_on) VALUES ('m', 'none', 'u', '[]', 'accepted', '')`.execute(
      db,
    );
  });
  const outcomes = await Promise.allSettled([put(store, "a"), orphan, put(store, "b")]);
  assert.deepEqual(
    outcomes.map(({ status }) => status),
    ["rejected", "rejected", "rejected"],
  );
  assert.match(String((outcomes[0] as PromiseRejectedResult).reason), /foreign key/i);
  assert.deepEqual(await contents(store), { rows: [], audits: [], changes: [], revs: [] });
  assert.deepEqual(await put(store, "after"), { result: "after", rev: 1 });
});

storeTest("a unit that changes entries without an audit row is refused", async ({ store }) => {
  await assert.rejects(
    store.write(async (unit) => unit.change({ kind: "serial", id: "x", value: null })),
    /audit/,
  );
  assert.equal((await store.write(async (unit) => unit.audit(someAudit))).rev, null);
  assert.equal(await store.revision(), 0);
});

storeTest("a unit cannot be used after its work ended", async ({ store }) => {
  let kept: Unit | undefined;
  await store.write(async (unit) => {
    kept = unit;
  });
  await assert.rejects(insert(kept!, "late"), /over/);
  assert.throws(() => kept!.audit(someAudit), /over/);
  await assert.rejects(
    store.write(async (unit) => {
      kept = unit;
      throw new Error("no");
    }),
  );
  assert.throws(() => kept!.change({ kind: "serial", id: "x", value: null }), /over/);
});

storeTest("units see earlier writes, and run one at a time over all nodes", async ({ store, open }) => {
  const nodes = [store, await open()];
  await store.write(({ db }) => db.insertInto("counters").values({ name: "test", value: 0 }).execute());
  const increment = (node: Store) =>
    node.write(async ({ db }) => {
      const { value } = await db.selectFrom("counters").select("value").where("name", "=", "test").executeTakeFirstOrThrow();
      await db
        .updateTable("counters")
        .set({ value: value + 1 })
        .where("name", "=", "test")
        .execute();
    });
  await Promise.all(Array.from({ length: 60 }, (_, i) => increment(nodes[i % 2]!)));
  assert.deepEqual(await store.read.selectFrom("counters").select("value").where("name", "=", "test").execute(), [{ value: 60 }]);
});

storeTest("revisions are in commit order, so that a reader polling for changes misses none", async ({ store, open }) => {
  const nodes = [store, await open()];
  const reader = await open();
  const seen: number[] = [];
  let writing = true;
  const reading = (async () => {
    for (let last = false; !last;) {
      last = !writing;
      for (const { rev } of (await reader.changesSince(seen.at(-1) ?? 0, 7)) ?? assert.fail("rows are gone")) seen.push(rev);
      if (last && seen.length < 120) last = false;
      await delay(1);
    }
  })();
  const writers = Array.from({ length: 8 }, async (_, w) => {
    const revs: number[] = [];
    for (let i = 0; i < 15; i++) revs.push((await put(nodes[w % 2]!, `${w}-${i}`)).rev!);
    return revs;
  });
  const revs = await Promise.all(writers);
  writing = false;
  await reading;
  const expected = Array.from({ length: 120 }, (_, i) => i + 1);
  assert.deepEqual(seen, expected);
  assert.deepEqual(
    revs.flat().toSorted((a, b) => a - b),
    expected,
  );
  for (const own of revs)
    assert.deepEqual(
      own,
      own.toSorted((a, b) => a - b),
    );
});

storeTest("onCommit reports units with changes once they can be read", async ({ store }) => {
  const told: Promise<number>[] = [];
  const stop = store.onCommit(() => told.push(store.revision()));
  await store.write((unit) => insert(unit, "no change"));
  await put(store, "a");
  assert.deepEqual(await Promise.all(told), [1]);
  stop();
  await put(store, "b");
  assert.equal(told.length, 1);
});

storeTest("close completes waiting units and refuses new ones", async ({ store, open }) => {
  const other = await open();
  const waiting = Promise.all(["a", "b", "c"].map((name) => put(other, name)));
  await other.close();
  await waiting;
  await assert.rejects(put(other, "late"), /closed/);
  assert.deepEqual((await contents(store)).rows, ["a", "b", "c"]);
});

storeTest("a hanging unit is rolled back at its timeout, and the next one runs", async ({ store }) => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const never = new Promise<void>(() => {});
    const { promise: isHanging, resolve: hang } = Promise.withResolvers<void>();
    const hanging = put(store, "hangs", () => {
      hang();
      return never;
    });
    const next = put(store, "next");
    await isHanging;
    mock.timers.tick(10_000);
    await assert.rejects(hanging, {
      errorName: "database_unavailable",
      cause: new Error("a unit of work took more than 10000 ms and was undone"),
    });
    assert.deepEqual(await next, { result: "next", rev: 1 });
  } finally {
    mock.timers.reset();
  }
  assert.deepEqual((await contents(store)).rows, ["next"]);
});

test("on a full disk the write fails, acknowledged data stays, and writes recover", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-full-"));
  t.after(() => rmSync(directory, { recursive: true, force: true }));
  const store = await openStore({ url: `sqlite:${join(directory, "control.db")}`, clock: systemClock });
  await put(store, "before");
  const large = "x".repeat(1_000_000);
  const outcomes = await Promise.allSettled([
    put(store, "small"),
    store.write(async ({ db }) => {
      // The limit lasts as long as the connection, which the store gives up after such a failure.
      await sql`PRAGMA max_page_count = 60`.execute(db);
      const insertLarge = db.insertInto("secrets").values({ name: "large", value: large, created_on: "" });
      await insertLarge.execute().catch(() => {});
      await db.insertInto("secrets").values({ name: "after", value: "", created_on: "" }).execute();
    }),
    put(store, "same group"),
  ]);
  for (const outcome of outcomes) assert.match(String(outcome.status === "rejected" && outcome.reason), /full/);
  assert.deepEqual((await contents(store)).rows, ["before"]);
  await put(store, "later");
  assert.deepEqual((await contents(store)).audits, ["before", "later"]);
  assert.deepEqual((await sql`PRAGMA integrity_check`.execute(store.read)).rows, [{ integrity_check: "ok" }]);
  await store.close();
});

test("one tick runs only some of the waiting statements, of one unit or many", async () => {
  const turns = itemsPerTurn();
  const group = createGroupCommit({
    verify: () => {},
    dialect: DIALECTS.sqlite,
    clock: systemClock,
    seen: createHighestPosition(systemClock),
    committed: async () => {},
    connect: async () => ({
      query: async (_text, parameters = []) => {
        turns.add(parameters.length);
        return { rows: [{ value: 0, history: "h", own: 1 }], affected: 0 };
      },
      close: async () => {},
    }),
  });
  const write = (statements: number, values: number) =>
    group.write(async ({ db }) => {
      for (let i = 0; i < statements; i++)
        await db
          .selectFrom("secrets")
          .select("name")
          .where(
            "name",
            "in",
            Array.from({ length: values }, (_, n) => `${n}`),
          )
          .execute();
    });
  await Promise.all(Array.from({ length: 100 }, () => write(2, 50)));
  await write(1_000, 50);
  assert.ok(turns.most() <= VALUES_AT_ONCE + 50, `${turns.most()} values in one turn`);
});

test("several units have savepoints, one that is alone is undone with its transaction, and one that asks nothing has none", async () => {
  const statementsOf = async (dialect: "sqlite" | "postgres", ...works: readonly ((unit: Unit) => Promise<unknown>)[]): Promise<string> => {
    const statements: string[] = [];
    const group = createGroupCommit({
      verify: () => {},
      dialect: DIALECTS[dialect],
      clock: systemClock,
      seen: createHighestPosition(systemClock),
      committed: async () => {},
      connect: async () => ({
        query: async (text) => {
          if (/SAVEPOINT|COMMIT|ROLLBACK/.test(text)) statements.push(text.replace(" SAVEPOINT unit", ""));
          return { rows: [{ value: 0, history: "h", own: 1 }], affected: 0 };
        },
        close: async () => {},
      }),
    });
    await Promise.allSettled(works.map((work) => group.write(work)));
    await group.close();
    return statements.join(", ");
  };
  const done = ({ db }: Unit): Promise<unknown> => db.selectFrom("secrets").select("name").execute();
  const failing = async (unit: Unit): Promise<never> => {
    await done(unit);
    throw new Error("no");
  };
  assert.equal(await statementsOf("sqlite", done), "COMMIT");
  assert.equal(await statementsOf("sqlite", failing), "ROLLBACK");
  assert.equal(await statementsOf("postgres", done), "COMMIT");
  assert.equal(await statementsOf("postgres", failing), "ROLLBACK");
  const both = "SAVEPOINT unit, ROLLBACK TO, RELEASE, SAVEPOINT unit, RELEASE, COMMIT";
  for (const dialect of ["sqlite", "postgres"] as const) {
    assert.equal(await statementsOf(dialect, failing, done), both);
    assert.equal(await statementsOf(dialect, done, async () => 1), "SAVEPOINT unit, RELEASE, COMMIT");
    assert.equal(await statementsOf(dialect, done, done), "SAVEPOINT unit, RELEASE, SAVEPOINT unit, RELEASE, COMMIT");
  }
});

test("a bulk unit has its own transaction, others that wait go between two of them, and without room only bulk units wait", async () => {
  const statements: string[] = [];
  let hasRoom = true;
  let isFollowed = true;
  const group = createGroupCommit({
    verify: () => {},
    dialect: DIALECTS.sqlite,
    clock: systemClock,
    seen: createHighestPosition(systemClock),
    committed: async () => {},
    hasRoom: () => hasRoom,
    isFollowed: () => isFollowed,
    connect: async () => ({
      query: async (text) => {
        if (text === "COMMIT") statements.push(text);
        return { rows: [{ value: 0, history: "h", own: 1 }], affected: 0 };
      },
      close: async () => {},
    }),
  });
  const say = (name: string) => async (): Promise<void> => void statements.push(name);
  const bulk = (name: string, bulkOf = "a") => group.write(say(name), { bulkOf });
  await Promise.all([bulk("bulk 1"), bulk("bulk 2"), bulk("bulk 3"), group.write(say("other 1")), group.write(say("other 2"))]);
  const order = ["other 1", "other 2", "COMMIT", "bulk 1", "COMMIT", "bulk 2", "COMMIT", "bulk 3", "COMMIT"];
  assert.deepEqual(statements, order);
  await Promise.all([bulk("a 1"), bulk("a 2"), bulk("a 3"), bulk("b 1", "b"), bulk("b 2", "b")]);
  assert.deepEqual(
    statements.splice(order.length).filter((text) => text !== "COMMIT"),
    ["a 1", "b 1", "a 2", "b 2", "a 3"],
  );
  hasRoom = false;
  const waiting = bulk("bulk 4");
  await group.write(say("other 3"));
  await group.write(say("other 4"));
  assert.deepEqual(statements.slice(order.length), ["other 3", "COMMIT", "other 4", "COMMIT"]);
  hasRoom = true;
  await waiting;
  assert.equal(statements.at(-2), "bulk 4");
  isFollowed = false;
  const behind = bulk("bulk for planes");
  await group.write(say("other 5"));
  assert.equal(statements.at(-2), "other 5");
  isFollowed = true;
  await behind;
  assert.equal(statements.at(-2), "bulk for planes");
  hasRoom = false;
  const last = bulk("bulk 5");
  await group.close();
  await last;
});

test("the sync of a unit blocks no thread, and nothing counts before it; after a failed one the log is copied first", async () => {
  const statements: string[] = [];
  const sync = Promise.withResolvers<void>();
  let isBroken = false;
  let busy = 1;
  const group = createGroupCommit({
    verify: () => {},
    dialect: DIALECTS.sqlite,
    clock: systemClock,
    seen: createHighestPosition(systemClock),
    committed: async () => void statements.push("told"),
    connect: async () => ({
      query: async (text) => {
        if (/COMMIT|synchronous|checkpoint/.test(text)) statements.push(text);
        return { rows: [{ value: 0, history: "h", own: 1, busy }], affected: 0 };
      },
      synced: async () => {
        statements.push("sync");
        if (isBroken) throw new Error("EIO");
        await sync.promise;
      },
      close: async () => {},
    }),
  });
  const first = group.write(async () => 1).then(() => statements.push("acknowledged"));
  await eventually(() => statements.includes("sync"));
  const read = group.synced().then(() => statements.push("read"));
  await new Promise(setImmediate);
  assert.deepEqual(statements.splice(0), ["PRAGMA synchronous = NORMAL", "COMMIT", "sync"]);
  sync.resolve();
  await Promise.all([first, read]);
  assert.deepEqual(statements.splice(0).toSorted(), ["acknowledged", "read", "told"]);
  await group.write(async () => 2);
  assert.deepEqual(statements.splice(0), ["COMMIT", "sync", "told"]);

  isBroken = true;
  await assert.rejects(
    group.write(async () => 1),
    /EIO/,
  );
  await assert.rejects(group.synced(), { errorName: "database_unavailable" });
  statements.splice(0);
  await assert.rejects(
    group.write(async () => 3),
    { errorName: "database_unavailable" },
  );
  busy = 0;
  isBroken = false;
  await group.write(async () => 4);
  await group.synced();
  assert.deepEqual(
    statements.filter((text) => text !== "told"),
    ["PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA wal_checkpoint(TRUNCATE)", "PRAGMA synchronous = NORMAL", "COMMIT", "sync"],
  );
});

test("one sync serves a bulk unit and those that waited for it, and none of them counts before it", async () => {
  const statements: string[] = [];
  let failing = "";
  const run = async (text: string): Promise<void> => {
    if (/COMMIT|sync$/.test(text)) statements.push(text);
    if (text === failing) throw new Error("EIO");
  };
  const group = createGroupCommit({
    verify: () => {},
    dialect: DIALECTS.sqlite,
    clock: systemClock,
    seen: createHighestPosition(systemClock),
    committed: async () => {},
    connect: async () => ({
      query: async (text) => {
        await run(text);
        return { rows: [{ value: 0, history: "h", own: 1, busy: 0 }], affected: 0 };
      },
      synced: () => run("sync"),
      close: async () => {},
    }),
  });
  const say = (name: string) => (): number => statements.push(name);
  /** A bulk unit, and another one that comes meanwhile; from then on statements of this text fail. */
  const both = async (text: string): Promise<readonly string[]> => {
    let other: Promise<unknown> | undefined;
    const work = async (): Promise<void> => {
      statements.push("bulk");
      failing = text;
      other = group.write(async () => void statements.push("other")).then(say("other is stored"), say("other failed"));
    };
    await group.write(work, { bulkOf: "a" }).then(say("bulk is stored"), say("bulk failed"));
    await other;
    failing = "";
    return statements.splice(0);
  };
  const committed = ["bulk", "COMMIT", "other", "COMMIT", "sync"];
  assert.deepEqual(await both(""), [...committed, "bulk is stored", "other is stored"]);
  assert.deepEqual(await both("sync"), [...committed, "bulk failed", "other failed"]);
  // The bulk unit is on disk, although nothing else was begun.
  assert.deepEqual(await both(DIALECTS.sqlite.begin), ["bulk", "COMMIT", "sync", "bulk is stored", "other failed"]);
  await group.close();
});

test("a broken connection is replaced for the next group", async () => {
  let connections = 0;
  const group = createGroupCommit({
    verify: () => {},
    dialect: DIALECTS.sqlite,
    clock: systemClock,
    seen: createHighestPosition(systemClock),
    committed: async () => {},
    connect: async () => {
      const broken = ++connections === 1;
      return {
        query: async (text) => {
          if (broken && text === "COMMIT") throw new Error("connection lost");
          return { rows: [{ value: 0, history: "h", own: 1 }], affected: 0 };
        },
        close: async () => {},
      };
    },
  });
  await assert.rejects(
    group.write(async () => 1),
    /connection lost/,
  );
  assert.deepEqual(await group.write(async () => 2), { result: 2, rev: null });
  assert.equal(connections, 2);
});

test("units that waited too long behind a stuck one are not started, and callers get a retryable error", async () => {
  const clock = fixedClock("2026-01-01T00:00:00Z");
  const group = createGroupCommit({
    verify: () => {},
    dialect: DIALECTS.sqlite,
    clock,
    seen: createHighestPosition(clock),
    committed: async () => {},
    connect: async () => ({
      query: async () => ({ rows: [{ value: 0, history: "h", own: 1 }], affected: 0 }),
      close: async () => {},
    }),
  });
  let begun = 0;
  /** Each takes its ten seconds behind the lock of another client. */
  const units = Array.from({ length: 6 }, () =>
    group.write(async () => {
      begun++;
      clock.advance(10_000);
    }),
  );
  const outcomes = await Promise.allSettled(units);
  assert.equal(begun, 4);
  for (const outcome of outcomes.slice(4)) assert.equal(outcome.status === "rejected" && outcome.reason.errorName, "database_unavailable");
  assert.equal((await group.write(async () => 7)).result, 7, "those that come afterwards are done");
});

test("the undo data of a large unit is in a file, and it is rolled back like any other", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-large-"));
  t.after(() => rmSync(directory, { recursive: true }));
  const store = await openStore({ url: `sqlite:${join(directory, "control.db")}`, clock: systemClock });
  const kept = async ({ db }: Unit): Promise<unknown> =>
    (await sql<{ temp_store: number }>`PRAGMA temp_store`.execute(db)).rows[0]?.temp_store;
  const fill = (unit: Unit, prefix: string) =>
    sql`INSERT INTO secrets SELECT ${prefix} || value, hex(randomblob(500)), '' FROM (WITH RECURSIVE n (value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM n WHERE value < 2000) SELECT value FROM n)`.execute(
      unit.db,
    );
  await store.write((unit) => fill(unit, "a"));
  const large = { timeoutMs: 60_000 };
  const failing = async (unit: Unit): Promise<never> => {
    assert.equal(await kept(unit), 1);
    await sql`UPDATE secrets SET value = 'gone'`.execute(unit.db);
    throw new Error("no");
  };
  await assert.rejects(store.write(failing, large), /no/);
  assert.equal((await store.write(kept)).result, 2, "the next unit is an ordinary one");
  const { rows } = await sql<{ count: number }>`SELECT count(*) AS count FROM secrets WHERE length(value) = 1000`.execute(store.read);
  assert.equal(rows[0]?.count, 2000);
  await store.close();
});

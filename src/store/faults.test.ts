import assert from "node:assert/strict";
import { chmodSync, copyFileSync, existsSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test, type TestContext } from "node:test";
import { sql } from "kysely";
import { systemClock } from "#kernel/clock.ts";
import { newId } from "#kernel/crypto/ids.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { storeTest } from "../../test/support/store.ts";
import { databaseExists } from "#store/database/inspect.ts";
import { openStore } from "#store/database/open.ts";
import { DIALECTS, withFault } from "#store/queries/session.ts";

const named = (name: string) => (error: unknown) => error instanceof PlatformError && error.errorName === name;

function directory(t: TestContext): string {
  const made = mkdtempSync(join(tmpdir(), "selvedge-faults-"));
  t.after(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

test("a full disk gives callers an error, rolls the unit back, and recovers", async (t) => {
  const store = await openStore({ url: `sqlite:${join(directory(t), "control.db")}`, clock: systemClock });
  const put = (name: string, value: string) =>
    store.write(async ({ db }) => {
      // Simulates a full disk: the file may not grow.
      const { rows } = await sql<{ page_count: number }>`PRAGMA page_count`.execute(db);
      await sql.raw(`PRAGMA max_page_count = ${Number(rows[0]?.page_count)}`).execute(db);
      await db.insertInto("secrets").values({ name, value, created_on: "" }).execute();
    });
  const big = "v".repeat(1_000_000);
  const outcomes = await Promise.allSettled([put("small", "v"), put("big", big)]);
  assert.ok(outcomes[1]?.status === "rejected" && named("storage_full")(outcomes[1].reason));
  assert.equal((outcomes[1].reason as PlatformError).status, 507);
  await store.write(async ({ db }) => {
    await sql`PRAGMA max_page_count = 4294967294`.execute(db);
    await db.insertInto("secrets").values({ name: "later", value: big, created_on: "" }).execute();
  });
  const names = (await store.read.selectFrom("secrets").select("name").orderBy("name").execute()).map(({ name }) => name);
  assert.ok(names.includes("later") && !names.includes("big"), names.join());
  await store.close();
});

test("a damaged file is reported with advice", async (t) => {
  const path = join(directory(t), "control.db");
  const store = await openStore({ url: `sqlite:${path}`, clock: systemClock });
  await store.close();
  const bytes = readFileSync(path);
  writeFileSync(path, Buffer.concat([bytes.subarray(0, 4096), Buffer.alloc(bytes.length - 4096, 0x5a)]));
  await assert.rejects(openStore({ url: `sqlite:${path}`, clock: systemClock }), (error: Error) => {
    assert.equal(error.message, `cannot use the database ${path}: database disk image is malformed; restore it from a backup`);
    return true;
  });
  writeFileSync(path, "a text that somebody saved here");
  await assert.rejects(openStore({ url: `sqlite:${path}`, clock: systemClock }), /control\.db: file is not a database; restore it/);
});

const REPLACED: Readonly<Record<string, (path: string, copy: string) => void>> = {
  "the file is removed": (path) => renameSync(path, `${path}.away`),
  "the file and its log are removed": (path) => ["", "-wal", "-shm"].forEach((end) => renameSync(`${path}${end}`, `${path}${end}.away`)),
  "another file has its name": (path, copy) => {
    renameSync(path, `${path}.away`);
    copyFileSync(copy, path);
  },
  "its log is removed": (path) => renameSync(`${path}-wal`, `${path}-wal.away`),
  "another log has its log's name": (path) => {
    renameSync(`${path}-wal`, `${path}-wal.away`);
    writeFileSync(`${path}-wal`, "");
  },
};
for (const [what, replace] of Object.entries(REPLACED))
  test(`${what} while the database is open: nothing more is acknowledged, and the first files have all acknowledged data`, async (t) => {
    const path = join(directory(t), "control.db");
    let told = 0;
    const store = await openStore({ url: `sqlite:${path}`, clock: systemClock, onReplaced: () => void told++ });
    t.after(() => store.close());
    const put = (name: string) => store.write(({ db }) => db.insertInto("secrets").values({ name, value: "", created_on: "" }).execute());
    await put("first");
    copyFileSync(path, `${path}.copy`);
    await put("second");
    replace(path, `${path}.copy`);
    const outcomes = await Promise.allSettled([put("third"), put("fourth")]);
    outcomes.push(...(await Promise.allSettled([put("fifth")])));
    for (const outcome of outcomes) assert.ok(outcome.status === "rejected" && named("database_replaced")(outcome.reason));
    assert.match((await store.health()) ?? "", /replaced or removed while the server was running/);
    assert.equal(told, 1);
    // Put back under the open database they still count as replaced: others may have used them meanwhile.
    for (const end of ["", "-wal", "-shm"]) if (existsSync(`${path}${end}.away`)) renameSync(`${path}${end}.away`, `${path}${end}`);
    await assert.rejects(put("sixth"), named("database_replaced"));
    await store.close();
    const again = await openStore({ url: `sqlite:${path}`, clock: systemClock });
    t.after(() => again.close());
    const names = (await again.read.selectFrom("secrets").select("name").execute()).map(({ name }) => name);
    assert.deepEqual(names.filter((name) => name !== "seal_key").toSorted(), ["first", "second"]);
    await again.write(({ db }) => db.insertInto("secrets").values({ name: "last", value: "", created_on: "" }).execute());
  });

test("opening and closing connections leaves the log in place", async (t) => {
  const path = join(directory(t), "control.db");
  const store = await openStore({ url: `sqlite:${path}`, clock: systemClock });
  t.after(() => store.close());
  const touch = () => store.write(({ db }) => db.insertInto("secrets").values({ name: newId(), value: "", created_on: "" }).execute());
  await touch();
  for (let n = 0; n < 3; n++) {
    const other = await openStore({ url: `sqlite:${path}`, clock: systemClock });
    await other.write(({ db }) => db.insertInto("secrets").values({ name: newId(), value: "", created_on: "" }).execute());
    await other.close();
    // An error of the transaction itself makes the writer connect again.
    await store.write(({ db }) => sql`ROLLBACK`.execute(db)).catch(() => {});
    await touch();
  }
});

test("a database that cannot be opened is reported", { skip: process.getuid?.() === 0 && "root may open everything" }, async (t) => {
  const path = join(directory(t), "control.db");
  writeFileSync(path, "");
  chmodSync(path, 0);
  await assert.rejects(openStore({ url: `sqlite:${path}`, clock: systemClock }), /cannot use the database .*control\.db/);
});

test("an unreachable or silent server is reported without its password", async (t) => {
  const silent = createServer((socket) => void setTimeout(() => socket.destroy(), 50));
  await new Promise<void>((resolve) => void silent.listen(0, "127.0.0.1", resolve));
  t.after(() => silent.close());
  const address = silent.address();
  const port = typeof address === "object" && address !== null ? address.port : 0;
  for (const url of [`postgres://me:hunter2@127.0.0.1:${port}/db`, "postgres://me:hunter2@127.0.0.1:1/db"]) {
    for (const open of [() => openStore({ url, clock: systemClock }), () => databaseExists(url)]) {
      await assert.rejects(open, (error: Error) => {
        assert.match(error.message, /^cannot use the database postgres:\/\/127\.0\.0\.1:\d+\/db: /);
        assert.doesNotMatch(error.message, /hunter2/);
        return true;
      });
    }
  }
});

storeTest("an error in a query is not a database fault", async ({ store }) => {
  const wrong = sql`SELECT nowhere FROM secrets`;
  const ways = [
    () => wrong.execute(store.read),
    () => store.write(({ db }) => wrong.execute(db)),
    () => store.readAt((db) => wrong.execute(db)),
  ];
  for (const way of ways) await assert.rejects(way, (error) => !(error instanceof PlatformError));
});

test("each fault has its code, in both dialects", () => {
  const name = (dialect: "sqlite" | "postgres", error: object): unknown => {
    const told = withFault(DIALECTS[dialect], error);
    return told instanceof PlatformError ? told.errorName : null;
  };
  const sqlite = [13, 4874, 11, 26, 5, 778, 14, 8, 1555, 1, 20].map((errcode) => name("sqlite", { errcode }));
  const unavailable = "database_unavailable";
  assert.deepEqual(sqlite, [
    "storage_full",
    "storage_full",
    "database_damaged",
    "database_damaged",
    unavailable,
    unavailable,
    unavailable,
    unavailable,
    null,
    null,
    null,
  ]);
  const codes = ["53100", "XX001", "57P01", "57014", "08006", "40001", "25006", "23505", "42601", "22021"];
  assert.deepEqual(
    codes.map((code) => name("postgres", { code })),
    ["storage_full", "database_damaged", ...Array.from({ length: 5 }, () => unavailable), null, null, null],
  );
});

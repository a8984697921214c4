import assert from "node:assert/strict";
import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { sql } from "kysely";
import { systemClock } from "#kernel/clock.ts";
import { openStore } from "./open.ts";
import { eventually } from "../../../test/support/eventually.ts";

test("a checkpoint moves data from the log to the file without delaying a write", async () => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-checkpoint-"));
  const path = join(directory, "control.db");
  const store = await openStore({ url: `sqlite:${path}`, clock: systemClock });
  try {
    const before = statSync(path).size;
    // 40 MB in units of 1 MB, more than the log is to hold.
    for (let i = 0; i < 40; i++) {
      await store.write(({ db }) =>
        db
          .insertInto("secrets")
          .values({ name: `n${i}`, value: "v".repeat(1_000_000), created_on: "" })
          .execute(),
      );
    }
    // The file has what the log had.
    await eventually(() => statSync(path).size > before + 30_000_000);
    assert.equal((await store.read.selectFrom("secrets").select("name").execute()).length, 40);
    assert.deepEqual((await sql`PRAGMA integrity_check`.execute(store.read)).rows, [{ integrity_check: "ok" }]);
  } finally {
    await store.close();
    rmSync(directory, { recursive: true });
  }
});

test("the log stays small during continuous writes, and shrinks when they stop", async () => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-checkpoint-"));
  const path = join(directory, "control.db");
  const store = await openStore({ url: `sqlite:${path}`, clock: systemClock });
  const logBytes = (): number => statSync(`${path}-wal`).size;
  const write = (i: number): Promise<unknown> =>
    store.write(({ db }) =>
      db
        .insertInto("secrets")
        .values({ name: `n${i}`, value: "v".repeat(1_000_000), created_on: "" })
        .execute(),
    );
  try {
    let most = 0;
    for (let i = 0; i < 400; i++) {
      await write(i);
      most = Math.max(most, logBytes());
    }
    assert.ok(most < 250_000_000, `${most} bytes of a log of 400 MB`);
    await eventually(() => logBytes() === 0);
    // Later writes are as safe as before.
    await write(400);
    assert.ok(logBytes() > 1_000_000);
    assert.equal((await store.read.selectFrom("secrets").select("name").execute()).length, 401);
    assert.deepEqual((await sql`PRAGMA integrity_check`.execute(store.read)).rows, [{ integrity_check: "ok" }]);
  } finally {
    await store.close();
    rmSync(directory, { recursive: true });
  }
});

test("while a reader keeps the log from being copied, units of large changes wait and others do not", async () => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-checkpoint-"));
  const store = await openStore({ url: `sqlite:${join(directory, "control.db")}`, clock: systemClock });
  const write = (name: string, bulkOf?: string): Promise<unknown> =>
    store.write(
      ({ db }) =>
        db
          .insertInto("secrets")
          .values({ name, value: "v".repeat(1_000_000), created_on: "" })
          .execute(),
      { bulkOf },
    );
  try {
    let isWritten = false;
    const reader = Promise.withResolvers<void>();
    const reading = store.readAt(async (db) => {
      await db.selectFrom("secrets").select("name").execute();
      await reader.promise;
      assert.equal(isWritten, false);
    });
    await write("first");
    for (let i = 0; i < 110; i++) await write(`other ${i}`);
    const bulk = write("bulk", "a").then(() => (isWritten = true));
    for (let i = 0; i < 5; i++) await write(`later ${i}`);
    reader.resolve();
    await reading;
    await bulk;
  } finally {
    await store.close();
    rmSync(directory, { recursive: true });
  }
});

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Session } from "#store/queries/session.ts";
import { pacedSession, VALUES_AT_ONCE } from "./paced-session.ts";

test("a statement that undoes those before it runs after all of them, even if they wait for a later tick", async () => {
  const seen: string[] = [];
  const connection: Session = {
    query: async (sql) => {
      seen.push(sql);
      if (sql === "fails") throw new Error("as the test wants");
      return { rows: [], affected: 0 };
    },
    close: async () => undefined,
  };
  const { query } = pacedSession(connection);
  await query("large", Array.from({ length: VALUES_AT_ONCE }));
  const beside = [query("fails"), query("beside"), query("beside too")];
  await assert.rejects(Promise.all(beside));
  await query("ROLLBACK");
  await Promise.allSettled(beside);
  assert.deepEqual(seen, ["large", "fails", "beside", "beside too", "ROLLBACK"]);
});

test("the COMMIT of a transaction that took more than one tick has a tick to itself", async () => {
  let ticks = 0;
  const seen: [sql: string, tick: number][] = [];
  const connection: Session = {
    query: async (sql) => {
      seen.push([sql, ticks]);
      return { rows: [], affected: 0 };
    },
    close: async () => undefined,
  };
  const count = (): void => {
    ticks++;
    counting = setImmediate(count);
  };
  let counting = setImmediate(count);
  try {
    for (const values of [VALUES_AT_ONCE, 1]) {
      const { query } = pacedSession(connection);
      await query("first", Array.from({ length: values }));
      await query("last");
      await query("COMMIT");
    }
  } finally {
    clearImmediate(counting);
  }
  const [first, last, commit, ...small] = seen.map(([, tick]) => tick);
  assert.ok(first! < last! && last! < commit!, JSON.stringify(seen));
  assert.equal(new Set(small).size, 1, JSON.stringify(seen));
});

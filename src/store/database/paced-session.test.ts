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

import assert from "node:assert/strict";
import { test } from "node:test";
import { createCallCounter, type DeprecatedCalls } from "./call-counter.ts";

const NEVER_MS = 1_000_000;

test("calls are summed and written together", async () => {
  const saved: DeprecatedCalls[] = [];
  const counter = createCallCounter<DeprecatedCalls>({
    save: async (rows) => void saved.push(...rows),
    failed: assert.fail,
    intervalMs: NEVER_MS,
  });
  counter.count({ day: "2024-01-01", account_id: "account", deprecation_id: "row", token_id: "token", route: "GET /things" });
  counter.count({ day: "2024-01-01", account_id: "account", deprecation_id: "row", token_id: "token", route: "GET /things" });
  counter.count({ day: "2024-01-02", account_id: "account", deprecation_id: "row", token_id: "token", route: "GET /things" });
  await counter.close();
  assert.deepEqual(
    saved.map(({ day, calls }) => [day, calls]),
    [
      ["2024-01-01", 2],
      ["2024-01-02", 1],
    ],
  );
});

test("counts that failed to be written are written with the next ones", async () => {
  const saved: DeprecatedCalls[] = [];
  const errors: unknown[] = [];
  let broken = true;
  const counter = createCallCounter<DeprecatedCalls>({
    save: async (rows) => {
      if (broken) throw new Error("disk");
      saved.push(...rows);
    },
    failed: (error) => errors.push(error),
    intervalMs: NEVER_MS,
  });
  counter.count({ day: "2024-01-01", account_id: "account", deprecation_id: "row", token_id: "token", route: "GET /things" });
  await counter.flush();
  assert.equal(errors.length, 1);
  broken = false;
  counter.count({ day: "2024-01-01", account_id: "account", deprecation_id: "row", token_id: "token", route: "GET /things" });
  await counter.close();
  assert.deepEqual(
    saved.map(({ calls }) => calls),
    [2],
  );
});

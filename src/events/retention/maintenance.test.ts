import assert from "node:assert/strict";
import { test } from "node:test";
import type { EventDatabase } from "#events/database/database.ts";
import { createMaintenance } from "./maintenance.ts";

test("if rows cannot be deleted, maintenance still deletes segments and tries each other task", () => {
  const called: string[] = [];
  const failing = (name: string, errcode: number) => (): never => {
    called.push(name);
    throw Object.assign(new Error("database or disk is full"), { errcode });
  };
  const database = {
    deleteBefore: failing("rows", 13),
    deleteUnusedFacets: failing("names", 13),
    usedBytes: () => 0,
    logs: { deleteUsageBefore: failing("usage", 10) },
  } as unknown as EventDatabase;
  const failed: string[] = [];
  const tidy = createMaintenance({
    database,
    segments: { tidy: (bytesMax) => called.push(`segments ${bytesMax}`) },
    limits: { ageMs: 1, bytes: 2, segmentBytes: 3 },
    room: {
      ready: () => undefined,
      make: () => called.push("room") > 0,
      watch: () => void called.push("watch"),
      step: () => false,
    },
    nowMs: () => 0,
    measured: () => undefined,
    failed: (duty) => failed.push(duty),
  });
  assert.equal(tidy(), false);
  assert.deepEqual(called, ["rows", "room", "names", "room", "segments 3", "usage", "watch"]);
  assert.deepEqual(failed, ["expired rows", "names", "usage"]);
});

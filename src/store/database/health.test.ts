import assert from "node:assert/strict";
import { test } from "node:test";
import { fixedClock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { createStoreHealth } from "./health.ts";

test("a disk without space for a write counts as full for ten seconds, even if small writes succeed", async () => {
  const clock = fixedClock("2026-01-01");
  const health = createStoreHealth({ clock, write: async () => {} });
  assert.equal(await health.reason(), null);
  health.failed(new PlatformError("zone_not_found"));
  assert.equal(await health.reason(), null);
  health.failed(new PlatformError("storage_full"));
  assert.equal(await health.reason(), "its disk is full");
  clock.advance(9_999);
  assert.equal(await health.reason(), "its disk is full");
  clock.advance(1);
  assert.equal(await health.reason(), null);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { fixedClock } from "#kernel/clock.ts";
import { createCommitInvalidatedCache } from "./commit-invalidated-cache.ts";

test("an unreadable store leaves the cached data, and the cache retries at once", async () => {
  const clock = fixedClock(0);
  let read = async (): Promise<string | undefined> => "known";
  let reads = 0;
  const cache = createCommitInvalidatedCache({
    store: { onCommit: () => () => {} },
    clock,
    entriesMax: 10,
    load: () => {
      reads++;
      return read();
    },
  });
  assert.equal(cache.familiar("a"), undefined);
  assert.equal(await cache.get("a"), "known");
  clock.advance(2_000);
  read = async () => {
    throw new Error("the database is away");
  };
  for (let i = 0; i < 2; i++) {
    const reading = cache.get("a");
    assert.equal(cache.familiar("a"), "known", "while it is read again");
    await assert.rejects(reading, /away/);
    assert.equal(cache.familiar("a"), "known");
  }
  await assert.rejects(cache.get("b"), /away/);
  assert.equal(cache.familiar("b"), undefined);
  assert.equal(reads, 4);
  read = async () => undefined;
  assert.equal(await cache.get("a"), undefined);
  assert.equal(cache.familiar("a"), undefined, "what the store no longer has is not known");
});

test("an entry dropped during a read stays dropped", async () => {
  const cache = createCommitInvalidatedCache({
    store: { onCommit: () => () => {} },
    clock: fixedClock(0),
    entriesMax: 10,
    load: async () => "value",
  });
  const reading = cache.get("a");
  cache.drop(() => true);
  await reading;
  assert.equal(cache.familiar("a"), undefined);
});

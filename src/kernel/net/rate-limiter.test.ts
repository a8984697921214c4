import assert from "node:assert/strict";
import { test } from "node:test";
import { createRateLimiter } from "./rate-limiter.ts";

const clockAt = (now: { ms: number }) => ({ nowMs: () => now.ms, nowMicros: () => now.ms * 1000, monotonicMs: () => now.ms });

test("a held attempt counts until it is given back", () => {
  const limiter = createRateLimiter({ requests: 2, periodSeconds: 10 }, clockAt({ ms: 0 }));
  const held = [1, 2, 3].map(() => limiter.hold("key"));
  assert.deepEqual(
    held.map((attempt) => attempt?.state.allowed),
    [true, true, false],
  );
  held[2]?.giveBack();
  assert.equal(limiter.look("key")?.allowed, false, "what was refused was not counted");
  held[0]?.giveBack();
  assert.equal(limiter.look("key")?.remaining, 1);
});

test("an attempt of an earlier window gives nothing to a later one", () => {
  const now = { ms: 0 };
  const limiter = createRateLimiter({ requests: 1, periodSeconds: 10 }, clockAt(now));
  const held = limiter.hold("key");
  now.ms = 10_000;
  limiter.take("key");
  held?.giveBack();
  assert.equal(limiter.look("key")?.allowed, false);
});

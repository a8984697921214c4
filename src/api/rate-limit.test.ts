import assert from "node:assert/strict";
import { test } from "node:test";
import { fixedClock } from "#kernel/clock.ts";
import { createRateLimiter } from "#kernel/net/rate-limiter.ts";
import { rateHeaders } from "./rate-limit.ts";

test("a key has its number of requests per window, counted from its first one", () => {
  const clock = fixedClock("2026-01-01T00:00:00Z");
  const limiter = createRateLimiter({ requests: 2, periodSeconds: 300 }, clock);
  assert.deepEqual([limiter.take("a")?.remaining, limiter.take("a")?.remaining], [1, 0]);
  const refused = limiter.take("a");
  assert.deepEqual([refused?.allowed, refused?.remaining, refused?.resetSeconds], [false, 0, 300]);
  assert.equal(limiter.take("b")?.allowed, true, "keys do not share");
  clock.advance(299_001);
  assert.equal(limiter.look("a")?.resetSeconds, 1);
  clock.advance(999);
  assert.equal(limiter.take("a")?.remaining, 1);
});

test("a look does not count, and returns null without a limit", () => {
  const limiter = createRateLimiter({ requests: 1, periodSeconds: 1 }, fixedClock(0));
  assert.equal(limiter.look("a")?.allowed, true);
  assert.equal(limiter.look("a")?.remaining, 1);
  assert.equal(limiter.take("a")?.allowed, true);
  assert.equal(limiter.look("a")?.allowed, false);
  assert.equal(createRateLimiter({ requests: 0, periodSeconds: 1 }, fixedClock(0)).take("a"), null);
});

test("memory is limited: above the limit the oldest window is dropped", () => {
  const limiter = createRateLimiter({ requests: 1, periodSeconds: 300 }, fixedClock(0));
  limiter.take("first");
  for (let i = 0; i < 50_000; i++) limiter.take(`key ${i}`);
  assert.equal(limiter.look("first")?.allowed, true);
  assert.equal(limiter.look("key 49999")?.allowed, false);
});

test("both forms of headers agree", () => {
  const limiter = createRateLimiter({ requests: 5, periodSeconds: 60 }, fixedClock("2026-01-01T00:00:00Z"));
  const standing = limiter.take("a");
  assert.ok(standing);
  assert.deepEqual(rateHeaders(standing, 60), {
    "x-ratelimit-limit": "5",
    "x-ratelimit-remaining": "4",
    "x-ratelimit-reset": "Thu, 01 Jan 2026 00:01:00 GMT",
    ratelimit: '"default";r=4;t=60',
    "ratelimit-policy": '"default";q=5;w=60',
  });
});

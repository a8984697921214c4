import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { fixedClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { createOriginHealth } from "./origin-health.ts";
import { originKey } from "./origin-tls.ts";

const ADDRESSES = ["192.0.2.1", "192.0.2.2", "192.0.2.3"];

function health() {
  const clock = fixedClock(1);
  const origins = createOriginHealth({ clock, metrics: createMetrics(), retryMs: 1000 });
  return {
    origins,
    fail: (address: string) => origins.failed(originKey(address, 80, null), "origin_refused"),
    work: (address: string) => origins.worked(originKey(address, 80, null)),
    order: () => origins.order(ADDRESSES, 80, null),
    pass: clock.advance,
  };
}

test("an address that refuses connections comes last until it works again, and one request retries it", () => {
  const { order, fail, work, pass } = health();
  assert.equal(order(), ADDRESSES);
  fail("192.0.2.1");
  assert.deepEqual(order(), ["192.0.2.2", "192.0.2.3", "192.0.2.1"]);
  pass(1000);
  assert.deepEqual(order(), ADDRESSES, "one tries it");
  assert.deepEqual(order(), ["192.0.2.2", "192.0.2.3", "192.0.2.1"], "the others wait for what comes of it");
  fail("192.0.2.1");
  pass(999);
  assert.deepEqual(order(), ["192.0.2.2", "192.0.2.3", "192.0.2.1"]);
  work("192.0.2.1");
  assert.equal(order(), ADDRESSES);
});

test("if no address works, the edge tries all in their order, and another port or TLS name counts as another origin", () => {
  const { order, fail, origins } = health();
  for (const address of ADDRESSES) fail(address);
  assert.deepEqual(order(), ADDRESSES);
  fail("192.0.2.1");
  assert.deepEqual(origins.order(["192.0.2.1", "192.0.2.9"], 81, null), ["192.0.2.1", "192.0.2.9"]);
  const tls = { serverName: "www.example.com", verified: true };
  assert.deepEqual(origins.order(["192.0.2.1", "192.0.2.9"], 80, tls), ["192.0.2.1", "192.0.2.9"]);
});

test("property: after any failures, the edge tries each address once, and working ones first", () => {
  const happening = fc.record({
    what: fc.constantFrom("fail", "work", "pass"),
    address: fc.constantFrom(...ADDRESSES),
    ms: fc.integer({ min: 0, max: 2000 }),
  });
  fc.assert(
    fc.property(fc.array(happening, { maxLength: 40 }), (happenings) => {
      const { order, pass, ...act } = health();
      const bad = new Set<string>();
      for (const { what, address, ms } of happenings) {
        if (what === "fail") bad.add(address);
        if (what === "work") bad.delete(address);
        if (what === "pass") pass(ms);
        else act[what as "fail" | "work"](address);
        const ordered = order();
        assert.deepEqual(ordered.toSorted(), ADDRESSES);
        // The first address may be a retry; after it, no failed address precedes a good one.
        const rest = ordered.slice(1).map((one) => bad.has(one));
        assert.deepEqual(rest, rest.toSorted());
      }
    }),
    { numRuns: 200 },
  );
});

test("a lack of local sockets does not count against an address", () => {
  const { order, origins } = health();
  origins.failed(originKey("192.0.2.1", 80, null), "no_sockets");
  assert.equal(order(), ADDRESSES);
});

test("the number of remembered addresses is bounded", () => {
  const origins = createOriginHealth({ clock: fixedClock(1), metrics: createMetrics(), retryMs: 1000 });
  for (let i = 0; i < 20_000; i++) origins.failed(originKey(`192.0.2.1`, i, null), "origin_connect_timeout");
  assert.deepEqual(origins.order(ADDRESSES, 1, null), ADDRESSES, "the oldest is forgotten");
  assert.deepEqual(origins.order(ADDRESSES, 19_999, null), ["192.0.2.2", "192.0.2.3", "192.0.2.1"]);
});

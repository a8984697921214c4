import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { parseIp } from "#kernel/net/ip.ts";
import { createRateLimit, createRateTable, DROP, SEND, TRUNCATE, UNIT_BYTES, type Verdict } from "./rate-limit.ts";
import type { RateLimitConfig } from "#nameserver/config.ts";

const START_MS = 1_700_000_000_000;
const WINDOW_MS = 15_000;

/** A table with a secret that is known, so that the same networks share a set in every run. */
function knownTable(): SharedArrayBuffer {
  const table = createRateTable();
  const words = new Int32Array(table);
  words[words.length - 1] = 1;
  return table;
}

function limiter(config: Partial<RateLimitConfig>) {
  const limit =
    createRateLimit({ perSecond: 5, allPerSecond: 0, slip: 2, exempt: [], table: knownTable(), ...config }) ?? assert.fail("no limit");
  return (address: string, sort: number, nowMs: number, responseBytes = 100): Verdict => {
    const { bytes } = parseIp(address) ?? assert.fail(address);
    return limit.verdict(Uint8Array.of(1, 2, ...bytes), 2, bytes.length, sort, responseBytes, nowMs);
  };
}

const counts = (verdicts: Iterable<Verdict>): number[] => {
  const found = [0, 0, 0];
  for (const verdict of verdicts) found[verdict] = (found[verdict] as number) + 1;
  return found;
};

test("0 per second means no limit", () => {
  assert.equal(createRateLimit({ perSecond: 0, allPerSecond: 1000, slip: 2, exempt: [], table: createRateTable() }), undefined);
});

test("property: a network gets its rate plus one second's worth, independent of other networks", () => {
  const arrivals = fc.array(
    fc.record({
      pauseMs: fc.oneof({ arbitrary: fc.nat(40), weight: 9 }, { arbitrary: fc.nat(20_000), weight: 1 }),
      host: fc.nat(255),
      others: fc.nat(5),
    }),
    { minLength: 100, maxLength: 400 },
  );
  fc.assert(
    fc.property(arrivals, fc.integer({ min: 1, max: 20 }), fc.nat(3), fc.nat(0xffff), (rows, perSecond, slip, seed) => {
      const verdict = limiter({ perSecond, slip });
      const sent: number[] = [];
      let nowMs = START_MS;
      let other = seed;
      for (const { pauseMs, host, others } of rows) {
        nowMs += pauseMs;
        if (verdict(`192.0.2.${host}`, 7, nowMs) === SEND) sent.push(nowMs);
        for (let i = 0; i < others; i++) {
          // An odd step: none of them asks twice.
          other = (other + 40_503) & 0xffff;
          assert.equal(verdict(`10.${other >>> 8}.${other & 255}.1`, 7, nowMs), SEND);
        }
      }
      // In each span between two responses that were sent, for a limit that only looks at the whole may be fooled.
      for (let from = 0; from < sent.length; from++) {
        for (let to = from; to < sent.length; to++) {
          const seconds = ((sent[to] as number) - (sent[from] as number)) / 1000;
          assert.ok(to - from + 1 <= perSecond * (seconds + 1) + 1e-6, `${to - from + 1} in ${seconds} s of ${perSecond} a second`);
        }
      }
    }),
    { numRuns: 60 },
  );
});

test("a network below the rate is never limited", () => {
  const verdict = limiter({ perSecond: 10 });
  for (let i = 0; i < 1000; i++) assert.equal(verdict("192.0.2.1", 1, START_MS + i * 100), SEND);
});

test("a flood gets no more answers, and its network gets answers again after the window", () => {
  const verdict = limiter({ perSecond: 10, slip: 0 });
  const flood = (from: number, ms: number): number =>
    counts(Array.from({ length: ms }, (_, i) => verdict("192.0.2.1", 1, from + i)))[0] as number;
  assert.equal(flood(START_MS, 60_000), 10);
  // Debts do not grow beyond the window.
  const end = START_MS + 60_000;
  assert.equal(verdict("192.0.2.1", 1, end + WINDOW_MS - 200), DROP);
  assert.equal(verdict("192.0.2.1", 1, end + WINDOW_MS + 200), SEND);
});

test("slip sets the share of limited answers that are truncated", () => {
  const over = (slip: number): number[] => {
    const verdict = limiter({ perSecond: 1, slip });
    verdict("192.0.2.1", 1, START_MS);
    return counts(Array.from({ length: 1000 }, () => verdict("192.0.2.1", 1, START_MS)));
  };
  assert.deepEqual(over(0), [0, 1000, 0]);
  assert.deepEqual(over(1), [0, 0, 1000]);
  const truncated = over(2)[TRUNCATE] as number;
  assert.ok(truncated > 400 && truncated < 600, `${truncated} of 1000`);
});

test("networks and kinds of response have separate limits: by /24 of IPv4 and /56 of IPv6", () => {
  const verdict = limiter({ perSecond: 1, slip: 0 });
  const rows: [address: string, sort: number, expected: Verdict][] = [
    ["192.0.2.1", 1, SEND],
    ["192.0.2.255", 1, DROP],
    ["192.0.3.1", 1, SEND],
    ["192.0.2.1", 2, SEND],
    ["2001:db8:0:aa00::1", 1, SEND],
    ["2001:db8:0:aaff:ffff::1", 1, DROP],
    ["2001:db8:0:ab00::1", 1, SEND],
    // The bytes of an IPv4 network at the start of an IPv6 one.
    ["c000:0200::", 1, SEND],
  ];
  for (const [address, sort, expected] of rows) assert.equal(verdict(address, sort, START_MS), expected, `${address} ${sort}`);
});

test("exempt networks have no limit", () => {
  const verdict = limiter({ perSecond: 1, slip: 0, exempt: ["192.0.2.128/25", "2001:db8::/33", "198.51.100.7"] });
  const twice = (address: string): Verdict => {
    for (let i = 0; i < 5; i++) verdict(address, 1, START_MS);
    return verdict(address, 1, START_MS);
  };
  for (const address of ["192.0.2.128", "192.0.2.255", "2001:db8:7fff::1", "198.51.100.7"]) assert.equal(twice(address), SEND, address);
  for (const address of ["192.0.2.127", "2001:db8:8000::1", "198.51.100.8"]) assert.equal(twice(address), DROP, address);
  assert.throws(() => limiter({ exempt: ["nonsense"] }), RangeError);
});

test("threads share one rate table", () => {
  const table = createRateTable();
  const [first, second] = [limiter({ perSecond: 4, slip: 0, table }), limiter({ perSecond: 4, slip: 0, table })];
  const verdicts = Array.from({ length: 20 }, (_, i) => (i % 2 === 0 ? first : second)("192.0.2.1", 1, START_MS));
  assert.deepEqual(counts(verdicts), [4, 16, 0]);
});

test("a clock that is set back limits a network no longer than the window", () => {
  const verdict = limiter({ perSecond: 2, slip: 0 });
  for (let i = 0; i < 100; i++) verdict("192.0.2.1", 1, START_MS);
  assert.equal(verdict("192.0.2.1", 1, START_MS - 3_600_000), SEND);
});

test("a flood from many networks neither grows the table nor removes limited networks from it", () => {
  const verdict = limiter({ perSecond: 10, slip: 0 });
  for (let i = 0; i < 200; i++) verdict("192.0.2.1", 1, START_MS);
  for (let i = 0; i < 300_000; i++) verdict(`${1 + (i >>> 16)}.${(i >>> 8) & 255}.${i & 255}.9`, 1, START_MS + 1);
  assert.equal(verdict("192.0.2.1", 1, START_MS + 2), DROP);
});

const UNITS_PER_RESPONSE_MAX = 8;

test("property: a network gets its rate of bytes plus one second's worth and the rest of one response", () => {
  const arrivals = fc.array(
    fc.record({
      pauseMs: fc.oneof({ arbitrary: fc.nat(20), weight: 19 }, { arbitrary: fc.nat(5_000), weight: 1 }),
      host: fc.nat(255),
      sort: fc.integer(),
      bytes: fc.integer({ min: 12, max: UNITS_PER_RESPONSE_MAX * UNIT_BYTES }),
      others: fc.nat(3),
    }),
    { minLength: 100, maxLength: 300 },
  );
  fc.assert(
    fc.property(arrivals, fc.integer({ min: 1, max: 100 }), fc.integer(), (rows, allPerSecond, seed) => {
      const verdict = limiter({ perSecond: 1_000_000, allPerSecond, slip: 0 });
      const sent: { readonly atMs: number; readonly units: number }[] = [];
      let nowMs = START_MS;
      let other = seed;
      for (const { pauseMs, host, sort, bytes, others } of rows) {
        nowMs += pauseMs;
        if (verdict(`192.0.2.${host}`, sort, nowMs, bytes) === SEND) sent.push({ atMs: nowMs, units: Math.ceil(bytes / UNIT_BYTES) });
        for (let i = 0; i < others; i++) {
          other = (other + 40_503) & 0xffff;
          assert.equal(verdict(`10.${other >>> 8}.${other & 255}.1`, sort, nowMs), SEND);
        }
      }
      for (let from = 0; from < sent.length; from++) {
        let units = 0;
        for (let to = from; to < sent.length; to++) {
          units += sent[to]!.units;
          const seconds = (sent[to]!.atMs - sent[from]!.atMs) / 1000;
          const most = allPerSecond * (seconds + 1) + UNITS_PER_RESPONSE_MAX - 1;
          assert.ok(units <= most + 1e-6, `${units} units in ${seconds} s of ${allPerSecond} a second`);
        }
      }
    }),
    { numRuns: 60 },
  );
});

test("a network that queries too many names still gets its limit, and small answers count as one unit", () => {
  const verdict = limiter({ perSecond: 5, allPerSecond: 100, slip: 0 });
  let answered = 0;
  for (let i = 0; i < 50_000; i++) if (verdict("192.0.2.1", i, START_MS + i / 5, UNIT_BYTES) === SEND) answered += 1;
  assert.ok(answered >= 1_090 && answered <= 1_101, `${answered} in ten seconds`);
});

test("any number of different responses leaves a network's usage recorded", () => {
  const verdict = limiter({ perSecond: 1, allPerSecond: 2_000, slip: 0 });
  let answered = 0;
  for (let i = 0; i < 200_000; i++) if (verdict("192.0.2.1", i, START_MS) === SEND) answered += 1;
  // A point in time is a number of 64 bits, which has a quarter of a microsecond of it.
  assert.ok(answered >= 1_990 && answered <= 2_010, `${answered} answered`);
});

test("exempt networks have no limit of all responses, and limited responses do not count against it", () => {
  const exempt = limiter({ perSecond: 1000, allPerSecond: 1, slip: 0, exempt: ["192.0.2.0/24"] });
  for (let i = 0; i < 100; i++) assert.equal(exempt("192.0.2.1", i, START_MS), SEND);
  const verdict = limiter({ perSecond: 1, allPerSecond: 3, slip: 0 });
  const verdicts = [1, 1, 1, 1, 2, 3, 4].map((sort) => verdict("192.0.2.1", sort, START_MS));
  assert.deepEqual(verdicts, [SEND, DROP, DROP, DROP, SEND, SEND, DROP]);
});

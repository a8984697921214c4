import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { CLASS, FLAG, TYPE } from "#wire/dns/codes.ts";
import { encodeMessage, type ResourceRecord } from "#wire/dns/message.ts";
import { parseAbsoluteName } from "#wire/dns/name.ts";
import { clientAt, cookieFor, responderParts } from "../../../test/support/nameserver.ts";
import { recordOp, serialOp, zoneOp } from "../../../test/support/zone-entries.ts";
import { createAnswerCache } from "./answer-cache.ts";
import { createCounters } from "#nameserver/message/counters.ts";
import type { Datagram } from "#nameserver/message/datagram.ts";
import { createQuickAnswers, DROPPED } from "./fast-path.ts";
import { createRateLimit, createRateTable } from "#nameserver/limits/rate-limit.ts";
import type { RateLimitConfig } from "#nameserver/config.ts";
import { createResponder } from "./respond.ts";
import { createZones } from "#nameserver/zones/zones.ts";

const Z = "zone1";
const NAMES = ["a.example.com", "A.eXample.com", "none.example.com", "long.example.com", "example.org", "."];

function setUp(limit?: RateLimitConfig) {
  const zones = createZones();
  zones.rebuild(
    createMemoryReplica([
      zoneOp(Z, "example.com"),
      serialOp(Z, 1),
      recordOp(Z, "a.example.com", "A", "192.0.2.1"),
      recordOp(Z, "long.example.com", "TXT", `"${"x".repeat(250)}" `.repeat(3)),
    ]).snapshot,
  );
  const metrics = createMetrics();
  const counters = createCounters(metrics);
  const parts = responderParts({ rateLimit: limit && createRateLimit(limit) });
  const cache = createAnswerCache({ entriesMax: 100, clock: parts.clock });
  const respond = createResponder({ zones, cache, counters, ...parts });
  const sum = (name: string): number =>
    metrics
      .samples()
      .filter((sample) => sample.name === name)
      .reduce((total, sample) => total + sample.value, 0);
  return { respond, quickAnswer: createQuickAnswers({ cache, counters, ...parts }), clock: parts.clock, sum };
}

const ADDRESSES = [
  [198, 51, 100, 100],
  [0x20, 1, 0xd, 0xb8, ...Array.from({ length: 12 }, (_, i) => i)],
] as const;
const CLIENT_COOKIE = "2464c4abcf10c957";

const cookieOption = (cookie: string): string => `000a00${(cookie.length / 2).toString(16).padStart(2, "0")}${cookie}`;

/** Options with cookies of every sort: new, known, to be renewed, outdated, of the other client, foreign, malformed, two. */
const COOKIES = [
  cookieOption(CLIENT_COOKIE),
  ...ADDRESSES.flatMap((address) =>
    [0, 1700, 1900, 3700].map((age) => cookieOption(cookieFor(address, CLIENT_COOKIE, age).toString("hex"))),
  ),
  cookieOption(`${CLIENT_COOKIE}${"ab".repeat(16)}`),
  cookieOption(`${CLIENT_COOKIE}${"ab".repeat(8)}`),
  cookieOption(`${CLIENT_COOKIE}${"ab".repeat(32)}`),
  cookieOption(CLIENT_COOKIE.slice(2)),
  cookieOption(`${CLIENT_COOKIE}ab`),
  cookieOption(`${CLIENT_COOKIE}${"ab".repeat(33)}`),
  `fde80000${cookieOption(CLIENT_COOKIE)}${cookieOption("1111111111111111")}`,
];

const opt = (payloadBytes: number, ttl: number, rdata: Buffer): ResourceRecord => ({
  name: Buffer.of(0),
  type: TYPE.OPT,
  class: payloadBytes,
  ttl,
  rdata,
});

const queries = fc
  .record({
    name: fc.constantFrom(...NAMES),
    type: fc.constantFrom(TYPE.A, TYPE.AAAA, 16, 257, 252),
    id: fc.nat(0xffff),
    flags: fc.constantFrom(0, FLAG.RD, FLAG.RD, FLAG.RD | 0x10, 0x2800),
    opts: fc.array(
      fc.record({
        payloadBytes: fc.constantFrom(0, 512, 1232, 4096, 65_535),
        ttl: fc.constantFrom(0, 0, 0x8000, 0xc000, 0x4000, 0x10000, 0x1000000),
        rdata: fc.oneof(fc.constantFrom(...COOKIES), fc.constantFrom("", "fde80000", "000a", "00030000", "000c00020000")),
      }),
      { minLength: 0, maxLength: 2, size: "max" },
    ),
  })
  .map(
    ({ name, type, id, flags, opts }) =>
      encodeMessage({
        id,
        flags,
        questions: [{ name: parseAbsoluteName(name), type, class: CLASS.IN }],
        answers: [],
        authorities: [],
        additionals: opts.map(({ payloadBytes, ttl, rdata }) => opt(payloadBytes, ttl, Buffer.from(rdata, "hex"))),
      }) as Buffer,
  );

const damaged = fc
  .tuple(queries, fc.array(fc.tuple(fc.nat(79), fc.nat(255)), { maxLength: 2 }), fc.option(fc.nat(80)))
  .map(([bytes, changes, cut]) => {
    const packet = Buffer.from(bytes);
    for (const [at, value] of changes) if (at < packet.length) packet[at] = value;
    return cut === null ? packet : packet.subarray(0, cut);
  });

/** Mostly sound messages, and what becomes of them when bytes change or go missing. */
const packets = fc.oneof({ arbitrary: queries, weight: 3 }, { arbitrary: damaged, weight: 1 });

/** All counters but the one of the cache, which the whole way may leave alone. */
const COUNTED = [
  "selvedge_dns_queries_total",
  "selvedge_dns_responses_total",
  "selvedge_dns_truncated_total",
  "selvedge_dns_rate_limited_total",
];

for (const [perSecond, slip, allPerSecond] of [
  [0, 0, 0],
  [3, 1, 0],
  [3, 2, 0],
  [3, 0, 0],
  [1000, 0, 10],
  [1000, 2, 10],
] as const) {
  test(`the fast path gives the same bytes and counters as the full path: ${perSecond}/s, slip ${slip}, ${allPerSecond}/s of all`, () => {
    const table = createRateTable();
    const whole = setUp({ perSecond, allPerSecond, slip, exempt: [], table });
    const quick = setUp({ perSecond, allPerSecond, slip, exempt: [], table: table.slice(0) });
    const input = Buffer.alloc(4096);
    const output = Buffer.alloc(4096);
    const seen = { quick: 0, cookies: 0, dropped: 0 };
    const answered = (packet: Buffer, start: number, address: readonly number[]): Buffer | undefined => {
      // Bytes around the message must not matter.
      input.fill(start);
      packet.copy(input, start);
      output.fill(0xee);
      const bytes = quick.quickAnswer(datagram(input, start, packet.length, output, 7, address, quick.clock.nowMs()));
      if (bytes === 0) return quick.respond(packet, clientAt("udp", address)) as Buffer | undefined;
      seen.quick += 1;
      if (packet.includes(Buffer.from(CLIENT_COOKIE, "hex"))) seen.cookies += 1;
      if (bytes === DROPPED) {
        seen.dropped += 1;
        return undefined;
      }
      assert.ok(output.subarray(0, 7).every((byte) => byte === 0xee));
      // Nothing is written behind the longest answer.
      assert.ok(output.subarray(7 + 1232).every((byte) => byte === 0xee));
      return output.subarray(7, 7 + bytes);
    };
    fc.assert(
      fc.property(packets, fc.nat(100), fc.constantFrom(...ADDRESSES), fc.nat(9), (packet, start, address, pauseMs) => {
        for (const { clock } of [whole, quick]) clock.advance(pauseMs);
        assert.deepEqual(answered(packet, start, address), whole.respond(packet, clientAt("udp", address)));
        assert.deepEqual(COUNTED.map(quick.sum), COUNTED.map(whole.sum));
      }),
      // A shrunk run would repeat its messages in another state of the limit.
      { numRuns: 3000, endOnFailure: true },
    );
    assert.ok(seen.quick > 150 && seen.cookies > 50, JSON.stringify(seen));
    assert.equal(seen.dropped > 50, perSecond > 0 && slip !== 1, JSON.stringify(seen));
  });
}

/** A datagram with the address in a separate buffer. */
const datagram = (
  input: Buffer,
  start: number,
  length: number,
  output: Buffer,
  outStart: number,
  address: readonly number[],
  receivedMs: number,
): Datagram => ({
  input,
  start,
  length,
  addresses: Uint8Array.of(9, 9, 9, ...address, 9),
  addressStart: 3,
  addressBytes: address.length,
  port: 4242,
  receivedMs,
  output,
  outStart,
});

test("the fast path does not serve uncached answers", () => {
  const { respond, quickAnswer, clock } = setUp();
  const packet = encodeMessage({
    id: 1,
    flags: 0,
    questions: [{ name: parseAbsoluteName("a.example.com"), type: TYPE.A, class: CLASS.IN }],
    answers: [],
    authorities: [],
    additionals: [],
  }) as Buffer;
  const asked = datagram(packet, 0, packet.length, Buffer.alloc(2000), 0, ADDRESSES[0], clock.nowMs());
  assert.equal(quickAnswer(asked), 0);
  const whole = respond(packet, clientAt("udp")) as Buffer;
  assert.equal(quickAnswer(asked), whole.length);
});

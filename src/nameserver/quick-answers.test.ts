import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createMetrics } from "#kernel/metrics.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { CLASS, FLAG, TYPE } from "#wire/dns/codes.ts";
import { encodeMessage, type ResourceRecord } from "#wire/dns/message.ts";
import { parseAbsoluteName } from "#wire/dns/name.ts";
import { clientAt, cookieFor, responderParts } from "../../test/support/nameserver.ts";
import { recordOp, serialOp, zoneOp } from "../../test/support/zone-entries.ts";
import { createAnswerCache } from "./answer-cache.ts";
import { createCounters } from "./counters.ts";
import type { Datagram } from "./datagram-batch.ts";
import { createQuickAnswers } from "./quick-answers.ts";
import { createResponder } from "./respond.ts";
import { createZones } from "./zones.ts";

const Z = "zone1";
const NAMES = ["a.example.com", "A.eXample.com", "none.example.com", "long.example.com", "example.org", "."];

function setUp() {
  const zones = createZones();
  zones.rebuild(
    createMemoryReplica([
      zoneOp(Z, "example.com"),
      serialOp(Z, 1),
      recordOp(Z, "a.example.com", "A", "192.0.2.1"),
      recordOp(Z, "long.example.com", "TXT", `"${"x".repeat(250)}" `.repeat(3)),
    ]).snapshot,
  );
  const cache = createAnswerCache({ entriesMax: 100 });
  const metrics = createMetrics();
  const counters = createCounters(metrics);
  const parts = responderParts();
  const respond = createResponder({ zones, edge: { ipv4: [], ipv6: [] }, cache, counters, ...parts });
  const sum = (name: string): number =>
    metrics
      .samples()
      .filter((sample) => sample.name === name)
      .reduce((total, sample) => total + sample.value, 0);
  return { respond, quickAnswer: createQuickAnswers({ cache, counters, ...parts }), sum };
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
    flags: fc.constantFrom(0, FLAG.RD, FLAG.RD | 0x10, 0x2800),
    opts: fc.array(
      fc.record({
        payloadBytes: fc.constantFrom(0, 512, 1232, 4096, 65_535),
        ttl: fc.constantFrom(0, 0x8000, 0x10000, 0x1000000),
        rdata: fc.constantFrom("", "fde80000", "000a", "00030000", "000c00020000", ...COOKIES),
      }),
      { maxLength: 2 },
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

/** Mostly sound messages, and what becomes of them when bytes change or go missing. */
const packets = fc
  .tuple(queries, fc.array(fc.tuple(fc.nat(79), fc.nat(255)), { maxLength: 2 }), fc.option(fc.nat(80)))
  .map(([bytes, changes, cut]) => {
    const packet = Buffer.from(bytes);
    for (const [at, value] of changes) if (at < packet.length) packet[at] = value;
    return cut === null ? packet : packet.subarray(0, cut);
  });

test("a quick answer is what the whole way answers, byte by byte and in its counters", () => {
  const { respond, quickAnswer, sum } = setUp();
  const input = Buffer.alloc(4096);
  const output = Buffer.alloc(4096);
  let quick = 0;
  let cookies = 0;
  fc.assert(
    fc.property(packets, fc.nat(100), fc.constantFrom(...ADDRESSES), (packet, start, address) => {
      const counted = (run: () => unknown): readonly number[] => {
        const names = ["selvedge_dns_queries_total", "selvedge_dns_responses_total", "selvedge_dns_truncated_total"];
        const before = names.map(sum);
        run();
        return names.map((name, i) => sum(name) - (before[i] as number));
      };
      let whole: ReturnType<typeof respond>;
      const wholeCounts = counted(() => (whole = respond(packet, clientAt("udp", address))));
      // What stands around the message must not matter.
      input.fill(start);
      packet.copy(input, start);
      output.fill(0xee);
      let bytes = 0;
      const quickCounts = counted(() => (bytes = quickAnswer(datagram(input, start, packet.length, output, 7, address))));
      if (bytes === 0) {
        assert.deepEqual(quickCounts, [0, 0, 0]);
        return;
      }
      quick += 1;
      if (packet.includes(Buffer.from(CLIENT_COOKIE, "hex"))) cookies += 1;
      assert.deepEqual(output.subarray(7, 7 + bytes), whole);
      assert.ok(output.subarray(0, 7).every((byte) => byte === 0xee) && output[7 + bytes] === 0xee);
      assert.deepEqual(quickCounts, wholeCounts);
    }),
    { numRuns: 4000 },
  );
  assert.ok(quick > 200, `${quick} of 4000 messages were answered quickly`);
  assert.ok(cookies > 40, `${cookies} of those with a cookie`);
});

/** With the address somewhere in memory of its own. */
const datagram = (
  input: Buffer,
  start: number,
  length: number,
  output: Buffer,
  outStart: number,
  address: readonly number[],
): Datagram => ({
  input,
  start,
  length,
  addresses: Uint8Array.of(9, 9, 9, ...address, 9),
  addressStart: 3,
  addressBytes: address.length,
  port: 4242,
  output,
  outStart,
});

test("what is not in the cache is not answered quickly", () => {
  const { respond, quickAnswer } = setUp();
  const packet = encodeMessage({
    id: 1,
    flags: 0,
    questions: [{ name: parseAbsoluteName("a.example.com"), type: TYPE.A, class: CLASS.IN }],
    answers: [],
    authorities: [],
    additionals: [],
  }) as Buffer;
  const asked = datagram(packet, 0, packet.length, Buffer.alloc(2000), 0, ADDRESSES[0]);
  assert.equal(quickAnswer(asked), 0);
  const whole = respond(packet, clientAt("udp")) as Buffer;
  assert.equal(quickAnswer(asked), whole.length);
});

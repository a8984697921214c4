import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { createMetrics } from "#kernel/metrics.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { CLASS, FLAG, TYPE } from "#wire/dns/codes.ts";
import { encodeMessage, type ResourceRecord } from "#wire/dns/message.ts";
import { parseAbsoluteName } from "#wire/dns/name.ts";
import { recordOp, serialOp, zoneOp } from "../../test/support/zone-entries.ts";
import { createAnswerCache } from "./answer-cache.ts";
import type { Client } from "./client.ts";
import { createCounters } from "./counters.ts";
import { createQuickAnswers } from "./quick-answers.ts";
import { createResponder } from "./respond.ts";
import { createZones } from "./zones.ts";

const UDP: Client = { transport: "udp", address: Uint8Array.of(192, 0, 2, 53), port: 4242 };
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
  const respond = createResponder({ zones, edge: { ipv4: [], ipv6: [] }, cache, counters });
  const sum = (name: string): number =>
    metrics
      .samples()
      .filter((sample) => sample.name === name)
      .reduce((total, sample) => total + sample.value, 0);
  return { respond, quickAnswer: createQuickAnswers({ cache, counters }), sum };
}

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
        rdata: fc.constantFrom("", "000a00080102030405060708", "fde80000", "000a0008010203", "000a"),
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
  fc.assert(
    fc.property(packets, fc.nat(100), (packet, start) => {
      const counted = (run: () => unknown): readonly number[] => {
        const names = ["selvedge_dns_queries_total", "selvedge_dns_responses_total", "selvedge_dns_truncated_total"];
        const before = names.map(sum);
        run();
        return names.map((name, i) => sum(name) - (before[i] as number));
      };
      let whole: ReturnType<typeof respond>;
      const wholeCounts = counted(() => (whole = respond(packet, UDP)));
      // What stands around the message must not matter.
      input.fill(start);
      packet.copy(input, start);
      output.fill(0xee);
      let bytes = 0;
      const quickCounts = counted(() => (bytes = quickAnswer(input, start, packet.length, output, 7)));
      if (bytes === 0) {
        assert.deepEqual(quickCounts, [0, 0, 0]);
        return;
      }
      quick += 1;
      assert.deepEqual(output.subarray(7, 7 + bytes), whole);
      assert.ok(output.subarray(0, 7).every((byte) => byte === 0xee) && output[7 + bytes] === 0xee);
      assert.deepEqual(quickCounts, wholeCounts);
    }),
    { numRuns: 4000 },
  );
  assert.ok(quick > 200, `${quick} of 4000 messages were answered quickly`);
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
  const out = Buffer.alloc(2000);
  assert.equal(quickAnswer(packet, 0, packet.length, out, 0), 0);
  const whole = respond(packet, UDP) as Buffer;
  assert.equal(quickAnswer(packet, 0, packet.length, out, 0), whole.length);
});

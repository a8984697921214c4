import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { fixedClock } from "#kernel/clock.ts";
import { HEADER_BYTES } from "#wire/dns/codes.ts";
import type { NameKey } from "#wire/dns/name.ts";
import { type CachedResponse, createAnswerCache } from "./answer-cache.ts";
import { cacheKey, TYPE_AND_CLASS_BYTES, u16 } from "./answer-keys.ts";
import type { EdnsClass } from "#nameserver/message/exchange.ts";

const ENTRIES_MAX = 4;
const ZONES = ["one", "two"] as const;

/** Some of these differ by case alone, others in the very bit that tells cases apart, in length, type, class or EDNS. */
const questions = fc.record({
  label: fc.constantFrom("a", "A", "aB", "Ab", "@b", "`b", "[", "{", "abcdefg", "ABCdefg", "abcdefgh"),
  type: fc.constantFrom(1, 33, 0x2001),
  class: fc.constantFrom(1, 3),
  ednsClass: fc.constantFrom<EdnsClass>(0, 1, 3),
  start: fc.nat(5),
});
type Question = typeof questions extends fc.Arbitrary<infer Q> ? Q : never;

/** The question among other bytes. */
function written(question: Question): { packet: Uint8Array; nameStart: number; nameEnd: number } {
  const name = Buffer.concat([Buffer.of(question.label.length), Buffer.from(question.label, "latin1"), Buffer.of(0)]);
  const tail = Buffer.of(question.type >> 8, question.type, question.class >> 8, question.class);
  const packet = Buffer.concat([Buffer.alloc(question.start, 0x41), name, tail, Buffer.alloc(3, 0x41)]);
  const nameEnd = question.start + name.length;
  assert.equal(nameEnd + TYPE_AND_CLASS_BYTES + 3, packet.length);
  return { packet, nameStart: question.start, nameEnd };
}

/** The question behind a header, as a response without answers has it. */
const messageOf = (question: Question): Buffer => {
  const { packet, nameStart, nameEnd } = written(question);
  return Buffer.concat([Buffer.alloc(HEADER_BYTES), packet.subarray(nameStart, nameEnd + TYPE_AND_CLASS_BYTES)]);
};

function keyOf(question: Question): string {
  const { packet, nameStart, nameEnd } = written(question);
  return cacheKey(packet, nameStart, nameEnd, u16(packet, nameEnd), u16(packet, nameEnd + 2), question.ednsClass);
}

const response = (question: Question, zone: string, isEndless: boolean, untilMs: number): CachedResponse => ({
  bytes: messageOf(question),
  rcode: 0,
  optStart: 0,
  sort: 0,
  isEndless,
  zones: new Set([zone as NameKey]),
  fromMs: 0,
  untilMs,
});

const steps = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant("put" as const),
      question: questions,
      zone: fc.constantFrom(...ZONES),
      isEndless: fc.boolean(),
      forMs: fc.option(fc.nat(30)),
    }),
    fc.record({ kind: fc.constant("drop" as const), zone: fc.constantFrom(...ZONES) }),
    fc.record({ kind: fc.constant("clear" as const) }),
    fc.record({ kind: fc.constant("wait" as const), ms: fc.nat(20) }),
  ),
  { maxLength: 40 },
);

test("property: the cache finds a query by its bytes exactly if its key is cached, after any changes", () => {
  let found = 0;
  fc.assert(
    fc.property(steps, fc.array(questions, { minLength: 1, maxLength: 12 }), (all, asked) => {
      const clock = fixedClock("2026-01-01T00:00:00Z");
      const cache = createAnswerCache({ entriesMax: ENTRIES_MAX, clock });
      const known = all.flatMap((step) => (step.kind === "put" ? [step.question] : []));
      for (const step of all) {
        if (step.kind === "put")
          cache.put(
            keyOf(step.question),
            response(step.question, step.zone, step.isEndless, step.forMs === null ? Number.POSITIVE_INFINITY : clock.nowMs() + step.forMs),
          );
        else if (step.kind === "drop") cache.dropZones(new Set([step.zone as NameKey]));
        else if (step.kind === "clear") cache.clear();
        else clock.advance(step.ms);
        assert.ok(cache.entryCount <= ENTRIES_MAX);
        for (const question of [...asked, ...known]) {
          const { packet, nameStart, nameEnd } = written(question);
          const quickly = cache.find(packet, nameStart, nameEnd, question.ednsClass);
          if (quickly) found += 1;
          assert.equal(quickly, cache.get(keyOf(question)), JSON.stringify(question));
        }
      }
    }),
    { numRuns: 400 },
  );
  assert.ok(found > 200, `${found} found`);
});

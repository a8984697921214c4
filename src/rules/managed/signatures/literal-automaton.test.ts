import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/property.ts";
import { createLiteralAutomaton } from "./literal-automaton.ts";

/** Ends of all places where a literal is, found one by one. */
function endsOf(text: string, literal: string): readonly number[] {
  const ends: number[] = [];
  for (let at = text.indexOf(literal); at !== -1; at = text.indexOf(literal, at + 1)) ends.push(at + literal.length);
  return ends;
}

const short = fc.string({ unit: fc.constantFrom("a", "b", "c", "\xff"), minLength: 1, maxLength: 5 });

test("an automaton finds what a search for each literal finds, and where, also across the chunks of a long text", () => {
  const given = fc.record({
    literals: fc.uniqueArray(short, { minLength: 1, maxLength: 12 }),
    pieces: fc.array(short, { maxLength: 40 }),
    gap: fc.constantFrom(0, 100, 16_382, 16_384, 32_767),
  });
  fc.assert(
    fc.property(given, ({ literals, pieces, gap }) => {
      const text = `${" ".repeat(gap)}${pieces.join("")}`;
      const automaton = createLiteralAutomaton(literals);
      const found = new Set<number>();
      automaton.scan(text, (literal) => found.add(literal));
      const spots = automaton.scanSpots(text, () => undefined);
      for (const [number, literal] of literals.entries()) {
        const ends = endsOf(text, literal);
        assert.equal(found.has(number), ends.length > 0, literal);
        assert.deepEqual(
          [...(spots.get(number) ?? [])].sort((a, b) => a - b),
          ends,
          literal,
        );
      }
    }),
    { numRuns: 500 },
  );
});

test("a literal that is in a text very often is everywhere", () => {
  const automaton = createLiteralAutomaton(["a", "b"], [7, 9]);
  const spots = automaton.scanSpots(`${"a".repeat(10_000)}b`, () => undefined);
  assert.equal(spots.get(7), null);
  assert.deepEqual(spots.get(9), [10_001]);
});

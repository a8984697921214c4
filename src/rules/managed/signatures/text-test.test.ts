import assert from "node:assert/strict";
import { test } from "node:test";
import { assertGrowsLinearly } from "../../../../test/support/growth.ts";
import { fc } from "../../../../test/support/property.ts";
import { readBody } from "#rules/body/read-body.ts";
import { createLiteralAutomaton } from "./literal-automaton.ts";
import { requiredGroups } from "./required-groups.ts";
import { SIGNATURES } from "./table.ts";
import { createTextTest } from "./text-test.ts";

const FILLER = "the lamp stands on the desk, it is 7 cm high; and it's bright (or dim) enough to read by. ";
const ROWS = SIGNATURES.filter(({ looksFor, beginsValue }) => "pattern" in looksFor && beginsValue !== true);

test("in a long text the parts near a signature's literals give the same result as the whole", () => {
  const place = fc.record({ row: fc.constantFrom(...ROWS), before: fc.nat(3000), after: fc.nat(3000), piece: fc.nat(20), cut: fc.nat(3) });
  fc.assert(
    fc.property(place, ({ row, before, after, piece, cut }) => {
      const pieces = [...row.hits, ...row.misses];
      const written = pieces[piece % pieces.length]!.toLowerCase().slice(cut);
      const around = (bytes: number): string => FILLER.repeat(Math.ceil(bytes / FILLER.length)).slice(0, bytes);
      const text = `${around(before)}${written}${around(after)}`;
      const needed = [row.needs, ...requiredGroups("pattern" in row.looksFor ? row.looksFor.pattern : "")];
      fc.pre(needed.every((group) => group.some((literal) => text.includes(literal))));
      const literals = [...new Set(needed.flat())];
      const groups = needed.map((group) => group.map((literal) => literals.indexOf(literal)));
      const spots = createLiteralAutomaton(literals).scanSpots(text, () => undefined);
      const isIn = createTextTest(row, groups);
      assert.equal(isIn(text, spots), isIn(text), `${row.slug}: ${written} behind ${before}, before ${after}`);
    }),
    { numRuns: 2000 },
  );
});

test("each match of a pattern contains one literal of each group", () => {
  for (const { slug, looksFor, hits } of SIGNATURES)
    if ("pattern" in looksFor)
      for (const hit of hits.filter((text) => new RegExp(looksFor.pattern).test(text)))
        for (const group of requiredGroups(looksFor.pattern))
          assert.ok(
            group.some((literal) => hit.includes(literal)),
            `${slug}: ${hit} has none of ${group.join()}`,
          );
});

test("an XML document of many small elements is read in linear time", () => {
  assertGrowsLinearly("XML", (length) => {
    const raw = `<r>${"<a>one</a><b>two</b>".repeat(length / 20)}</r>`;
    return () => readBody({ raw, truncated: false, contentType: ["application/xml"], contentEncoding: [] });
  });
});

test("an exemption reads all of a text: an attack behind it is found however far behind", () => {
  const words = "the lamp stands on the desk and it is bright enough to read by. ";
  const missed: string[] = [];
  let tried = 0;
  for (const row of SIGNATURES.filter(({ looksFor, unless }) => "pattern" in looksFor && unless !== undefined)) {
    const isIn = createTextTest(row, []);
    const withoutExemption = createTextTest({ ...row, unless: undefined }, []);
    for (const exempt of row.misses.map((text) => text.toLowerCase()).filter((text) => withoutExemption(text)))
      for (const hit of row.hits.map((text) => text.toLowerCase()))
        for (const between of [" ", "\n", "/"]) {
          if (!isIn(`${exempt}${between}${hit}`)) continue;
          for (const bytes of [600, 1_100, 8_300, 66_000]) {
            const far = `${exempt}${between}${words.repeat(Math.ceil(bytes / words.length))}${between}${hit}`;
            tried += 1;
            if (withoutExemption(far) && !isIn(far)) missed.push(`${row.slug}: ${exempt} before ${hit}, ${bytes} bytes`);
          }
        }
  }
  assert.ok(tried >= 500, String(tried));
  assert.deepEqual(missed, []);
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { compilingRuleset } from "#rules/compile/compile-ruleset.ts";
import { fc } from "../../../test/support/property.ts";
import { RE2JS } from "re2js";
import { compileRegexTest } from "./regex.ts";
import { createRegexTable } from "./regex-table.ts";
import { unicodeSizeOf } from "./regex-unicode.ts";

/** Some 800 places. */
const large = (n: number): string => `([a-z]{1,30}${n}|b){1,20}`.repeat(3);

test("equal expressions are compiled once, and those of the previous version are reused", () => {
  const table = createRegexTable();
  assert.equal(table.test(large(1)), table.test(large(1)));
  const { places } = table;
  assert.ok(places > 600 && places < 1000, String(places));
  assert.equal(table.takeNew().length, 1);
  assert.equal(createRegexTable(undefined, table).test(large(1)), table.test(large(1)));
});

test("all expressions together have a limit of positions, and Unicode ones have a limit per rule", () => {
  const table = createRegexTable(2_000);
  table.test(large(1));
  table.test(large(2));
  table.test(large(1));
  assert.throws(() => table.test(large(3)), /the regular expressions of this ruleset have \d+ positions .* at most 2000/);
  const characters = createRegexTable();
  characters.test("(?u)é{900}");
  characters.test("(?iu)ü{900}");
  assert.throws(() => characters.test("(?u)ö{900}"), /with \(\?u\) of this rule have 2\d+ positions .* at most 2000/);
  characters.beginRule();
  characters.test("(?u)ä{900}");
  // A class is a large table.
  characters.beginRule();
  characters.test(`(?u)${"\\p{L}".repeat(60)}`);
  characters.test(`(?u)x${"\\p{L}".repeat(60)}`);
  assert.throws(() => characters.test(`(?u)y${"\\p{L}".repeat(60)}`), /with \(\?u\) of this rule have 2\d+ positions .* at most 2000/);
});

test("a ruleset compiles in slices with at most one large expression each", () => {
  const rules = Array.from({ length: 40 }, (_, n) => ({
    ...{ id: String(n), action: "block", action_parameters: {}, description: "", enabled: true },
    expression: `http.request.body.raw matches "${large(n)}" or http.host matches "${large(n + 100)}"`,
  }));
  const work = compilingRuleset({ id: "r", phase: "http_request_firewall_custom", rules });
  const pieces: number[] = [];
  let piece = work.next();
  for (; piece.done !== true; piece = work.next()) pieces.push(piece.value);
  assert.deepEqual(piece.value.problems, []);
  // The index over the rules is made in further pieces.
  assert.ok(pieces.length >= 40 * 3, String(pieces.length));
  assert.ok(Math.max(...pieces) < 10_000, String(Math.max(...pieces)));
});

test("a pattern that passed the check never fails when it is compiled later", () => {
  const atom = fc.constantFrom("a", ".", "[ab]", "\\w", "^", "\\b", "(?:)");
  const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
    pattern: fc.oneof(
      { maxDepth: 12 },
      atom,
      fc.tuple(tie("pattern"), tie("pattern")).map(([a, b]) => `(${a}|${b})`),
      fc.tuple(tie("pattern"), fc.constantFrom("*", "{2}", "{1,3}", "{2,}", "{0,31}", "+?")).map(([a, times]) => `(?:${a})${times}`),
    ),
  }));
  fc.assert(
    fc.property(pattern, (source) => {
      let regex;
      try {
        regex = compileRegexTest(source);
      } catch {
        return;
      }
      regex.prepare();
    }),
    { numRuns: 1000 },
  );
  for (const deep of ["(".repeat(99) + "a*".padEnd(2) + ")*".repeat(99), `${"(?:".repeat(90)}[ab]*c${")*".repeat(90)}`])
    compileRegexTest(deep).prepare();
});

test("a Unicode pattern has at most the number of positions counted before it is compiled", () => {
  const token = fc.constantFrom(
    ...["a", "é", ".", "(", ")", "(?:", "|", "[a-c]", "[^]x]", "[[:alpha:]]", "[\\]x]", "\\p{L}", "\\x{41}", "\\Qa+\\E"],
    ...["*", "+", "?", "{3}", "{2,5}", "{4,}", "\\{", "\\[", "{", "]"],
  );
  let made = 0;
  fc.assert(
    fc.property(fc.array(token, { maxLength: 14 }), (tokens) => {
      const source = tokens.join("");
      let instructions;
      try {
        instructions = RE2JS.compile(source).re2Input.numberOfInstructions() as number;
      } catch {
        return;
      }
      made++;
      // The library has jumps beside the positions, at most two for each.
      assert.ok(instructions <= 4 * unicodeSizeOf(source) + 16, `${source}: ${instructions} and ${unicodeSizeOf(source)}`);
    }),
    { numRuns: 3000 },
  );
  assert.ok(made > 300, String(made));
  for (const source of [`(?u)(?:${"a".repeat(3800)}){100}`, `(?u)(?:${String.raw`\p{L}`.repeat(60)}){100}`])
    assert.throws(() => compileRegexTest(source), /too large after expanding its repetitions/);
  assert.throws(() => compileRegexTest(`(?u)${String.raw`\p{L}`.repeat(65)}`), /more than 64 classes/);
});

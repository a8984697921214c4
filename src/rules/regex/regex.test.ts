import assert from "node:assert/strict";
import { test } from "node:test";
import { assertGrowsLinearly } from "../../../test/support/growth.ts";
import { fc } from "../../../test/support/property.ts";
import { RE2JS } from "re2js";
import { compileRegexReplacer, compileRegexTest } from "./regex.ts";

const { pattern } = fc.letrec<{ pattern: string }>((tie) => ({
  pattern: fc.oneof(
    { maxDepth: 4, withCrossShrink: true },
    fc.constantFrom("a", "b", "c", "ab", ".", "[ab]", "[^a]", "[a-c]", "\\w", "\\bb", "^", "$", "x?"),
    fc.tuple(tie("pattern"), tie("pattern")).map(([a, b]) => a + b),
    fc.tuple(tie("pattern"), tie("pattern")).map(([a, b]) => `(?:${a}|${b})`),
    fc.tuple(tie("pattern"), fc.constantFrom("*", "+", "?", "*?", "{2}", "{1,3}", "{2,}")).map(([a, times]) => `(?:${a})${times}`),
    tie("pattern").map((text) => `(${text})`),
    tie("pattern").map((text) => `(?i:${text})`),
  ),
}));
const text = fc.string({ unit: fc.constantFrom("a", "b", "c", "A", " ", "\n", "x"), maxLength: 12 });

test("an expression matches like the reference engine in either engine", () => {
  const engines = { native: 0, automaton: 0 };
  fc.assert(
    fc.property(pattern, fc.array(text, { minLength: 3, maxLength: 6 }), (source, texts) => {
      const regex = compileRegexTest(source);
      const reference = RE2JS.compile(source);
      engines[regex.engine]++;
      for (const given of texts) {
        assert.equal(regex.test(given), reference.test(given), JSON.stringify(given));
        if (regex.required === null || !regex.test(given)) continue;
        const { texts: parts, folded } = regex.required;
        assert.ok(
          parts.some((part) => (folded ? given.toLowerCase() : given).includes(part)),
          `${given} has none of ${parts.join()}`,
        );
      }
    }),
    { numRuns: 2000 },
  );
  assert.ok(engines.native > 100 && engines.automaton > 20, JSON.stringify(engines));
});

test("a long text matches like a short one, in whichever engine is cheaper", () => {
  fc.assert(
    fc.property(pattern, text, text, fc.boolean(), (source, once, repeated, isFirst) => {
      const filling = (repeated === "" ? "a" : repeated).repeat(4000);
      const given = isFirst ? once + filling : filling + once;
      assert.equal(compileRegexTest(source).test(given), RE2JS.compile(source).test(given));
    }),
    { numRuns: 500 },
  );
  const long = compileRegexTest("[a-z]{200}[0-9]");
  assert.deepEqual(["a".repeat(100_000), `${"a".repeat(100_000)}1`, `${"a ".repeat(50_000)}1`].map(long.test), [false, true, false]);
});

test("the required text is the longest one that every match contains, lower-case if that is longer", () => {
  assert.deepEqual(compileRegexTest("(?i)union.{1,9}select100").required, { texts: ["select100"], folded: true });
  assert.deepEqual(compileRegexTest("union.{1,9}select").required, { texts: ["select"], folded: false });
  assert.deepEqual(compileRegexTest("(?i)ab1234").required, { texts: ["ab1234"], folded: true });
});

test("the first match is replaced as the reference engine would", () => {
  fc.assert(
    fc.property(pattern, text, (source, given) => {
      const replaced = compileRegexReplacer(source).replace(given, (group) => `<${group(0)}:${group(1)}>`);
      const matcher = RE2JS.compile(source).matcher(given);
      if (!matcher.find()) return assert.equal(replaced, given);
      const first = matcher.groupCount() > 0 ? (matcher.group(1) ?? "") : "";
      return assert.equal(replaced, `${given.slice(0, matcher.start())}<${matcher.group(0)}:${first}>${given.slice(matcher.end())}`);
    }),
    { numRuns: 1000 },
  );
});

test("repetition bounds may have blanks around their numbers, and no other form", () => {
  for (const bounds of ["{2}", "{ 2 }", "{2,2}", "{ 2 , 2 }", "{\t2\n}"]) {
    const regex = compileRegexTest(`^a${bounds}$`);
    assert.deepEqual(["a", "aa", "aaa"].map(regex.test), [false, true, false], bounds);
  }
  assert.deepEqual(["", "aa", "aaa"].map(compileRegexTest("^a{,2}$").test), [true, true, false]);
  assert.deepEqual(["a", "aa", "aaa"].map(compileRegexTest("^a{2,}$").test), [false, true, true]);
  for (const bounds of ["{", "{}", "{,}", "{ }", "{2", "{2,", "{2,3", "{2 3}", "{a}", "{2;3}", "{3,2}", "{1001}", `{${" ".repeat(1000)}`])
    assert.throws(() => compileRegexTest(`a${bounds}`), { name: "RegexError" }, bounds);
});

test("reading an expression takes linear time", () => {
  const pieces =
    String.raw`{ |a{ |{1|a{1}|a?|a*|a+|(a|(?:|(?i)|(?i|[|[a|[[:|\|\xff|\x{|.*|^|\b|(a?)|(a*)|[a-z]?|(?P<a|?|&&|\d?\w?|(?:a?b)?|(a)*`.split(
      "|",
    );
  for (const piece of [...pieces, "|", "a|", "(a|b)?"])
    for (const compile of [compileRegexTest, compileRegexReplacer, (pattern: string) => compileRegexTest(`(?u)${pattern}`)])
      assertGrowsLinearly(
        piece,
        (length) => {
          const source = `a${piece.repeat(length / piece.length)}`;
          return () => {
            try {
              compile(source);
            } catch (error) {
              assert.equal((error as Error).name, "RegexError");
            }
          };
        },
        2048,
      );
});

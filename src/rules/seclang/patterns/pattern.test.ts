import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/property.ts";
import { learnedBytes, LazyAutomaton } from "./automaton.ts";
import { createGroupMachine } from "./group-machine.ts";
import { nativeBytesMax } from "./native-bound.ts";
import { capturingSource } from "./native-source.ts";
import { createPattern } from "./pattern.ts";
import { parsePcre } from "./pcre-parse.ts";
import { PatternError } from "./pcre-node.ts";

/** Patterns with texts that they match, and texts that they do not. */
const CASES: readonly (readonly [pattern: string, matching: readonly string[], others: readonly string[]])[] = [
  ["(?i)a+b", ["xAAB", "ab"], ["b", "ac"]],
  ["^a$", ["a", "x\na\ny", "a\n"], ["ab", "ba"]],
  [String.raw`\Aa\z`, ["a"], ["x\na", "a\n"]],
  [String.raw`\bor\b`, ["a or b", "or"], ["for", "or_"]],
  ["a.b", ["a\nb", "axb"], ["ab"]],
  [String.raw`[[:alpha:]\d_-]{3}`, ["a1-", "__9"], ["a ", "1.2"]],
  [String.raw`[^\x5c\]]\x5c`, ["a\\"], ["\\", "]\\"]],
  [String.raw`\h\R`, ["\t\r\n", " \v"], ["a\n"]],
  ["a{2,3}c|x{", ["aac", "x{"], ["ac", "x"]],
  [String.raw`<\?(?!xml)`, ["<?php", "<?"], ["<?xml"]],
  [String.raw`(?<!\\)'`, ["a'"], ["\\'"]],
  [String.raw`(\w+)=\1\b`, ["a=a", "x ab=ab"], ["a=b"]],
  ["(?>a*)ab", [], ["aaab"]],
  ["a*+b", ["aab"], ["aa"]],
  [String.raw`(?s-i:a)\.\x{41}\101`, ["a.AA"], ["A.AA"]],
];

test("constructs of PCRE match as in PCRE", () => {
  for (const [source, matching, others] of CASES) {
    const pattern = createPattern(source);
    for (const text of matching) assert.ok(pattern.test(text), `${source} in ${JSON.stringify(text)}`);
    for (const text of others) assert.ok(!pattern.test(text), `${source} not in ${JSON.stringify(text)}`);
  }
});

test("groups have the numbers of the pattern, in texts of any length", () => {
  const pattern = createPattern(String.raw`(?:(a)|b)(?>c*)\s*([^=]*?)=(\w+)`);
  for (const before of ["", "-".repeat(20_000)])
    assert.deepEqual(pattern.exec(`${before}bcc  name=value`), ["bcc  name=value", undefined, "name", "value"]);
  assert.equal(pattern.exec("x"), null);
});

test("an error has its position", () => {
  for (const [source, at] of [
    ["a(b", 1],
    ["a)", 1],
    ["a[b", 1],
    ["*a", 1],
    ["a{3,2}", 1],
    [String.raw`(a)\2`, 5],
    ["(?x)a", 0],
  ] as const)
    assert.throws(
      () => parsePcre(source),
      (error: unknown) => error instanceof PatternError && error.at >= at,
      source,
    );
});

/** Patterns over a few letters, of every construct that has an automaton. */
const anyPattern = fc.letrec<{ readonly pattern: string; readonly atom: string }>((tie) => ({
  pattern: fc.array(tie("atom"), { minLength: 1, maxLength: 4 }).map((atoms) => atoms.join("")),
  atom: fc.oneof(
    { maxDepth: 3 },
    fc.constantFrom("a", "b", "[ab]", "[^a]", ".", "\\w", "\\s", "^", "$", "\\b", "\\B", "(?i)c", "\\n"),
    fc.tuple(tie("pattern"), fc.constantFrom("*", "+", "?", "{1,2}", "*?", "+?", "{2}")).map(([item, times]) => `(?:${item})${times}`),
    fc.tuple(tie("pattern"), tie("pattern")).map(([left, right]) => `(?:${left}|${right})`),
    tie("pattern").map((item) => `(${item})`),
  ),
})).pattern;
const anyText = fc.array(fc.constantFrom("a", "b", "c", "C", " ", "\n", "_"), { maxLength: 12 }).map((bytes) => bytes.join(""));

/** With a repetition of a set that gives nothing back. */
const anyPossessive = fc
  .tuple(anyPattern, fc.constantFrom("a*+", "[ab]++", "\\s*+", "\\w{2,}+", "(?>[^a]*)"), anyPattern)
  .map((parts) => parts.join(""));

test("the automaton finds the same as the native engine", () => {
  fc.assert(
    fc.property(fc.oneof(anyPattern, anyPossessive), fc.array(anyText, { minLength: 1, maxLength: 5 }), (source, texts) => {
      const node = parsePcre(source);
      const automaton = new LazyAutomaton(node);
      const native = new RegExp(capturingSource(node).source);
      for (const text of texts) assert.equal(automaton.end(text) !== -1, native.test(text), `${source} in ${JSON.stringify(text)}`);
    }),
    { numRuns: 2000 },
  );
});

test("the group machine finds the same match and groups as the native engine, except in repetitions", () => {
  fc.assert(
    fc.property(anyPattern, anyText, (source, text) => {
      const node = parsePcre(source);
      const native = new RegExp(capturingSource(node).source).exec(text);
      const found = createGroupMachine(node)(text);
      // A repetition that matches nothing ends otherwise in each engine; where a match begins does not depend on it.
      assert.equal(found === null, native === null, source);
      if (native !== null && !/\*|\+|\{|\?/.test(source.replaceAll("(?", "")))
        assert.deepEqual(found, [...native].slice(0, found!.length), `${source} in ${JSON.stringify(text)}`);
    }),
    { numRuns: 2000 },
  );
});

test("a backtracking engine gets only short texts, and only for patterns that allow it", () => {
  const bytesOf = (source: string): number => nativeBytesMax(parsePcre(source), true);
  assert.ok(bytesOf("(?:a+)+b") < 32);
  assert.ok(bytesOf("(a|a)*b") < 32);
  assert.ok(bytesOf("x.*y.*z") < 1000);
  assert.ok(bytesOf("^[^=]*=[^&]*&") > 1 << 20);
  assert.ok(bytesOf(String.raw`^(?:[^\\]|\\.)*$`) > 1 << 20);
  // With backtracking, this would practically never end.
  assert.ok(!createPattern("^(?:(?:a+)+)+$").test(`${"a".repeat(100_000)}b`));
});

test("the learned states of all automata together are bounded, for any texts", () => {
  // A byte that is remembered for 12 places further on: thousands of states, each with other places.
  const automata = Array.from({ length: 16 }, (_, i) => new LazyAutomaton(parsePcre(`[ab]*a[ab]{${10 + (i % 4)}}c${i}`)));
  let most = 0;
  let seed = 1;
  for (let round = 0; round < 6; round++) {
    for (const automaton of automata) {
      const text = Array.from({ length: 2000 }, () => ((seed = (seed * 48_271) % 2_147_483_647) & 64 ? "a" : "b")).join("");
      assert.equal(automaton.end(text), -1);
      most = Math.max(most, learnedBytes());
    }
  }
  assert.ok(most > 16 << 20 && most <= 32 << 20, String(most));
  assert.equal(automata[3]!.end(`${"ab".repeat(20)}c3`), 42);
});

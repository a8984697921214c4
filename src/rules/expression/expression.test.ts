import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { compileExpression, EXPRESSION_CHARACTERS_MAX, ExpressionError } from "./expression.ts";
import { testRequest, testResponse } from "#rules/testing/views.ts";

const REQUEST_PHASE = "http_request_firewall_custom";
const RESPONSE_PHASE = "http_response_firewall_managed";

const request = testRequest({ headers: { "x-a": ["one", "Two"], cookie: ["k=v"], referer: ["https://r.example/"] } });
const response = testResponse({ status: 404, headers: { "x-r": ["yes"] } });

test("nesting and length have limits, and expressions within them work", () => {
  const nested = (depth: number): string => `${"(".repeat(depth)}true${")".repeat(depth)}`;
  assert.equal(compileExpression(nested(128), REQUEST_PHASE)(request, null), true);
  assert.throws(() => compileExpression(nested(129), REQUEST_PHASE), /deeper than 128/);
  assert.throws(() => compileExpression(`${"not ".repeat(130)}true`, REQUEST_PHASE), /deeper than 128/);
  assert.throws(() => compileExpression(`${"lower(".repeat(130)}http.host${")".repeat(130)} eq "x"`, REQUEST_PHASE), /deeper than 128/);
  assert.equal(compileExpression("true".padEnd(EXPRESSION_CHARACTERS_MAX), REQUEST_PHASE)(request, null), true);
  assert.throws(() => compileExpression("true".padEnd(EXPRESSION_CHARACTERS_MAX + 1), REQUEST_PHASE), /longer than 4096/);
  assert.throws(() => compileExpression("true", "no_such_phase"), ExpressionError);
});

/** A tree that prints itself with random spelling and as few parentheses as precedence allows, and evaluates itself. */
interface Oracle {
  readonly text: string;
  /** 0 or, 1 xor, 2 and, 3 not, 4 the rest: what needs parentheses inside what. */
  readonly level: number;
  readonly value: boolean;
}

const within = (oracle: Oracle, level: number): string => (oracle.level < level ? `(${oracle.text})` : oracle.text);

const leaf = fc.oneof(
  fc.boolean().map((value): Oracle => ({ text: String(value), level: 4, value })),
  fc
    .constantFrom("www.example.com", "example.com", "w", "")
    .chain((text) =>
      fc
        .constantFrom(
          { word: "eq", holds: request.host === text },
          { word: "!=", holds: request.host !== text },
          { word: "contains", holds: request.host.includes(text) },
          { word: "<", holds: request.host < text },
        )
        .map(({ word, holds }): Oracle => ({ text: `http.host ${word} "${text}"`, level: 4, value: holds })),
    ),
  fc.tuple(fc.integer({ min: 0, max: 30 }), fc.integer({ min: 0, max: 10 })).map(([first, more]): Oracle => ({
    text: `len(http.host) in {${first}..${first + more}}`,
    level: 4,
    value: request.host.length >= first && request.host.length <= first + more,
  })),
);

const { tree } = fc.letrec<{ tree: Oracle }>((tie) => {
  const join = (level: number, spellings: readonly string[], combine: (a: boolean, b: boolean) => boolean) =>
    fc
      .tuple(tie("tree"), tie("tree"), fc.constantFrom(...spellings), fc.constantFrom(" ", "\n", "  "))
      .map(([a, b, word, space]): Oracle => ({
        text: `${within(a, level)}${space}${word} ${within(b, level + 1)}`,
        level,
        value: combine(a.value, b.value),
      }));
  return {
    tree: fc.oneof(
      { maxDepth: 6, withCrossShrink: true },
      leaf,
      fc
        .tuple(tie("tree"), fc.constantFrom("not ", "!"))
        .map(([a, word]): Oracle => ({ text: `${word}${within(a, 3)}`, level: 3, value: !a.value })),
      join(2, ["and", "&&"], (a, b) => a && b),
      join(1, ["xor", "^^"], (a, b) => a !== b),
      join(0, ["or", "||"], (a, b) => a || b),
    ),
  };
});

test("a compiled expression gives the value of its tree", () => {
  fc.assert(
    fc.property(tree, (oracle) => {
      fc.pre(oracle.text.length <= EXPRESSION_CHARACTERS_MAX);
      assert.equal(compileExpression(oracle.text, REQUEST_PHASE)(request, null), oracle.value);
    }),
    { numRuns: 500 },
  );
});

const PIECES = [
  "http.host",
  "ip.src",
  "ssl",
  "len(",
  "lower(",
  "(",
  ")",
  "{",
  "}",
  "[",
  "]",
  '"',
  '"a"',
  'r#"',
  "\\",
  "..",
  "1",
  "0x",
  "-",
  "10.0.0.1",
  "::",
  "/8",
  "and",
  "or",
  "not",
  "xor",
  "in",
  "eq",
  "wildcard",
  "strict",
  "true",
  ",",
  " ",
  "\n",
  "\t",
  "é",
  "*",
  "$x",
];

test("every text gives a predicate or an ExpressionError", () => {
  const texts = fc.oneof(
    fc.string({ unit: "binary", maxLength: 60 }),
    fc.array(fc.constantFrom(...PIECES), { maxLength: 25 }).map((pieces) => pieces.join(" ")),
    fc.array(fc.constantFrom(...PIECES), { maxLength: 25 }).map((pieces) => pieces.join("")),
  );
  fc.assert(
    fc.property(texts, fc.constantFrom(REQUEST_PHASE, RESPONSE_PHASE), (text, phase) => {
      try {
        assert.equal(typeof compileExpression(text, phase)(request, response), "boolean");
      } catch (error) {
        assert.ok(error instanceof ExpressionError, String(error));
        assert.ok(error.line >= 1 && error.column >= 1);
      }
    }),
    { numRuns: 5000 },
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import { compileExpression, EXPRESSION_CHARACTERS_MAX, ExpressionError } from "./expression.ts";
import { testRequest, testResponse } from "./test-views.ts";

const REQUEST_PHASE = "http_request_firewall_custom";
const RESPONSE_PHASE = "http_response_firewall_managed";

const request = testRequest({ headers: { "x-a": ["one", "Two"], cookie: ["k=v"], referer: ["https://r.example/"] } });
const response = testResponse({ status: 404, headers: { "x-r": ["yes"] } });

const TRUE = [
  "true",
  "not false",
  "!false",
  "true xor false",
  "not (true ^^ true)",
  "true or true xor true",
  "false and false or true",
  "not false and true",
  'http.host eq "www.example.com"',
  'http.host == "www.example.com" && http.request.method != "POST"',
  'http.request.uri eq "/a/b.html?x=1"',
  'http.request.uri.path eq "/a/b.html"',
  'http.request.uri.query eq "x=1"',
  'http.request.full_uri eq "https://www.example.com/a/b.html?x=1"',
  'http.user_agent contains "est"',
  'http.referer contains "r.example"',
  'http.cookie eq "k=v"',
  'http.request.headers["X-A"][1] eq "Two"',
  'len(http.request.headers["x-a"]) eq 2',
  'len(http.request.headers["none"]) eq 0',
  'http.host in {"a" "www.example.com"}',
  'http.host in {"a", "www.example.com"}',
  'http.host wildcard "*.EXAMPLE.com"',
  'http.host strict wildcard "*.example.*"',
  'http.host wildcard r"www.*"',
  "ip.src in {10.0.0.0/8 192.0.2.0/24}",
  "ip.src eq 192.0.2.7",
  "ip.src ne 192.0.2.8",
  "ip.src in {2001:db8::/32 ::1 192.0.2.7}",
  "ssl",
  "not not ssl",
  'starts_with(http.request.uri.path, "/a")',
  'ends_with(lower(http.request.uri.path), ".html")',
  'upper(http.request.method) eq "GET"',
  "len(http.host) in {1..5 15}",
  "len(http.host) ge 0xf",
  "len(http.host) le 017",
  "len(http.host) gt -1",
  'http.host lt "x" and http.host ge "www"',
  'cf.ray_id eq "00000000000000aa" and cf.zone.name eq "example.com"',
  '(\r\n http.host\neq "www.example.com" )',
  String.raw`http.host eq "\x77\167w.example.com"`,
  'http.host eq r#"www.example.com"#',
] as const;

const FALSE = [
  "false",
  "true and not true",
  "true xor true",
  "not true or false",
  'http.host eq "WWW.example.com"',
  'http.request.headers["none"][0] eq ""',
  'http.request.headers["none"][0] ne "x"',
  'http.request.headers["x-a"][7] ne "x"',
  'starts_with(http.request.headers["none"][0], "")',
  'http.host strict wildcard "*.EXAMPLE.com"',
  'http.host wildcard "www"',
  "ip.src in {2001:db8::/32}",
  "not ssl",
  "len(http.host) in {1..5 7}",
] as const;

test("expressions that hold and expressions that do not", () => {
  for (const text of TRUE) assert.equal(compileExpression(text, REQUEST_PHASE)(request, null), true, text);
  for (const text of FALSE) assert.equal(compileExpression(text, REQUEST_PHASE)(request, null), false, text);
});

test("response fields exist in the response phases", () => {
  const text =
    'http.response.code in {400..499} and http.response.content_type.media_type eq "text/html" and http.response.headers["X-R"][0] eq "yes"';
  assert.equal(compileExpression(text, RESPONSE_PHASE)(request, response), true);
  assert.equal(compileExpression("http.response.code ne 1", RESPONSE_PHASE)(request, null), false, "missing value");
  assert.throws(() => compileExpression(text, REQUEST_PHASE), /does not exist in phase http_request_firewall_custom/);
});

/** Text, line, column, part of the reason. */
const REFUSED: readonly (readonly [string, number, number, RegExp])[] = [
  ["", 1, 1, /expected a field/],
  ["(", 1, 2, /expected a field/],
  ["(true", 1, 6, /expected \)/],
  ["true true", 1, 6, /expected and, or/],
  ["true\tand true", 1, 5, /tab/],
  ['http.hostt eq "x"', 1, 1, /unknown field "http.hostt"/],
  ['true and\n  http.foo eq "x"', 2, 3, /unknown field/],
  ["http.host", 1, 1, /needs a comparison/],
  ["http.host eq 5", 1, 14, /expected a string/],
  ["http.host eq ", 1, 14, /expected a string, an integer/],
  ['http.host eq "x', 1, 14, /not closed/],
  ['http.host eq r#"x"', 1, 14, /not closed/],
  [String.raw`http.host eq "\q"`, 1, 15, /unknown escape/],
  ['http.host wildcard "a**"', 1, 20, /two asterisks/],
  ['http.host matches "a"', 1, 11, /no regular expressions/],
  ["http.host in {}", 1, 15, /empty/],
  ["http.host in $list", 1, 14, /no lists/],
  ["len(http.host) in {5..1}", 1, 20, /before it begins/],
  ['len(http.host) contains "x"', 1, 25, /expected an integer/],
  ["len(http.host) contains 5", 1, 16, /compares strings/],
  ["len(http.host) eq 08", 1, 19, /octal/],
  ["len(http.host) eq 5x", 1, 19, /letters/],
  ["len(http.host) eq 99999999999999999999", 1, 19, /too large/],
  ["ip.src eq 10.0.0.0/8", 1, 11, /after in/],
  ["ip.src in {10.0.0.0/33}", 1, 12, /not an address/],
  ["ip.src in {300.0.0.1}", 1, 12, /not an address/],
  ['ip.src eq "10.0.0.1"', 1, 11, /without quotes/],
  ["ip.src gt 10.0.0.1", 1, 8, /eq, ne and in/],
  ["ssl eq 1", 1, 5, /no comparison/],
  ['http.request.headers eq "a"', 1, 1, /needs a name/],
  ['http.request.headers["a"] eq "a"', 1, 1, /number of the item/],
  ["http.host[0]", 1, 1, /no index/],
  ['nope("x")', 1, 1, /unknown function/],
  ['lower(http.host, "x") eq "y"', 1, 1, /takes 1 argument/],
  ['lower(ip.src) eq "y"', 1, 7, /takes a string here/],
  ["and", 1, 1, /expected a field/],
  ["true # comment", 1, 6, /unexpected character/],
];

test("mistakes are named with their place", () => {
  for (const [text, line, column, reason] of REFUSED) {
    assert.throws(
      () => compileExpression(text, REQUEST_PHASE),
      (error: unknown) => {
        assert.ok(error instanceof ExpressionError, text);
        assert.deepEqual([error.line, error.column], [line, column], `${text}: ${error.message}`);
        assert.match(error.reason, reason, text);
        return true;
      },
    );
  }
});

test("the message shows place, line and mark", () => {
  assert.throws(() => compileExpression('ssl and http.foo eq "x"', REQUEST_PHASE), {
    message: 'Filter parsing error (1:9):\nssl and http.foo eq "x"\n        ^^^^^^^^ unknown field "http.foo"',
  });
});

test("nesting and length have limits, and what is within them works", () => {
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

test("compiled expressions give what their trees say", () => {
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

test("whatever the text, a predicate or an ExpressionError comes out", () => {
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

import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../support/property.ts";
import { compileExpression, ExpressionError } from "#rules/expression/expression.ts";
import { parseExpression } from "#rules/expression/syntax/parse.ts";
import { printExpression } from "#rules/expression/syntax/print.ts";
import { testRequest, testResponse } from "#rules/testing/views.ts";
import type { RequestView } from "#rules/views.ts";
import { interpretExpression } from "../support/expression-interpreter.ts";

const PHASE = "http_response_firewall_managed";

const word = fc.constantFrom("", "a", "b", "ab", "abc", "A", "www.example.com", "/a", "/a/b.html", "x=1", "one", "two", "é");
const quoted = word.map((text) => JSON.stringify(text));
const integer = fc.oneof(
  fc.integer({ min: -3, max: 20 }).map(String),
  fc.constantFrom("0x1f", "017", "9223372036854775807", "-9223372036854775808", "9007199254740993"),
);
const address = fc.constantFrom("192.0.2.7", "192.0.2.8", "10.0.0.1", "2001:db8::1", "::1");
const block = fc.oneof(
  address,
  fc.constantFrom("192.0.2.0/24", "10.0.0.0/8", "2001:db8::/32", "0.0.0.0/0", "::/0", "192.0.2.1..192.0.2.9", "::1..2001:db8::ff"),
);
const spaced = <T>(items: fc.Arbitrary<T>): fc.Arbitrary<string> =>
  fc.array(items, { minLength: 1, maxLength: 12 }).map((list) => `{${list.join(" ")}}`);

/** Arrays of strings, by their texts. */
const array = fc.constantFrom(
  'http.request.headers["x-a"]',
  'http.request.headers["none"]',
  'http.request.uri.args["x"]',
  "http.request.headers.names",
  "http.request.uri.args.values",
  'http.response.headers["x-r"]',
);

const { string, number } = fc.letrec<{ string: string; number: string }>((tie) => ({
  string: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom(
      "http.host",
      "http.request.uri.path",
      "http.request.uri.query",
      "http.request.method",
      "http.referer",
      "ip.src.country",
    ),
    fc.tuple(array, fc.nat(3)).map(([text, i]) => `${text}[${i}]`),
    fc.tuple(fc.constantFrom("lower", "upper"), tie("string")).map(([name, text]) => `${name}(${text})`),
    fc.tuple(tie("string"), quoted, tie("number")).map((parts) => `concat(${parts.join(", ")})`),
    fc
      .tuple(tie("string"), fc.integer({ min: -5, max: 9 }), fc.integer({ min: -5, max: 9 }))
      .map((parts) => `substring(${parts.join(", ")})`),
    fc.tuple(tie("string"), quoted).map((parts) => `remove_bytes(${parts.join(", ")})`),
    tie("string").map((text) => `url_decode(${text})`),
  ),
  number: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.constantFrom("http.response.code", "http.request.timestamp.sec", "ip.src.asnum", "cf.threat_score"),
    tie("string").map((text) => `len(${text})`),
    array.map((text) => `len(${text})`),
  ),
}));

/** An operator and what it takes. */
const stringTest = fc.oneof(
  fc.tuple(fc.constantFrom("eq", "!=", "<", "le", "gt", ">=", "contains"), quoted).map((parts) => parts.join(" ")),
  fc.constantFrom("a*", "*b*", "*", "A*C", "w*.EXAMPLE.*", "a").map((pattern) => `wildcard "${pattern}"`),
  fc.constantFrom("a*", "*b*", "*", "A*C", "w*.example.*").map((pattern) => `strict wildcard "${pattern}"`),
  fc.constantFrom("^a", "b$", "a|b", "(?i)A.*C", "(a+)+$", "[^a-c]", "^$", "^/a.*l$", "o.?e").map((pattern) => `matches "${pattern}"`),
  spaced(quoted).map((set) => `in ${set}`),
);
const integerTest = fc.oneof(
  fc.tuple(fc.constantFrom("==", "ne", "lt", "<=", ">", "ge", "&"), integer).map((parts) => parts.join(" ")),
  spaced(
    fc.oneof(
      integer,
      fc.tuple(fc.nat(9), fc.nat(9)).map(([a, b]) => `${a}..${a + b}`),
    ),
  ).map((set) => `in ${set}`),
);
const addressTest = fc.oneof(
  fc.tuple(fc.constantFrom("eq", "ne"), address).map((parts) => parts.join(" ")),
  spaced(block).map((set) => `in ${set}`),
);

/** Conditions over every item of one array. */
const each = array.chain((base) => {
  const item = fc.oneof(
    fc.constant(`${base}[*]`),
    fc.constantFrom("lower", "upper").map((name) => `${name}(${base}[*])[*]`),
    fc.constant(`substring(${base}[*], 0, 1)[*]`),
  );
  const condition = fc.oneof(
    fc.tuple(item, stringTest).map((parts) => parts.join(" ")),
    fc.tuple(fc.constant(`len(${base}[*])[*]`), integerTest).map((parts) => parts.join(" ")),
    fc.tuple(fc.constantFrom("starts_with", "ends_with"), quoted).map(([name, text]) => `${name}(${base}[*], ${text})`),
  );
  return fc
    .array(fc.tuple(fc.constantFrom("and ", "or ", "xor ", "and not "), condition), { minLength: 1, maxLength: 3 })
    .map((parts) => parts.map(([join, text], i) => (i === 0 ? text : join + text)).join(" "));
});

const atom = fc.oneof(
  fc.constantFrom("true", "false", "ssl", "cf.client.bot"),
  fc.tuple(string, stringTest).map((parts) => parts.join(" ")),
  fc.tuple(number, integerTest).map((parts) => parts.join(" ")),
  fc.tuple(fc.constantFrom("ip.src"), addressTest).map((parts) => parts.join(" ")),
  fc.tuple(fc.constantFrom("starts_with", "ends_with"), string, quoted).map(([name, text, part]) => `${name}(${text}, ${part})`),
  fc.tuple(fc.constantFrom("any", "all"), each).map(([name, text]) => `${name}(${text})`),
);

const { tree } = fc.letrec<{ tree: string }>((tie) => ({
  tree: fc.oneof(
    { maxDepth: 5, withCrossShrink: true },
    atom,
    tie("tree").map((text) => `not (${text})`),
    tie("tree").map((text) => `(${text})`),
    fc.tuple(tie("tree"), fc.constantFrom("and", "&&", "or", "||", "xor", "^^"), tie("tree")).map((parts) => parts.join(" ")),
  ),
}));

const requests: fc.Arbitrary<RequestView> = fc
  .record({
    host: word,
    path: word,
    query: fc.constantFrom("", "x=1", "x=1&x=2&y=", "a=b%20c&x=A"),
    client_ip: address,
    scheme: fc.constantFrom("http", "https"),
    values: fc.array(
      word.map((text) => Buffer.from(text).toString("latin1")),
      { maxLength: 3 },
    ),
    at_ms: fc.constantFrom(undefined, 1_800_000_000_123),
  })
  .map(({ values, ...changes }) => testRequest({ ...changes, headers: values.length === 0 ? {} : { "x-a": values } }));
const responses = fc
  .record({ status: fc.constantFrom(0, 3, 200, 404), values: fc.array(word, { maxLength: 2 }) })
  .map(({ status, values }) => testResponse({ status, headers: values.length === 0 ? {} : { "x-r": values } }));

test("a compiled expression gives the same result as the interpreted one", () => {
  fc.assert(
    fc.property(tree, requests, responses, (text, request, response) => {
      fc.pre(text.length <= 4096);
      assert.equal(compileExpression(text, PHASE)(request, response), interpretExpression(text)(request, response));
    }),
    { numRuns: 3000 },
  );
});

const bare = (value: unknown): string =>
  JSON.stringify(value, (key, member: unknown) => {
    if (key === "from" || key === "to" || key.endsWith("_span")) return undefined;
    return typeof member === "bigint" ? `${member}n` : member;
  });

test("a printed expression parses to the same expression", () => {
  fc.assert(
    fc.property(tree, (text) => {
      const parsed = parseExpression(text);
      const printed = printExpression(parsed);
      assert.equal(bare(parseExpression(printed)), bare(parsed));
      assert.equal(printExpression(parseExpression(printed)), printed);
    }),
    { numRuns: 1000 },
  );
});

test("an invalid expression gives an error and nothing else", () => {
  const broken = fc
    .tuple(tree, fc.array(fc.tuple(fc.nat(), fc.nat(3), fc.string({ unit: "binary", maxLength: 2 })), { maxLength: 3 }))
    .map(([text, edits]) =>
      edits.reduce((now, [at, cut, put]) => now.slice(0, at % (now.length + 1)) + put + now.slice((at % (now.length + 1)) + cut), text),
    );
  fc.assert(
    fc.property(broken, requests, (text, request) => {
      try {
        assert.equal(typeof compileExpression(text, PHASE)(request, testResponse()), "boolean");
      } catch (error) {
        assert.ok(error instanceof ExpressionError, `${text}: ${String(error)}`);
      }
    }),
    { numRuns: 2000 },
  );
});

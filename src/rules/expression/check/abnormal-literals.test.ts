import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../../test/support/property.ts";
import { compileExpression } from "#rules/expression/expression.ts";
import { normalizedPath } from "#rules/expression/request/normalize-path.ts";
import { testRequest } from "#rules/testing/views.ts";
import { abnormalLiterals } from "./abnormal-literals.ts";

const MERGED = { scope: "incoming", type: "cloudflare" } as const;
const PLAIN = { scope: "both", type: "rfc3986" } as const;

test("literals that no normalized path has are found in each comparison, with the form that paths have", () => {
  for (const [expression, literal, normal] of [
    ['http.request.uri.path contains "/../"', "/../", "/"],
    ['http.request.uri.path contains "%41"', "%41", "A"],
    ['http.request.uri.path contains "%2f"', "%2f", "%2F"],
    ['http.request.uri.path contains "%a"', "%a", "%A"],
    ['http.request.uri.path contains "<x"', "<x", "%3Cx"],
    ['http.request.uri.path contains "é"', "\xc3\xa9", "%C3%A9"],
    ['http.request.uri.path eq "/a/."', "/a/.", "/a/"],
    ['not (ssl and http.request.uri.path in {"/ok" "/a/.."})', "/a/..", "/"],
    ['starts_with(http.request.uri.path, "/a/./b")', "/a/./b", "/a/b"],
    ['ends_with(http.request.uri.path, "x/..")', "x/..", "/"],
    ['any(http.request.headers.names[*] eq "x") or http.request.uri.path strict wildcard "/%5c*"', "/%5c", "/%5C"],
    ['http.request.uri.path wildcard r"*%41%2f*"', "%41%2F", "A%2F"],
    ['http.request.uri eq "/%41?q=%41"', "/%41", "/A"],
    ['starts_with(http.request.full_uri, "https://example.com/%7e")', "/%7e", "/~"],
    ['http.request.full_uri wildcard r"http*://example.com/%41/*"', undefined, undefined],
    ['http.request.uri wildcard r"/%41/*"', "/%41/", "/A/"],
  ] as const) {
    const found = abnormalLiterals(expression, MERGED);
    assert.equal(found[0]?.normal, normal, expression);
    if (literal !== undefined && !expression.includes(" wildcard ")) assert.equal(found[0]?.literal, literal, expression);
    assert.deepEqual(abnormalLiterals(expression, { scope: "none", type: "cloudflare" }), []);
  }
  const slashes = 'http.request.uri.path eq "//x" or http.request.uri.path contains "\\\\"';
  assert.deepEqual(
    [MERGED, PLAIN].map((one) => abnormalLiterals(slashes, one).map(({ normal }) => normal)),
    [["/x", "/"], ["%5C"]],
  );
});

test("regular expressions, other fields, and what a path can have are left alone", () => {
  for (const expression of [
    'http.request.uri.path matches "/\\.\\./"',
    'raw.http.request.uri.path contains "/../"',
    'lower(http.request.uri.path) contains "%2f"',
    'url_decode(http.request.uri.path) contains "/../"',
    'http.request.uri contains "/../"',
    'http.request.uri.query contains "%41"',
    'http.request.uri.path contains "../"',
    'http.request.uri.path contains "/."',
    'starts_with(http.request.uri.path, "/..")',
    'http.request.uri.path contains "%2"',
    'http.request.uri.path contains "41"',
    'http.request.uri.path wildcard r"/%2f*"',
    'http.request.uri.path eq "*"',
    'http.request.full_uri wildcard r"*/%41*"',
    'ends_with(http.request.uri, "//")',
    "not an expression",
  ])
    assert.deepEqual(abnormalLiterals(expression, MERGED), [], expression);
});

test("a literal that some normalized path has is never named", () => {
  const piece = fc.constantFrom(
    "/",
    "\\",
    ".",
    "..",
    "a",
    "%2e",
    "%2F",
    "%5c",
    "%41",
    "%25",
    "%E9",
    "%e9",
    "\xe9",
    "|",
    "~",
    ";",
    "2f",
    "F",
  );
  const path = fc.array(piece, { maxLength: 12 }).map((pieces) => `/${pieces.join("")}`);
  const quoted = (text: string): string => `"${text}"`;
  fc.assert(
    fc.property(path, fc.nat(), fc.nat(), fc.constantFrom(MERGED, PLAIN), (text, one, other, normalization) => {
      const normal = normalizedPath(text, normalization.type);
      const [from, to] = [one % (normal.length + 1), other % (normal.length + 1)].toSorted((a, b) => a - b) as [number, number];
      const part = normal.slice(from, to);
      const [start, end] = [normal.slice(0, to), normal.slice(from)];
      const request = testRequest({ scheme: "https", host: "example.com", path: normal, query: "" });
      for (const expression of [
        `http.request.uri.path eq ${quoted(normal)}`,
        `http.request.uri eq ${quoted(normal)}`,
        `http.request.uri.path in {"/" ${quoted(normal)}}`,
        `http.request.uri.path contains ${quoted(part)}`,
        `starts_with(http.request.uri.path, ${quoted(start)})`,
        `starts_with(http.request.full_uri, ${quoted(`https://example.com${start}`)})`,
        `ends_with(http.request.uri.path, ${quoted(end)})`,
        `http.request.uri.path wildcard ${quoted(`${start}*${end.slice(to - from)}`.toLowerCase())}`,
        `http.request.uri strict wildcard ${quoted(`${start}*`)}`,
      ]) {
        if (part === "" && expression.includes("contains")) continue;
        assert.ok(compileExpression(expression, "http_request_firewall_custom")(request, null), expression);
        assert.deepEqual(abnormalLiterals(expression, normalization), [], expression);
      }
    }),
  );
});

test("an expression that is not parsed has no abnormal literal", () => {
  const literal = fc.string({ unit: fc.constantFrom("/", ".", "a", "*", " ", "é", "%", "4", "#", "https://h"), maxLength: 6 });
  const compared = fc.constantFrom(
    "uri.path eq",
    "uri.path contains",
    "uri.path wildcard",
    "uri eq",
    "uri wildcard",
    "full_uri eq",
    "method eq",
  );
  const comparison = fc
    .tuple(compared, fc.constantFrom("", "r"), literal)
    .map(([start, raw, text]) => `http.request.${start} ${raw}"${text}"`);
  const expressions = fc.array(comparison, { minLength: 1, maxLength: 3 }).map((all) => all.join(" or "));
  fc.assert(
    fc.property(expressions, fc.constantFrom(MERGED, PLAIN), (expression, normalization) => {
      // A question mark is always left to the parser.
      const parsed = abnormalLiterals(`${expression} or http.host eq "?"`, normalization);
      assert.deepEqual(abnormalLiterals(expression, normalization), parsed);
    }),
    { numRuns: 2000 },
  );
});

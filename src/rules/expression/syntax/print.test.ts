import assert from "node:assert/strict";
import { test } from "node:test";
import { HOLD } from "#rules/expression/testing/evaluated.cases.ts";
import { parseExpression, parseValue } from "./parse.ts";
import { printExpression, printValue } from "./print.ts";
import { VALUES } from "#rules/expression/testing/value.cases.ts";

/** Without the places in the text. */
const bare = (tree: unknown): unknown =>
  JSON.parse(
    JSON.stringify(tree, (key, value: unknown) => {
      if (key === "from" || key === "to" || key.endsWith("_span")) return undefined;
      return typeof value === "bigint" ? `${value}n` : value;
    }),
  );

const PRINTED: readonly (readonly [text: string, printed: string])[] = [
  ["true", "true"],
  ["!ssl", "not ssl"],
  ["! ( ssl )", "not ssl"],
  ["not (ssl and ssl)", "not (ssl and ssl)"],
  ["(ssl && ssl) || (ssl ^^ ssl)", "ssl and ssl or ssl xor ssl"],
  ["(ssl or ssl) and ssl", "(ssl or ssl) and ssl"],
  ["ssl and (ssl and ssl)", "ssl and (ssl and ssl)"],
  ["ssl xor (ssl or ssl)", "ssl xor (ssl or ssl)"],
  ['http.host=="a"', 'http.host eq "a"'],
  ['http.host   in {"a","b"}', 'http.host in {"a" "b"}'],
  ["len(http.host)<=0x10", "len(http.host) le 16"],
  ["len(http.host) in {010..0x10}", "len(http.host) in {8..16}"],
  ["cf.edge.server_port&1", "cf.edge.server_port bitwise_and 1"],
  ['http.host~"a\\.b"', 'http.host matches r"a\\.b"'],
  ['http.host matches r#"a"b"#', 'http.host matches r#"a"b"#'],
  ['http.host eq r"a\\b"', 'http.host eq "a\\\\b"'],
  ['http.host eq "\\x00é\\xff"', 'http.host eq "\\x00\\xC3\\xA9\\xFF"'],
  ['http.host eq "\\xc3\\xa9"', 'http.host eq "é"'],
  ["ip.src in {10.0.0.0/8 ::1..::5}", "ip.src in {10.0.0.0/8 ::1..::5}"],
  ["ip.src in $office", "ip.src in $office"],
  ['any( http.request.headers [ "a" ] [ * ] eq "x" )', 'any(http.request.headers["a"][*] eq "x")'],
  ['http.host strict  wildcard "a*"', 'http.host strict wildcard "a*"'],
  ["(((ssl)))", "ssl"],
  ["http.host==lower( http.referer )", "http.host eq lower(http.referer)"],
  [
    'any(http.request.headers.names[*]>http.request.uri.args["a"][0])',
    'any(http.request.headers.names[*] gt http.request.uri.args["a"][0])',
  ],
  ["http.host eq ab.cd", "http.host eq ab.cd"],
];

test("every expression has one canonical form", () => {
  for (const [text, printed] of PRINTED) assert.equal(printExpression(parseExpression(text)), printed, text);
});

test("a printed expression parses to the same tree, and prints the same", () => {
  const texts = [...Object.values(HOLD).flat(), ...PRINTED.map(([text]) => text)];
  for (const text of texts) {
    const tree = parseExpression(text);
    const printed = printExpression(tree);
    assert.deepEqual(bare(parseExpression(printed)), bare(tree), `${text}: ${printed}`);
    assert.equal(printExpression(parseExpression(printed)), printed, text);
  }
  for (const [, text] of VALUES) {
    const tree = parseValue(text);
    assert.deepEqual(bare(parseValue(printValue(tree))), bare(tree), text);
  }
});

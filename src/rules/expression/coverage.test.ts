import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { compileExpression, ExpressionError } from "./expression.ts";
import { PHASES } from "../phases.ts";
import { testRequest, testResponse } from "#rules/testing/views.ts";
import type { RequestView } from "../views.ts";
import { HOLD, RESPONSE_HOLD } from "#rules/expression/testing/evaluated.cases.ts";
import { FIELDS } from "#rules/expression/fields/fields.ts";
import { FUNCTIONS } from "#rules/expression/functions/functions.ts";
import { CATASTROPHIC, REGEX } from "#rules/expression/testing/regex.cases.ts";
import { REFUSED } from "#rules/expression/testing/refused.cases.ts";
import { REFUSED_VALUES, VALUES } from "#rules/expression/testing/value.cases.ts";
import type { Value, ValueMap, ValueType } from "#rules/expression/values/value-type.ts";

const PHASE = "http_request_firewall_custom";
const HELD = Object.values(HOLD).flat();
const TEXTS = [...HELD, ...RESPONSE_HOLD, ...REFUSED.map(([text]) => text), ...VALUES.map(([, text]) => text)].join("\n");

/** Everything that waf.md, "Expression language", names beside fields. */
const FORMS: readonly (readonly [what: string, pattern: RegExp])[] = [
  ...[
    "not",
    "!",
    "and",
    "&&",
    "xor",
    "^^",
    "or",
    "||",
    "eq",
    "==",
    "ne",
    "!=",
    "lt",
    "<",
    "le",
    "<=",
    "gt",
    ">",
    "ge",
    ">=",
    "contains",
    "matches",
    "~",
    "wildcard",
    "strict wildcard",
    "in {",
    "in $",
    "&",
    "bitwise_and",
  ].map((operator) => [operator, new RegExp(operator.replace(/[\\^$.*+?()[\]{}|]/g, "\\$&"))] as const),
  ["a range of integers", /\d+\.\.\d+/],
  ["a range of addresses", /\d\.\d+\.\.\d+\.\d/],
  ["a block", /192\.0\.2\.0\/\d+/],
  ["an address of IPv6", /2001:db8::/],
  ["an item by number", /\[\d+\]/],
  ["a value by name", /\["[a-z]/],
  ["each item", /\[\*\]/],
  ["hexadecimal", /0x[0-9a-fA-F]/],
  ["octal", /\b0[0-7]{2,}/],
  ["bytes", /\b[0-9a-fA-F]{2}:[0-9a-fA-F]{2}\b/],
  ["an escaped byte", /\\x[0-9a-fA-F]{2}/],
  ["an octal byte", /\\[0-7]{3}/],
  ["a raw string", /\br"/],
  ["a raw string with marks", /r#+"/],
  ["an escaped star", /\\\\\*|\\\*/],
  ["two stars", /\*\*/],
  ["a tab", /\t/],
];

test("the test tables have at least 400 rows, and every function, operator and literal", () => {
  const rows =
    HELD.length + RESPONSE_HOLD.length + REFUSED.length + VALUES.length + REFUSED_VALUES.length + REGEX.length + CATASTROPHIC.length;
  assert.ok(rows >= 400, String(rows));
  assert.deepEqual(
    FUNCTIONS.map(({ name }) => name).filter((name) => !TEXTS.includes(`${name}(`)),
    [],
  );
  assert.deepEqual(
    FORMS.filter(([, pattern]) => !pattern.test(TEXTS)).map(([what]) => what),
    [],
  );
});

const upload =
  '--xx\r\nContent-Disposition: form-data; name="f"; filename="a.png"\r\nContent-Type: image/png\r\nContent-Transfer-Encoding: binary\r\n\r\nx\r\n--xx--\r\n';
const place = {
  country: "DE",
  continent: "EU",
  city: "Berlin",
  region: "Berlin",
  region_code: "BE",
  postal_code: "10115",
  metro_code: "1",
  timezone: "Europe/Berlin",
  latitude: "52.5",
  longitude: "13.4",
  is_in_european_union: true,
  subdivision_1: "DE-BE",
  subdivision_2: "DE-XX",
  asn: 64500,
};
const tls = { version: "TLSv1.3", cipher: "TLS_AES_128_GCM_SHA256" };
const known = {
  place,
  tls,
  at_ms: 1_800_000_000_000,
  http_version: "HTTP/2",
  server_ip: "192.0.2.1",
  server_port: 443,
  client_port: 50_123,
  zone_plan: "free" as const,
  random_seed: "0123456789abcdef",
};
const withBody = (type: string, raw: string): RequestView =>
  testRequest({
    ...known,
    headers: { "content-type": [type], cookie: ["a=b"], "accept-language": ["en"] },
    body: { raw, size: raw.length, truncated: false },
  });
const REQUESTS = [
  withBody("application/x-www-form-urlencoded", "a=1&b=2"),
  withBody("multipart/form-data; boundary=xx", upload),
  testRequest(),
];

function isOf(value: Value, type: ValueType): boolean {
  if (type.kind === "array") return Array.isArray(value) && (value as readonly Value[]).every((item) => isOf(item, type.of));
  if (type.kind === "map")
    return typeof (value as ValueMap).get === "function" && (value as ValueMap).values().every((item) => isOf(item, type.of));
  if (type.kind === "boolean") return typeof value === "boolean";
  if (type.kind === "integer") return typeof value === "bigint" || Number.isSafeInteger(value);
  return typeof value === "string";
}

test("every field gives a value of its type or none for any request, and known facts are given", () => {
  const response = testResponse({ headers: { "x-a": ["b"] }, origin_ttfb_ms: 5, edge_ms: 1 });
  const never: string[] = [];
  for (const field of FIELDS) {
    const values = REQUESTS.map((request) => field.read(request, response));
    for (const value of values) assert.ok(value === undefined || isOf(value, field.type), `${field.name}: ${JSON.stringify(value)}`);
    if (values.every((value) => value === undefined)) never.push(field.name);
    if (field.unknown === true)
      assert.ok(
        values.every((value) => value === undefined),
        field.name,
      );
  }
  assert.deepEqual(
    never.filter((name) => FIELDS.find((field) => field.name === name)?.unknown !== true),
    [],
  );
});

const WORDS = [
  ...[
    "http.host",
    "ip.src",
    "ssl",
    "http.request.headers",
    "http.request.uri.args",
    "cf.edge.server_port",
    "any",
    "all",
    "lower",
    "len",
    "concat",
    "substring",
    "lookup_json_string",
    "has_key",
    "has_value",
    "coalesce",
  ],
  ...[
    "and",
    "or",
    "xor",
    "not",
    "eq",
    "ne",
    "in",
    "contains",
    "matches",
    "wildcard",
    "strict",
    "lt",
    "&",
    "==",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "[*]",
    '["a"]',
    "[0]",
    ",",
    "..",
    "$office",
  ],
  ...[
    '"a"',
    'r"x"',
    'r#"y"#',
    "1",
    "0x1f",
    "017",
    "-1",
    "192.0.2.1",
    "192.0.2.0/24",
    "2001:db8::1",
    "AA:BB",
    '"\\x41"',
    '"(a+)+$"',
    "true",
    "\t",
    "\n",
    "é",
    '"',
    "\\",
    "#",
  ],
];

test("any text compiles or gives an error with its position in every phase, and a compiled one runs on any request", () => {
  const text = fc.oneof(
    { weight: 4, arbitrary: fc.array(fc.constantFrom(...WORDS), { minLength: 1, maxLength: 14 }).map((words) => words.join(" ")) },
    {
      weight: 2,
      arbitrary: fc
        .tuple(fc.constantFrom(...HELD), fc.nat(), fc.constantFrom(...WORDS))
        .map(([held, at, word]) => held.slice(0, at % (held.length + 1)) + word + held.slice(at % (held.length + 1))),
    },
    { weight: 1, arbitrary: fc.string({ maxLength: 60 }) },
  );
  fc.assert(
    fc.property(text, fc.constantFrom(PHASE, ...PHASES.filter(({ side }) => side !== "packet").map(({ name }) => name)), (given, phase) => {
      try {
        const applies = compileExpression(given, phase);
        for (const request of REQUESTS) assert.equal(typeof applies(request, testResponse()), "boolean");
      } catch (error) {
        assert.ok(error instanceof ExpressionError, `${given}: ${String(error)}`);
        assert.ok(error.line >= 1 && error.column >= 1 && error.message.includes("^"), given);
      }
    }),
    { numRuns: 3000 },
  );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { isCountry } from "#kernel/net/countries.ts";
import { compileExpression } from "#rules/expression/expression.ts";
import { builtOf, type Built, expressionOf, FIELDS, OPERATORS } from "../../dashboard/src/pages/security/expression/expression-parts.ts";
import { clausesOf, joined, quoted } from "../../dashboard/src/pages/security/expression/expression-text.ts";
import { COUNTRIES, countryName } from "../../dashboard/src/api/countries.ts";
import { changesBetween, overrideFor, withOverride } from "../../dashboard/src/pages/security/overrides.ts";
import { fc } from "../support/property.ts";

const REQUEST_FIELDS = FIELDS.filter(({ name }) => !name.startsWith("http.response."));
const text = fc.string({ maxLength: 20, unit: fc.constantFrom("a", "/", '"', "\\", " and ", "*", "ü", "(", "{", ",") });
const word = fc.string({ minLength: 1, maxLength: 8, unit: fc.constantFrom("a", "B", "/", '"', "\\", "9") });
const VALUES = {
  text,
  country: fc.constantFrom("DE", "T1"),
  address: fc.constantFrom("192.0.2.1", "2001:db8::1"),
  number: fc.nat(100_000).map(String),
  switch: fc.constant(""),
} as const;
const clause = fc.constantFrom(...REQUEST_FIELDS).chain(({ name, kind }) =>
  fc.constantFrom(...OPERATORS[kind].map(([id]) => id)).chain((operator) => {
    const isSet = operator.endsWith("in");
    const one = isSet && kind === "text" ? word : VALUES[kind];
    const value = isSet ? fc.uniqueArray(one, { minLength: 1, maxLength: 3 }).map((values) => values.join(" ")) : one;
    return value.map((shown) => ({ field: name, operator, value: kind === "switch" ? "" : shown }));
  }),
);
const built = fc.record(
  { joint: fc.constantFrom("and" as const, "or" as const), clauses: fc.array(clause, { minLength: 2, maxLength: 4 }) },
  { noNullPrototype: true },
);

test("the builder writes a valid expression and shows it again as it was built", () => {
  fc.assert(
    fc.property(built, (made: Built) => {
      const expression = expressionOf(made);
      assert.deepEqual(builtOf(expression), made);
      // A wildcard with two stars in a row, and a backslash before nothing, are refused by the language itself.
      if (!made.clauses.some(({ operator }) => operator === "wildcard")) compileExpression(expression, "http_request_firewall_custom");
    }),
  );
});

test("the builder offers every country that a request can have, by name", () => {
  const letters = Array.from({ length: 26 }, (_, n) => String.fromCharCode(65 + n));
  const codes = [...letters.flatMap((a) => letters.map((b) => a + b)), "T1"].filter(isCountry);
  assert.deepEqual(COUNTRIES.map(([code]) => code).toSorted(), codes.toSorted());
  assert.deepEqual(
    COUNTRIES.filter(([code, name]) => code === name),
    [],
  );
  assert.equal(countryName("DE"), "Germany");
  for (const text of ["", "Germ", "de", "ZZZ", "<b>"]) assert.equal(countryName(text), text);
});

test("an expression that the builder cannot show stays unchanged", () => {
  for (const expression of [
    '(http.host eq "a" or ssl) and ip.src eq 192.0.2.1',
    'lower(http.host) eq "a"',
    'any(http.request.headers["x"][*] contains "a")',
    'http.host eq "a" and ssl or ssl',
    "cf.waf.score gt 3",
    'http.host eq "a',
    'http.host in {"a b"}',
    "not not ssl",
    'http.host eq "a" and',
    "",
  ])
    assert.equal(builtOf(expression), undefined, expression);
  assert.deepEqual(builtOf("true"), { joint: "and", clauses: [] });
});

test("an exception is widened by whole comparisons, whatever text they contain", () => {
  const parts = fc.array(
    text.map((value) => `http.request.uri.path eq ${quoted(value)}`),
    { minLength: 1, maxLength: 4 },
  );
  fc.assert(fc.property(parts, (clauses) => assert.deepEqual(clausesOf(joined(clauses)), clauses)));
  assert.equal(joined([]), "true");
});

test("an override changes one rule or group, keeps its other settings, and is removed completely", () => {
  const before = {
    sensitivity_level: "low",
    rules: [{ id: "sum", score_threshold: 40 }],
    categories: [{ category: "sqli", action: "log" }],
  };
  const off = withOverride(before, "rules", "sum", { enabled: false });
  assert.deepEqual(overrideFor(off, "rules", "sum"), { id: "sum", score_threshold: 40, enabled: false });
  assert.deepEqual(withOverride(off, "rules", "sum", undefined), before);
  assert.deepEqual(withOverride(before, "categories", "sqli", undefined), { sensitivity_level: "low", rules: before.rules });
  const rules = [{ id: "sum", description: "Score" }];
  assert.deepEqual(changesBetween(before, off, { rules }), [{ name: "Score", before: "default", after: "off" }]);
});

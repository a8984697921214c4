import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { parseCookies } from "./cookies.ts";
import { maskSessionCookie, setsSessionCookie } from "./session-cookie.ts";

const masked = (field: string): string => {
  const buffer = Buffer.from(`before ${field} after`, "latin1");
  maskSessionCookie(buffer, 7, 7 + Buffer.byteLength(field, "latin1"));
  assert.equal(buffer.toString("latin1", 0, 7) + buffer.toString("latin1", buffer.length - 6), "before  after");
  return buffer.toString("latin1", 7, buffer.length - 6);
};

test("the mask overwrites a session's secret anywhere in a Cookie field, and nothing else", () => {
  const cases: readonly (readonly [field: string, after: string])[] = [
    ["selvedge=secret", "selvedge=xxxxxx"],
    ["a=b; selvedge=secret; c=d", "a=b; selvedge=xxxxxx; c=d"],
    ["__Host-selvedge=secret;c=d", "__Host-selvedge=xxxxxx;c=d"],
    ["a=b;selvedge=one;__Host-selvedge=two", "a=b;selvedge=xxx;__Host-selvedge=xxx"],
    ["selvedge=; a=selvedge=1", "selvedge=; a=selvedge=1"],
    ["myselvedge=mine; x__Host-selvedge=mine", "myselvedge=mine; x__Host-selvedge=mine"],
    ["selvedge", "selvedge"],
    ["", ""],
  ];
  for (const [field, after] of cases) assert.equal(masked(field), after, field);
});

test("property: masking keeps the length of the field and the values of other cookies", () => {
  const text = fc.stringMatching(/^[ -:<-~]{0,12}$/);
  const pairs = fc.array(fc.oneof(text, fc.constantFrom("selvedge=SECRET", "__Host-selvedge=SECRET", "aselvedge=SECRET")), {
    maxLength: 12,
  });
  fc.assert(
    fc.property(pairs, fc.constantFrom(";", "; "), (list, between) => {
      const field = list.join(between);
      const after = masked(field);
      assert.equal(after.length, field.length);
      const [was, is] = [parseCookies([field]), parseCookies([after])];
      assert.deepEqual([...is.keys()], [...was.keys()]);
      for (const [name, values] of was) {
        const isOurs = name === "selvedge" || name === "__Host-selvedge";
        if (isOurs) assert.ok(!is.get(name)?.some((value) => value.includes("SECRET")), after);
        else if (!values.some((value) => value.includes("selvedge"))) assert.deepEqual(is.get(name), values);
      }
    }),
  );
});

test("a Set-Cookie field that browsers store or send as the session cookie is recognized", () => {
  for (const field of [
    "selvedge=x",
    " selvedge =x; Path=/",
    "=selvedge=x",
    "= selvedge=x",
    "__Host-selvedge=x; Secure",
    "\tselvedge=",
    "selvedge=",
  ])
    assert.ok(setsSessionCookie(field), field);
  for (const field of ["selvedge", "selvedges=x", "a=selvedge=x", "aselvedge=x", "Selvedge=x", "x; selvedge=x", "", "__Host-a=x"])
    assert.ok(!setsSessionCookie(field), field);
});

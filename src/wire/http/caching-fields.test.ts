import assert from "node:assert/strict";
import { test } from "node:test";
import { assertGrowsLinearly } from "../../../test/support/growth.ts";
import { fc } from "../../../test/support/property.ts";
import { readByteRange } from "./byte-range.ts";
import { cacheControlOf, parseCacheControl } from "./cache-control.ts";
import { isSameStrongTag, namesTag } from "./entity-tag.ts";
import { formatHttpDate, parseHttpDate } from "./http-date.ts";
import { parseDictionary } from "./structured-dictionary.ts";

const NOW_MS = Date.UTC(2026, 0, 15);
const EXAMPLE_MS = Date.UTC(1994, 10, 6, 8, 49, 37);

/** RFC 9110 §5.6.7. */
const DATES: readonly (readonly [text: string, ms: number | null])[] = [
  ["Sun, 06 Nov 1994 08:49:37 GMT", EXAMPLE_MS],
  ["Sunday, 06-Nov-94 08:49:37 GMT", EXAMPLE_MS],
  ["Sun Nov  6 08:49:37 1994", EXAMPLE_MS],
  ["Sunday, 06-Nov-70 08:49:37 GMT", Date.UTC(2070, 10, 6, 8, 49, 37)],
  ["Sunday, 06-Nov-77 08:49:37 GMT", Date.UTC(1977, 10, 6, 8, 49, 37)],
  ["Sat, 31 Dec 2016 23:59:60 GMT", Date.UTC(2017, 0, 1)],
  ["Sun, 06 Nov 1994 08:49:37 UTC", null],
  ["Sun, 6 Nov 1994 08:49:37 GMT", null],
  ["Sun, 31 Apr 1994 08:49:37 GMT", null],
  ["Sun, 00 Nov 1994 08:49:37 GMT", null],
  ["Sun, 06 Nov 1994 24:00:00 GMT", null],
  ["Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT", null],
  ["0", null],
  ["-1", null],
  ["", null],
];
for (const [text, ms] of DATES) test(`date ${JSON.stringify(text)}`, () => assert.equal(parseHttpDate(text, NOW_MS), ms));

test("property: a formatted date is parsed to the same second", () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 253_402_300_799 }), (seconds) => {
      assert.equal(parseHttpDate(formatHttpDate(seconds * 1000), NOW_MS), seconds * 1000);
    }),
  );
});

const NONE = parseCacheControl([]);

/** RFC 9111 §5.2, RFC 5861. Only what differs from no directive at all is named. */
const CONTROLS: readonly (readonly [lines: readonly string[], expected: Partial<typeof NONE>])[] = [
  [["max-age=60"], { maxAge: 60 }],
  [["Max-Age=60, S-MaxAge=10"], { maxAge: 60, sharedMaxAge: 10 }],
  [["max-age=60", "public"], { maxAge: 60, isPublic: true }],
  [['max-age="60"'], { maxAge: 60 }],
  [["max-age=60, max-age=60"], { maxAge: 60 }],
  [["max-age=60, max-age=10"], { maxAge: 0 }],
  [["max-age=abc"], { maxAge: 0 }],
  [["max-age=-1"], { maxAge: 0 }],
  [["max-age=1.5"], { maxAge: 0 }],
  [["max-age"], { maxAge: 0 }],
  [["max-age="], { maxAge: 0 }],
  [["max-age=99999999999999999"], { maxAge: 2 ** 31 }],
  [["no-store,private , no-cache"], { noStore: true, isPrivate: true, noCache: true }],
  [['private="Set-Cookie, X-User", no-cache="x-a"'], { withheld: ["x-a", "set-cookie", "x-user"] }],
  [['private=""'], { isPrivate: true }],
  [['private="x-a", private'], { isPrivate: true, withheld: ["x-a"] }],
  [["private=x-a"], { withheld: ["x-a"] }],
  [['ext="no-store, private", max-age=5'], { maxAge: 5 }],
  [['ext="\\", no-store", max-age=5'], { maxAge: 5 }],
  [["must-revalidate, proxy-revalidate, must-understand"], { mustRevalidate: true, proxyRevalidate: true, mustUnderstand: true }],
  [
    ["stale-while-revalidate=30, stale-if-error=60, stale-if-error=x"],
    {
      staleWhileRevalidate: 30,
      staleIfError: 60,
    },
  ],
  [["=5, , ;;, max-age = 5, immutable"], {}],
  [['max-age=5, broken="'], { maxAge: 5 }],
];
for (const [lines, expected] of CONTROLS)
  test(`Cache-Control ${JSON.stringify(lines)}`, () => assert.deepEqual(parseCacheControl(lines), { ...NONE, ...expected }));

test("property: any Cache-Control is parsed without an error, and a no-store among tokens is never missed", () => {
  fc.assert(
    fc.property(fc.array(fc.string({ maxLength: 60 }), { maxLength: 4 }), (lines) => void parseCacheControl(lines)),
    { numRuns: 300 },
  );
  const token = fc.stringMatching(/^[a-z-]{1,12}(=[a-z0-9]{0,5})?$/);
  fc.assert(
    fc.property(fc.array(token, { maxLength: 5 }), fc.array(token, { maxLength: 5 }), (before, after) => {
      assert.equal(parseCacheControl([[...before, "no-store", ...after].join(",")]).noStore, true);
    }),
  );
});

/** RFC 9651 §3.2. */
const DICTIONARIES: readonly (readonly [text: string, expected: Readonly<Record<string, unknown>> | null])[] = [
  ["max-age=60, no-store", { "max-age": 60, "no-store": true }],
  ["a=1,\tb=?0", { a: 1, b: false }],
  ['a="x\\"y", b=tok/en, c=:aGk=:, d=1.5, e=@1659578233', { a: 'x"y', b: "tok/en", c: ":aGk=:", d: "1.5", e: 1_659_578_233 }],
  ["a=(1 2);q=1, b;x=y", { a: true, b: true }],
  ["a=1, a=2", { a: 2 }],
  ["", {}],
  ["max-age=60,", null],
  ["max-age=60 no-store", null],
  ["Max-Age=60", null],
  ["a=", null],
  ["a=1,,b", null],
  ['a="x', null],
  ["a=1234567890123456", null],
  ["a=(1 2", null],
  ["a=1;", null],
  ["a=\u00e9", null],
];
for (const [text, expected] of DICTIONARIES) {
  test(`dictionary ${JSON.stringify(text)}`, () => {
    const parsed = parseDictionary(text);
    assert.deepEqual(parsed === null ? null : Object.fromEntries(parsed), expected);
  });
}

test("a targeted field has the directives of its dictionary", () => {
  const members = parseDictionary("max-age=60, no-store=?0, must-revalidate, x=1.5");
  assert.deepEqual(members && cacheControlOf(members), { ...NONE, maxAge: 60, mustRevalidate: true });
  for (const wrong of [
    'max-age="60"',
    "max-age=60.0",
    "max-age=-1",
    "max-age",
    "stale-if-error=1.5",
    "no-store=1",
    'public="x"',
    "no-cache=1",
  ])
    assert.equal(cacheControlOf(parseDictionary(`s-maxage=60, ${wrong}`)!), null, wrong);
});

/** RFC 9110 §14.1.2. */
const RANGES: readonly (readonly [field: string, size: number, expected: readonly [number, number] | "unsatisfiable" | null])[] = [
  ["bytes=0-499", 1000, [0, 500]],
  ["bytes=500-", 1000, [500, 1000]],
  ["bytes=-500", 1000, [500, 1000]],
  ["bytes=-5000", 1000, [0, 1000]],
  ["bytes=999-5000", 1000, [999, 1000]],
  ["Bytes=0-0", 1000, [0, 1]],
  ["bytes=1000-", 1000, "unsatisfiable"],
  ["bytes=-0", 1000, "unsatisfiable"],
  ["bytes=0-", 0, "unsatisfiable"],
  ["bytes=5-4", 1000, null],
  ["bytes=0-1,5-6", 1000, null],
  ["items=0-1", 1000, null],
  ["bytes=a-b", 1000, null],
  ["bytes=-", 1000, null],
  ["bytes 0-1", 1000, null],
];
for (const [field, size, expected] of RANGES) {
  test(`range ${field} of ${size}`, () => {
    const range = readByteRange(field, size);
    assert.deepEqual(range !== null && range !== "unsatisfiable" ? [range.start, range.end] : range, expected);
  });
}

/** RFC 9110 §13.1.2: weak comparison. */
const TAGS: readonly (readonly [field: string, tag: string | null, expected: boolean])[] = [
  ['"a"', '"a"', true],
  ['W/"a"', '"a"', true],
  ['"x", W/"a"', 'W/"a"', true],
  ['"x,\\"', '"x"', false],
  ["*", null, true],
  ['"a"', null, false],
  ["a", '"a"', false],
];
for (const [field, tag, expected] of TAGS) test(`If-None-Match ${field} of ${tag}`, () => assert.equal(namesTag(field, tag), expected));

test("weak tags never match in a strong comparison", () => {
  assert.equal(isSameStrongTag('"a"', '"a"'), true);
  assert.equal(isSameStrongTag('W/"a"', 'W/"a"'), false);
  assert.equal(isSameStrongTag("a", "a"), false);
});

test("RFC 9651 §4.2: spaces around a dictionary are ignored", () => {
  assert.deepEqual([...(parseDictionary("  a=1  ") ?? [])], [["a", 1]]);
  assert.equal(parseDictionary(`max-age=60${" ".repeat(100)}x`), null);
});

test("parsing a caching field takes linear time", () => {
  for (const piece of [" ", ";", "a,", '"', String.raw`\"`, "(", "1", "a=(", 'a="', ":", ";a", ", "])
    assertGrowsLinearly(
      piece,
      (length) => {
        const text = `max-age=60${piece.repeat(length / piece.length)}x`;
        return () => [parseDictionary(text), parseCacheControl([text])];
      },
      4096,
    );
});

import assert from "node:assert/strict";
import { test } from "node:test";
import { fc } from "../../../test/support/property.ts";
import { EDGE_SETTINGS_DEFAULTS } from "#snapshot/edge-settings.ts";
import { evaluatePreconditions } from "#edge/cache/key/preconditions.ts";
import { hasCachedExtension } from "#edge/cache/policy/extensions.ts";
import { ageAt, useAt } from "#edge/cache/policy/freshness.ts";
import { keyedQuery, primaryKey } from "#edge/cache/key/primary-key.ts";
import { secondaryKey } from "#edge/cache/key/secondary-key.ts";
import { storedHead } from "#edge/cache/serve/stored-head.ts";
import { StoredResponse } from "#edge/cache/store/stored-response.ts";
import { cacheabilityOf, type StoringRequest } from "#edge/cache/policy/cacheability.ts";

const NOW_MS = Date.UTC(2026, 0, 15, 12);
const at = (seconds: number): string => new Date(NOW_MS + seconds * 1000).toUTCString();

const REQUEST: StoringRequest = {
  requestMs: NOW_MS,
  responseMs: NOW_MS,
  hasAuthorization: false,
  targets: ["svc-cdn-cache-control", "cdn-cache-control"],
  rule: null,
  path: "/x.css",
};

type Lines = readonly (readonly [name: string, value: string])[];

const store = (status: number, lines: Lines, request: Partial<StoringRequest> = {}) =>
  cacheabilityOf(
    status,
    lines.map(([name, value]) => ({ name, key: name.toLowerCase(), value })),
    { ...REQUEST, ...request },
  );

const cc = (value: string, ...more: Lines): Lines => [["Cache-Control", value], ["ETag", '"1"'], ...more];

/** Seconds for which a response is fresh; null if it is not stored. The first column names the rule. */
const LIFETIMES: readonly (readonly [
  rule: string,
  status: number,
  lines: Lines,
  seconds: number | null,
  request?: Partial<StoringRequest>,
])[] = [
  ["RFC 9111 4.2.1 max-age", 200, cc("max-age=60"), 60],
  ["RFC 9111 4.2.1 s-maxage before max-age", 200, cc("max-age=60, s-maxage=10"), 10],
  ["RFC 9111 4.2.1 max-age before Expires", 200, cc("max-age=60", ["Expires", at(600)]), 60],
  [
    "RFC 9111 4.2.1 Expires less Date",
    200,
    [
      ["Date", at(0)],
      ["Expires", at(600)],
    ],
    600,
  ],
  [
    "RFC 9111 4.2.1 Expires less Date, of an origin whose clock is behind",
    200,
    [
      ["Date", at(-100)],
      ["Expires", at(500)],
    ],
    500,
  ],
  [
    "RFC 9111 5.3 an Expires that is no date",
    200,
    [
      ["Expires", "0"],
      ["ETag", '"1"'],
    ],
    0,
  ],
  ["RFC 9111 5.3 an Expires that is no date, nothing to ask for", 200, [["Expires", "0"]], null],
  [
    "RFC 9111 5.3 two Expires",
    200,
    [
      ["Expires", at(60)],
      ["Expires", at(90)],
      ["ETag", '"1"'],
    ],
    0,
  ],
  ["RFC 9111 4.2.1 two values of max-age", 200, cc("max-age=60, max-age=90"), 0],
  ["RFC 9111 4.2.3 Age", 200, cc("max-age=60", ["Age", "20"]), 40],
  ["RFC 9111 4.2.3 Age beyond its life", 200, cc("max-age=60", ["Age", "80"]), -20],
  ["RFC 9111 4.2.3 Age that is no number", 200, cc("max-age=60", ["Age", "x"]), 60],
  ["RFC 9111 4.2.3 Age as a list", 200, cc("max-age=60", ["Age", "10, 50"]), 50],
  ["RFC 9111 4.2.3 an old Date", 200, cc("max-age=60", ["Date", at(-30)]), 30],
  ["RFC 9111 4.2.3 a Date to come", 200, cc("max-age=60", ["Date", at(30)]), 60],
  ["RFC 9111 4.2.3 the time on the way counts", 200, cc("max-age=60", ["Age", "10"]), 45, { requestMs: NOW_MS - 5000 }],
  ["nothing said, 200", 200, [], 7200],
  ["nothing said, 301", 301, [["Location", "/"]], 7200],
  ["nothing said, 404", 404, [], 180],
  ["nothing said, 302", 302, [["Location", "/"]], null],
  ["nothing said, 403", 403, [], null],
  ["a word on it, 302", 302, cc("max-age=60"), 60],
  ["a word on it, 403", 403, cc("max-age=60"), 60],
  ["RFC 9111 3.2 a part is not the whole", 206, cc("max-age=60"), null],
  ["errors pass: 500", 500, cc("max-age=60"), null],
  ["errors pass: 503", 503, cc("public, max-age=60"), null],
  ["errors of one request: 400", 400, cc("max-age=60"), null],
  ["errors of one request: 405", 405, cc("max-age=60"), null],
  ["errors of one request: 413", 413, cc("max-age=60"), null],
  ["errors of one request: 414", 414, cc("max-age=60"), null],
  ["errors of one request: 431", 431, cc("max-age=60"), null],
  ["errors of one request: 501", 501, cc("max-age=60"), null],
  ["a status nobody knows", 299, cc("max-age=60"), null],
  ["RFC 9111 5.2.2.5 no-store", 200, cc("no-store, max-age=60"), null],
  ["RFC 9111 5.2.2.5 no-store on a line of its own", 200, cc("max-age=60", ["cache-control", "No-Store"]), null],
  ["RFC 9111 5.2.2.3 must-understand", 200, cc("must-understand, no-store, max-age=60"), 60],
  ["RFC 9111 5.2.2.3 must-understand, a status that is not kept", 599, cc("must-understand, no-store, max-age=60"), null],
  ["RFC 9111 5.2.2.7 private", 200, cc("private, max-age=60"), null],
  ["RFC 9111 5.2.2.7 private fields", 200, cc('private="X-User", max-age=60', ["X-User", "ann"]), 60],
  ["RFC 9111 5.2.2.4 no-cache", 200, cc("no-cache, max-age=60"), 60],
  ["RFC 9111 5.2.2.4 no-cache without a validator", 200, [["Cache-Control", "no-cache, max-age=60"]], null],
  ["max-age=0 without a validator", 200, [["Cache-Control", "max-age=0"]], null],
  ["max-age=0 with a validator", 200, cc("max-age=0"), 0],
  ["max-age=0 with a grace", 200, [["Cache-Control", "max-age=0, stale-while-revalidate=5"]], 0],
  ["RFC 9111 3.5 Authorization", 200, cc("max-age=60"), null, { hasAuthorization: true }],
  ["RFC 9111 3.5 Authorization, nothing said", 200, [], null, { hasAuthorization: true }],
  ["RFC 9111 3.5 Authorization and public", 200, cc("public, max-age=60"), 60, { hasAuthorization: true }],
  ["RFC 9111 3.5 Authorization and s-maxage", 200, cc("s-maxage=60"), 60, { hasAuthorization: true }],
  ["RFC 9111 3.5 Authorization and must-revalidate", 200, cc("must-revalidate, max-age=60"), 60, { hasAuthorization: true }],
  ["RFC 9111 7.3 Set-Cookie", 200, cc("public, max-age=60", ["Set-Cookie", "a=b"]), null],
  ["RFC 9111 7.3 Set-Cookie that is withheld", 200, cc('no-cache="Set-Cookie", max-age=60', ["Set-Cookie", "a=b"]), 60],
  ["RFC 9111 4.1 Vary: *", 200, cc("max-age=60", ["Vary", "*"]), null],
  ["RFC 9111 4.1 Vary: * among others", 200, cc("max-age=60", ["Vary", "Accept"], ["Vary", "Cookie, *"]), null],
  ["too many fields in Vary", 200, cc("max-age=60", ["Vary", "a,b,c,d,e,f,g,h,i"]), null],
  ["a head that is too large", 200, cc("max-age=60", ["X", "x".repeat(16_384)]), null],
  ["as many fields as a head may have", 200, cc("max-age=60", ...Array.from({ length: 254 }, (): [string, string] => ["X", "x"])), null],
  ["RFC 9213 a targeted field", 200, cc("no-store", ["CDN-Cache-Control", "max-age=30"]), 30],
  ["RFC 9213 the more specific one", 200, cc("max-age=1", ["CDN-Cache-Control", "max-age=2"], ["svc-CDN-Cache-Control", "max-age=3"]), 3],
  ["RFC 9213 a targeted no-store", 200, cc("max-age=60", ["CDN-Cache-Control", "no-store"]), null],
  ["RFC 9213 a malformed one is ignored", 200, cc("max-age=60", ["CDN-Cache-Control", "no-store,"]), 60],
  ["RFC 9213 a value of another type", 200, cc("max-age=60", ["CDN-Cache-Control", 'max-age="2"']), 60],
  ["RFC 9213 a decimal is no number of seconds", 200, cc("max-age=60", ["CDN-Cache-Control", "max-age=2.0, public"]), 60],
  ["RFC 9213 a negative one neither", 200, cc("max-age=60", ["CDN-Cache-Control", "s-maxage=-1"]), 60],
  ["RFC 9213 nor a flag", 200, cc("max-age=60", ["CDN-Cache-Control", "max-age"]), 60],
  ["RFC 9213 what is ignored does not beat no-store", 200, cc("no-store", ["CDN-Cache-Control", 'max-age="2"']), null],
  ["RFC 9213 a flag with a value", 200, cc("max-age=60", ["CDN-Cache-Control", "no-store=1"]), 60],
  ["RFC 9213 a directive that is not known has any type", 200, cc("no-store", ["CDN-Cache-Control", 'max-age=30, x="y"']), 30],
  ["RFC 9213 an empty one is ignored", 200, cc("max-age=60", ["CDN-Cache-Control", ""]), 60],
  [
    "RFC 9213 Expires does not count beside it",
    200,
    [
      ["CDN-Cache-Control", "public"],
      ["Expires", at(5)],
    ],
    7200,
  ],
  ["RFC 9111 5.4 Pragma means nothing in a response", 200, cc("max-age=60", ["Pragma", "no-cache"]), 60],
];
for (const [rule, status, lines, seconds, request] of LIFETIMES) {
  test(`freshness lifetime: ${rule}`, () => {
    const stored = store(status, lines, request);
    assert.equal(stored === null ? null : (stored.freshness.freshUntilMs - NOW_MS) / 1000, seconds);
  });
}

test("the cache does not store fields that a shared cache must drop, and stores cache tags", () => {
  const stored = store(
    200,
    cc(
      'private="X-User", max-age=60',
      ["X-User", "ann"],
      ["Age", "3"],
      ["Cache-Tag", "One, two,, one,\u00e9"],
      ["svc-CDN-Cache-Control", "max-age=5"],
      ["CDN-Cache-Control", "max-age=9"],
      ["X-Other", "y"],
    ),
  );
  // The targeted field lacks private="…", so no field is withheld.
  assert.deepEqual(
    stored?.fields.map(({ key }) => key),
    ["cache-control", "etag", "x-user", "cache-tag", "svc-cdn-cache-control", "cdn-cache-control", "x-other"],
  );
  assert.deepEqual(stored?.tags, ["one", "two"]);
  assert.deepEqual(
    store(200, cc('private="X-User", max-age=60', ["X-User", "ann"]))?.fields.map(({ key }) => key),
    ["cache-control", "etag"],
  );
});

/** The use of a response some seconds after it was stored (RFC 9111 §4.2.4, RFC 5861). */
const USES: readonly (readonly [control: string, seconds: number, use: string, spare: boolean])[] = [
  ["max-age=60", 59, "fresh", false],
  ["max-age=60", 60, "validate", false],
  ["max-age=60, stale-while-revalidate=30", 89, "refresh", false],
  ["max-age=60, stale-while-revalidate=30", 90, "validate", false],
  ["max-age=60, stale-if-error=30", 70, "validate", true],
  ["max-age=60, stale-if-error=30", 90, "validate", false],
  ["max-age=60, must-revalidate, stale-while-revalidate=30, stale-if-error=30", 61, "validate", false],
  ["max-age=60, proxy-revalidate, stale-while-revalidate=30, stale-if-error=30", 61, "validate", false],
  ["s-maxage=60, stale-while-revalidate=30, stale-if-error=30", 61, "validate", false],
  ["max-age=60, no-cache, stale-while-revalidate=30, stale-if-error=30", 1, "validate", false],
];
for (const [control, seconds, use, spare] of USES) {
  test(`${control} after ${seconds} s is ${use}`, () => {
    const { freshness } = store(200, cc(control))!;
    const later = NOW_MS + seconds * 1000;
    assert.equal(useAt(freshness, later), use);
    assert.equal(later >= freshness.freshUntilMs && later < freshness.spareUntilMs, spare);
  });
}

test("property: the freshness lifetime equals that of a second implementation of RFC 9111", () => {
  const seconds = fc.option(fc.integer({ min: 0, max: 1000 }), { nil: null });
  fc.assert(
    fc.property(
      fc.record({
        maxAge: seconds,
        shared: seconds,
        expires: seconds,
        date: fc.integer({ min: -500, max: 500 }),
        age: seconds,
        delay: fc.integer({ min: 0, max: 30 }),
        after: fc.integer({ min: 0, max: 2000 }),
      }),
      ({ maxAge, shared, expires, date, age, delay, after }) => {
        const control = [maxAge === null ? "" : `max-age=${maxAge}`, shared === null ? "" : `s-maxage=${shared}`]
          .filter(Boolean)
          .join(", ");
        const stored = store(
          200,
          [
            ["ETag", '"1"'],
            ["Date", at(date)],
            ...(control === "" ? [] : ([["Cache-Control", control]] as const)),
            ...(expires === null ? [] : ([["Expires", at(date + expires)]] as const)),
            ...(age === null ? [] : ([["Age", String(age)]] as const)),
          ],
          { requestMs: NOW_MS - delay * 1000 },
        )!;
        const lifetime = shared ?? maxAge ?? expires ?? 7200;
        const initialAge = Math.max(0 - date, (age ?? 0) + delay);
        const later = NOW_MS + after * 1000;
        assert.equal(ageAt(stored.freshness, later), initialAge + after);
        assert.equal(useAt(stored.freshness, later), initialAge + after < lifetime ? "fresh" : "validate");
      },
    ),
    { numRuns: 500 },
  );
});

const fieldsOf = (fields: Readonly<Record<string, readonly string[]>>) => ({ headers: (name: string) => fields[name] ?? [] });

test("secondary keys differ only in the fields that Vary names", () => {
  const key = (vary: readonly string[], fields: Readonly<Record<string, readonly string[]>>) => secondaryKey(vary, fieldsOf(fields));
  assert.equal(
    key(["accept-encoding"], { "accept-encoding": ["gzip, br"] }),
    key(["accept-encoding"], { "accept-encoding": ["BR", "gzip"] }),
  );
  assert.notEqual(
    key(["accept-encoding"], { "accept-encoding": ["gzip, br;q=0"] }),
    key(["accept-encoding"], { "accept-encoding": ["gzip, br"] }),
  );
  assert.equal(key(["accept-language"], { "accept-language": ["de , en"] }), key(["accept-language"], { "accept-language": ["de,en"] }));
  assert.notEqual(key(["accept-language"], { "accept-language": ["de, en"] }), key(["accept-language"], { "accept-language": ["en, de"] }));
  assert.notEqual(key(["a", "b"], { a: ['x"', "y"] }), key(["a", "b"], { a: ["x"], b: ["y"] }));
  assert.notEqual(key(["a"], {}), key(["a"], { a: [""] }));
  assert.equal(key(["a"], { b: ["1"] }), key(["a"], { b: ["2"] }));
});

test("primary keys follow the zone's cache level", () => {
  const key = (text: string, settings: object = {}) => {
    const query = keyedQuery(text, { ...EDGE_SETTINGS_DEFAULTS, ...settings });
    return query === null ? null : primaryKey("z", { scheme: "https", authority: "a.example", path: "/x.css" }, query);
  };
  assert.equal(key("b=2&a=1"), "z https://a.example/x.css?b=2&a=1");
  assert.equal(key("b=2&a=1", { sort_query_string_for_cache: true }), "z https://a.example/x.css?a=1&b=2");
  assert.equal(key("a=2&b&a=1", { sort_query_string_for_cache: true }), "z https://a.example/x.css?a=2&a=1&b");
  assert.equal(key("b=2&a=1", { cache_level: "simplified" }), "z https://a.example/x.css");
  assert.equal(key("b=2&a=1", { cache_level: "basic" }), null);
  assert.equal(key("", { cache_level: "basic" }), "z https://a.example/x.css");
});

for (const [path, cached] of [
  ["/a/b.CSS", true],
  ["/logo.svg", true],
  ["/font.woff2", true],
  ["/account.php/x.css", true],
  ["/a.css/", false],
  ["/a.css/b", false],
  ["/css", false],
  ["/index.html", false],
  ["/data.json", false],
  ["/", false],
  ["/.css", true],
  ["/a.css;x=.php", false],
  ["/a.css%00", false],
  ["*", false],
] as const)
  test(`extension of ${path}`, () => assert.equal(hasCachedExtension(path), cached));

test("the stored head of a response takes no more memory than its length", () => {
  const asked = { zoneId: "z", key: "k", apart: "", scheme: "http", host: "h", port: null, path: "/a.css", query: "", purges: 0 };
  const stored = new StoredResponse(asked, "OK", store(200, cc("max-age=60"))!, "", 5);
  const { buffer } = storedHead(stored, { kind: "whole" }, 5, NOW_MS, { mode: "at_least", seconds: 0 }, []);
  assert.equal(buffer.buffer.byteLength, buffer.length);
});

const STORED = { status: 200, etag: '"1"', lastModified: at(-100), length: 1000 };

/** RFC 9110 §13.2.2, §14.2. */
const ANSWERS: readonly (readonly [
  fields: Readonly<Record<string, readonly string[]>>,
  kind: string,
  changes?: Partial<typeof STORED> | { etag: null },
])[] = [
  [{}, "whole"],
  [{ "if-none-match": ['"1"'] }, "not_modified"],
  [{ "if-none-match": ['"2", W/"1"'] }, "not_modified"],
  [{ "if-none-match": ['"2"'] }, "whole"],
  [{ "if-none-match": ["*"] }, "not_modified"],
  [{ "if-none-match": ['"2"'], "if-modified-since": [at(0)] }, "whole"],
  [{ "if-modified-since": [at(-100)] }, "not_modified"],
  [{ "if-modified-since": [at(-101)] }, "whole"],
  [{ "if-modified-since": ["yesterday"] }, "whole"],
  [{ "if-none-match": ['"1"'] }, "whole", { status: 404 }],
  [{ range: ["bytes=0-9"] }, "part"],
  [{ range: ["bytes=0-9"], "if-none-match": ['"1"'] }, "not_modified"],
  [{ range: ["bytes=0-9", "bytes=5-6"] }, "whole"],
  [{ range: ["bytes=0-1,4-5"] }, "whole"],
  [{ range: ["bytes=1000-"] }, "unsatisfiable"],
  [{ range: ["bytes=0-9"] }, "whole", { status: 404 }],
  [{ range: ["bytes=0-9"], "if-range": ['"1"'] }, "part"],
  [{ range: ["bytes=0-9"], "if-range": ['"2"'] }, "whole"],
  [{ range: ["bytes=0-9"], "if-range": ['W/"1"'] }, "whole"],
  [{ range: ["bytes=0-9"], "if-range": [at(-100)] }, "part"],
  [{ range: ["bytes=0-9"], "if-range": [at(0)] }, "whole"],
];
for (const [fields, kind, changes] of ANSWERS) {
  test(`a request with ${JSON.stringify(fields)} of ${JSON.stringify(changes ?? "the usual")}`, () =>
    assert.equal(evaluatePreconditions({ method: "GET", ...fieldsOf(fields) }, { ...STORED, ...changes }, NOW_MS).kind, kind));
}

test("the edge answers HEAD with preconditions and ignores its Range field", () => {
  const request = fieldsOf({ range: ["bytes=0-9"] });
  assert.equal(evaluatePreconditions({ method: "HEAD", ...request }, STORED, NOW_MS).kind, "whole");
});

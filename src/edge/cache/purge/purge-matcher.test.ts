import assert from "node:assert/strict";
import { test } from "node:test";
import { EDGE_SETTINGS_DEFAULTS } from "#snapshot/edge-settings.ts";
import type { PurgeEntry, PurgeSelector } from "#snapshot/entries.ts";
import { type Purgeable, purgeTest } from "./purge-matcher.ts";

const response = (more: Partial<Purgeable["asked"]> = {}, tags: readonly string[] | null = ["one", "two"]): Purgeable => ({
  asked: {
    zoneId: "z",
    key: "",
    apart: "",
    scheme: "https",
    host: "www.example.com",
    port: null,
    path: "/a/b.css",
    query: "",
    purges: 0,
    ...more,
  },
  tags,
});

type By = PurgeSelector["by"];

const ROWS: readonly (readonly [by: By, value: string, purged: boolean, more?: Partial<Purgeable["asked"]>, level?: "simplified"])[] = [
  ["files", "https://www.example.com/a/b.css", true],
  ["files", "https://www.example.com/a/b.css", true, { port: 8443 }],
  ["files", "https://www.example.com:8443/a/b.css", true, { port: 8443 }],
  ["files", "https://www.example.com:8444/a/b.css", false, { port: 8443 }],
  ["files", "http://www.example.com/a/b.css", false],
  ["files", "https://example.com/a/b.css", false],
  ["files", "https://www.example.com/a/b.cs", false],
  ["files", "https://www.example.com/a/b.css?x", false],
  ["files", "https://www.example.com/a/b.css?x", true, { query: "x" }],
  ["files", "https://www.example.com/a/b.css", false, { query: "x" }],
  ["files", "https://www.example.com/a/b.css?b&a", true, { query: "a&b" }],
  ["files", "https://www.example.com/a/b.css?b&a", true, {}, "simplified"],
  // A rule has rewritten the URL: visitors know the original one.
  ["files", "https://www.example.com/old.css", true, { received: ["/other.css", "/old.css"] }],
  ["files", "https://www.example.com/a/b.css", true, { received: ["/old.css"] }],
  ["files", "https://www.example.com/old.css?x=1", true, { received: ["/old.css?x=1"] }],
  ["files", "https://www.example.com/old.css", false, { received: ["/old.css?x=1"] }],
  ["files", "https://www.example.com/old.css?x=1", true, { received: ["/old.css?x=2"], isQueryRuled: true }],
  ["files", "http://www.example.com/old.css", false, { received: ["/old.css"] }],
  ["files", "https://www.example.com:8443/old.css", true, { received: ["/old.css"], port: 8443 }],
  ["files", "https://www.example.com/any.css", true, { received: ["*"] }],
  ["files", "https://example.com/any.css", false, { received: ["*"] }],
  ["prefixes", "www.example.com/old", true, { received: ["/old.css"] }],
  ["prefixes", "www.example.com/new", false, { received: ["/old.css"] }],
  ["prefixes", "www.example.com/new", true, { received: ["*"] }],
  ["prefixes", "example.com/new", false, { received: ["*"] }],
  ["hosts", "www.example.com", true],
  ["hosts", "example.com", false],
  ["tags", "two", true],
  ["tags", "three", false],
  ["prefixes", "www.example.com/a", true],
  ["prefixes", "www.example.com/a/b.", true],
  ["prefixes", "www.example.com/b", false],
  ["prefixes", "example.com/a", false],
];
for (const [by, value, purged, more = {}, level = "aggressive"] of ROWS) {
  test(`${by} ${value} of ${JSON.stringify(more)} ${level}`, () =>
    assert.equal(
      purgeTest({ count: 1, recent: [{ by, values: [value] }] }, { ...EDGE_SETTINGS_DEFAULTS, cache_level: level })(response(more)),
      purged,
    ));
}

test("a purge matches responses that the edge requested before it, also if it arrives late", () => {
  const hosts = (host: string): PurgeSelector => ({ by: "hosts", values: [host] });
  const isPurged = (entry: PurgeEntry, purges: number) => purgeTest(entry, EDGE_SETTINGS_DEFAULTS)(response({ purges }));
  const entry: PurgeEntry = { count: 5, recent: [hosts("www.example.com"), hosts("other.example.com")] };
  assert.deepEqual(
    [0, 2, 3, 4, 5, 6].map((purges) => isPurged(entry, purges)),
    [true, true, true, false, false, false],
  );
  const everything: PurgeEntry = { count: 5, recent: [] };
  assert.deepEqual(
    [4, 5].map((purges) => isPurged(everything, purges)),
    [true, false],
  );
});

test("a purge by tag matches a response whose tags are not known yet", () => {
  assert.equal(purgeTest({ count: 1, recent: [{ by: "tags", values: ["x"] }] }, EDGE_SETTINGS_DEFAULTS)(response({}, null)), true);
});

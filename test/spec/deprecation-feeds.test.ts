import assert from "node:assert/strict";
import { after, before, describe, test } from "node:test";
import { parseAtomFeed, parseJsonFeed } from "feedsmith";
import ICAL from "ical.js";
import type { Deprecation } from "#deprecations/deprecation.ts";
import { DEPRECATIONS } from "#deprecations/table.ts";
import { type ApiServer, startApi } from "../support/api-server.ts";

/** The mistakes of a writer of feeds: what the formats reserve, characters of several bytes, and a line that is long. */
const HARD: Deprecation = {
  ...{ id: "hard", date: "2031-12-31", added: "2026-11-26", routes: ["GET /a"], effect: { kind: "endpoint_gone" } },
  was: `<b> & "quotes", a; b, c\\d ${"äöü€😀".repeat(40)}`,
  ...{ why: "It's so.", replacement: null, spec: "" },
};
const TABLE = [...DEPRECATIONS, HARD];

describe("feeds of the deprecations", () => {
  let server: ApiServer;
  before(async () => {
    server = await startApi({ deprecations: TABLE });
  });
  after(() => server.close());

  const get = (file: string, headers: Record<string, string> = {}): Promise<Response> =>
    fetch(`${server.url}/deprecations/${file}`, { headers, signal: AbortSignal.timeout(10_000) });

  test("Atom has an entry for each row, newest first", async () => {
    const response = await get("feed.atom");
    assert.equal(response.headers.get("content-type"), "application/atom+xml; charset=utf-8");
    const feed = parseAtomFeed(await response.text());
    assert.match(feed.id ?? "", /^urn:uuid:[0-9a-f-]{36}$/);
    assert.equal(feed.updated, "2026-11-26T00:00:00Z");
    assert.equal(feed.links?.find(({ rel }) => rel === "self")?.href, `${server.url}/deprecations/feed.atom`);
    const entries = feed.entries ?? [];
    assert.equal(new Set(entries.map(({ id }) => id)).size, TABLE.length);
    const [first] = entries;
    assert.equal(first?.title?.value, "2031-12-31: hard");
    assert.equal(first?.links?.[0]?.href, `${server.url}/deprecations/hard`);
    assert.ok(first?.content?.value?.startsWith(HARD.was), first?.content?.value);
    assert.deepEqual(entries.map(({ categories }) => categories?.[0]?.term).toSorted(), TABLE.map(({ id }) => id).toSorted());
  });

  test("JSON Feed has an item for each row", async () => {
    const response = await get("feed.json");
    assert.equal(response.headers.get("content-type"), "application/feed+json; charset=utf-8");
    const feed = parseJsonFeed(await response.json());
    assert.equal(feed.feed_url, `${server.url}/deprecations/feed.json`);
    assert.equal(feed.items?.length, TABLE.length);
    assert.deepEqual(feed.items?.[0]?.tags, ["hard"]);
    const fetched = await fetch(feed.items?.[1]?.url ?? "", { signal: AbortSignal.timeout(10_000) });
    assert.equal(fetched.status, 200, "each item's address describes the row");
  });

  test("iCalendar has an event on each row's day", async () => {
    const response = await get("calendar.ics");
    assert.equal(response.headers.get("content-type"), "text/calendar; charset=utf-8");
    const text = await response.text();
    for (const line of text.split("\r\n")) assert.ok(Buffer.byteLength(line) <= 75, line);
    assert.equal(text.replaceAll("\r\n", "").includes("\n"), false);
    const events = new ICAL.Component(ICAL.parse(text)).getAllSubcomponents("vevent").map((component) => new ICAL.Event(component));
    assert.equal(new Set(events.map(({ uid }) => uid)).size, TABLE.length);
    const days = new Map(events.map((event) => [event.summary, event]));
    for (const { id, date } of TABLE) {
      const event = days.get(`${date}: ${id}`);
      assert.equal(event?.startDate.toString(), date, id);
      assert.equal(event?.duration.toString(), "P1D", id);
    }
    assert.ok(days.get("2031-12-31: hard")?.description.startsWith(HARD.was));
  });

  test("feeds are cacheable, and an unchanged one gets 304", async () => {
    for (const file of ["feed.atom", "feed.json", "calendar.ics"]) {
      const first = await get(file);
      assert.deepEqual(
        ["cache-control", "pragma", "expires", "vary"].map((name) => first.headers.get(name)),
        ["public, max-age=3600", null, null, null],
      );
      const etag = first.headers.get("etag") ?? "";
      await first.text();
      for (const known of [etag, `W/${etag}`, `"other", ${etag}`, "*"]) {
        const again = await get(file, { "if-none-match": known });
        assert.deepEqual([again.status, await again.text(), again.headers.get("etag")], [304, "", etag], known);
      }
      assert.equal((await get(file, { "if-none-match": '"other"' })).status, 200);
      const head = await fetch(`${server.url}/deprecations/${file}`, { method: "HEAD", signal: AbortSignal.timeout(10_000) });
      assert.deepEqual([head.status, head.headers.get("etag")], [200, etag]);
    }
  });
});

import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { test } from "node:test";
import type { PurgeEntry } from "#snapshot/entries.ts";
import { rulesetOp } from "#edge/testing/entries.ts";
import { deviceType } from "#edge/exchange/device-type.ts";
import { site as siteOf } from "#edge/testing/site.ts";

type Answer = (req: IncomingMessage, res: ServerResponse) => void;
type Headers = Readonly<Record<string, string>>;

/** A site with these cache rules, each with its expression; the last one wins. */
const site = (t: Parameters<typeof siteOf>[0], answer: Answer, ...rules: readonly object[]) => siteOf(t, answer, [rulesOp(rules)]);

const rulesOp = (rules: readonly object[]) =>
  rulesetOp(
    "cache",
    "zone",
    "zone",
    "http_request_cache_settings",
    rules.map((parameters) => ({
      action: "set_cache_settings",
      expression: "on" in parameters ? String(parameters.on) : "true",
      action_parameters: Object.fromEntries(Object.entries(parameters).filter(([key]) => key !== "on")),
    })),
  );

let count = 0;
/** Every response has another body. */
const says =
  (headers: Headers = {}, status = 200): Answer =>
  (_req, res) =>
    void res.writeHead(status, headers).end(`body ${++count}`);

test("a cache rule caches pages and another one bypasses the cache; the last matching rule decides", async (t) => {
  const { get } = await site(
    t,
    says({ "Cache-Control": "max-age=60" }),
    { cache: true, on: 'starts_with(http.request.uri.path, "/page")' },
    { cache: false, on: 'ends_with(http.request.uri.path, "/no") or ends_with(http.request.uri.path, ".css")' },
  );
  for (const [path, statuses] of [
    ["/page", ["MISS", "HIT"]],
    ["/page/no", ["BYPASS", "BYPASS"]],
    ["/a.css", ["BYPASS", "BYPASS"]],
    ["/a.js", ["MISS", "HIT"]],
    ["/other", ["DYNAMIC", "DYNAMIC"]],
  ] as const)
    assert.deepEqual([(await get(path)).cache, (await get(path)).cache], statuses, path);
});

test("edge_ttl overrides the origin's Cache-Control, sets times by status, and bypasses the cache", async (t) => {
  const answer: Answer = (req, res) => {
    const status = Number(/\d{3}/.exec(req.url ?? "")?.[0] ?? 200);
    const headers: Headers = /none/.test(req.url ?? "") ? {} : { "Cache-Control": "no-store, private" };
    res.writeHead(status, { ETag: '"1"', ...headers }).end(req.headers["if-none-match"] === undefined ? "whole" : "asked again");
  };
  const { get, asked } = await site(
    t,
    answer,
    {
      cache: true,
      edge_ttl: {
        mode: "override_origin",
        default: 60,
        status_code_ttl: [
          { status_code: 503, value: 30 },
          { status_code_range: { from: 500 }, value: -1 },
          { status_code: 404, value: 0 },
        ],
      },
    },
    { edge_ttl: { mode: "bypass_by_default" }, on: 'http.request.uri.path contains "default"' },
  );
  for (const [path, statuses] of [
    ["/200", ["MISS", "HIT"]],
    ["/503", ["MISS", "HIT"]],
    ["/500", ["MISS", "MISS"]],
    // Stored, but revalidated for each request.
    ["/404", ["MISS", "EXPIRED"]],
    // Partial responses are never stored, whatever a rule says.
    ["/206", ["MISS", "MISS"]],
    ["/default/none", ["BYPASS", "BYPASS"]],
  ] as const)
    assert.deepEqual([(await get(path)).cache, (await get(path)).cache], statuses, path);
  assert.equal(asked.at(-1)?.headers["if-none-match"], undefined);
  assert.equal(asked.findLast(({ url }) => url === "/404")?.headers["if-none-match"], '"1"');
});

test("a response with Set-Cookie is cached only without its cookies, and a request with Authorization bypasses the cache, whatever the TTL", async (t) => {
  const { get } = await site(
    t,
    says({ "Set-Cookie": "sid=1" }),
    { cache: true, edge_ttl: { mode: "override_origin", default: 60 } },
    { strip_set_cookie: true, on: 'http.request.uri.path eq "/stripped"' },
  );
  assert.deepEqual([(await get("/")).cache, (await get("/")).cache], ["BYPASS", "BYPASS"]);
  const [first, second] = [await get("/stripped"), await get("/stripped")];
  assert.deepEqual(
    [first.cache, second.cache, first.field("set-cookie"), second.field("set-cookie")],
    ["MISS", "HIT", undefined, undefined],
  );
  const other = await site(t, says(), { cache: true, edge_ttl: { mode: "override_origin", default: 60 } });
  assert.equal((await other.get("/mine", "Authorization: Basic YQ==\r\n")).cache, "BYPASS");
  assert.equal((await other.get("/for-all")).cache, "MISS");
});

test("cache rules remove ETag or Last-Modified, or make strong ETags weak", async (t) => {
  const { get } = await site(
    t,
    says({ ETag: '"1"', "Last-Modified": "Mon, 05 Jan 2026 10:00:00 GMT", "Cache-Control": "max-age=60" }),
    { strip_etags: true, on: 'http.request.uri.path eq "/a.css"' },
    { strip_last_modified: true, respect_strong_etags: false, on: 'http.request.uri.path eq "/b.css"' },
  );
  const validators = async (path: string) => {
    const { field } = await get(path);
    return [field("etag"), field("last-modified")];
  };
  assert.deepEqual(await validators("/a.css"), [undefined, "Mon, 05 Jan 2026 10:00:00 GMT"]);
  assert.deepEqual(await validators("/b.css"), ['W/"1"', undefined]);
  assert.deepEqual(await validators("/c.css"), ['"1"', "Mon, 05 Jan 2026 10:00:00 GMT"]);
  assert.equal((await get("/b.css", 'If-None-Match: "1"\r\n')).status, 304);
});

test("browser_ttl overrides, respects or removes the time for browsers", async (t) => {
  const answer: Answer = (req, res) => {
    const control = decodeURIComponent(req.url?.split("?")[1] ?? "");
    res.writeHead(200, control === "" ? {} : { "Cache-Control": control }).end("x");
  };
  const { get } = await site(
    t,
    answer,
    { browser_ttl: { mode: "override_origin", default: 30 } },
    { browser_ttl: { mode: "respect_origin" }, on: 'http.request.uri.path eq "/origin.css"' },
    { browser_ttl: { mode: "bypass" }, on: 'http.request.uri.path eq "/bypass.css"' },
    { browser_ttl: { mode: "bypass_by_default" }, on: 'http.request.uri.path eq "/default.css"' },
  );
  for (const [path, control] of [
    ["/a.css?max-age=600%2C%20s-maxage=60", "s-maxage=60, max-age=30"],
    ["/a.css?max-age=5", "max-age=30"],
    ["/a.css", "max-age=30"],
    ["/origin.css?max-age=5", "max-age=5"],
    ["/origin.css", undefined],
    ["/bypass.css?max-age=5", "no-store"],
    ["/default.css?max-age=5", "max-age=5"],
    ["/default.css", "no-store"],
  ] as const) {
    assert.equal((await get(path)).field("cache-control"), control, path);
    const again = await get(path);
    assert.deepEqual([again.cache, again.field("cache-control")], ["HIT", control], path);
  }
});

/** The number of the origin's response that answers each of the requests. */
async function variants(
  get: (path: string, fields?: string) => Promise<{ readonly body: string }>,
  asks: readonly (readonly [string, string?])[],
) {
  const bodies: string[] = [];
  for (const [path, fields] of asks) bodies.push((await get(path, fields)).body);
  return bodies.map((body) => bodies.indexOf(body));
}

test("the cache key has the query parameters that the rule names, in any order, and the origin gets only these", async (t) => {
  const key = (query_string: object) => ({ cache_key: { custom_key: { query_string } } });
  const { get, asked } = await site(
    t,
    says({ "Cache-Control": "max-age=60" }),
    { ...key({ include: { list: ["a"] } }), on: 'http.request.uri.path eq "/in.css"' },
    { ...key({ exclude: { list: ["utm"] } }), on: 'http.request.uri.path eq "/ex.css"' },
    { ...key({ exclude: { all: true } }), on: 'http.request.uri.path eq "/none.css"' },
    { cache_key: { ignore_query_strings_order: true }, on: 'http.request.uri.path eq "/order.css"' },
    { ...key({}), on: 'http.request.uri.path eq "/all.css"' },
  );
  assert.deepEqual(await variants(get, [["/in.css?a=1&b=1"], ["/in.css?b=2&a=1"], ["/in.css?a=2"], ["/in.css?%61=3&a=1"]]), [0, 0, 2, 0]);
  assert.deepEqual(await variants(get, [["/ex.css?utm=1&b=1"], ["/ex.css?b=1"], ["/ex.css?b=1&%75tm=2"]]), [0, 0, 2]);
  assert.deepEqual(await variants(get, [["/none.css?a"], ["/none.css?b"], ["/none.css"]]), [0, 0, 0]);
  assert.deepEqual(await variants(get, [["/all.css?a=1&b=1"], ["/all.css?b=1"], ["/all.css?a=1&b=1"]]), [0, 1, 0]);
  assert.deepEqual(await variants(get, [["/order.css?b=1&a=2"], ["/order.css?a=2&b=1"]]), [0, 0]);
  assert.deepEqual(
    asked.map(({ url }) => url),
    [
      "/in.css?a=1",
      "/in.css?a=2",
      "/ex.css?b=1",
      "/ex.css?b=1&%75tm=2",
      "/none.css",
      "/all.css?a=1&b=1",
      "/all.css?b=1",
      "/order.css?a=2&b=1",
    ],
  );
});

test("the cache key has the headers, cookies, device and language that the rule names, and the origin gets only those that are in the key", async (t) => {
  const key = (custom_key: object) => ({ cache_key: { custom_key } });
  const { get, asked } = await site(
    t,
    says({ "Cache-Control": "max-age=60" }),
    { ...key({ header: { include: ["X-Plan"], check_presence: ["X-Beta"] } }), on: 'http.request.uri.path eq "/h.css"' },
    { ...key({ header: { contains: { accept: ["image/webp"] } } }), on: 'http.request.uri.path eq "/c.css"' },
    { ...key({ header: { exclude_origin: true } }), on: 'http.request.uri.path eq "/o.css"' },
    { ...key({ cookie: { include: ["plan"], check_presence: ["sid"] } }), on: 'http.request.uri.path eq "/k.css"' },
    { ...key({ user: { lang: true } }), on: 'http.request.uri.path eq "/l.css"' },
    { cache_key: { cache_by_device_type: true }, on: 'http.request.uri.path eq "/d.css"' },
  );
  const of = (path: string, fields: readonly string[]) =>
    variants(
      get,
      fields.map((field) => [path, field === "" ? "" : `${field}\r\n`]),
    );
  assert.deepEqual(
    await of("/h.css", ["X-Plan: a", "x-plan: a", "X-Plan: b", "X-Plan: a\r\nX-Beta: 1", "X-Plan: a\r\nX-Beta: 2", ""]),
    [0, 0, 2, 3, 3, 5],
  );
  assert.deepEqual(
    await of("/c.css", ["Accept: image/webp,*/*", "Accept: */*", "Accept: text/css", "Accept: image/webp,*/*"]),
    [0, 1, 1, 0],
  );
  assert.deepEqual(await of("/o.css", ["Origin: https://a.test", "Origin: https://b.test", ""]), [0, 0, 0]);
  assert.equal(asked.at(-1)?.headers.origin, undefined);
  assert.deepEqual(
    await of("/k.css", ["Cookie: plan=a; x=1", "Cookie: x=2; plan=a", "Cookie: plan=b", "Cookie: plan=a; sid=9", "Cookie: sid=8; plan=a"]),
    [0, 0, 2, 3, 3],
  );
  assert.deepEqual(
    await of("/l.css", ["Accept-Language: de-AT,en", "Accept-Language: de;q=0.1,fr", "Accept-Language: en", ""]),
    [0, 0, 2, 3],
  );
  assert.deepEqual(
    asked.filter(({ url }) => url === "/l.css").map(({ headers }) => headers["accept-language"]),
    ["de", "en", undefined],
  );
  const phone = "User-Agent: Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) Mobile/15E148";
  assert.deepEqual(await of("/d.css", [phone, "User-Agent: curl/8", `${phone} x`, "svc-device-type: mobile"]), [0, 1, 0, 1]);
  assert.deepEqual(
    asked.filter(({ url }) => url === "/d.css").map(({ headers }) => headers["svc-device-type"]),
    ["mobile", "desktop"],
  );
});

test("the edge tells tablets, phones and desktops apart by their User-Agent", () => {
  for (const [agent, type] of [
    ["Mozilla/5.0 (iPad; CPU OS 17_0 like Mac OS X)", "tablet"],
    ["Mozilla/5.0 (Linux; Android 14; Pixel 8) Mobile Safari/537.36", "mobile"],
    ["Mozilla/5.0 (Linux; Android 14; SM-X200) Safari/537.36", "tablet"],
    ["Mozilla/5.0 (X11; Linux x86_64) Chrome/130", "desktop"],
    ["", "desktop"],
  ] as const)
    assert.equal(deviceType(agent), type, agent);
});

test("cache deception armor: the edge does not cache a response whose Content-Type contradicts the extension of its URL", async (t) => {
  const answer: Answer = (req, res) => void res.writeHead(200, { "Content-Type": req.url?.split("?")[1] ?? "" }).end("x");
  const { get } = await site(t, answer, { cache: true, cache_key: { cache_deception_armor: true } });
  for (const [path, isKept] of [
    ["/account/x.css?text/css;charset=utf-8", true],
    ["/account/x.css?text/html", false],
    ["/account/x.zip?text/html", false],
    ["/account/x.zip?application/zip", true],
    ["/account/x.png?application/octet-stream", true],
    ["/account/x.woff2?font/woff2", true],
    ["/account?text/html", true],
  ] as const) {
    await get(path);
    assert.equal((await get(path)).cache, isKept ? "HIT" : "BYPASS", path);
  }
});

test("disable_stale_while_updating makes the edge wait for the origin instead of sending a stale response", async (t) => {
  const answer = says({ "Cache-Control": "max-age=0, stale-while-revalidate=60" });
  const plain = await site(t, answer);
  await plain.get("/a.css");
  assert.equal((await plain.get("/a.css")).cache, "UPDATING");
  const silent = await site(t, answer, { serve_stale: {} });
  await silent.get("/a.css");
  assert.equal((await silent.get("/a.css")).cache, "UPDATING");
  const strict = await site(t, answer, { serve_stale: { disable_stale_while_updating: true } });
  await strict.get("/a.css");
  assert.equal((await strict.get("/a.css")).cache, "EXPIRED");
});

test("origin_error_page_passthru lets the origin's error page through, and error rules replace it on other URLs", async (t) => {
  const { edge, get } = await site(t, says({}, 502), { origin_error_page_passthru: true, on: 'http.request.uri.path eq "/api"' });
  const parameters = { content: "ours", content_type: "text/plain", status_code: 503 };
  edge.replica.apply([
    rulesetOp("errors", "zone", "zone", "http_custom_errors", [
      { action: "serve_error", expression: "true", action_parameters: parameters },
    ]),
  ]);
  assert.match((await get("/api")).body, /^body/);
  assert.deepEqual([(await get("/")).body, (await get("/")).status], ["ours", 503]);
  edge.replica.apply([
    rulesetOp("errors", "zone", "zone", "http_custom_errors", [
      { action: "serve_error", expression: "true", action_parameters: { asset_name: "page", status_code: 503 } },
    ]),
  ]);
  assert.deepEqual((await get("/")).status, 502, "an asset that is not there leaves the error as it is");
});

test("purging a URL, or writing to it, removes every variant that the cache key makes of its query", async (t) => {
  const { edge, get } = await site(t, says({ "Cache-Control": "max-age=60" }), {
    cache: true,
    cache_key: { custom_key: { query_string: { include: { list: ["a"] } }, header: { include: ["x-plan"] } } },
  });
  const get2 = async () => [(await get("/p?a=1&b=1")).cache, (await get("/p?a=1&b=2", "X-Plan: b\r\n")).cache];
  assert.deepEqual(await get2(), ["MISS", "MISS"]);
  assert.deepEqual(await get2(), ["HIT", "HIT"]);
  const purge: PurgeEntry = { count: 1, recent: [{ by: "files", values: ["http://www.example.com/p?a=1&b=9"] }] };
  edge.replica.apply([{ kind: "purge", id: "zone", value: purge }]);
  assert.deepEqual(await get2(), ["MISS", "MISS"]);
  await get("/p?a=1&c=1", "", "DELETE");
  assert.deepEqual(await get2(), ["MISS", "MISS"]);
});

test("the edge sends a response that the origin encoded without a Vary field only to clients that accept its coding", async (t) => {
  const answer: Answer = (req, res) => {
    const takes = /gzip/.test(req.headers["accept-encoding"] ?? "");
    res.writeHead(200, { "Cache-Control": "max-age=60", ...(takes ? { "Content-Encoding": "gzip" } : {}) }).end(takes ? "zipped" : "plain");
  };
  const { get } = await site(t, answer);
  assert.equal((await get("/a.css", "Accept-Encoding: gzip\r\n")).body, "zipped");
  assert.equal((await get("/a.css")).body, "plain");
  assert.deepEqual([(await get("/a.css", "Accept-Encoding: gzip\r\n")).cache, (await get("/a.css")).cache], ["HIT", "HIT"]);
});

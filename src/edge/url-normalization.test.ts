import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import type { UrlNormalization } from "#rules/expression/request/normalize-path.ts";
import { MANAGED } from "#rules/managed/request-rulesets.ts";
import { exchangeRaw, httpOrigin, siteOps, startEdge, type TestEdge, type TestOrigin } from "#edge/testing/edge.ts";
import { rulesetOp, zoneOp } from "#edge/testing/entries.ts";

let origin: TestOrigin;
let edge: TestEdge;
/** Targets that the origin got. */
const asked: string[] = [];

before(async () => {
  origin = await httpOrigin((req, res) => {
    asked.push(req.url ?? "");
    res.writeHead(200, { "content-type": "text/plain", "cache-control": "max-age=60" }).end(`origin got ${req.url ?? ""}\r\n`);
  });
  edge = await startEdge(siteOps(origin.port));
});
after(async () => {
  assert.deepEqual(edge.errors, []);
  await edge.close();
  origin.close();
});

const get = (target: string) => exchangeRaw(edge.http, `GET ${target} HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n`);
const status = async (target: string): Promise<number> => Number((await get(target)).split(" ", 2)[1]);

/** Runs with the zone's setting and one rule of a phase. */
async function withRule(
  given: UrlNormalization | undefined,
  phase: string,
  rule: Parameters<typeof rulesetOp>[4][number],
  work: () => Promise<void>,
): Promise<void> {
  edge.replica.apply([
    zoneOp("zone", "example.com", given === undefined ? {} : { edge: { url_normalization: given } }),
    rulesetOp("r", "zone", "zone", phase, [rule]),
  ]);
  await work();
  edge.replica.apply([zoneOp("zone", "example.com"), { kind: "ruleset", id: "r", value: null }]);
}

const blocked = (expression: string) => ({ action: "block", expression });
const ADMIN = ["/admin", "/adm%69n", "//admin", "/a/../admin", "/./admin", "/\\admin", "/x/%2e%2E/admin"];

test("by default, rules of every phase see the normalized path, and the origin gets the path as received", async () => {
  for (const phase of ["http_request_firewall_custom", "http_request_firewall_managed"])
    await withRule(undefined, phase, blocked('http.request.uri.path eq "/admin"'), async () => {
      for (const target of ADMIN) assert.equal(await status(target), 403, `${phase} ${target}`);
      assert.match(await get("/%61dministration//x?a=%41//b"), /origin got \/%61dministration\/\/x\?a=%41\/\/b\r\n/);
    });
  const to = { action_parameters: { from_value: { target_url: { expression: 'concat("/to", http.request.uri)' } } } };
  await withRule(undefined, "http_request_dynamic_redirect", { action: "redirect", expression: "true", ...to }, async () =>
    assert.match(await get("//old/%7Ex?q=//"), /\r\nLocation: \/to\/old\/~x\?q=\/\/\r\n/),
  );
});

test("raw fields and the request log have the path as received", async () => {
  await withRule(undefined, "http_request_firewall_custom", blocked('raw.http.request.uri eq "//a/../%41?x=//y"'), async () => {
    assert.equal(await status("//a/../%41?x=//y"), 403);
    assert.equal(await status("/A?x=//y"), 200);
    const [first] = edge.requests.slice(-2);
    assert.equal(first?.path, "//a/../%41");
  });
});

test("the scope none leaves paths, the scope both normalizes them for the origin as well, and rfc3986 leaves slashes", async () => {
  const admin = blocked('http.request.uri.path eq "/admin"');
  await withRule({ scope: "none", type: "cloudflare" }, "http_request_firewall_custom", admin, async () => {
    assert.deepEqual(await Promise.all(ADMIN.map(status)), [403, ...ADMIN.slice(1).map(() => 200)]);
  });
  await withRule({ scope: "both", type: "cloudflare" }, "http_request_firewall_custom", admin, async () => {
    assert.equal(await status("/a/..//adm%69n"), 403);
    assert.match(await get("//%61/./b\\c%2fd?q=//%41"), /origin got \/a\/b\/c%2Fd\?q=\/\/%41\r\n/);
    assert.match(await get("//x?"), /origin got \/x\?\r\n/);
  });
  await withRule({ scope: "both", type: "rfc3986" }, "http_request_firewall_custom", admin, async () => {
    assert.equal(await status("/a/../adm%69n"), 403);
    assert.match(await get("//%61/./b\\c"), /origin got \/\/a\/b%5Cc\r\n/);
  });
});

test("a rule that rewrites the query alone leaves the path for the origin as received", async () => {
  const rewrite = (uri: object) => ({ action: "rewrite", expression: "true", action_parameters: { uri } });
  await withRule(undefined, "http_request_transform", rewrite({ query: { value: "q=2" } }), async () =>
    assert.match(await get("//%61?q=1"), /origin got \/\/%61\?q=2\r\n/),
  );
  const path = { path: { expression: 'concat("/new", http.request.uri.path)' } };
  await withRule(undefined, "http_request_transform", rewrite(path), async () =>
    assert.match(await get("//%61?q=1"), /origin got \/new\/a\?q=1\r\n/),
  );
});

test("the cache keeps responses by the path that the origin got, and a purge by the normalized URL reaches all of them", async () => {
  const cacheStatus = async (target: string) => /\r\nsvc-cache-status: (\w+)/i.exec(await get(target))?.[1];
  const harmless = blocked('http.request.uri.path eq "/never"');
  await withRule(undefined, "http_request_firewall_custom", harmless, async () => {
    assert.deepEqual(
      [await cacheStatus("/c//a.css"), await cacheStatus("/c/a.css"), await cacheStatus("/c//a.css")],
      ["MISS", "MISS", "HIT"],
    );
    edge.replica.apply([
      { kind: "purge", id: "zone", value: { count: 1, recent: [{ by: "files", values: ["http://www.example.com/c/a.css"] }] } },
    ]);
    assert.deepEqual([await cacheStatus("/c//a.css"), await cacheStatus("/c/a.css")], ["MISS", "MISS"]);
  });
  await withRule({ scope: "both", type: "cloudflare" }, "http_request_firewall_custom", harmless, async () =>
    assert.deepEqual([await cacheStatus("/d//a.css"), await cacheStatus("/d/%61.css")], ["MISS", "HIT"]),
  );
});

test("bytes beyond ASCII in a target reach rules and the origin as escapes", async () => {
  await withRule(undefined, "http_request_firewall_custom", blocked('raw.http.request.uri eq "/caf%C3%A9?%FF"'), async () => {
    assert.equal(await status("/caf\xc3\xa9?\xff"), 403);
    assert.match(await get("/caf\xe9?q=\xc3\xa4"), /origin got \/caf%E9\?q=%C3%A4\r\n/);
  });
});

test("managed rules inspect the path that the origin gets, in which an attack is still there", async () => {
  const execute = { action: "execute", action_parameters: { id: MANAGED.id, version: "latest" } };
  await withRule(undefined, "http_request_firewall_managed", { ...execute, expression: "true" }, async () => {
    for (const target of ["/x/%c0%ae%c0%ae%c0%af/../a", "/x/%0a/../a", "/a/../../../../etc/passwd/../passwd"])
      assert.equal(await status(target), 403, target);
    assert.equal(await status("/a/../b"), 200);
  });
});

import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { test } from "node:test";
import { rulesetOp } from "#edge/testing/entries.ts";
import { site } from "#edge/testing/site.ts";

test("a page or data for the name of a file is cached only if the origin or a rule says so", async (t) => {
  const answer = (req: IncomingMessage, res: ServerResponse): void => {
    const url = new URL(req.url ?? "/", "http://origin");
    const control = url.searchParams.get("control");
    res
      .writeHead(Number(url.searchParams.get("status") ?? 200), {
        "Content-Type": url.searchParams.get("type") ?? "text/html",
        ...(control === null ? {} : { "Cache-Control": control }),
      })
      .end("body");
  };
  const { get } = await site(t, answer, [
    rulesetOp("cache", "zone", "zone", "http_request_cache_settings", [
      { action: "set_cache_settings", expression: 'starts_with(http.request.uri.path, "/ruled")', action_parameters: { cache: true } },
    ]),
  ]);
  const isStored = async (path: string): Promise<boolean> => (await get(path), (await get(path)).cache === "HIT");
  for (const path of [
    "/account/x.css",
    "/account;x.js",
    "/account%2fx.png",
    "/account%3fx.css",
    "/account%23x.pdf",
    "/a/..%2faccount/x.ico",
  ]) {
    assert.equal(await isStored(path), false, path);
    assert.equal(await isStored(`${path}?type=application/json;charset=utf-8`), false, path);
    assert.equal(await isStored(`${path}?control=max-age=60`), true, path);
    assert.equal(await isStored(`${path}?control=public`), true, path);
    assert.equal(await isStored(`/ruled${path}`), true, path);
  }
  assert.equal(await isStored("/x.css?type=text/css"), true);
  assert.equal(await isStored("/x.js?type=text/plain"), true);
  assert.equal(await isStored("/x.map?type=application/json"), true);
  assert.equal(await isStored("/gone.css?status=404"), true);
});

test("fields that make frameworks send something else do not change what other visitors get", async (t) => {
  const { get } = await site(t, (req, res) => {
    res.writeHead(200, { "Content-Type": "text/css", "Cache-Control": "max-age=60" }).end(req.rawHeaders.join("\n"));
  });
  const names =
    "RSC Next-Router-State-Tree Next-Action X-Nextjs-Data X-Middleware-Subrequest X-Matched-Path X-Requested-With X-Inertia X-Inertia-Partial-Data " +
    "X-PJAX HX-Request Turbo-Frame X-Astro-Path X-ARR-SSL X-MS-Original-Url X-WAWS-Unencoded-Url Disguised-Host Translate X-Envoy-Original-Path " +
    "X-Forwarded-Host X-Forwarded-Query X-Forwarded-Context X-Original-URL X-Original-Query X-Rewrite-URL X-Replaced-Path X-Scheme X-Script-Name " +
    "X_Requested_With next_url";
  for (const [index, name] of names.split(" ").entries()) {
    await get(`/a.css?${index}`, `${name}: attacker\r\n`);
    assert.ok(!(await get(`/a.css?${index}`)).body.includes("attacker"), name);
  }
});

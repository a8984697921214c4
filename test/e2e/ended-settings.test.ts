import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { apiCaller, succeed } from "../support/api.ts";
import { readUntil } from "../support/eventually.ts";
import { type Selvedge, startSelvedge } from "../support/selvedge.ts";

const CSS = ".a  {\n  color : red ;\n}\n".repeat(40);
const PAGE = "<p>For all.</p><!--sse--><p>For people.</p><!--/sse-->";
const BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0";
const PHONE = "Mozilla/5.0 (iPhone; CPU iPhone OS 17_0 like Mac OS X) AppleWebKit/605.1.15 Mobile/15E148 Safari/604.1";

interface Visit {
  readonly agent?: string;
  readonly from?: string;
  readonly cookie?: string;
  readonly host?: string;
}

const visit = ({ ready }: Selvedge, path: string, { agent = BROWSER, from = "127.0.0.1", cookie, host = "www.old.test" }: Visit = {}) =>
  new Promise<{ status: number; headers: Readonly<Record<string, unknown>>; body: string }>((resolve, reject) => {
    const headers = { host, "user-agent": agent, ...(cookie === undefined ? {} : { cookie }) };
    const req = request(`${ready.http}${path}`, { headers, localAddress: from, agent: false }, (res) => {
      let body = "";
      res.setEncoding("utf8").on("data", (part: string) => (body += part));
      res.on("end", () => resolve({ status: res.statusCode ?? 0, headers: res.headers, body }));
    });
    req.on("error", reject);
    req.end();
  });

/** Solves a challenge as a browser does; gives the cookie. */
async function pass(selvedge: Selvedge): Promise<string> {
  const page = await visit(selvedge, "/guarded");
  assert.equal(page.status, 403, page.body);
  const task = /\}\)\("([^"]+)",16,/.exec(page.body)?.[1] ?? assert.fail(page.body);
  let answer = 0;
  while (createHash("sha256").update(`${task}:${answer}`).digest().readUInt16BE() !== 0) answer++;
  const passed = await visit(selvedge, `/cdn-cgi/challenge?to=%2Fguarded&task=${encodeURIComponent(task)}&answer=${answer}`);
  return /^[^;]+/.exec(String(passed.headers["set-cookie"]))?.[0] ?? "";
}

test("SPEC 9: zone settings that have ended act at the edge, can be changed until their day, and keep their effect after it", async (t) => {
  const dataDir = await mkdtemp(join(tmpdir(), "selvedge-ended-"));
  const origin = createServer((req, res) => {
    const isStyle = req.url === "/a.css";
    res.writeHead(200, { "Content-Type": isStyle ? "text/css" : "text/html", "Cache-Control": isStyle ? "max-age=600" : "private" });
    res.end(isStyle ? CSS : PAGE);
  });
  await new Promise<void>((resolve) => origin.listen(0, "127.0.0.1", resolve));
  const started = (day: string): Promise<Selvedge> =>
    startSelvedge({ dataDir, args: ["--edge-origin-port", String((origin.address() as AddressInfo).port), "--deprecations-as-of", day] });
  let selvedge = await started("2024-03-30");
  t.after(async () => {
    await selvedge.stop();
    origin.close();
    origin.closeAllConnections();
    await rm(dataDir, { recursive: true, force: true });
  });
  const { token = "", account_id } = selvedge.ready;
  let call = apiCaller(selvedge.ready, token);
  const { id } = await succeed(call("POST", "/zones", { name: "old.test", account: { id: account_id } }));
  for (const name of ["@", "www", "m"])
    await succeed(call("POST", `/zones/${id}/dns_records`, { type: "A", name, content: "127.0.0.1", ttl: 1, proxied: true }));
  const rules = [{ action: "managed_challenge", expression: 'http.request.uri.path eq "/guarded"' }];
  await succeed(call("PUT", `/zones/${id}/rulesets/phases/http_request_firewall_custom/entrypoint`, { rules }));

  assert.equal((await visit(selvedge, "/", { agent: "curl/8" })).body, PAGE);
  const cookie = await pass(selvedge);
  assert.equal((await visit(selvedge, "/guarded", { cookie, from: "127.0.0.2" })).status, 403);

  const settings = `/zones/${id}/settings`;
  await succeed(call("PATCH", `${settings}/minify`, { value: { css: "on", html: "on", js: "on" } }));
  await succeed(call("PATCH", `${settings}/mobile_redirect`, { value: { status: "on", mobile_subdomain: "m", strip_uri: false } }));
  await succeed(call("PATCH", `${settings}/server_side_exclude`, { value: "on" }));
  await succeed(call("POST", `${settings}/privacy_pass`, { value: "on" }));

  const act = async (): Promise<void> => {
    const small = await readUntil(
      () => visit(selvedge, "/a.css"),
      ({ body }) => body.length < CSS.length,
    );
    assert.match(small.body, /^\.a\{color:red\}/);
    assert.equal((await visit(selvedge, "/", { agent: "curl/8" })).body, "<p>For all.</p>");
    assert.equal((await visit(selvedge, "/")).body, PAGE);
    assert.equal((await visit(selvedge, "/here", { agent: PHONE })).headers["location"], "http://m.old.test/here");
    const anywhere = await pass(selvedge);
    assert.equal((await visit(selvedge, "/guarded", { cookie: anywhere, from: "127.0.0.2" })).status, 200);
    assert.equal((await visit(selvedge, "/guarded", { cookie: anywhere, from: "127.0.0.2", agent: "curl/8" })).status, 403);
  };
  await act();

  await selvedge.stop();
  selvedge = await started("2024-08-05");
  call = apiCaller(selvedge.ready, token);
  for (const [method, name] of [
    ["PATCH", "minify"],
    ["PATCH", "mobile_redirect"],
    ["PATCH", "server_side_exclude"],
    ["POST", "privacy_pass"],
    ["GET", "privacy_pass"],
  ] as const) {
    const gone = await call(method, `${settings}/${name}`, ...(method === "GET" ? [] : [{ value: "off" }]));
    assert.deepEqual([gone.status, gone.body.errors[0]?.code], [410, 10410], name);
  }
  const shown = (await succeed(call("GET", settings))) as readonly { readonly id: string }[];
  for (const name of ["minify", "mobile_redirect", "server_side_exclude", "privacy_pass"])
    assert.ok(!shown.some((one) => one.id === name), name);
  await act();
});

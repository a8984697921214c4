import assert from "node:assert/strict";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type TestContext, test } from "node:test";
import { gzipSync } from "node:zlib";
import { SECLANG_RULESET_ID } from "#rules/managed/request-rulesets.ts";
import { SENSITIVE_DATA_RULESET_ID } from "#rules/managed/rulesets.ts";
import type { Op } from "#snapshot/entries.ts";
import { SHOWN_BYTES_MAX } from "#edge/exchange/held-response.ts";
import { exchangeRaw, httpOrigin, rawClient, siteOps, startEdge } from "#edge/testing/edge.ts";
import { rulesetOp } from "#edge/testing/entries.ts";
import { type Site, site } from "#edge/testing/site.ts";
import { eventually } from "../../test/support/eventually.ts";

const PHASE = "http_response_firewall_managed";
const LEAK = "Warning: mysql_connect(): Access denied";
const SECLANG = `SecRule RESPONSE_BODY "@contains mysql_connect" "id:1,phase:4,deny,msg:'A leak'"`;
const LONG = SHOWN_BYTES_MAX + 100_000;

const judging = (seclang = SECLANG, expression = "true", more: object[] = []): Op =>
  rulesetOp("judging", "zone", "zone", PHASE, [
    { action: "execute", expression, action_parameters: { id: SECLANG_RULESET_ID, seclang } },
    ...more,
  ] as Parameters<typeof rulesetOp>[4]);

/** A page whose path says how its body is sent. */
function answer({ url = "" }: IncomingMessage, res: ServerResponse): void {
  const path = new URL(url, "http://x").pathname;
  const type = path.endsWith(".js") ? "text/javascript" : "text/html";
  const text = `<p>${"x".repeat(2000)}${path.includes("leak") ? LEAK : "fine"}</p>`;
  res.setHeader("content-type", type);
  if (path.startsWith("/late")) return void res.end("y".repeat(LONG) + text);
  if (path.startsWith("/long")) return void res.end(text + "y".repeat(LONG));
  if (path.startsWith("/gzip")) {
    res.setHeader("content-encoding", "gzip");
    return void res.end(gzipSync(text));
  }
  if (path.startsWith("/cached")) res.setHeader("cache-control", "public, max-age=600");
  if (path.startsWith("/pieces")) {
    for (const piece of text.match(/.{1,500}/g)!) res.write(piece);
    return void res.end();
  }
  if (path.startsWith("/broken")) {
    res.setHeader("content-length", 10_000);
    res.write(text, () => res.destroy());
    return;
  }
  res.setHeader("content-length", text.length);
  res.end(text);
}

const statuses = async (to: Site, paths: readonly string[]): Promise<readonly number[]> => {
  const found: number[] = [];
  for (const path of paths) found.push((await to.get(path)).status);
  return found;
};

test("a rule blocks a leak in the first part of a response body, chunked, compressed or cached; the rest passes unchanged", async (t) => {
  const to = await site(t, answer, [judging()]);
  const leaks = ["/leak", "/pieces/leak", "/gzip/leak", "/long/leak", "/cached/leak.html", "/cached/leak.html"];
  assert.deepEqual(
    await statuses(to, leaks),
    leaks.map(() => 403),
  );
  assert.ok(!(await to.get("/pieces/leak")).body.includes("mysql"));
  for (const path of ["/fine", "/pieces/fine", "/long/fine", "/cached/fine.html", "/cached/fine.html", "/late/leak"]) {
    const { status, body } = await to.get(path);
    assert.equal(status, 200, path);
    const whole = path.startsWith("/l") ? LONG + 2007 + (path.includes("leak") ? LEAK.length : 4) : 2011;
    assert.equal(body.length, whole, path);
  }
  assert.deepEqual(
    to.edge.security.map(({ rule_id, action, status, phase }) => [rule_id, action, status, phase]),
    [...leaks, ""].map(() => ["1", "block", 403, PHASE]),
  );
});

test("the edge does not buffer scripts or responses that the expression excludes, and rules see an empty body for them", async (t) => {
  const to = await site(t, answer, [
    judging(`${SECLANG}\nSecRule RESPONSE_STATUS "@eq 200" "id:2,phase:4,pass,msg:'Seen'"`, 'not http.request.uri.path contains "/open/"'),
  ]);
  assert.deepEqual(await statuses(to, ["/leak.js", "/open/leak", "/leak"]), [200, 200, 403]);
  assert.deepEqual((await to.get("/leak", "", "HEAD")).status, 200);
  // Rules of the last phase run for responses whose body does not wait, too.
  assert.deepEqual(
    to.edge.security.map(({ rule_id, path }) => [rule_id, path]),
    [
      ["2", "/leak.js"],
      ["1", "/leak"],
      ["2", "/leak"],
    ],
  );
});

test("an origin that disconnects while the edge buffers its response gives an error and not half a page", async (t) => {
  const to = await site(t, answer, [judging()]);
  assert.equal((await to.get("/broken/fine")).status, 520);
  assert.equal((await to.get("/broken/leak")).status, 520);
});

test("the detector gets the forwarded response once", async (t) => {
  const to = await site(t, answer, [
    judging(SECLANG, "true", [{ action: "execute", expression: "true", action_parameters: { id: SENSITIVE_DATA_RULESET_ID } }]),
  ]);
  assert.deepEqual(await statuses(to, ["/pieces/fine", "/leak"]), [200, 403]);
  assert.deepEqual(
    to.edge.scanned.map(({ body, ended }) => [body.length, ended]),
    [[2011, true]],
  );
});

/** An origin that sends the start of a page and waits. */
async function slowSite(t: TestContext, limits: Parameters<typeof startEdge>[2], type = "text/html") {
  const waiting: ServerResponse[] = [];
  const origin = await httpOrigin((_, res) => {
    res.setHeader("content-type", type);
    res.write("z".repeat(20_000));
    waiting.push(res);
  });
  const edge = await startEdge([...siteOps(origin.port), judging()], {}, limits);
  t.after(async () => {
    await edge.close();
    origin.close();
    assert.deepEqual(edge.errors, []);
  });
  const ask = () => {
    const client = rawClient(edge.http);
    client.send("GET / HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n");
    return client;
  };
  return { edge, waiting, ask };
}

test("buffered responses have a memory limit, and release their memory", async (t) => {
  const { edge, waiting, ask } = await slowSite(t, { ruleBodyMemoryBytesMax: 50_000 });
  const held = (): number => edge.metrics.samples().find(({ name }) => name === "selvedge_edge_request_buffer_bytes")?.value ?? -1;
  const first = ask();
  await eventually(() => waiting.length === 1 && held() > 0);
  assert.match(await ask().closed(), /^HTTP\/1.1 503 /);
  waiting[0]!.end();
  assert.match(await first.closed(), /^HTTP\/1.1 200 /);
  assert.equal(held(), 0);
  const gone = ask();
  await eventually(() => held() > 0);
  gone.socket.destroy();
  await eventually(() => held() === 0);
});

test("the edge does not buffer event streams", async (t) => {
  const { ask } = await slowSite(t, {}, "text/event-stream");
  assert.match(await ask().until(/zzz/), /^HTTP\/1.1 200 /);
});

test("a response in chunks of one byte reaches visitors unchanged and in few chunks", async (t) => {
  const body = Buffer.alloc(20_000, "0123456789abcdef").toString();
  const chunks = `${body.replace(/./g, (byte) => `1\r\n${byte}\r\n`)}bb8\r\n${"x".repeat(3000)}\r\n1\r\ny\r\n0\r\nX-Sum: 1\r\n\r\n`;
  const to = await site(
    t,
    ({ socket }) => void socket.end(`HTTP/1.1 200 OK\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}`),
  );
  const answer = await exchangeRaw(to.edge.http, "GET / HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n\r\n");
  const parts = answer.slice(answer.indexOf("\r\n\r\n") + 4).split("\r\n");
  const payload = parts.filter((_, index) => index % 2 === 1).join("");
  assert.ok(payload.startsWith(body + "x".repeat(3000) + "y"));
  assert.ok(parts.length < 1000, `${parts.length / 2} chunks`);
});

import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { gunzipSync } from "node:zlib";
import { createMetrics } from "#kernel/process/metrics.ts";
import { httpOrigin, siteOps, startEdge, type TestEdge, type TestOrigin } from "#edge/testing/edge.ts";
import { rulesetOp, zoneOp } from "#edge/testing/entries.ts";
import type { EdgeSettings } from "#snapshot/edge-settings.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { minifyBody } from "./minify-body.ts";
import { createMinifier } from "./minifier.ts";

const CSS = `/* colours */\n${".a   >  .b { color :  red ; }\n".repeat(20)}@layer x { .c { & d { margin : 0 auto } } }\n`;
const JS = `// greets\nfunction greet( name ) {\n  return "a  b" + name; /* here */\n}\n${"greet( 1 );\n".repeat(30)}`;
const HTML = `<!doctype html>\n<html>\n  <!-- note -->\n  <body>\n    <pre>  a\n  b </pre>\n    <p>one   <b>two</b> </p>\n    <!--sse-->x<!--/sse-->
  <script>\n  var  a  =  1 ;\n</script>\n${"    <p>  text  </p>\n".repeat(20)}</body></html>`;
const BODIES: Readonly<Record<string, readonly [type: string, body: string | Buffer, more?: Readonly<Record<string, string>>]>> = {
  "/a.css": ["text/css", CSS],
  "/a.js": ["text/javascript; charset=utf-8", JS],
  "/a.html": ["text/html", HTML],
  "/broken.js": ["text/javascript", `function ( {{{ ${" ".repeat(300)}`],
  "/kept.css": ["text/css", CSS, { "Cache-Control": "public, max-age=60, no-transform" }],
  "/latin.css": ["text/css; charset=iso-8859-1", CSS],
  "/bytes.css": ["text/css", Buffer.concat([Buffer.from(CSS), Buffer.from([0xff])])],
  "/uncached.css": ["text/css", CSS, { "Cache-Control": "private" }],
  "/a.txt": ["text/plain", CSS],
};

const GOOD = Buffer.from(CSS);

let origin: TestOrigin;
let edge: TestEdge;

before(async () => {
  origin = await httpOrigin((req, res) => {
    const [type, body, more] = BODIES[req.url ?? ""] ?? ["text/plain", ""];
    const length = String(Buffer.byteLength(body));
    res.writeHead(200, { "Content-Type": type, "Content-Length": length, ETag: '"t"', "Cache-Control": "public, max-age=60", ...more });
    res.end(body);
  });
  edge = await startEdge([
    ...siteOps(origin.port),
    rulesetOp("cache", "zone", "zone", "http_request_cache_settings", [
      { action: "set_cache_settings", expression: "true", action_parameters: { cache: true } },
    ]),
  ]);
});
after(async () => {
  assert.deepEqual(edge.errors, []);
  await edge.close();
  origin.close();
});

const choose = (minify: EdgeSettings["minify"]): void => edge.replica.apply([zoneOp("zone", "example.com", { edge: { minify } })]);
const ALL = { css: true, html: true, js: true };

async function get(path: string, fields: Readonly<Record<string, string>> = {}, method = "GET") {
  const { request } = await import("node:http");
  return new Promise<{ status: number; headers: Readonly<Record<string, unknown>>; body: Buffer }>((resolve, reject) => {
    const req = request(
      { port: edge.http, host: "127.0.0.1", path, method, agent: false, headers: { host: "www.example.com", ...fields } },
      (res) => {
        const pieces: Buffer[] = [];
        res.on("data", (piece: Buffer) => pieces.push(piece));
        res.on("end", () => resolve({ status: res.statusCode ?? 0, headers: res.headers, body: Buffer.concat(pieces) }));
      },
    );
    req.on("error", reject);
    req.end();
  });
}

test("SPEC 9, 2024-08-05: bodies in the cache are sent smaller after the first visitors, each kind by its own switch", async () => {
  for (const path of ["/a.css", "/a.js", "/a.html"]) assert.equal((await get(path)).body.toString(), BODIES[path]?.[1]);
  choose({ ...ALL, js: false });
  assert.equal((await get("/a.css")).body.toString(), CSS, "nobody waits");
  await eventually(async () => (await get("/a.css")).body.length < CSS.length);
  await eventually(async () => (await get("/a.html")).body.length < HTML.length);
  assert.equal((await get("/a.js")).body.toString(), JS);
  assert.ok((await get("/a.html")).body.includes("var  a  =  1 ;"), "scripts of pages have the switch of scripts");
  choose(ALL);
  await eventually(async () => (await get("/a.js")).body.length < JS.length);
  await eventually(async () => (await get("/a.html")).body.includes("var a=1"));

  const { body, headers } = await get("/a.html");
  assert.deepEqual([headers["etag"], headers["content-length"]], ['W/"t"', String(body.length)]);
  for (const kept of ["<pre>  a\n  b </pre>", "<!--sse-->", "<p>one <b>two</b>"]) assert.ok(body.includes(kept), kept);
  assert.ok(!body.includes("note"));
  const packed = await get("/a.html", { "accept-encoding": "gzip" });
  assert.equal(packed.headers["content-encoding"], "gzip");
  assert.deepEqual(gunzipSync(packed.body), body);
  const head = await get("/a.html", {}, "HEAD");
  assert.deepEqual([head.headers["content-length"], head.body.length], [String(body.length), 0]);
  const same = await get("/a.html", { "if-none-match": 'W/"t"' });
  assert.deepEqual([same.status, same.headers["etag"]], [304, 'W/"t"']);
  const part = await get("/a.html", { range: "bytes=0-9" });
  assert.deepEqual([part.status, part.body.toString(), part.headers["etag"]], [206, HTML.slice(0, 10), '"t"']);
  choose(null);
  assert.equal((await get("/a.html")).body.toString(), HTML);
});

test("a body that cannot be read, must not be changed or is not cached passes unchanged", async () => {
  choose(ALL);
  const paths = ["/broken.js", "/kept.css", "/latin.css", "/bytes.css", "/uncached.css", "/a.txt"];
  for (let turn = 0; turn < 3; turn++) {
    for (const path of paths) assert.deepEqual((await get(path)).body, Buffer.from(BODIES[path]?.[1] ?? ""), path);
    await eventually(async () => (await get("/a.css")).body.length < CSS.length);
  }
});

test("minified code does the same, and names stay", async () => {
  const js = (await minifyBody({ kind: "js", css: false, js: false }, Buffer.from(JS))).toString();
  assert.match(js, /^function greet\(name\)\{return"a {2}b"\+name\}/);
  const css = (await minifyBody({ kind: "css", css: false, js: false }, Buffer.from(CSS))).toString();
  assert.ok(css.startsWith(".a>.b{color:red}") && css.includes("margin:0 auto"), css.slice(0, 80));
  await assert.rejects(minifyBody({ kind: "css", css: true, js: true }, Buffer.from("a{".repeat(60_000))));
  await assert.rejects(minifyBody({ kind: "js", css: true, js: true }, Buffer.from("(".repeat(120_000))));
});

test("a body that takes too long three times is not tried again, and the time that the thread takes to load does not count", async (t) => {
  const metrics = createMetrics();
  const minifier = createMinifier(metrics, 1);
  t.after(() => minifier.close());
  const slow = Buffer.from(`a{color:red}${"b { c : d } ".repeat(20_000)}`);
  const task = { kind: "css", css: true, js: true } as const;
  const threads = (): number => process.getActiveResourcesInfo().filter((name) => name === "MessagePort").length;
  const idle = threads();
  for (let turn = 0; turn < 3; turn++) {
    assert.equal(minifier.of(slow, task), null);
    await eventually(() => threads() > idle);
    await eventually(() => threads() === idle);
  }
  assert.equal(minifier.of(slow, task), null);
  assert.equal(threads(), idle, "no thread begins for it");
  const patient = createMinifier(createMetrics());
  t.after(() => patient.close());
  await eventually(() => patient.of(GOOD, task) !== null);
  assert.ok((patient.of(GOOD, task)?.length ?? 0) < GOOD.length);
});

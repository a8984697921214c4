import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import type { IncomingMessage } from "node:http";
import { after, before, test } from "node:test";
import {
  brotliCompressSync,
  brotliDecompressSync,
  deflateRawSync,
  deflateSync,
  gunzipSync,
  gzipSync,
  zstdCompressSync,
  zstdDecompressSync,
} from "node:zlib";
import type { EdgeSettings } from "#snapshot/edge-settings.ts";
import { exchangeRaw, httpOrigin, siteOps, startEdge, type TestEdge, type TestOrigin } from "#edge/testing/edge.ts";
import { rulesetOp, zoneOp } from "#edge/testing/entries.ts";
import { fc } from "../../../test/support/property.ts";
import { ExcludedParts } from "./excluded-parts.ts";

const BROWSER = "Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0";
const PAGE = "<p>For all.</p><!--sse--><p>mail@example.com</p><!--/sse--><p>More.</p><!--sse-->to the end";
const SHORT = "<p>For all.</p><p>More.</p>";

const LINES = Array.from({ length: 20_000 }, (_, line) => `<p>Line ${line}</p><!--sse--><p>secret ${line}</p><!--/sse-->`).join("");

/** By path: what an origin sends that compresses all the same. */
const PACKED: Readonly<Record<string, readonly [coding: string, body: Buffer]>> = {
  "/gzip": ["gzip", gzipSync(PAGE)],
  "/x-gzip": ["X-GZIP", gzipSync(PAGE)],
  "/br": ["br", brotliCompressSync(PAGE)],
  "/deflate": ["deflate", deflateSync(PAGE)],
  "/raw": ["deflate", deflateRawSync(PAGE)],
  "/zstd": ["zstd", zstdCompressSync(PAGE)],
  "/both": ["gzip, br", brotliCompressSync(gzipSync(PAGE))],
  "/none": ["identity", Buffer.from(PAGE)],
  "/odd": ["utf-8", Buffer.from(PAGE)],
  "/lines": ["gzip", gzipSync(LINES)],
  "/damaged": ["gzip", Buffer.concat([gzipSync(PAGE).subarray(0, 40), Buffer.from("damage")])],
  "/cut/gzip": ["gzip", gzipSync(PAGE).subarray(0, 60)],
  "/cut/br": ["br", brotliCompressSync(LINES).subarray(0, 5_000)],
  "/cut/zstd": ["zstd", zstdCompressSync(LINES).subarray(0, 5_000)],
  "/plain": ["gzip", Buffer.from(PAGE)],
  "/bomb": ["gzip", gzipSync(Buffer.alloc(30_000_000))],
  "/bombs": ["gzip, gzip", gzipSync(gzipSync(Buffer.alloc(100_000_000)))],
  "/three": ["gzip, gzip, gzip", gzipSync(gzipSync(gzipSync(PAGE)))],
  "/long": ["gzip", gzipSync(randomBytes(1_500_000))],
};

let origin: TestOrigin;
let edge: TestEdge;
let asked: IncomingMessage["headers"][] = [];

before(async () => {
  origin = await httpOrigin((req, res) => {
    asked.push(req.headers);
    const type = req.url === "/text" ? "text/plain" : "text/html; charset=utf-8";
    const fields = { "Content-Type": type, ETag: '"tag"', "Cache-Control": req.url === "/cached" ? "public, max-age=60" : "max-age=0" };
    const packed = PACKED[req.url ?? ""];
    if (packed !== undefined) {
      const [coding, body] = packed;
      return void res.writeHead(200, { ...fields, "Content-Encoding": coding, "Content-Length": String(body.length) }).end(body);
    }
    if (req.url !== "/pieces") return void res.writeHead(200, { ...fields, "Content-Length": String(PAGE.length) }).end(PAGE);
    res.writeHead(200, fields);
    for (const letter of PAGE) res.write(letter);
    res.end();
  });
  edge = await startEdge([
    ...siteOps(origin.port),
    rulesetOp("fw", "zone", "zone", "http_request_firewall_custom", [
      { action: "log", expression: 'http.request.uri.query eq "odd"' },
      { action: "skip", expression: 'http.request.uri.query eq "good"', action_parameters: { ruleset: "current" } },
    ]),
    rulesetOp("cache", "zone", "zone", "http_request_cache_settings", [
      { action: "set_cache_settings", expression: 'http.request.uri.path eq "/cached"', action_parameters: { cache: true } },
    ]),
  ]);
});
after(async () => {
  assert.deepEqual(edge.errors, []);
  await edge.close();
  origin.close();
});

const choose = (settings: Partial<EdgeSettings>): void => edge.replica.apply([zoneOp("zone", "example.com", { edge: settings })]);

async function get(target: string, agent = BROWSER, fields = "", method = "GET") {
  asked = [];
  const head = `${method} ${target} HTTP/1.1\r\nHost: www.example.com\r\nConnection: close\r\n${agent === "" ? "" : `User-Agent: ${agent}\r\n`}`;
  const text = await exchangeRaw(edge.http, `${head}${fields}\r\n`);
  const end = text.indexOf("\r\n\r\n");
  const sent = text.slice(end + 4);
  const isChunked = /^transfer-encoding: chunked\r?$/im.test(text.slice(0, end));
  return { status: Number(text.slice(9, 12)), head: text.slice(0, end), body: isChunked ? unchunked(sent) : sent };
}

function unchunked(text: string): string {
  const parts: string[] = [];
  for (let at = 0; ;) {
    const line = text.indexOf("\r\n", at);
    const length = Number.parseInt(text.slice(at, line), 16);
    if (!(length > 0)) return parts.join("");
    parts.push(text.slice(line + 2, line + 2 + length));
    at = line + 4 + length;
  }
}

test("SPEC 9, 2024-06-14: suspicious visitors get pages without the marked parts, others and other zones all of them", async () => {
  assert.equal((await get("/", "curl/8")).body, PAGE, "the setting is off");
  choose({ server_side_exclude: true });
  assert.equal((await get("/")).body, PAGE);
  assert.equal((await get("/?good")).body, PAGE, "a rule that lets pass is no suspicion");
  for (const [target, agent] of [
    ["/", "curl/8"],
    ["/", ""],
    ["/", "Mozilla/4.0 (compatible; MSIE 7.0; Windows NT 6.0)"],
    ["/?odd", BROWSER],
    ["/pieces", "curl/8"],
  ] as const) {
    const { status, head, body } = await get(target, agent);
    assert.deepEqual([status, body], [200, SHORT], `${target} ${agent}`);
    assert.match(head, /^cache-control: private, no-store\r?$/im);
    assert.doesNotMatch(head, /^(?:etag|content-length):/im);
  }
  assert.equal((await get("/text", "curl/8")).body, PAGE, "texts have no marks");
  assert.equal((await get("/", "curl/8", "", "HEAD")).body, "");
});

test("the whole page is asked for, so that no part or packed body shows what is left out", async () => {
  choose({ server_side_exclude: true });
  const more = 'Range: bytes=30-45\r\nIf-None-Match: "tag"\r\nAccept-Encoding: gzip, br\r\n';
  const { status, body, head } = await get("/", "curl/8", more);
  assert.deepEqual([status, unpacked("br", body)], [200, SHORT]);
  assert.match(head, /^content-encoding: br\r?$/im);
  const [{ range, "if-none-match": tag, "accept-encoding": codings } = {}] = asked;
  assert.deepEqual([range, tag, codings], [undefined, undefined, "identity"]);
});

const UNPACKERS: Readonly<Record<string, (bytes: Buffer) => Buffer>> = {
  gzip: (bytes) => gunzipSync(bytes),
  br: (bytes) => brotliDecompressSync(bytes),
  zstd: (bytes) => zstdDecompressSync(bytes),
};
const unpacked = (coding: string, body: string): string => UNPACKERS[coding]!(Buffer.from(body, "latin1")).toString("latin1");

test("pages that the origin compresses although asked not to lose their marked parts, and are compressed again as the visitor wants", async () => {
  choose({ server_side_exclude: true });
  for (const target of ["/gzip", "/x-gzip", "/br", "/deflate", "/raw", "/zstd", "/both", "/none", "/odd"]) {
    const { status, head, body } = await get(target, "curl/8");
    assert.deepEqual([status, body], [200, SHORT], target);
    assert.equal(/^content-encoding: (.*?)\r?$/im.exec(head)?.[1] ?? "", { "/none": "identity", "/odd": "utf-8" }[target] ?? "", target);
    for (const coding of ["gzip", "br", "zstd"]) {
      const { body: packed, head: fields } = await get(target, "curl/8", `Accept-Encoding: ${coding}\r\n`);
      if (target === "/none" || target === "/odd") continue;
      assert.match(fields, new RegExp(`^content-encoding: ${coding}\r?$`, "im"), target);
      assert.equal(unpacked(coding, packed), SHORT, `${target} ${coding}`);
    }
  }
  assert.equal(unpacked("gzip", (await get("/gzip")).body), PAGE, "other visitors get it as it is");
  const { head, body } = await get("/gzip", "curl/8", "", "HEAD");
  assert.equal(body, "");
  assert.doesNotMatch(head, /^content-(?:encoding|length):/im);
});

test("a long packed page leaves in the pace of its reader, in order", async () => {
  choose({ server_side_exclude: true });
  const expected = LINES.replaceAll(/<!--sse-->.*?<!--\/sse-->/g, "");
  assert.ok((await get("/lines", "curl/8")).body === expected);
  assert.ok(unpacked("gzip", (await get("/lines", "curl/8", "Accept-Encoding: gzip\r\n")).body) === expected);
});

test("a packed page that cannot be read whole, or not within the bounds, is not shown at all", async () => {
  choose({ server_side_exclude: true });
  for (const target of ["/damaged", "/cut/gzip", "/cut/br", "/cut/zstd", "/plain", "/bomb", "/bombs", "/three"]) {
    const { status, body } = await get(target, "curl/8");
    assert.equal(status, 520, target);
    assert.doesNotMatch(body, /mail@example|secret/, target);
  }
  assert.equal((await get("/long", "curl/8")).status, 503);
  assert.equal((await get("/gzip", "curl/8")).body, SHORT, "and their memory is free again");
});

test("pages from the cache too, by visitor", async () => {
  choose({ server_side_exclude: true });
  await get("/cached");
  for (let turn = 0; turn < 3; turn++) {
    assert.equal((await get("/cached")).body, PAGE);
    assert.equal((await get("/cached", "curl/8", "Range: bytes=20-30\r\n")).body, SHORT);
  }
});

test("marks are found wherever a page is cut into pieces", () => {
  const parts = fc.array(fc.constantFrom("<!--sse-->", "<!--/sse-->", "<!--", "<!--ss", "-->", "<", "!", "text", "ü"), { maxLength: 30 });
  fc.assert(
    fc.property(parts, fc.array(fc.nat({ max: 12 }), { minLength: 1, maxLength: 40 }), (given, lengths) => {
      const page = Buffer.from(given.join(""));
      const kept: Buffer[] = [];
      const excluded = new ExcludedParts();
      for (let at = 0, turn = 0; at < page.length; turn++) {
        const end = at + (lengths[turn % lengths.length] ?? 1) + 1;
        // The sender uses its buffer again.
        const piece = Buffer.from(page.subarray(at, end));
        excluded.take(piece, (part) => kept.push(Buffer.from(part)));
        piece.fill(0);
        at = end;
      }
      kept.push(excluded.rest());
      const [first = "", ...others] = page.toString().split("<!--sse-->");
      // A mark within a part that is left out means nothing.
      let expected = first;
      for (const text of others) {
        const end = text.indexOf("<!--/sse-->");
        if (end >= 0) expected += text.slice(end + "<!--/sse-->".length);
      }
      assert.equal(Buffer.concat(kept).toString(), expected);
    }),
  );
});

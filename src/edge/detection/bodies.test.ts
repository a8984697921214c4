import assert from "node:assert/strict";
import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { get, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { test, type TestContext } from "node:test";
import { MessageChannel } from "node:worker_threads";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { type FixedClock, fixedClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import type { SecurityEventRow } from "#events/rows/rows.ts";
import { createValueHash } from "#rules/detectors/engine/value-hash.ts";
import { SENSITIVE_DATA_RULESET_ID } from "#rules/managed/rulesets.ts";
import { httpOrigin, siteOps, startEdge } from "#edge/testing/edge.ts";
import { rulesetOp } from "#edge/testing/entries.ts";
import { createDetector } from "./detector.ts";
import { SCANNED_BYTES_MAX } from "./scan-plan.ts";
import { createBodyTee } from "./body-tee.ts";
import { eventually, settled } from "../../../test/support/eventually.ts";

const CARD = "4716461583322103";
const PAGE = Buffer.from(`<p>${CARD}</p>`);
const OTHER = Buffer.from("<p>5398228707871527</p>");
const { concat } = Buffer;

interface Site {
  readonly clock: FixedClock;
  readonly rows: SecurityEventRow[];
  metric(name: string): number;
  /** Reads the whole response. */
  fetch(path: string, method?: string): Promise<IncomingMessage>;
  /** Resolves when the head of the response has come. */
  open(path: string): Promise<IncomingMessage>;
}

/** Origin, edge and detector, all in one thread. */
async function site(t: TestContext, answer: RequestListener): Promise<Site> {
  const origin = await httpOrigin(answer);
  const { port1, port2 } = new MessageChannel();
  const metrics = createMetrics();
  const clock = fixedClock(1_700_000_000_000);
  const rows: SecurityEventRow[] = [];
  const detector = createDetector({
    ...{ clock, metrics, pollMs: 1 },
    events: { push: (_table, row) => void rows.push(row as SecurityEventRow) },
    policies: () => undefined,
    valueHash: createValueHash(Buffer.alloc(32, 1)),
  });
  detector.attach(port2);
  const tap = createBodyTee({ port: port1, metrics });
  const scan = { action: "execute", expression: "true", action_parameters: { id: SENSITIVE_DATA_RULESET_ID } };
  const ops = [...siteOps(origin.port), rulesetOp("scan", "zone", "zone", "http_response_firewall_managed", [scan])];
  const edge = await startEdge(ops, { tap });
  t.after(async () => {
    origin.close();
    await edge.close();
    tap.close();
    detector.close();
  });
  const open = async (path: string, method = "GET"): Promise<IncomingMessage> => {
    const request = get({ ...{ port: edge.http, path, method, host: "127.0.0.1", agent: false }, headers: { host: "www.example.com" } });
    const [response] = (await once(request, "response")) as [IncomingMessage];
    response.on("error", () => undefined);
    return response;
  };
  const fetch = async (path: string, method?: string): Promise<IncomingMessage> => {
    const response = await open(path, method);
    response.resume();
    if (!response.complete) await once(response, "close");
    return response;
  };
  const metric = (name: string): number => metrics.samples().find((sample) => sample.name === name)?.value ?? 0;
  return { clock, rows, metric, fetch, open };
}

interface Body {
  readonly bytes: Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  readonly status?: number;
  readonly found: readonly string[];
}

const BOTH = ["fin.card_mastercard", "fin.card_visa"];
const VISA = ["fin.card_visa"];
const coded = (coding: string) => ({ "content-encoding": coding });
const garbage = Buffer.from([0xff, 1, 2, 3, 0xfe, 5, 6, 7, 8]);
const skipped = concat([Buffer.from("502a4d1803000000", "hex"), Buffer.from("xyz")]);
const noise = randomBytes(3000);
const utf32le = (text: string): Buffer => Buffer.from(Uint32Array.from([...text], (char) => char.codePointAt(0) ?? 0).buffer);

/** Overwrites some bytes, far behind the page at its beginning. */
function damaged(packed: Buffer): Buffer {
  const bytes = Buffer.from(packed);
  return Buffer.from(bytes.fill(0xff, bytes.length - 400, bytes.length - 300));
}

function wrongSum(packed: Buffer): Buffer {
  const bytes = Buffer.from(packed);
  bytes[bytes.length - 5] = (bytes[bytes.length - 5] ?? 0) ^ 1;
  return bytes;
}

const multipart = (subtype: string, part: string, body = PAGE.toString()) => ({
  bytes: Buffer.from(`--cut\r\n${part}\r\n\r\n${body}\r\n--cut--\r\n`),
  headers: { "content-type": `multipart/${subtype}; boundary=cut` },
  found: VISA,
});

const BODIES: Readonly<Record<string, Body>> = {
  "two gzip members": { bytes: concat([gzipSync(PAGE), gzipSync(OTHER)]), headers: coded("gzip"), found: BOTH },
  "garbage behind a gzip member": { bytes: concat([gzipSync(PAGE), garbage]), headers: coded("gzip"), found: VISA },
  "zeros behind a gzip member": { bytes: concat([gzipSync(PAGE), Buffer.alloc(99)]), headers: coded("gzip"), found: VISA },
  "half a second gzip member": { bytes: concat([gzipSync(PAGE), gzipSync(OTHER).subarray(0, 6)]), headers: coded("gzip"), found: VISA },
  "a gzip member with a wrong checksum": { bytes: wrongSum(gzipSync(PAGE)), headers: coded("gzip"), found: VISA },
  "damaged gzip": { bytes: damaged(gzipSync(concat([PAGE, noise]))), headers: coded("gzip"), found: VISA },
  "two zstd frames": { bytes: concat([zstdCompressSync(PAGE), zstdCompressSync(OTHER)]), headers: coded("zstd"), found: BOTH },
  "skippable zstd frames": {
    bytes: concat([skipped, skipped, zstdCompressSync(PAGE), skipped, zstdCompressSync(OTHER), skipped]),
    headers: coded("zstd"),
    found: BOTH,
  },
  "garbage behind a zstd frame": { bytes: concat([zstdCompressSync(PAGE), garbage]), headers: coded("zstd"), found: VISA },
  "garbage behind brotli": { bytes: concat([brotliCompressSync(PAGE), garbage]), headers: coded("br"), found: VISA },
  "garbage behind deflate": { bytes: concat([deflateSync(PAGE), garbage]), headers: coded("deflate"), found: VISA },
  "garbage behind raw deflate": { bytes: concat([deflateRawSync(PAGE), garbage]), headers: coded("deflate"), found: VISA },
  "a wrong checksum of deflate": { bytes: wrongSum(deflateSync(PAGE)), headers: coded("deflate"), found: VISA },
  "damaged gzip within brotli": {
    bytes: brotliCompressSync(concat([gzipSync(PAGE), garbage])),
    headers: coded("gzip, br"),
    found: VISA,
  },
  "text that is called gzip": { bytes: PAGE, headers: coded("gzip"), found: VISA },
  "text that is called zstd": { bytes: PAGE, headers: coded("zstd"), found: VISA },
  "text that is called brotli": { bytes: PAGE, headers: coded("br"), found: VISA },
  "text that is called deflate": { bytes: PAGE, headers: coded("deflate"), found: VISA },
  "gzip that is not called so": { bytes: gzipSync(PAGE), found: VISA },
  "zstd that is not called so": { bytes: zstdCompressSync(PAGE), found: VISA },
  "UTF-32 with a mark": { bytes: utf32le(`\ufeff${PAGE.toString()}`), found: VISA },
  "UTF-32, big end first, with a mark": { bytes: utf32le(`\ufeff${PAGE.toString()}`).swap32(), found: VISA },
  "UTF-32 by its name": { bytes: utf32le(`é${PAGE.toString()}`), headers: { "content-type": "text/html; charset=UTF-32LE" }, found: VISA },
  "UTF-32 of no type": { bytes: utf32le(`\ufeff${PAGE.toString()}`).swap32(), headers: { "content-type": "" }, found: VISA },
  "UTF-16 with a mark alone": { bytes: Buffer.from(`\ufeff${PAGE.toString()}`, "utf16le").swap16(), found: VISA },
  "parts of a form": multipart("form-data", 'Content-Disposition: form-data; name="page"'),
  "parts of several types": multipart("mixed", "Content-Type: text/html"),
  "parts in base64": multipart("mixed", "Content-Type: text/html\r\nContent-Transfer-Encoding: base64", PAGE.toString("base64")),
  "parts in quoted-printable": multipart("related", "Content-Transfer-Encoding: quoted-printable", "<p>471646=\r\n158332=32103"),
  "several ranges": { ...multipart("byteranges", "Content-Type: text/html\r\nContent-Range: bytes 0-22/23"), status: 206 },
  "one range": { bytes: PAGE, headers: { "content-range": `bytes 100-${99 + PAGE.length}/900` }, status: 206, found: VISA },
};

test("the detector finds data in every body that a client can decode, also with damage or extra bytes", async (t) => {
  const names = Object.keys(BODIES);
  const all = await site(t, (request, response) => {
    const { bytes, headers, status } = BODIES[names[Number(request.url?.slice(1))] ?? ""]!;
    response.writeHead(status ?? 200, { "content-type": "text/html", ...headers, "content-length": bytes.length }).end(bytes);
  });
  for (const index of names.keys()) await all.fetch(`/${index}`);
  await eventually(() => all.metric("selvedge_detection_scanned_total") === names.length);
  const found = names.map((name, index) => [
    name,
    all.rows.filter(({ path }) => path === `/${index}`).flatMap(({ matches }) => matches.map(({ detector }) => detector).sort()),
  ]);
  assert.deepEqual(
    found,
    names.map((name) => [name, BODIES[name]?.found]),
  );
});

test("the detector releases the decoders of damaged bodies", async (t) => {
  const bytes = concat([gzipSync(Buffer.alloc(900)), Buffer.alloc(700_000, 0x81)]);
  const all = await site(t, (request, response) => {
    const isPage = request.url === "/page";
    response.writeHead(200, { "content-type": "text/html", ...(isPage ? {} : coded("gzip")) }).end(isPage ? PAGE : bytes);
  });
  // Several times the number of bodies that may wait for decoders.
  for (let i = 1; i <= 20; i++) {
    await all.fetch("/");
    await eventually(() => all.metric("selvedge_detection_scanned_total") === i);
  }
  await all.fetch("/page");
  await eventually(() => all.rows.length === 1);
});

test("responses without a body are not counted", async (t) => {
  const all = await site(t, (request, response) => {
    const status = Number(request.url?.slice(1));
    response.writeHead(status, { "content-type": "text/html", ...(status === 200 ? { "content-length": PAGE.length } : {}) }).end();
  });
  await all.fetch("/204");
  await all.fetch("/304");
  await all.fetch("/200", "HEAD");
  assert.equal(all.metric("selvedge_detection_responses_total"), 0);
});

test("SPEC 6: an endless stream makes one event after 30 seconds", async (t) => {
  const streams: ServerResponse[] = [];
  const all = await site(t, (request, response) => {
    response.writeHead(200, { "content-type": "text/event-stream", ...(request.url === "/packed" ? coded("gzip") : {}) });
    response.write(request.url === "/packed" ? gzipSync(PAGE) : `data: ${request.url === "/late" ? "-" : CARD}\n\n`);
    streams.push(response);
  });
  const visitors = [await all.open("/found"), await all.open("/packed"), await all.open("/late")];
  for (const visitor of visitors) visitor.resume();
  // Their time begins when the detector starts on them.
  await eventually(() => all.metric("selvedge_detection_responses_total") === visitors.length);
  await settled(200);
  const paths = () => all.rows.map(({ path }) => path).sort();
  all.clock.advance(29_000);
  await new Promise((resolve) => setTimeout(resolve, 2500));
  assert.deepEqual(paths(), [], "not yet");
  all.clock.advance(2000);
  await eventually(() => all.rows.length === 2);
  assert.deepEqual(paths(), ["/found", "/packed"]);
  // The beginning of a number may belong to a longer one.
  streams[2]?.write(`data: ${CARD}`);
  await new Promise((resolve) => setTimeout(resolve, 2500));
  assert.equal(all.rows.length, 2);
  streams[2]?.write("\n\n");
  await eventually(() => all.rows.length === 3);
  for (const stream of streams) stream.end(`data: 5398228707871527\n\n`);
  await eventually(() => visitors.every(({ complete }) => complete));
  assert.deepEqual(paths(), ["/found", "/late", "/packed"]);
  assert.deepEqual(
    all.rows.map((row) => [row.scan_limited, row.matches.length]),
    [
      [true, 1],
      [true, 1],
      [true, 1],
    ],
  );
});

test("the detector ignores a number that the size limit cuts", async (t) => {
  const filler = (text: string, kept: number) => concat([Buffer.alloc(SCANNED_BYTES_MAX - kept, " "), Buffer.from(text)]);
  const bodies: readonly (readonly [bytes: Buffer, found: number])[] = [
    [filler(`${CARD}123</p>`, CARD.length), 0],
    [filler(`${CARD}</p>`, CARD.length + 1), 1],
    [filler("4716 4615 8332 2103 123 ", 20), 0],
    [filler(`${CARD} or`, 19), 1],
    [filler(`${CARD}`, CARD.length + 20), 1],
    [filler(`${CARD}`, CARD.length), 1],
  ];
  const all = await site(t, (request, response) => {
    const isPacked = request.url?.endsWith("z") === true;
    const [bytes] = bodies[Number.parseInt(request.url?.slice(1) ?? "", 10)]!;
    response.writeHead(200, { "content-type": "text/html", ...(isPacked ? coded("gzip") : {}) }).end(isPacked ? gzipSync(bytes) : bytes);
  });
  let scanned = 0;
  for (const [index, [, found]] of bodies.entries()) {
    for (const path of [`/${index}`, `/${index}z`]) {
      await all.fetch(path);
      scanned++;
      await eventually(() => all.metric("selvedge_detection_scanned_total") === scanned);
      assert.equal(all.rows.filter((row) => row.path === path).length, found, path);
    }
  }
});

/** Longer numbers that contain a card's number; the last one has the maximal length, so that a piece of it is shorter. */
const LONGER = `<p>${CARD}0</p> <p>472${CARD}</p> <p>${CARD}</p>`;

test("the detector ignores a number that the start or end of a range cuts", async (t) => {
  const all = await site(t, (request, response) => {
    const [from = 0, to = 0] = (request.url?.slice(1) ?? "").split("-").map(Number);
    const headers = { "content-type": "text/html", "content-range": `bytes ${from}-${to - 1}/${LONGER.length}` };
    response.writeHead(206, headers).end(LONGER.slice(from, to));
  });
  const second = LONGER.indexOf(`472${CARD}`);
  const third = LONGER.lastIndexOf(CARD);
  const ranges: readonly (readonly [from: number, to: number, offset: number | null])[] = [
    [0, LONGER.length, third],
    [0, "<p>".length + CARD.length, null],
    [0, "<p>".length + CARD.length + 1, null],
    [second + 3, second + 3 + CARD.length + 4, null],
    [second + 3, LONGER.length, third - second - 3],
    [third, LONGER.length, null],
    [third - 1, LONGER.length, 1],
    [third - 1, third + CARD.length, null],
    [third - 1, third + CARD.length + 1, 1],
  ];
  for (const [index, [from, to, offset]] of ranges.entries()) {
    await all.fetch(`/${from}-${to}`);
    await eventually(() => all.metric("selvedge_detection_scanned_total") === index + 1);
    const row = all.rows.find(({ path }) => path === `/${from}-${to}`);
    assert.equal(row?.matches[0]?.offset ?? null, offset, `${from}-${to}`);
  }
});

test("the detector ignores a number in which the origin or the client disconnects, and finds the data before it", async (t) => {
  const begun: ServerResponse[] = [];
  let sent = "";
  const all = await site(t, (request, response) => {
    const [, who] = request.url?.split("/") ?? [];
    const more = { length: { "content-length": 1000 }, kept: { "content-length": 1000, "cache-control": "public, max-age=60" } };
    response.writeHead(200, { "content-type": "text/html", ...more[who as keyof typeof more] }).write(sent);
    begun.push(response);
  });
  let scanned = 0;
  const found = async (who: "length" | "kept" | "chunks" | "visitor", text: string): Promise<number> => {
    // A kind that is cached.
    const path = `/${who}/${scanned}.js`;
    sent = text;
    const visitor = await all.open(path);
    await once(visitor, "data");
    if (who === "visitor") visitor.destroy();
    else begun.at(-1)?.destroy();
    await eventually(() => all.metric("selvedge_detection_scanned_total") === scanned + 1);
    scanned++;
    return all.rows.filter((row) => row.path === path).length;
  };
  for (const who of ["length", "kept", "chunks", "visitor"] as const) {
    assert.equal(await found(who, `<p>${CARD}`), 0, who);
    assert.equal(await found(who, `<p>${CARD} `), 0, who);
    assert.equal(await found(who, `<p>${CARD}<`), 1, who);
    assert.equal(await found(who, `<p>${CARD}</p><p>${CARD}`), 1, who);
  }
});

test("an event reports whether the detector scanned the whole response", async (t) => {
  const long = concat([PAGE, Buffer.alloc(SCANNED_BYTES_MAX, " ")]);
  const numbers = concat([PAGE, Buffer.from("4716461583322104 ".repeat(20_000))]);
  const frames = concat([zstdCompressSync(PAGE), ...Array.from({ length: 300 }, () => zstdCompressSync("x"))]);
  const few = concat([zstdCompressSync("x"), zstdCompressSync(PAGE), zstdCompressSync("x")]);
  const bodies: readonly (readonly [name: string, bytes: Buffer, isLimited: boolean, headers?: Readonly<Record<string, string>>])[] = [
    ["a page", PAGE, false],
    ["a packed page", gzipSync(PAGE), false, coded("gzip")],
    ["almost a MiB", long.subarray(0, SCANNED_BYTES_MAX - 1), false],
    ["a MiB", long.subarray(0, SCANNED_BYTES_MAX), false],
    ["a MiB, packed twice", gzipSync(brotliCompressSync(long.subarray(0, SCANNED_BYTES_MAX))), false, coded("br, gzip")],
    ["a byte more than a MiB", long.subarray(0, SCANNED_BYTES_MAX + 1), true],
    ["a byte more than a MiB, packed", gzipSync(long.subarray(0, SCANNED_BYTES_MAX + 1)), true, coded("gzip")],
    ["more than a MiB", long, true],
    ["more than a MiB, packed", brotliCompressSync(long), true, coded("br")],
    ["more than a MiB, packed twice", gzipSync(brotliCompressSync(long)), true, coded("br, gzip")],
    ["damage", damaged(gzipSync(concat([PAGE, noise]))), true, coded("gzip")],
    ["frames", few, false, coded("zstd")],
    ["too many frames", frames, true, coded("zstd")],
    ["too many numbers", numbers, true],
    ["a range", PAGE, false, { "content-range": `bytes 100-${99 + PAGE.length}/900` }],
  ];
  const all = await site(t, (request, response) => {
    const [, bytes, , headers] = bodies[Number(request.url?.slice(1))]!;
    response.writeHead(headers?.["content-range"] === undefined ? 200 : 206, { "content-type": "text/html", ...headers }).end(bytes);
  });
  for (const index of bodies.keys()) await all.fetch(`/${index}`);
  await eventually(() => all.metric("selvedge_detection_scanned_total") === bodies.length);
  assert.deepEqual(
    bodies.map(([name], index) => [name, all.rows.find(({ path }) => path === `/${index}`)?.scan_limited]),
    bodies.map(([name, , isLimited]) => [name, isLimited]),
  );
});

test("the detector scans all zstd frames, however they arrive", async (t) => {
  const all = await site(t, (request, response) => {
    response.writeHead(200, { "content-type": "text/html", ...coded("zstd") });
    const frames = ["x", "y", request.url ?? "", PAGE].map((text) => zstdCompressSync(text));
    const next = (): void => {
      const frame = frames.shift();
      if (frame === undefined) response.end();
      else response.write(frame, () => setTimeout(next, 30));
    };
    next();
  });
  await all.fetch("/");
  await eventually(() => all.rows.length === 1);
  assert.equal(all.rows[0]?.scan_limited, false);
});

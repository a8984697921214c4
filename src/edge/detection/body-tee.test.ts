import assert from "node:assert/strict";
import { test, type TestContext } from "node:test";
import { MessageChannel, receiveMessageOnPort } from "node:worker_threads";
import { brotliCompressSync, deflateRawSync, deflateSync, gzipSync, zstdCompressSync } from "node:zlib";
import { type Clock, fixedClock } from "#kernel/clock.ts";
import { newEnvelopeKeys, openEnvelope } from "#kernel/crypto/envelope.ts";
import { createMetrics, type MetricRegistry } from "#kernel/process/metrics.ts";
import type { SecurityEventRow } from "#events/rows/rows.ts";
import { executeManaged, SENSITIVE_DATA_RULESET_ID } from "#rules/managed/rulesets.ts";
import { DETECTORS_BY_ID } from "#rules/detectors/catalog/table.ts";
import { createValueHash } from "#rules/detectors/engine/value-hash.ts";
import type { DetectionEntry } from "#snapshot/entries.ts";
import { createDetector } from "./detector.ts";
import { SCANNED_BYTES_MAX, type ScanSubject, type TeeMessage } from "./scan-plan.ts";
import { createRingReader } from "./ring.ts";
import { createBodyTee, type BodyTee, type BodyTeeDeps } from "./body-tee.ts";
import { beginTest, testSubject } from "#edge/testing/subject.ts";
import { eventually, settled } from "../../../test/support/eventually.ts";

const CARD = "4716461583322103";
const VISA = DETECTORS_BY_ID.get("fin.card_visa")!;
const PAGE = Buffer.from(`<p>${CARD}</p>`);

interface Bench {
  readonly tap: BodyTee;
  readonly rows: SecurityEventRow[];
  readonly metrics: MetricRegistry;
  /** Bytes that the detector has read. */
  readBytes(): number;
  /** Resolves when so many responses were scanned. */
  scanned(count: number): Promise<void>;
}

/** A tap and a detector on one thread, over a real channel. */
function bench(
  t: TestContext,
  options: Partial<BodyTeeDeps> = {},
  policy?: DetectionEntry,
  ofAccount?: DetectionEntry,
  clock: Clock = fixedClock(1_700_000_000_000),
  cpuMs?: () => number,
): Bench {
  const { port1, port2 } = new MessageChannel();
  const metrics = createMetrics();
  const rows: SecurityEventRow[] = [];
  const detector = createDetector({
    events: { push: (_table, row) => void rows.push(row as SecurityEventRow) },
    clock,
    metrics,
    policies: (id) => (id === testSubject().account_id ? ofAccount : policy),
    valueHash: createValueHash(Buffer.alloc(32, 1)),
    pollMs: 1,
    ...(cpuMs ? { cpuMs } : {}),
  });
  detector.attach(port2);
  const tap = createBodyTee({ port: port1, metrics, ...options });
  t.after(() => {
    tap.close();
    detector.close();
  });
  const scanned = (count: number): Promise<void> => eventually(() => value(metrics, "selvedge_detection_scanned_total") >= count);
  return { tap, rows, metrics, readBytes: detector.readBytes, scanned };
}

const value = (metrics: MetricRegistry, name: string): number => metrics.samples().find((sample) => sample.name === name)?.value ?? 0;

function send(tap: BodyTee, body: Uint8Array, changes: Parameters<typeof testSubject>[0] = {}, pieceBytes = 1000): void {
  const tapped = beginTest(tap, changes);
  assert.ok(tapped);
  for (let at = 0; at < body.length; at += pieceBytes) tapped.chunk(body, at, Math.min(at + pieceBytes, body.length));
  tapped.end();
}

test("SPEC 8.6: the tee copies only text, HTML, JSON and XML in known codings", (t) => {
  const { tap, metrics } = bench(t);
  const texts = ["text/html", "text/plain", "text/csv", "application/javascript", "application/yaml", "application/x-www-form-urlencoded"];
  const others = ["application/ecmascript", "application/x-pem-file", "application/csv", "application/x-sql"];
  const json = ["application/json", "application/problem+json", "application/jsonl", "application/x-ndjson", "application/ndjson"];
  const more = ["application/jsonlines", "application/x-json", "application/geo+json-seq", "model/gltf+json"];
  const xml = ["application/xml", "application/xhtml+xml", "image/svg+xml", "application/xml-external-parsed-entity"];
  for (const content_type of [...texts, ...others, ...json, ...more, ...xml, "multipart/mixed", "", "nonsense", "*/*", "unknown/unknown"])
    assert.notEqual(beginTest(tap, { content_type }), null, content_type);
  for (const content_type of [
    "image/png",
    "application/octet-stream",
    "video/mp4",
    "application/pdf",
    "texty/html",
    "multipart/x-mixed-replace",
  ])
    assert.equal(beginTest(tap, { content_type }), null, content_type);
  for (const content_encoding of ["exi", "gzip, compress", "gzip,gzip,gzip,gzip"]) assert.equal(beginTest(tap, { content_encoding }), null);
  assert.equal(value(metrics, "selvedge_detection_unknown_coding_total"), 3);
});

test("the detector reports how many bytes it has read, and reads nothing from an empty ring", async (t) => {
  const { tap, scanned, readBytes } = bench(t);
  assert.equal(readBytes(), 0);
  send(tap, PAGE);
  await scanned(1);
  const once = readBytes();
  assert.ok(once >= PAGE.length, `${once}`);
  await settled();
  assert.equal(readBytes(), once);
});

test("a machine that leaves the detector little time delays the few bodies of an account, and drops none", async (t) => {
  const clock = fixedClock(1_700_000_000_000);
  const slow: Clock = { ...clock, monotonicMs: () => (clock.advance(3_000), clock.monotonicMs()) };
  const { tap, rows, metrics } = bench(t, {}, undefined, undefined, slow);
  for (let body = 0; body < 4; body++) send(tap, PAGE, { ray_id: `ray ${body}` });
  await eventually(() => value(metrics, "selvedge_detection_scanned_total") + value(metrics, "selvedge_detection_shed_total") >= 4);
  assert.equal(rows.length, 4);
});

test("the detector scans a body without a Content-Type if it starts like text", async (t) => {
  const { tap, rows, scanned } = bench(t);
  const utf16 = Buffer.concat([Buffer.from([0xff, 0xfe]), Buffer.from(PAGE.toString(), "utf16le")]);
  const image = Buffer.concat([Buffer.from("89504e470d0a1a0a0000000d", "hex"), PAGE]);
  for (const [ray_id, body] of Object.entries({ page: PAGE, utf16, image, packed: PAGE }))
    if (ray_id === "packed") send(tap, gzipSync(body), { ray_id, content_type: "", content_encoding: "gzip" }, 3);
    else send(tap, body, { ray_id, content_type: "" }, 1000);
  for (const [ray_id, body] of Object.entries({ any: PAGE, "any image": image })) send(tap, body, { ray_id, content_type: "*/*" });
  await scanned(6);
  assert.deepEqual(rows.map((row) => row.ray_id).sort(), ["any", "packed", "page", "utf16"]);
});

test("the detector decodes nested codings, each within the size limit, and does not decode unknown ones", async (t) => {
  const { tap, rows, scanned, metrics } = bench(t);
  const codings: readonly (readonly [string, Buffer])[] = [
    ["gzip, br", brotliCompressSync(gzipSync(PAGE))],
    ["deflate,GZIP , zstd", zstdCompressSync(gzipSync(deflateSync(PAGE)))],
    ["identity, gzip", gzipSync(PAGE)],
    ["utf-8", PAGE],
    ["aws-chunked", PAGE],
  ];
  for (const [content_encoding, bytes] of codings) send(tap, bytes, { content_encoding, ray_id: content_encoding }, 10);
  await scanned(codings.length);
  assert.deepEqual(rows.map((row) => row.ray_id).sort(), codings.map(([name]) => name).sort());
  const before = value(metrics, "selvedge_detection_scanned_bytes_total");
  send(tap, gzipSync(gzipSync(Buffer.alloc(256 * SCANNED_BYTES_MAX))), { content_encoding: "gzip, gzip" });
  await scanned(codings.length + 1);
  assert.equal(value(metrics, "selvedge_detection_scanned_bytes_total") - before, SCANNED_BYTES_MAX);
});

test("the detector keeps interleaved bodies apart", async (t) => {
  const { tap, rows, scanned } = bench(t);
  const bodies = [CARD, "nothing", "5398228707871527", "nothing either"].map((text) =>
    Buffer.from(`${"x ".repeat(100)}${text}${" y".repeat(100)}`),
  );
  const taps = bodies.map((_, index) => beginTest(tap, { ray_id: String(index) }));
  for (let at = 0; at < 500; at += 7)
    taps.forEach((one, index) =>
      one?.chunk(bodies[index] ?? PAGE, Math.min(at, bodies[index]?.length ?? 0), Math.min(at + 7, bodies[index]?.length ?? 0)),
    );
  for (const one of taps) one?.end();
  await scanned(4);
  assert.deepEqual(
    rows.map((row) => [row.ray_id, row.matches.map((match) => match.detector).join()]),
    [
      ["0", "fin.card_visa"],
      ["2", "fin.card_mastercard"],
    ],
  );
});

test("the detector decodes every known content coding, whole or truncated", async (t) => {
  const { tap, rows, scanned } = bench(t);
  const body = Buffer.from(`${CARD} ${"filler text ".repeat(2000)}`);
  const codings: readonly (readonly [string, Buffer])[] = [
    ["gzip", gzipSync(body)],
    ["X-Gzip", gzipSync(body)],
    ["br", brotliCompressSync(body)],
    ["deflate", deflateSync(body)],
    ["deflate", deflateRawSync(body)],
    ["zstd", zstdCompressSync(body)],
  ];
  for (const [content_encoding, bytes] of codings) send(tap, bytes, { content_encoding, ray_id: content_encoding }, 10);
  await scanned(codings.length);
  assert.deepEqual(rows.map((row) => row.ray_id).sort(), codings.map(([name]) => name).sort());
  // Incompressible text, so that half of the bytes are half of the text.
  const long = Buffer.from(`${CARD} ${Buffer.from(Array.from({ length: 40_000 }, (_, n) => (n * 7919) % 251)).toString("base64")}`);
  const cut = gzipSync(long);
  send(tap, cut.subarray(0, cut.length / 2), { content_encoding: "gzip", ray_id: "cut" });
  await scanned(codings.length + 1);
  assert.equal(rows.at(-1)?.ray_id, "cut");
});

test("damaged or empty encoded bodies end their scans", async (t) => {
  const { tap, rows, scanned } = bench(t);
  for (const content_encoding of ["gzip", "br", "deflate", "zstd"]) {
    send(tap, Buffer.from("this is not compressed at all"), { content_encoding });
    const empty = beginTest(tap, { content_encoding });
    empty?.chunk(Buffer.alloc(0), 0, 0);
    empty?.end();
  }
  await scanned(4);
  assert.deepEqual(rows, []);
});

test("damaged bodies do not stop the detector from scanning others", async (t) => {
  const { tap, rows, scanned } = bench(t);
  // More bodies of each coding than decoders may have waiting.
  const noise = Buffer.alloc(SCANNED_BYTES_MAX, 0x5a);
  const codings = ["gzip", "br", "deflate", "zstd", "gzip, zstd"];
  const bodies = codings.flatMap((content_encoding) => Array.from({ length: 6 }, () => content_encoding));
  for (const [sent, content_encoding] of bodies.entries()) {
    send(tap, noise, { content_encoding }, 65_536);
    await scanned(sent + 1);
  }
  send(tap, Buffer.concat([gzipSync("short"), noise]), { content_encoding: "gzip" }, 65_536);
  send(tap, gzipSync(PAGE), { content_encoding: "gzip", ray_id: "sound" });
  await scanned(bodies.length + 2);
  assert.deepEqual(
    rows.map((row) => row.ray_id),
    ["sound"],
  );
});

test("the detector decodes only a few compression bombs at a time, and scans all of them", async (t) => {
  const { tap, metrics, scanned } = bench(t);
  const bomb = zstdCompressSync(Buffer.alloc(SCANNED_BYTES_MAX));
  const before = process.memoryUsage().rss;
  let most = 0;
  const watch = setInterval(() => (most = Math.max(most, process.memoryUsage().rss - before)), 1);
  t.after(() => clearInterval(watch));
  for (let i = 0; i < 500; i++) send(tap, bomb, { content_encoding: "zstd" });
  await scanned(500);
  assert.equal(value(metrics, "selvedge_detection_scanned_bytes_total"), 500 * SCANNED_BYTES_MAX);
  assert.ok(most < 250 * 1024 * 1024, `${most} bytes for 500 bodies of 1 MiB`);
});

test("the detector sheds an account that keeps it busy for long while other accounts wait", async (t) => {
  const clock = fixedClock(1_700_000_000_000);
  // Each look at the clock takes a second.
  const slow: Clock = { ...clock, monotonicMs: () => (clock.advance(1000), clock.monotonicMs()) };
  let cpu = 0;
  const { tap, rows, metrics } = bench(t, {}, undefined, undefined, slow, () => (cpu += 100));
  for (let i = 0; i < 20; i++) send(tap, PAGE, { account_id: "d".repeat(32), ray_id: "much" });
  send(tap, PAGE, { ray_id: "other" });
  await eventually(() => rows.some(({ ray_id }) => ray_id === "other"));
  const scannedOfMuch = rows.filter(({ ray_id }) => ray_id === "much").length;
  const shed = value(metrics, "selvedge_detection_shed_total");
  assert.ok(scannedOfMuch > 0 && shed > 0, `${scannedOfMuch} and ${shed}`);
  assert.equal(scannedOfMuch + shed, 20);
  await eventually(() => {
    send(tap, PAGE, { account_id: "d".repeat(32), ray_id: "again" });
    return rows.some(({ ray_id }) => ray_id === "again");
  });
});

test("the detector scans all bodies of a constant stream as long as it keeps up, of one account or of several", async (t) => {
  const clock = fixedClock(1_700_000_000_000);
  // Each look at the clock takes 10 ms, so that the bodies below take longer than a burst may.
  const slow: Clock = { ...clock, monotonicMs: () => (clock.advance(10), clock.monotonicMs()) };
  let cpu = 0;
  const { tap, metrics } = bench(t, {}, undefined, undefined, slow, () => (cpu += 10));
  const done = (): number => value(metrics, "selvedge_detection_scanned_total") + value(metrics, "selvedge_detection_shed_total");
  const bodies = 1000;
  for (let i = 0; i < bodies; i++) {
    send(tap, i % 2 === 0 ? PAGE : gzipSync(PAGE), { content_encoding: i % 2 === 0 ? "" : "gzip" });
    // The next body comes as soon as at most two are left, so that one is always waiting.
    await eventually(() => i + 1 - done() <= 2, 0);
  }
  await eventually(() => done() === bodies);
  assert.equal(value(metrics, "selvedge_detection_shed_total"), 0);
});

test("SPEC 8.6: the detector scans at most 1 MiB of a body, before and after decoding", async (t) => {
  const { tap, rows, scanned, metrics } = bench(t);
  const beyond = Buffer.concat([Buffer.alloc(SCANNED_BYTES_MAX, " "), PAGE]);
  send(tap, beyond, {}, 65_536);
  send(tap, gzipSync(beyond), { content_encoding: "gzip" });
  await scanned(2);
  assert.deepEqual(rows, []);
  assert.equal(value(metrics, "selvedge_detection_scanned_bytes_total"), 2 * SCANNED_BYTES_MAX);
  send(tap, gzipSync(Buffer.alloc(64 * SCANNED_BYTES_MAX)), { content_encoding: "gzip" });
  await scanned(3);
  assert.equal(value(metrics, "selvedge_detection_scanned_bytes_total"), 3 * SCANNED_BYTES_MAX);
});

test("a full ring sheds bodies and counts them, and accepts bodies again after the detector has read", async (t) => {
  const { tap, rows, scanned, readBytes, metrics } = bench(t, { ringBytes: 2048, jobsMax: 1 });
  const tapped = beginTest(tap);
  tapped?.chunk(Buffer.alloc(1000, " "), 0, 1000);
  tapped?.chunk(Buffer.alloc(1000, " "), 0, 1000);
  assert.equal(value(metrics, "selvedge_detection_shed_total"), 1, "cut short");
  assert.equal(beginTest(tap), null);
  assert.equal(value(metrics, "selvedge_detection_shed_total"), 2);
  await eventually(() => readBytes() > 0);
  send(tap, PAGE);
  await scanned(1);
  assert.equal(rows.length, 1);
});

test("every response with a body is counted once, as scanned or as shed", async (t) => {
  const clock = fixedClock(1_700_000_000_000);
  const { tap, metrics, rows, scanned } = bench(t, { ringBytes: 64 * 1024, jobsMax: 2 }, undefined, undefined, clock);
  const sums = (): readonly number[] => ["responses", "scanned", "shed"].map((name) => value(metrics, `selvedge_detection_${name}_total`));
  // Two are cut short for others: one that was reported already, and one whose decoder has not finished.
  const open = ["told", "packed", "1", "2"].map((ray_id) => {
    const tapped = beginTest(tap, { ray_id, content_encoding: ray_id === "packed" ? "gzip" : "" });
    const bytes = ray_id === "packed" ? gzipSync(PAGE).subarray(0, 20) : PAGE;
    return { tapped, bytes };
  });
  open[0]?.tapped?.chunk(PAGE, 0, PAGE.length);
  await settled();
  clock.advance(40_000);
  await eventually(() => rows.length === 1);
  for (const { tapped, bytes } of open.slice(1)) tapped?.chunk(bytes, 0, bytes.length);
  // A missing body, an empty one, one in a single piece, and one that is too long for the ring.
  beginTest(tap)?.end();
  beginTest(tap)?.last(PAGE, 0, 0);
  beginTest(tap)?.abort();
  beginTest(tap)?.last(PAGE, 0, PAGE.length);
  beginTest(tap)?.last(Buffer.alloc(100_000, " "), 0, 100_000);
  for (const { tapped } of open) tapped?.end();
  await scanned(3);
  await settled();
  assert.deepEqual(sums(), [6, 3, 3]);
  beginTest(tap)?.chunk(PAGE, 0, PAGE.length);
  tap.reconnect(new MessageChannel().port1);
  assert.deepEqual(sums(), [7, 3, 4]);
});

test("if all places are taken, a new body takes the place of the oldest one", async (t) => {
  const { tap, rows } = bench(t, { jobsMax: 2 });
  const endless = beginTest(tap, { ray_id: "endless" });
  endless?.chunk(PAGE, 0, PAGE.length);
  for (const ray_id of ["1", "2"]) beginTest(tap, { ray_id })?.chunk(PAGE, 0, PAGE.length);
  await eventually(() => rows.length > 0);
  assert.deepEqual(
    rows.map((row) => row.ray_id),
    ["endless"],
  );
  endless?.chunk(PAGE, 0, PAGE.length);
  endless?.end();
});

test("the detector scans the received part of an aborted response, and closing the tee ends all other scans", async (t) => {
  const { tap, rows, scanned } = bench(t);
  for (const ray_id of ["broken", "open"]) {
    const tapped = beginTest(tap, { ray_id });
    tapped?.chunk(PAGE, 0, PAGE.length);
    if (ray_id === "broken") tapped?.abort();
  }
  tap.close();
  await scanned(2);
  assert.deepEqual(
    rows.map((row) => row.ray_id),
    ["broken", "open"],
  );
  assert.equal(beginTest(tap), null);
});

test("SPEC 4.5: only rules that overrides leave enabled make events", async (t) => {
  const { tap, rows, scanned } = bench(t);
  const managed = executeManaged({ id: SENSITIVE_DATA_RULESET_ID, overrides: { categories: [{ category: "financial", enabled: false }] } });
  send(tap, Buffer.from(`${CARD} AKIA4QYHJT3NWBKLD2PX`), { enabled: managed?.enabled ?? "" });
  send(tap, PAGE, { enabled: "0" });
  await scanned(2);
  assert.deepEqual(
    rows.map((row) => row.matches.map((match) => match.detector)),
    [["secret.aws_access_key_id"]],
  );
});

test("SPEC 8.6: the detector scans a body in another charset as text, compressed or not", async (t) => {
  const { tap, rows, scanned } = bench(t);
  const page = Buffer.from(`\ufeffé ${CARD}`, "utf16le");
  send(tap, page, { ray_id: "plain" }, 3);
  send(tap, gzipSync(page), { ray_id: "gzip", content_encoding: "gzip" }, 5);
  send(tap, page.subarray(2), { ray_id: "named", charset: "utf-16le" }, 1);
  await scanned(3);
  assert.deepEqual(rows.map((row) => [row.ray_id, row.matches[0]?.detector, row.matches[0]?.offset]).sort(), [
    ["gzip", "fin.card_visa", 3],
    ["named", "fin.card_visa", 3],
    ["plain", "fin.card_visa", 3],
  ]);
});

test("an event masks detected data in the request's path and query", async (t) => {
  const { tap, rows, scanned } = bench(t);
  send(tap, PAGE, { path: `/cards/${CARD}`, query: "n=4716%204615%208332+2103&x=1", user_agent: "test/1" });
  await scanned(1);
  assert.deepEqual(
    rows.map(({ path, query, user_agent }) => [path, query, user_agent]),
    [["/cards/[masked]", "n=[masked]&x=1", "test/1"]],
  );
});

test("an event has the JSON path of a match in any coding, and masks keys that are sensitive themselves", async (t) => {
  const { tap, rows, scanned } = bench(t);
  const json = JSON.stringify({
    users: [{ name: "a" }, { name: "b", "full name": CARD }],
    [CARD]: { iban: "DE89 3704 0044 0532 0130 00" },
  });
  const content_type = "application/json";
  send(tap, Buffer.from(json), { content_type }, 7);
  send(tap, gzipSync(json), { content_type, content_encoding: "gzip" });
  send(tap, PAGE);
  await scanned(3);
  const places = rows.map((row) => row.matches.map(({ detector, json_path, count }) => [detector, json_path, count]));
  const expected = [
    ["fin.card_visa", '$.users[1]["full name"]', 2],
    ["fin.iban", '$["[masked]"].iban', 1],
  ];
  assert.deepEqual(places.sort(), [[["fin.card_visa", undefined, 1]], expected, expected].sort());
});

test("an event has the JSON path for every JSON media type, and for JSON lines the path within the line", async (t) => {
  const { tap, rows, scanned } = bench(t);
  const types = [
    "application/x-ndjson",
    "application/ndjson",
    "application/jsonl",
    "application/json-seq",
    "text/json",
    "application/x-json",
  ];
  for (const content_type of types) send(tap, Buffer.from(`{"a":1}\n\x1e{"b":{"card":"${CARD}"}}\n`), { content_type });
  await scanned(types.length);
  assert.deepEqual(
    rows.map((row) => row.matches[0]?.json_path),
    types.map(() => "$.b.card"),
  );
});

test("matches that a value, JSON path, path or rule allows make no event and are counted", async (t) => {
  const hash = createValueHash(Buffer.alloc(32, 1))(testSubject().zone_id, VISA, CARD);
  const cases: readonly (readonly [entry: object, matches: number])[] = [
    [{ value_hash: hash }, 1],
    [{ json_path: "$.orders[*].number" }, 1],
    [{ json_path: "$.orders[1].number" }, 2],
    [{ path: "/acc*" }, 0],
    [{ path: "/acc" }, 2],
    [{ rule_id: VISA.rule_id, path: "/account" }, 1],
    [{ value_hash: hash, json_path: "$.other" }, 2],
    [{ value_hash: "0".repeat(32) }, 2],
  ];
  for (const [entry, matches] of cases) {
    const { tap, rows, scanned, metrics } = bench(t, {}, { allowed: [{ id: "1", ...entry }], patterns: [] });
    const body = { orders: [{ number: "4716-4615-8332-2103" }], iban: "DE89370400440532013000" };
    send(tap, Buffer.from(JSON.stringify(body)), { content_type: "application/json" });
    await scanned(1);
    assert.equal(rows[0]?.matches.length ?? 0, matches, JSON.stringify(entry));
    assert.equal(value(metrics, "selvedge_detection_allowlisted_total"), 2 - matches);
  }
});

test("an event reports that the detector found too much to check all of it against the allow-list", async (t) => {
  const numbers = (count: number) => Buffer.from(JSON.stringify({ orders: Array.from({ length: count }, () => ({ number: CARD })) }));
  for (const [count, isPartial, ...allowed] of [
    [900, null, { id: "1", json_path: "$.orders[*].number" }],
    [1100, true, { id: "1", json_path: "$.orders[*].number" }],
    [1100, null, { id: "1", path: "/acc*", rule_id: VISA.rule_id }],
    [1100, false, { id: "1", path: "/other" }],
    [1100, false],
  ] as const) {
    const { tap, rows, scanned } = bench(t, {}, { allowed, patterns: [] });
    send(tap, numbers(count), { content_type: "application/json" }, 50_000);
    await scanned(1);
    assert.equal(rows[0]?.scan_limited ?? null, isPartial, `${count} ${JSON.stringify(allowed)}`);
  }
});

test("the detector finds a zone's patterns beside the managed rules, under the patterns' ids", async (t) => {
  const pattern = {
    id: "d".repeat(32),
    name: "Loyalty card",
    pattern: String.raw`\bLC-\d{9}\b`,
    tags: [],
    context: ["Member"],
    validator: "luhn",
  } as const;
  const digits = { ...pattern, id: "e".repeat(32), pattern: String.raw`\d{3}-[A-Z]{4}`, context: [], validator: "none" } as const;
  const { tap, rows, scanned } = bench(t, {}, { allowed: [], patterns: [pattern, digits] });
  send(tap, Buffer.from(`member LC-123456782, member LC-123456789, ${" ".repeat(99)} LC-123456782 and 123-ABCD in x123-ABCD`));
  await scanned(1);
  assert.deepEqual(
    rows[0]?.matches.map(({ detector, rule_id, count, offset }) => [detector, rule_id, count, offset]),
    [
      [`custom.${pattern.id}`, pattern.id, 1, 7],
      [`custom.${digits.id}`, digits.id, 1, 159],
    ],
  );
});

test("the detector finds an account's patterns in its zones, until they are removed", async (t) => {
  const own = { id: "d".repeat(32), name: "Staff", pattern: String.raw`EMP-\d{6}`, tags: [], context: [], validator: "none" } as const;
  const zones = { ...own, id: "e".repeat(32), name: "Order", pattern: String.raw`ORD-\d{4}` } as const;
  const found = async (policy?: DetectionEntry, ofAccount?: DetectionEntry): Promise<readonly string[]> => {
    const { tap, rows, scanned } = bench(t, {}, policy, ofAccount);
    send(tap, Buffer.from("EMP-004711 ORD-0815"));
    await scanned(1);
    return rows[0]?.matches.map(({ rule_id }) => rule_id) ?? [];
  };
  assert.deepEqual(await found(undefined, { allowed: [], patterns: [own] }), [own.id]);
  assert.deepEqual(await found({ allowed: [], patterns: [zones] }, { allowed: [], patterns: [own] }), [own.id, zones.id]);
  assert.deepEqual(await found({ allowed: [], patterns: [zones] }), [zones.id]);
});

test("overrides and exceptions apply to a zone's patterns", async (t) => {
  const own = { name: "Staff", pattern: String.raw`EMP-\d{6}`, tags: ["staff"], context: [], validator: "none" } as const;
  const staff = { ...own, id: "d".repeat(32) };
  const off = { ...own, id: "e".repeat(32), pattern: String.raw`ORD-\d{4}`, enabled: false };
  const found = async (overrides: object): Promise<readonly string[]> => {
    const { tap, rows, scanned } = bench(t, {}, { allowed: [], patterns: [staff, off] });
    const managed = executeManaged({ id: SENSITIVE_DATA_RULESET_ID, overrides });
    send(tap, Buffer.from("EMP-004711 ORD-0815"), { enabled: managed!.enabled, own: managed!.own });
    await scanned(1);
    return rows[0]?.matches.map(({ rule_id }) => rule_id) ?? [];
  };
  assert.deepEqual(await found({}), [staff.id]);
  assert.deepEqual(await found({ enabled: true }), [staff.id, off.id]);
  assert.deepEqual(await found({ rules: [{ id: off.id, enabled: true }] }), [staff.id, off.id]);
  assert.deepEqual(await found({ categories: [{ category: "custom", enabled: false }] }), []);
});

test("three kinds of data in one record raise the confidence of each", async (t) => {
  const { tap, rows, scanned } = bench(t);
  const parts = ["Reisepass P1630837", "ssn 536904399", CARD];
  send(tap, Buffer.from(parts.join(", ")));
  send(tap, Buffer.from(parts.join(" ".repeat(300))));
  await scanned(2);
  assert.deepEqual(
    rows.map((row) => row.matches.map(({ confidence }) => confidence)),
    [
      ["high", "high", "high"],
      ["medium", "medium", "high"],
    ],
  );
});

test("an event has a masked sample or an encrypted copy only if the rule asks for it", async (t) => {
  const { tap, rows, scanned } = bench(t);
  const keys = newEnvelopeKeys();
  send(tap, PAGE, { ray_id: "plain" });
  send(tap, PAGE, { ray_id: "sample", masked_sample: true });
  send(tap, PAGE, { ray_id: "copy", public_key: keys.public_key });
  await scanned(3);
  const [plain, sample, copy] = rows.map((row) => row.matches[0]);
  assert.deepEqual([plain?.sample, plain?.matched_data], [undefined, undefined]);
  assert.deepEqual([sample?.sample, sample?.matched_data], ["4716********2103", undefined]);
  assert.equal(copy?.sample, undefined);
  assert.doesNotMatch(JSON.stringify(rows), new RegExp(CARD));
  assert.deepEqual(JSON.parse(openEnvelope(keys.private_key, copy?.matched_data ?? "")), [{ offset: 3, text: CARD }]);
});

test("a restarted detector gets the bodies that begin after its restart", async (t) => {
  const first = bench(t);
  const second = new MessageChannel();
  const open = beginTest(first.tap);
  open?.chunk(PAGE, 0, PAGE.length);
  first.tap.reconnect(second.port1);
  open?.end();
  const woken = new Promise((resolve) => second.port2.once("message", resolve));
  const message = (await woken) as Exclude<TeeMessage, null | { readonly givesWay: true }>;
  send(first.tap, PAGE, { ray_id: "again" });
  const records: string[] = [];
  createRingReader(message.ring).read(1e6, ({ job, bytes, isEnd }) => void records.push(`${job > 0} ${bytes.length} ${isEnd}`));
  assert.deepEqual(records, ["false 0 false", `true ${PAGE.length} false`, "true 0 true"]);
  second.port2.close();
});

test("bodies that are unfinished when the detector dies are counted as shed", async (t) => {
  const { port1, port2 } = new MessageChannel();
  const metrics = createMetrics();
  const tap = createBodyTee({ port: port1, metrics });
  const shed = (): number => value(metrics, "selvedge_detection_shed_total");
  const told = new Promise((resolve) => port2.once("message", resolve));
  const { ring } = (await told) as Exclude<TeeMessage, null | { readonly givesWay: true }>;
  for (let i = 0; i < 5; i++) send(tap, PAGE);
  const open = beginTest(tap);
  open?.chunk(PAGE, 0, PAGE.length);
  const untouched = beginTest(tap);
  const reader = createRingReader(ring);
  reader.read(1e6, () => undefined);
  for (let i = 0; i < 2; i++) reader.done();
  assert.equal(shed(), 0);
  port2.close();
  await eventually(() => shed() > 0);
  assert.equal(shed(), 4, "three of the five, and the one that is open");
  open?.chunk(PAGE, 0, PAGE.length);
  untouched?.chunk(PAGE, 0, PAGE.length);
  assert.equal(beginTest(tap), null);
  assert.equal(shed(), 6);

  const again = new MessageChannel();
  t.after(() => tap.close());
  tap.reconnect(again.port1);
  untouched?.end();
  send(tap, PAGE);
  tap.reconnect(new MessageChannel().port1);
  assert.equal(shed(), 7, "once, whether its port was closed first or another came");
  again.port2.close();
});

test("a truncated body counts as shed once, wherever the detector dies", async () => {
  for (const isRead of [true, false]) {
    const { port1, port2 } = new MessageChannel();
    const metrics = createMetrics();
    const tap = createBodyTee({ port: port1, metrics, jobsMax: 1 });
    const shed = (): number => value(metrics, "selvedge_detection_shed_total");
    const { message } = receiveMessageOnPort(port2) as { readonly message: Extract<TeeMessage, { readonly ring: SharedArrayBuffer }> };
    for (let i = 0; i < 2; i++) beginTest(tap)?.chunk(PAGE, 0, PAGE.length);
    assert.equal(shed(), 1, "the first, for the second");
    const ends: boolean[] = [];
    const reader = createRingReader(message.ring);
    if (isRead) reader.read(1e6, ({ isEnd, isCut }) => !isEnd || ends.push(isCut));
    assert.deepEqual(ends, isRead ? [true] : []);
    port2.close();
    await eventually(() => shed() > 1);
    assert.equal(shed(), 2, "and the second, which is open");
    tap.close();
  }
});

test("a body in one piece takes one record, and the tee sends each kind of shared description once", (t) => {
  const { port1, port2 } = new MessageChannel();
  const tap = createBodyTee({ port: port1, metrics: createMetrics() });
  t.after(() => tap.close());
  const { message } = receiveMessageOnPort(port2) as { readonly message: { readonly ring: SharedArrayBuffer } };
  const reader = createRingReader(message.ring);
  const send = (subject: ScanSubject, content_type: string): void =>
    tap.begin(subject, subject, { ...subject, content_type })?.last(PAGE, 0, PAGE.length);
  const read = (): readonly string[] => {
    const records: string[] = [];
    reader.read(1e9, ({ job, label, bytes, isEnd }) => void records.push(`${job} ${label} ${bytes.length} ${isEnd}`));
    return records;
  };
  const one = testSubject();
  for (const type of ["text/html", "text/html", "text/plain", "text/html"]) send(one, type);
  const whole = (job: number, label: number): string => `${job} ${label} ${PAGE.length} true`;
  assert.deepEqual(read(), ["0 0 0 false", whole(1, 0), whole(2, 0), "0 1 0 false", whole(3, 1), whole(4, 0)]);
  // Labels are reused when there are many.
  for (let i = 0; i < 1022; i++) send(testSubject(), "text/html");
  read();
  send(testSubject(), "text/html");
  send(one, "text/html");
  assert.deepEqual(read(), ["0 0 0 false", whole(1027, 0), "0 1 0 false", whole(1028, 1)]);
});

test("the detector scans bodies of any number of content types", async (t) => {
  const { tap, rows, scanned } = bench(t);
  const subject = testSubject();
  for (let i = 0; i < 100; i++)
    tap.begin(subject, subject, { ...subject, content_type: `text/x-${i % 40}`, charset: "" })?.last(PAGE, 0, PAGE.length);
  await scanned(100);
  assert.equal(rows.length, 100);
});

test("the detector keeps plans apart whose labels are reused", async (t) => {
  const { tap, rows, scanned } = bench(t);
  const subjects = Array.from({ length: 1500 }, (_, index) => testSubject({ deployed_by: String(index) }));
  for (const subject of subjects) {
    tap.begin(subject, subject, subject)?.last(PAGE, 0, PAGE.length);
    if (Number(subject.deployed_by) % 500 === 0) await scanned(Number(subject.deployed_by) + 1);
  }
  await scanned(subjects.length);
  assert.deepEqual(
    rows.map(({ deployed_by }) => deployed_by),
    subjects.map(({ deployed_by }) => deployed_by),
  );
});

test("the first copied body starts the detector, once", async (t) => {
  let needed = 0;
  const { tap, scanned } = bench(t, { onFirstUse: () => needed++ });
  assert.equal(beginTest(tap, { content_type: "image/png" }), null);
  assert.equal(needed, 0);
  for (let i = 1; i <= 3; i++) {
    send(tap, PAGE);
    await scanned(i);
  }
  assert.equal(needed, 1);
});

test("the tee lowers the priority of the detector's thread by its number, and tells the detector", async (t) => {
  const { port1, port2 } = new MessageChannel();
  const asked: number[] = [];
  const tap = createBodyTee({ port: port1, metrics: createMetrics(), yields: (thread) => asked.push(thread) > 0 });
  t.after(() => tap.close());
  const said: TeeMessage[] = [];
  port2.on("message", (message: TeeMessage) => void said.push(message));
  port2.postMessage({ thread: 4711 });
  await eventually(() => said.some((message) => message !== null && "givesWay" in message));
  assert.deepEqual(asked, [4711]);
});

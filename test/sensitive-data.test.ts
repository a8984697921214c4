import assert from "node:assert/strict";
import { mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { systemClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import type { FromWorker } from "#kernel/process/worker-protocol.ts";
import { createSecurityEvents } from "#control/events/security-events.ts";
import { openEventQueries } from "#events/read/queries.ts";
import { localReads } from "#events/read/read-client.ts";
import { createEventSink } from "#events/write/sink.ts";
import { testRequestRow, testSecurityRow } from "#events/testing/rows.ts";
import { DEFAULT_RETENTION, type WriterData } from "#events/write/writer-config.ts";
import { createBodyTee } from "#edge/detection/body-tee.ts";
import { beginTest, testSubject } from "#edge/testing/subject.ts";
import type { DetectorWorkerData } from "#edge/detection/worker.ts";
import { createMessagePortFeed } from "#snapshot/message-port.ts";
import { createPublisher } from "#snapshot/publisher.ts";
import { createTestSource } from "./support/feed.ts";
import { readUntil } from "./support/eventually.ts";
import { removeDirectory } from "./support/temporary.ts";

const CARD = "4716461583322103";
const SPACED_CARD = "5398 2287 0787 1527";

test("a response with a card number writes one event, and the database does not contain the number", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "selvedge-detection-"));
  t.after(() => removeDirectory(directory));
  const path = join(directory, "events.db");
  const queries = openEventQueries(path);
  const log = createSecurityEvents({ reads: localReads(queries), clock: systemClock, sealer: createSealer(new Uint8Array(32)) });
  const page = { page: 1, per_page: 20 };
  const zone = testSubject().zone_id;
  assert.equal((await log.list({ zone_id: zone }, page)).total_count, 0, "no database yet: no events");

  const events = new MessageChannel();
  const writer = await startWriter({ path, ports: [events.port2], retention: DEFAULT_RETENTION });
  const taps = new MessageChannel();
  const publisher = createPublisher({ source: createTestSource() });
  await publisher.start();
  const feed = new MessageChannel();
  publisher.attach(createMessagePortFeed(feed.port1));
  const sealKeyPath = join(directory, "seal.key");
  await writeFile(sealKeyPath, Buffer.alloc(32, 7));
  const lastGoodPath = join(directory, "snapshot.last-good");
  const detector = await startDetector({ tap: [taps.port2], events: events.port1, feed: feed.port2, lastGoodPath, sealKeyPath });
  // A failed assertion must not leave threads that keep the process alive.
  t.after(() => Promise.all([writer.terminate(), detector.terminate(), publisher.close()]));
  const tap = createBodyTee({ port: taps.port1, metrics: createMetrics() });

  const body = Buffer.from(`<p>Your card ${CARD} and the other one, ${SPACED_CARD}, expire soon. ${CARD}</p>`);
  for (const [ray_id, end] of [
    ["00000000000000aa", body.length],
    ["00000000000000bb", 10],
  ] as const) {
    const tapped = beginTest(tap, { ray_id });
    assert.ok(tapped);
    // Byte by byte, with a buffer that is overwritten at once, as the edge may do.
    const scratch = Buffer.alloc(1);
    for (let at = 0; at < end; at++) {
      scratch[0] = body[at] ?? 0;
      tapped.chunk(scratch, 0, 1);
    }
    tapped.end();
  }

  const found = await waitFor(async () => (await log.list({ zone_id: zone }, page)).items);
  assert.equal(found.length, 1);
  const [event] = found;
  assert.ok(event);
  assert.equal(event.ray_id, "00000000000000aa");
  assert.equal(event.service, "Data Loss Protection");
  assert.equal(event.action, "log");
  assert.equal(event.phase, "http_response_firewall_managed");
  assert.equal(event.deployed_by, "c".repeat(32));
  assert.equal(event.occurred_at, "2023-11-14T22:13:20.000Z");
  assert.deepEqual(
    event.matches.map(({ detector: id, count, offset }) => ({ id, count, offset })),
    [
      { id: "fin.card_visa", count: 2, offset: 13 },
      { id: "fin.card_mastercard", count: 1, offset: 49 },
    ],
  );

  assert.equal(
    (await log.list({ zone_id: zone }, { ...page, rule_id: event.matches[1]?.rule_id ?? "" })).total_count,
    1,
    "found by a rule that is not the first",
  );
  assert.equal((await log.list({ zone_id: zone }, { ...page, host: "other.example.com" })).total_count, 0);
  assert.equal((await log.list({ zone_id: zone }, { ...page, page: 2 })).items.length, 0);
  assert.equal((await log.list({ zone_id: "d".repeat(32) }, page)).total_count, 0, "another zone sees nothing");

  for (const file of await readdir(directory)) {
    const bytes = (await readFile(join(directory, file))).toString("latin1");
    for (const digits of [CARD, SPACED_CARD, SPACED_CARD.replaceAll(" ", "")])
      assert.ok(!bytes.includes(digits), `${file} holds a card number`);
  }
  assert.ok((await readdir(directory)).includes("events.db-wal"), "the write-ahead log was among the files read");

  tap.close();
  await stop(detector);
  await stop(writer);
  assert.equal((await log.list({ zone_id: zone }, page)).total_count, 1, "still there when the threads have ended");
  queries.close();
});

test("sensitive data in visitors' URLs and user agents is masked in request rows and events", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "selvedge-masked-"));
  t.after(() => removeDirectory(directory));
  const path = join(directory, "events.db");
  const events = new MessageChannel();
  const writer = await startWriter({ path, ports: [events.port2], retention: DEFAULT_RETENTION });
  t.after(() => writer.terminate());
  const sink = createEventSink({ port: events.port1, metrics: createMetrics() });
  const asked = {
    path: `/pay/${CARD}/receipt`,
    query: `page=2&card=${encodeURIComponent(SPACED_CARD)}&q=shoes`,
    user_agent: `bot ${CARD}`,
    at_ms: Date.now(),
  };
  // Few rows are written as rows, and many as a block.
  for (let i = 0; i < 100; i++) sink.push("requests", testRequestRow({ ...asked, ray_id: String(i) }));
  sink.push("security_events", testSecurityRow(asked));
  // Within the time that a batch gathers: threads that end write what they have.
  await sink.close(60_000);
  await stop(writer);

  const queries = openEventQueries(path);
  t.after(() => queries.close());
  const { items } = await createSecurityEvents({
    reads: localReads(queries),
    clock: systemClock,
    sealer: createSealer(new Uint8Array(32)),
  }).list({ zone_id: testSecurityRow().zone_id }, { page: 1, per_page: 20 });
  assert.deepEqual(
    items.map((event) => [event.path, event.query, event.user_agent]),
    [["/pay/[masked]/receipt", "page=2&card=[masked]&q=shoes", "[masked]"]],
  );
  for (const file of await readdir(directory, { recursive: true, withFileTypes: true })) {
    const bytes = file.isFile() ? (await readFile(join(file.parentPath, file.name))).toString("latin1") : "";
    for (const planted of [CARD, encodeURIComponent(SPACED_CARD)]) assert.ok(!bytes.includes(planted), `${file.name} holds ${planted}`);
  }
});

test("a user agent is masked even if the URL is too short to scan", async (t) => {
  const directory = await mkdtemp(join(tmpdir(), "selvedge-masked-"));
  t.after(() => removeDirectory(directory));
  const path = join(directory, "events.db");
  const events = new MessageChannel();
  const writer = await startWriter({ path, ports: [events.port2], retention: DEFAULT_RETENTION });
  t.after(() => writer.terminate());
  const sink = createEventSink({ port: events.port1, metrics: createMetrics() });
  sink.push("requests", testRequestRow({ path: "/", query: "", user_agent: `bot ${CARD}`, at_ms: Date.now() }));
  await sink.close(60_000);
  await stop(writer);
  const queries = openEventQueries(path);
  t.after(() => queries.close());
  const [row] = queries.list("requests", { where: [], direction: "asc", limit: 1 });
  assert.equal(row?.user_agent, "[masked]");
});

const waitFor = <T>(read: () => Promise<readonly T[]>): Promise<readonly T[]> => readUntil(read, ({ length }) => length > 0);

const startWriter = (workerData: WriterData): Promise<Worker> =>
  start(new URL("../src/events/write/writer.ts", import.meta.url), workerData, workerData.ports);
const startDetector = (workerData: DetectorWorkerData): Promise<Worker> =>
  start(new URL("../src/edge/detection/worker.ts", import.meta.url), workerData, [...workerData.tap, workerData.events, workerData.feed]);

function start(script: URL, workerData: WriterData | DetectorWorkerData, transferList: readonly MessagePort[]): Promise<Worker> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(script, { workerData, transferList: [...transferList] });
    worker.once("error", reject);
    worker.on("message", (message: FromWorker) => {
      if (message.type === "listening") resolve(worker);
      else if (message.type === "log") reject(new Error(message.message));
    });
  });
}

async function stop(worker: Worker): Promise<void> {
  const ended = new Promise((resolve) => worker.once("exit", resolve));
  worker.postMessage({ type: "drain", timeoutMs: 2000 });
  assert.equal(await ended, 0);
}

import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { mkdtemp, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type TestContext, test } from "node:test";
import { MessageChannel, Worker } from "node:worker_threads";
import type { FromWorker } from "#kernel/process/worker-protocol.ts";
import { createMessagePortFeed } from "#snapshot/message-port.ts";
import { createPublisher } from "#snapshot/publisher.ts";
import { CLASS, TYPE } from "#wire/dns/codes.ts";
import { decodeMessage, encodeMessage } from "#wire/dns/message.ts";
import { parseAbsoluteName } from "#wire/dns/name.ts";
import { createTestSource } from "../../test/support/feed.ts";
import { nameserverConfig } from "../../test/support/nameserver.ts";
import { recordOp, zoneOp } from "../../test/support/zone-entries.ts";
import type { NameserverWorkerData } from "./worker.ts";
import { PATIENCE_MS } from "../../test/support/eventually.ts";
import { removeDirectory } from "../../test/support/temporary.ts";

const QUESTION = encodeMessage({
  id: 5,
  flags: 0,
  questions: [{ name: parseAbsoluteName("new.example.com"), type: TYPE.A, class: CLASS.IN }],
  answers: [],
  authorities: [],
  additionals: [],
}) as Buffer;

/** A worker with the zone example.com, and the publisher that feeds it. */
async function start(t: TestContext) {
  const source = createTestSource();
  source.commit([zoneOp("z", "example.com")]);
  const publisher = createPublisher({ source });
  await publisher.start();
  t.after(() => publisher.close());
  const { port1, port2 } = new MessageChannel();
  const events = new MessageChannel();
  t.after(() => events.port1.close());
  publisher.attach(createMessagePortFeed(port1));
  const files = await mkdtemp(join(tmpdir(), "selvedge-nameserver-"));
  t.after(() => removeDirectory(files));
  const sealKeyPath = join(files, "seal.key");
  await writeFile(sealKeyPath, Buffer.alloc(32, 7));
  const lastGoodPath = "/nonexistent/last-good";
  const data: NameserverWorkerData = {
    name: "nameserver",
    config: nameserverConfig(),
    feed: port2,
    events: events.port2,
    lastGoodPath,
    sealKeyPath,
  };
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { workerData: data, transferList: [port2, events.port2] });
  t.after(() => worker.terminate());
  const next = async <K extends FromWorker["type"]>(type: K): Promise<Extract<FromWorker, { type: K }>> => {
    for (;;) {
      const [message] = (await once(worker, "message", { signal: AbortSignal.timeout(PATIENCE_MS) })) as [FromWorker];
      if (message.type === type) return message as Extract<FromWorker, { type: K }>;
    }
  };
  const { addresses } = await next("listening");
  /** Resolves when the publisher counts the address as applied everywhere. */
  const settle = async (address: string): Promise<void> => {
    const rev = source.commit([{ ...recordOp("z", "new.example.com", "A", address), id: "r" }]);
    assert.deepEqual(await publisher.settled(rev, 10_000), { behind: [] });
  };
  return { worker, next, settle, port: addresses["udp"] as number };
}

const addressesIn = (response: Buffer): string[] => decodeMessage(response).answers.map((record) => record.rdata.join("."));

test("the worker answers from its feed, with every settled change", async (t) => {
  const { worker, next, settle, port } = await start(t);
  const socket = createSocket("udp4");
  t.after(() => socket.close());
  const ask = async (): Promise<string[]> => {
    socket.send(QUESTION, port, "127.0.0.1");
    const [response] = (await once(socket, "message", { signal: AbortSignal.timeout(PATIENCE_MS) })) as [Buffer];
    return addressesIn(response);
  };
  assert.deepEqual(await ask(), []);
  for (let i = 1; i <= 20; i++) {
    await settle(`192.0.2.${i}`);
    assert.deepEqual(await ask(), [`192.0.2.${i}`]);
  }

  worker.postMessage({ type: "metrics", request: 3 });
  const { request, samples } = await next("metrics");
  assert.equal(request, 3);
  assert.ok(samples.some((sample) => sample.name === "selvedge_dns_queries_total" && sample.value >= 21));
  worker.postMessage({ type: "drain", timeoutMs: 100 });
  await next("drained");
});

test("under a flood of queries, no answer is older than the last change that the worker had acknowledged before the query", async (t) => {
  const { worker, next, settle, port } = await start(t);
  await settle("10.0.0.0");
  let settled = 0;
  let answered = 0;
  const stale: string[] = [];
  /** The revision that was settled when the query of each identifier was sent. */
  const flood = (): void => {
    const socket = createSocket("udp4");
    const floors = new Map<number, number>();
    const send = (id: number): void => {
      const bytes = Buffer.from(QUESTION);
      bytes.writeUInt16BE(id, 0);
      floors.set(id, settled);
      socket.send(bytes, port, "127.0.0.1");
    };
    socket.on("message", (response) => {
      const id = response.readUInt16BE(0);
      const { rdata } = decodeMessage(response).answers[0] as { rdata: Uint8Array };
      const value = Buffer.from(rdata).readUInt16BE(2);
      if (value < (floors.get(id) as number)) stale.push(`${value} after ${floors.get(id)} was acknowledged`);
      answered += 1;
      if (!ended) send(id);
    });
    for (let id = 0; id < 100; id++) send(id);
    t.after(() => socket.close());
  };
  let ended = false;
  for (let i = 0; i < 4; i++) flood();
  for (let value = 1; value <= 300; value++) {
    await settle(`10.0.${value >> 8}.${value & 0xff}`);
    settled = value;
  }
  ended = true;
  assert.deepEqual(stale, []);
  assert.ok(answered > 300, `${answered} answers`);
  // It stops when told to, whatever still arrives.
  worker.postMessage({ type: "drain", timeoutMs: 100 });
  await next("drained");
});

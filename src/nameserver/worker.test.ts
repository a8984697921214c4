import assert from "node:assert/strict";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { test } from "node:test";
import { MessageChannel, Worker } from "node:worker_threads";
import type { FromWorker } from "#kernel/worker-protocol.ts";
import { createMessagePortFeed } from "#snapshot/message-port.ts";
import { createPublisher } from "#snapshot/publisher.ts";
import { CLASS, TYPE } from "#wire/dns/codes.ts";
import { decodeMessage, encodeMessage } from "#wire/dns/message.ts";
import { parseAbsoluteName } from "#wire/dns/name.ts";
import { createTestSource } from "../../test/support/feed.ts";
import { recordOp, zoneOp } from "../../test/support/zone-entries.ts";
import { NAMESERVER_LIMITS } from "./config.ts";
import type { NameserverWorkerData } from "./worker.ts";

test("the worker answers from its feed: settled means answered", async (t) => {
  const source = createTestSource();
  source.commit([zoneOp("z", "example.com")]);
  const publisher = createPublisher({ source });
  await publisher.start();
  t.after(() => publisher.close());
  const { port1, port2 } = new MessageChannel();
  publisher.attach(createMessagePortFeed(port1));
  const config = { host: "127.0.0.1", port: 0, reusePort: false, edgeAddresses: [], limits: NAMESERVER_LIMITS };
  const data: NameserverWorkerData = { name: "nameserver", config, feed: port2, lastGoodPath: "/nonexistent/last-good" };
  const worker = new Worker(new URL("./worker.ts", import.meta.url), { workerData: data, transferList: [port2] });
  t.after(() => worker.terminate());
  const next = async <K extends FromWorker["type"]>(type: K): Promise<Extract<FromWorker, { type: K }>> => {
    for (;;) {
      const [message] = (await once(worker, "message", { signal: AbortSignal.timeout(10_000) })) as [FromWorker];
      if (message.type === type) return message as Extract<FromWorker, { type: K }>;
    }
  };
  const { addresses } = await next("listening");

  const socket = createSocket("udp4");
  t.after(() => socket.close());
  const bytes = encodeMessage({
    id: 5,
    flags: 0,
    questions: [{ name: parseAbsoluteName("new.example.com"), type: TYPE.A, class: CLASS.IN }],
    answers: [],
    authorities: [],
    additionals: [],
  }) as Buffer;
  const ask = async (): Promise<string[]> => {
    socket.send(bytes, addresses["udp"] as number, "127.0.0.1");
    const [response] = (await once(socket, "message", { signal: AbortSignal.timeout(5000) })) as [Buffer];
    return decodeMessage(response).answers.map((record) => record.rdata.join("."));
  };
  assert.deepEqual(await ask(), []);
  for (let i = 1; i <= 20; i++) {
    const rev = source.commit([{ ...recordOp("z", "new.example.com", "A", `192.0.2.${i}`), id: "r" }]);
    assert.deepEqual(await publisher.settled(rev, 5000), { behind: [] });
    assert.deepEqual(await ask(), [`192.0.2.${i}`]);
  }

  worker.postMessage({ type: "metrics", request: 3 });
  const { request, samples } = await next("metrics");
  assert.equal(request, 3);
  assert.ok(samples.some((sample) => sample.name === "selvedge_dns_queries_total" && sample.value >= 21));
  worker.postMessage({ type: "drain", timeoutMs: 100 });
  await next("drained");
});

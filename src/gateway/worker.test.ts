import { test } from "node:test";
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { once } from "node:events";
import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { MessageChannel, type MessagePort, Worker } from "node:worker_threads";
import { LLMock } from "@copilotkit/aimock";
import OpenAI from "openai";
import { openEventQueries } from "#events/read/queries.ts";
import { DEFAULT_RETENTION } from "#events/write/writer-config.ts";
import { logSegmentsOf } from "#events/logs/segment.ts";
import type { MetricSample } from "#kernel/process/metrics.ts";
import type { FromWorker } from "#kernel/process/worker-protocol.ts";
import { createMessagePortFeed } from "#snapshot/message-port.ts";
import { createPublisher } from "#snapshot/publisher.ts";
import { createTestSource } from "../../test/support/feed.ts";
import { GATEWAY_LIMITS, type GatewayWorkerData } from "./config.ts";
import { removeDirectory } from "../../test/support/temporary.ts";

const ACCOUNT = "a".repeat(32);
const TOKEN = "gateway-token-of-forty-characters-length";

async function message<T extends FromWorker["type"]>(worker: Worker, type: T): Promise<Extract<FromWorker, { readonly type: T }>> {
  for (;;) {
    const [said] = (await once(worker, "message")) as [FromWorker];
    if (said.type === type) return said as Extract<FromWorker, { readonly type: T }>;
  }
}

test("the gateway's thread serves the published snapshot, writes rows through the events thread and drains", async (t) => {
  const directory = mkdtempSync(join(tmpdir(), "selvedge-gateway-"));
  t.after(() => removeDirectory(directory));
  const mock = new LLMock({ port: 0, logLevel: "silent" });
  mock.onMessage("hello", { content: "Hi there!" });
  await mock.start();
  t.after(() => mock.stop());

  const source = createTestSource();
  const publisher = createPublisher({ source, lastGoodPath: join(directory, "last-good") });
  await publisher.start();
  t.after(() => publisher.close());
  const [feed, events] = [new MessageChannel(), new MessageChannel()];
  publisher.attach(createMessagePortFeed(feed.port1));
  const eventsPath = join(directory, "events.db");
  const writer = new Worker(new URL("../events/write/writer.ts", import.meta.url), {
    workerData: { path: eventsPath, ports: [events.port1], retention: DEFAULT_RETENTION },
    transferList: [events.port1],
  });
  t.after(() => writer.terminate());
  await message(writer, "listening");
  const config = { host: "127.0.0.1", port: 0, vendorPrefix: "svc", providers: { openai: `${mock.url}/v1` }, limits: GATEWAY_LIMITS };
  const sealKeyPath = join(directory, "seal.key");
  writeFileSync(sealKeyPath, Buffer.alloc(32, 7));
  const data: GatewayWorkerData = {
    name: "gateway",
    config,
    feed: feed.port2,
    events: events.port2,
    lastGoodPath: join(directory, "last-good"),
    sealKeyPath,
    logSegments: logSegmentsOf(eventsPath),
  };
  const worker = new Worker(new URL("./worker.ts", import.meta.url), {
    workerData: data,
    transferList: [feed.port2 as MessagePort, events.port2 as MessagePort],
  });
  t.after(() => worker.terminate());
  const port = (await message(worker, "listening")).addresses["http"];

  const rev = source.commit([
    { kind: "gateway", id: `${ACCOUNT}/gw`, value: { account_id: ACCOUNT, gateway_id: "gw", authentication: true, collect_logs: true } },
    {
      kind: "token",
      id: "t",
      value: {
        hash: createHash("sha256").update(TOKEN).digest("hex"),
        accounts: "*",
        not_before: null,
        expires_on: null,
        addresses: { allow: [], deny: [] },
      },
    },
  ]);
  assert.deepEqual(await publisher.settled(rev, 5_000), { behind: [] });

  const client = (headers: Record<string, string>): OpenAI =>
    new OpenAI({ baseURL: `http://127.0.0.1:${port}/v1/${ACCOUNT}/gw/openai`, apiKey: "k", maxRetries: 0, defaultHeaders: headers });
  const chat = { model: "gpt-4o-mini", messages: [{ role: "user" as const, content: "hello" }] };
  await assert.rejects(client({}).chat.completions.create(chat), (error: InstanceType<typeof OpenAI.APIError>) => error.status === 401);
  const { response } = await client({ "svc-aig-authorization": `Bearer ${TOKEN}` })
    .chat.completions.create(chat)
    .withResponse();

  worker.postMessage({ type: "metrics", request: 7 });
  const { request, samples } = await message(worker, "metrics");
  const sum = (name: string): number =>
    samples.filter((sample: MetricSample) => sample.name === name).reduce((total, sample) => total + sample.value, 0);
  assert.deepEqual([request, sum("selvedge_gateway_requests_total"), sum("selvedge_gateway_refused_total")], [7, 1, 1]);

  worker.postMessage({ type: "drain", timeoutMs: 1_000 });
  await message(worker, "drained");
  writer.postMessage({ type: "drain", timeoutMs: 1_000 });
  await message(writer, "drained");
  const queries = openEventQueries(eventsPath);
  t.after(() => queries.close());
  const rows = queries.list("gateway_logs", { where: [], limit: 10 });
  assert.deepEqual(
    rows.map((row) => [row.id, row.success, row.model]),
    [[response.headers.get("svc-aig-log-id"), true, "gpt-4o-mini"]],
  );
});

import assert from "node:assert/strict";
import { once } from "node:events";
import { Agent, get } from "node:http";
import { test } from "node:test";
import { MessageChannel, type MessagePort, receiveMessageOnPort, Worker } from "node:worker_threads";
import { createMetrics } from "#kernel/process/metrics.ts";
import { SENSITIVE_DATA_RULESET_ID } from "#rules/managed/rulesets.ts";
import { loadSocketCalls } from "#wire/connections/epoll/socket-calls.ts";
import { eventually } from "../../../test/support/eventually.ts";
import { fc } from "../../../test/support/property.ts";
import { httpOrigin, siteOps, startEdge } from "#edge/testing/edge.ts";
import { rulesetOp } from "#edge/testing/entries.ts";
import type { TeeMessage } from "./scan-plan.ts";
import { createBodyTee } from "./body-tee.ts";
import { bodyOf, COUNTS, LENT, type SharedReaderData, SHORT, WHOLE } from "#edge/testing/shared-reader.ts";

const calls = await loadSocketCalls();
const skip = calls === null && "koffi does not load here";
/** Small enough that some bodies find no room. */
const RING_BYTES = 1024 * 1024;
const CONNECTIONS = 16;
const PLACES = 32;

interface Reading {
  readonly thread: Worker;
  readonly port: MessagePort;
  readonly lent: SharedArrayBuffer;
  readonly failure: Promise<never>;
  /** Resolves when the thread has stopped in the middle of a lent record. */
  readonly still: Promise<unknown>;
}

/** A thread that reads the ring announced at the other end of the port. */
function startReading(port: MessagePort, counts: SharedArrayBuffer, recordsMax: number, slowMs: number): Reading {
  const { message } = receiveMessageOnPort(port) as { readonly message: Extract<TeeMessage, { readonly ring: SharedArrayBuffer }> };
  assert.ok(message.lent !== null);
  const data: SharedReaderData = { ring: message.ring, lent: message.lent, counts, recordsMax, slowMs };
  const thread = new Worker(new URL("../testing/shared-reader.ts", import.meta.url), { workerData: data });
  const failure = once(thread, "error").then(([error]) => Promise.reject(error as Error));
  failure.catch(() => undefined);
  return { thread, port, lent: message.lent, failure, still: once(thread, "message") };
}

const free = (memory: SharedArrayBuffer): number =>
  ((new Int32Array(memory, memory.byteLength - 4, 1)[0] as number) >>> 0).toString(2).replaceAll("0", "").length;

const lengths = fc.array(fc.oneof(fc.integer({ min: 1, max: 20_000 }), fc.integer({ min: 20_000, max: 900_000 })), {
  minLength: 60,
  maxLength: 120,
});
/** For each thread but the last: the number of lent records after which it stops and is ended. */
const lives = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 2, maxLength: 4 });

test(
  "with slow detectors, and with detectors that die while they hold shared buffers, each body is scanned complete and unmixed, or counted as shed",
  { skip },
  async () => {
    const seen = { whole: 0, shed: 0, lent: 0, killed: 0 };
    const property = fc.asyncProperty(lengths, lives, fc.integer({ min: 0, max: 4 }), async (bodies, records, slowMs) => {
      const origin = await httpOrigin((request, response) => {
        const [number, length] = (request.url ?? "").slice(1).split("-").map(Number) as [number, number];
        response.writeHead(200, { "content-type": "text/html", "content-length": length }).end(bodyOf(number, length));
      });
      const metrics = createMetrics();
      const value = (name: string): number => metrics.samples().find((one) => one.name === `selvedge_detection_${name}_total`)?.value ?? 0;
      const counts = new SharedArrayBuffer(COUNTS * 4);
      const count = (which: number): number => Atomics.load(new Int32Array(counts), which);
      const { port1, port2 } = new MessageChannel();
      const tap = createBodyTee({ port: port1, metrics, placeIn: calls!.placeIn, ringBytes: RING_BYTES });
      const [first = 1, ...others] = records;
      let reading = startReading(port2, counts, first, slowMs);
      const scan = { action: "execute", expression: "true", action_parameters: { id: SENSITIVE_DATA_RULESET_ID } };
      const ops = [...siteOps(origin.port), rulesetOp("scan", "zone", "zone", "http_response_firewall_managed", [scan])];
      const edge = await startEdge(ops, { socketCalls: calls, tap });
      const agent = new Agent({ keepAlive: true, maxSockets: CONNECTIONS });
      try {
        const visits = Promise.all(
          bodies.map(async (length, number) => {
            const body = await getBytes(agent, edge.http, `/${number}-${length}`);
            assert.ok(bodyOf(number, length).equals(body), "what the visitor got");
          }),
        );
        let isDone = false;
        const done = visits.then(() => (isDone = true));
        for (const next of [...others, Infinity]) {
          await Promise.race([reading.still, reading.failure, done]);
          if (isDone) break;
          await reading.thread.terminate();
          seen.killed++;
          const channel = new MessageChannel();
          tap.reconnect(channel.port1);
          reading.port.close();
          reading = startReading(channel.port2, counts, next, slowMs);
        }
        await Promise.race([visits, reading.failure]);
        // The last thread may be one that stops: the bodies that it holds are lost with it, and counted.
        const finished = (): boolean => count(WHOLE) + value("shed") >= value("responses");
        await Promise.race([eventually(finished), reading.still, reading.failure]);
        if (!finished()) {
          await reading.thread.terminate();
          reading.port.close();
          await eventually(finished);
        } else await eventually(() => free(reading.lent) >= PLACES - 1);
        // A body that was cut short for lack of room, or begun by an earlier thread, is not whole, and is counted once.
        assert.equal(count(WHOLE) + value("shed"), value("responses"));
        assert.ok(count(SHORT) <= value("shed"));
        assert.equal(value("responses"), bodies.length);
        seen.whole += count(WHOLE);
        seen.shed += value("shed");
        seen.lent += count(LENT);
      } finally {
        await reading.thread.terminate();
        agent.destroy();
        await edge.close();
        tap.close();
        reading.port.close();
        origin.close();
      }
    });
    await fc.assert(property, { numRuns: 3, endOnFailure: true });
    for (const [name, times] of Object.entries(seen)) assert.ok(times > 0, name);
  },
);

function getBytes(agent: Agent, port: number, path: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    get({ agent, port, host: "127.0.0.1", path, headers: { host: "www.example.com" } }, (response) => {
      const pieces: Buffer[] = [];
      response.on("data", (piece: Buffer) => void pieces.push(piece));
      response.on("end", () => resolve(Buffer.concat(pieces)));
      response.on("error", reject);
    }).on("error", reject);
  });
}

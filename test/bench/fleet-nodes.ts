import { generateKeyPairSync, type KeyObject } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import { connect, type NatsConnection } from "@nats-io/transport-node";
import { systemClock } from "#kernel/clock.ts";
import type { Op } from "#snapshot/entries.ts";
import { type BusPublisher, startBusPublisher } from "#snapshot/bus/bus-publisher.ts";
import { type NatsServer, startNats } from "../support/nats.ts";
import type { Benchmark, Contender, Measurement } from "./benchmark.ts";
import { cpuSeconds } from "./cpu-time.ts";
import type { FleetThreadData, FleetThreadMessage } from "./fleet-nodes-thread.ts";
import { createMemoryLog, type MemoryLog } from "../support/memory-log.ts";
import { quantile } from "./statistics.ts";

/** `SELVEDGE_BENCH_RECORDS` and `SELVEDGE_BENCH_NODES` make it larger or smaller. */
const RECORDS = Number(process.env["SELVEDGE_BENCH_RECORDS"] ?? 100_000);
const NODES = Number(process.env["SELVEDGE_BENCH_NODES"] ?? 100);
/** All nodes verify and decode in one thread, 0.2 ms each: faster writes would measure that thread. */
const WRITES_PER_SECOND = 10;
const PAGE = 1_000;
const CATCH_UP_TIMEOUT_MS = 1_200_000;

/**
 * Plane nodes of a fleet at a real nats-server: each has a connection, takes the full copy, and verifies and decodes each delta as a real
 * node does. `catch_up_s` is the time from a restart of everything (bus and nodes) until the last node is current. CPU of control and the
 * bus is per delta, of a node per delta and node.
 */
export const fleetNodes: Benchmark = {
  name: "fleet-nodes",
  unit: `ms from a commit until the last of ${NODES} nodes has it, p99`,
  better: "lower",
  target: 100,
  tools: ["nats-server"],
  roundsMax: 3,
  isOnce: true,
  prepare: async ({ seconds }) => {
    const nats = await startNats();
    const { privateKey: key, publicKey } = generateKeyPairSync("ed25519");
    const log = createMemoryLog();
    for (let i = 0; i < RECORDS; i += PAGE) log.commit(...Array.from({ length: Math.min(PAGE, RECORDS - i) }, (_, j) => recordOf(i + j)));
    const control = await startControl(nats, log, key, publicKey);
    const pem = publicKey.export({ type: "spki", format: "pem" }).toString();
    const fleet = (): Promise<Fleet> => startNodes({ url: nats.url, publicKey: pem, nodes: NODES, records: RECORDS }, log.at().rev);
    return {
      ours: contender(nats, control, log, fleet, seconds),
      close: async () => {
        await control.publisher.stop();
        await control.connection.close();
        await nats.stop();
      },
    };
  },
};

interface Control {
  readonly connection: NatsConnection;
  readonly publisher: BusPublisher;
}

async function startControl(nats: NatsServer, { source }: MemoryLog, key: KeyObject, publicKey: KeyObject): Promise<Control> {
  const connection = await connect({ servers: nats.url, name: "control", maxReconnectAttempts: -1, reconnectTimeWait: 50 });
  const publisher = await startBusPublisher({
    ...{ connection, source, key, publicKey, isLeading: () => true, clock: systemClock, sealed: (ops: readonly Op[]) => ops },
    log: () => undefined,
  });
  return { connection, publisher };
}

const contender = (nats: NatsServer, control: Control, log: MemoryLog, fleet: () => Promise<Fleet>, seconds: number): Contender => ({
  name: "selvedge",
  run: async (): Promise<Measurement> => {
    await nats.kill();
    const began = performance.now();
    await nats.start();
    const nodes = await fleet();
    const catchUp = (performance.now() - began) / 1000;
    const copied = await nodes.traffic();
    const busBefore = cpuSeconds(nats.pid());
    const own = process.threadCpuUsage();
    const sent = control.connection.stats();
    const nodesBefore = await nodes.cpuMicros();
    const waits: number[] = [];
    const writes = Math.max(20, Math.round(seconds * WRITES_PER_SECOND));
    for (let i = 0; i < writes; i++) {
      const due = performance.now() + 1000 / WRITES_PER_SECOND;
      waits.push(await nodes.waitFor(log.commit(recordOf(i))));
      await delay(Math.max(0, due - performance.now()));
    }
    const cpu = process.threadCpuUsage(own);
    const traffic = await nodes.traffic();
    const bus = cpuSeconds(nats.pid()) - busBefore;
    const nodesCpu = (await nodes.cpuMicros()) - nodesBefore;
    const out = control.connection.stats().outBytes - sent.outBytes;
    await nodes.stop();
    return {
      value: quantile(waits, 0.99),
      also: {
        p50_ms: quantile(waits, 0.5),
        catch_up_s: catchUp,
        copy_bytes: copied.inBytes / NODES,
        bus_cpu_ms: (bus * 1000) / writes,
        control_cpu_ms: (cpu.user + cpu.system) / 1000 / writes,
        node_cpu_ms: nodesCpu / 1000 / writes / NODES,
        control_bytes: out / writes,
        node_bytes: (traffic.inBytes - copied.inBytes) / writes / NODES,
      },
    };
  },
});

/** A record as most zones have them. */
const recordOf = (i: number): Op => ({
  kind: "record",
  id: i.toString(16).padStart(32, "0"),
  value: {
    ...{ zone_id: "0".repeat(32), name: `h${i}.example.com`, type: "A", ttl: 300, proxied: false },
    ...{ content: `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`, rdata: Buffer.from([10, i >> 16, i >> 8, i]).toString("base64") },
  },
});

interface Fleet {
  /** Milliseconds from now until all nodes have the revision. */
  waitFor(rev: number): Promise<number>;
  traffic(): Promise<{ readonly inBytes: number }>;
  cpuMicros(): Promise<number>;
  stop(): Promise<void>;
}

/** Resolves when all nodes are at the revision. */
async function startNodes(data: FleetThreadData, rev: number): Promise<Fleet> {
  const worker = new Worker(new URL("./fleet-nodes-thread.ts", import.meta.url), { workerData: data });
  const reached = new Map<number, number>();
  let check = (): void => undefined;
  let onTraffic: (traffic: { readonly inBytes: number }) => void = () => undefined;
  const failed = new Promise<never>((_, reject) => worker.once("error", reject));
  worker.on("message", (message: FleetThreadMessage) => {
    if ("inBytes" in message) return onTraffic(message);
    reached.set(message.reached, message.atMs);
    check();
  });
  const all = (wanted: number): Promise<number> =>
    new Promise((resolve) => {
      check = () => {
        const atMs = reached.get(wanted);
        if (atMs !== undefined) resolve(atMs);
      };
      check();
    });
  const waitFor = async (wanted: number): Promise<number> => {
    const began = performance.timeOrigin + performance.now();
    return (await Promise.race([all(wanted), failed, tooLate()])) - began;
  };
  await waitFor(rev);
  return {
    waitFor,
    traffic: () =>
      new Promise((resolve) => {
        onTraffic = resolve;
        worker.postMessage("traffic");
      }),
    cpuMicros: async () => {
      const { user, system } = await worker.cpuUsage();
      return user + system;
    },
    stop: async () => void (await worker.terminate()),
  };
}

async function tooLate(): Promise<never> {
  await delay(CATCH_UP_TIMEOUT_MS, undefined, { ref: false });
  throw new Error(`not all nodes were current after ${CATCH_UP_TIMEOUT_MS / 1000} s`);
}

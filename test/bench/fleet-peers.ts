import { setTimeout as delay } from "node:timers/promises";
import { jetstream, jetstreamManager, StorageType } from "@nats-io/jetstream";
import { connect } from "@nats-io/transport-node";
import pg from "pg";
import type { FleetScope } from "../support/fleet.ts";
import { startNats } from "../support/nats.ts";
import type { TestPostgres } from "../support/postgres.ts";
import type { Contender } from "./benchmark.ts";
import { quantile } from "./statistics.ts";

const CONNECTIONS = 4;
const ROWS = 1_000;
const SUBSCRIBERS = 3;
/** About that of a delta. */
const MESSAGE_BYTES = 900;

/** Transactions of one row each, at the rate. */
export async function commitPeer(scope: FleetScope, postgres: TestPostgres, perSecond: number, seconds: number): Promise<Contender> {
  const pool = new pg.Pool({ connectionString: await postgres.createDatabase(), max: CONNECTIONS });
  scope.after(() => pool.end());
  await pool.query("CREATE TABLE peer (id integer PRIMARY KEY, content text NOT NULL)");
  await pool.query("INSERT INTO peer SELECT i, '' FROM generate_series(0, $1::integer) i", [ROWS]);
  const commit = (i: number): Promise<unknown> => pool.query("UPDATE peer SET content = $2 WHERE id = $1", [i % ROWS, String(i)]);
  return contender("commit", (i) => commit(i), perSecond, seconds);
}

/** A message to a stream on disk, until each of three ordered consumers has it. */
export async function busPeer(scope: FleetScope, perSecond: number, seconds: number): Promise<Contender> {
  const nats = await startNats();
  const connection = await connect({ servers: nats.url });
  scope.after(async () => {
    await connection.close();
    await nats.stop();
  });
  const manager = await jetstreamManager(connection);
  await manager.streams.add({ name: "peer", subjects: ["peer"], storage: StorageType.File });
  const bus = jetstream(connection);
  const missing = new Map<number, { left: number; readonly all: () => void }>();
  for (let i = 0; i < SUBSCRIBERS; i++) {
    const own = await connect({ servers: nats.url });
    scope.after(() => own.close());
    const consumer = await jetstream(own).consumers.get("peer");
    await consumer.consume({
      callback: (message) => {
        const entry = missing.get(Buffer.from(message.data).readUInt32BE(0));
        if (entry !== undefined && --entry.left === 0) entry.all();
      },
    });
  }
  let sent = 0;
  const publish = async (): Promise<void> => {
    const data = Buffer.alloc(MESSAGE_BYTES);
    const id = ++sent;
    data.writeUInt32BE(id, 0);
    const { promise, resolve } = Promise.withResolvers<void>();
    missing.set(id, { left: SUBSCRIBERS, all: resolve });
    await Promise.all([bus.publish("peer", data), promise]);
    missing.delete(id);
  };
  return contender("jetstream", publish, perSecond, seconds);
}

const contender = (name: string, work: (i: number) => Promise<unknown>, perSecond: number, seconds: number): Contender => ({
  name,
  run: async () => {
    const times: number[] = [];
    const running: Promise<void>[] = [];
    const timed = async (i: number): Promise<void> => {
      const began = performance.now();
      await work(i);
      times.push(performance.now() - began);
    };
    const began = performance.now();
    for (let i = 0; i < perSecond * seconds; i++) {
      await delay(Math.max(0, began + (i * 1000) / perSecond - performance.now()));
      running.push(timed(i));
    }
    await Promise.all(running);
    return { value: quantile(times, 0.5), also: { p99_ms: quantile(times, 0.99) } };
  },
});

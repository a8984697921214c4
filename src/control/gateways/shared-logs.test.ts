import assert from "node:assert/strict";
import { setImmediate as turn } from "node:timers/promises";
import { createSealer } from "#kernel/crypto/seal.ts";
import type { NodeBatch } from "#events/rows/node-batch.ts";
import { type StoreFixture, storeTest } from "../../../test/support/store.ts";
import { createSharedLogs, READER_KEPT_MS, type SharedLogs } from "./shared-logs.ts";

const SCOPE = { account_id: "a", gateway_id: "gw" };
const place = (at: number) => ({ segment: 1, at });
const batch = (from: number, to: number, text = `${from}-${to}`): NodeBatch => ({
  ...{ node: "fra-1", source: "logs", epoch: "e", from: place(from), to: place(to), bytes: Buffer.from(text) },
});

interface Server extends SharedLogs {
  /** Everything that it has put into its events, in order. */
  readonly had: string[];
  readonly missed: number[];
  read(): Promise<void>;
}

let nowMs = Date.parse("2026-01-01T00:00:00Z");

async function openServers({ store, open }: StoreFixture, names: readonly string[], bytesMax?: number): Promise<readonly Server[]> {
  const servers: Server[] = [];
  for (const server of names) {
    const own = servers.length === 0 ? store : await open();
    const had: string[] = [];
    const missed: number[] = [];
    const shared = createSharedLogs({
      ...{ store: own, sealer: createSealer(Buffer.alloc(32)), clock: { nowMs: () => nowMs }, server, onMissed: () => missed.push(1) },
      logs: {
        change: (_, id, change) => had.push(`${id} ${JSON.stringify(change)}`) > 0,
        deleteByIds: async (_, ids) => void had.push(`without ${ids.join()}`),
      },
      ...(bytesMax === undefined ? {} : { bytesMax }),
    });
    const read = () =>
      shared.look(async ({ bytes, to }) => {
        had.push(Buffer.from(bytes).toString());
        return { stored: to };
      });
    await shared.begin();
    servers.push({ ...shared, had, missed, read });
  }
  return servers;
}

storeTest("each server gets each batch, change and deletion in one order, and a batch once", async (fixture) => {
  const [a, b] = (await openServers(fixture, ["a", "b"])) as [Server, Server];
  assert.deepEqual(await a.take(batch(0, 10)), { stored: place(10) });
  // The node did not hear the answer, and asks the server that leads now.
  assert.deepEqual(await b.take(batch(0, 10)), { stored: place(10) });
  assert.deepEqual(await b.take(batch(10, 10)), { stored: place(10) });
  await a.changed(SCOPE, "one", { feedback: 1 });
  assert.deepEqual(await b.take(batch(10, 20)), { stored: place(20) });
  await b.deleted(SCOPE, ["one", "two"]);
  const all = ["0-10", 'one {"feedback":1}', "10-20", "without one,two"];
  for (const server of [a, b]) {
    await server.read();
    await server.read();
    assert.deepEqual(server.had, all);
  }
});

storeTest("a server alone keeps its logs, and shares nothing", async (fixture) => {
  const [a] = (await openServers(fixture, ["a"])) as [Server];
  assert.equal(await a.take(batch(0, 10)), null);
  await a.changed(SCOPE, "one", { score: 1 });
  await a.read();
  assert.deepEqual([a.had, await a.missingBefore(0)], [[], null]);
});

storeTest("entries wait for a server that cannot store one, or is away, and go once all have them", async (fixture) => {
  const [a, b] = (await openServers(fixture, ["a", "b"])) as [Server, Server];
  await a.take(batch(0, 10));
  await a.take(batch(10, 20));
  await assert.rejects(
    a.look(async () => ({ error: "the disk is full" })),
    /the disk is full/,
  );
  await a.read();
  await a.trim();
  await b.read();
  assert.deepEqual([a.had, b.had], [a.had, ["0-10", "10-20"]]);
  await b.trim();
  // A reader that began again would lack them.
  assert.deepEqual([a.missed, b.missed], [[], []]);
});

storeTest("a server says since when it has all logs: since it began beside others, or was away for too long", async (fixture) => {
  const [a, b] = (await openServers(fixture, ["a", "b"])) as [Server, Server];
  const begunMs = nowMs;
  assert.deepEqual(
    [await a.missingBefore(0), await b.missingBefore(0), await b.missingBefore(begunMs)],
    [null, new Date(begunMs).toISOString(), null],
  );
  await a.take(batch(0, 10));
  nowMs += READER_KEPT_MS + 1;
  await a.read();
  await a.trim();
  await b.read();
  assert.deepEqual([b.had, b.missed.length, await b.missingBefore(begunMs)], [[], 1, new Date(nowMs).toISOString()]);
  await a.take(batch(10, 20));
  await b.read();
  assert.deepEqual(b.had, ["10-20"]);
});

storeTest("the list has a limit of bytes, and a server that did not read in time says so and goes on", async (fixture) => {
  const [a, b] = (await openServers(fixture, ["a", "b"], 1_000)) as [Server, Server];
  for (let at = 0; at < 40; at += 10) await a.take(batch(at, at + 10, "x".repeat(200)));
  await a.trim();
  await b.read();
  assert.equal(b.missed.length, 1);
  assert.ok(b.had.length > 0 && b.had.length < 4, String(b.had.length));
});

storeTest("a server that reads while others write misses nothing, and all have the same order", async (fixture) => {
  const servers = await openServers(fixture, ["a", "b", "c"]);
  const [a, b, c] = servers as [Server, Server, Server];
  const write = async (server: Server, name: string): Promise<void> => {
    for (let i = 0; i < 40; i++) await server.deleted(SCOPE, [`${name}${i}`]);
  };
  let isDone = false;
  const reading = (async () => {
    for (; !isDone; await turn()) await c.read();
  })();
  await Promise.all([write(a, "a"), write(b, "b")]);
  isDone = true;
  await reading;
  for (const server of servers) await server.read();
  assert.equal(c.had.length, 80);
  assert.deepEqual([a.had, b.had], [c.had, c.had]);
  assert.deepEqual(c.missed, []);
});

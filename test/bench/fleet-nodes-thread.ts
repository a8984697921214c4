import { systemClock } from "#kernel/clock.ts";
import { createPublicKey } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { connect } from "@nats-io/transport-node";
import type { Delta } from "#snapshot/entries.ts";
import type { Position } from "#snapshot/feed.ts";
import { createBusSource } from "#snapshot/bus/bus-source.ts";

/** Many nodes in one thread, each with a connection and a source like a real one; they keep revisions and no entries. */
export interface FleetThreadData {
  readonly url: string;
  /** Of control, in PEM. */
  readonly publicKey: string;
  readonly nodes: number;
  /** Entries that a full copy must have. */
  readonly records: number;
}

/** The thread says when the last node has reached a revision, and answers each message with the traffic of all nodes. */
export type FleetThreadMessage = { readonly reached: number; readonly atMs: number } | { readonly inBytes: number };

const RETRY_MS = 20;
const { url, publicKey, nodes, records } = workerData as FleetThreadData;
const key = createPublicKey(publicKey);
const port = parentPort!;
const say = (message: FleetThreadMessage): void => port.postMessage(message);
/** The same clock in all threads of a process. */
const nowMs = (): number => performance.timeOrigin + performance.now();

/** Ends the thread, also from inside of what is tried again. */
const fail = (reason: string): void =>
  void setImmediate(() => {
    throw new Error(reason);
  });
const counts = new Map<number, number>();
function reach(rev: number): void {
  const count = (counts.get(rev) ?? 0) + 1;
  counts.set(rev, count);
  if (count === nodes) say({ reached: rev, atMs: nowMs() });
}

const connections = await Promise.all(
  Array.from({ length: nodes }, (_, i) => connect({ servers: url, name: `node-${i}`, maxReconnectAttempts: -1, reconnectTimeWait: 50 })),
);
port.on("message", () => {
  say({ inBytes: connections.reduce((sum, connection) => sum + connection.stats().inBytes, 0) });
});
connections.forEach((connection, i) => {
  const source = createBusSource({
    clock: systemClock,
    ...{ name: `node-${i}`, key, log: () => undefined },
    refused: (reason) => fail(`node ${i} refused a message: ${reason}`),
  });
  source.attach(connection);
  let at: Position | null = null;
  let isBusy = false;
  const follow = async (): Promise<void> => {
    const deltas: readonly Delta[] | null = at === null ? null : await source.since(at);
    if (deltas === null) {
      let entries = 0;
      const position = await source.stream(async (copied, pages) => {
        for await (const page of pages) entries += page.length;
        return copied;
      });
      if (entries < records) fail(`the copy of node ${i} has ${entries} of ${records} entries`);
      at = { history: position.history, rev: position.rev };
      return reach(at.rev);
    }
    for (const { rev } of deltas) reach(rev);
    const last = deltas.at(-1);
    if (last !== undefined) at = { history: at!.history, rev: last.rev };
  };
  const followAll = async (): Promise<void> => {
    if (isBusy) return;
    isBusy = true;
    // The first heartbeat may not have arrived yet.
    for (let failed = true; failed;) {
      failed = false;
      await follow().catch(async () => {
        failed = true;
        await delay(RETRY_MS);
      });
    }
    isBusy = false;
  };
  source.onCommit(() => void followAll());
});

import { createSocket } from "node:dgram";
import { setTimeout as delay } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { queryFor } from "../support/dns-client.ts";
import type { LongestWaits, WaitWatcherOptions } from "./wait-watcher.ts";

// The thread of wait-watcher.ts.

const { dns, write } = workerData as WaitWatcherOptions;
const PAUSE_MS = 2;
const WRITE_PAUSE_MS = 20;
/** A request that has waited for this long still waits, and counts with the time so far. */
const LOST_MS = 60_000;
let longest = { dns_ms: 0, api_ms: 0 };
/** A request in progress counts too. */
let askedAt: number | null = null;
let wroteAt: number | null = null;

const socket = createSocket("udp4");
async function question(id: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const listener = (answer: Buffer): void => {
    if (answer.readUInt16BE(0) === id) resolve();
  };
  socket.on("message", listener);
  const lost = setTimeout(resolve, LOST_MS);
  askedAt = performance.now();
  socket.send(queryFor(dns.name, 1, id), dns.port, "127.0.0.1");
  await promise;
  longest.dns_ms = Math.max(longest.dns_ms, performance.now() - askedAt);
  askedAt = null;
  clearTimeout(lost);
  socket.off("message", listener);
}

async function keepAsking(): Promise<never> {
  for (let i = 0; ; i++) {
    await question(i & 0xffff);
    await delay(PAUSE_MS);
  }
}

async function keepWriting({ url, headers }: NonNullable<WaitWatcherOptions["write"]>): Promise<never> {
  for (let i = 0; ; i++) {
    wroteAt = performance.now();
    const body = JSON.stringify({ type: "TXT", name: `w${i}`, content: "bystander" });
    const answer = await fetch(url, { method: "POST", headers: { ...headers, "content-type": "application/json" }, body });
    await answer.arrayBuffer();
    if (!answer.ok) throw new Error(`a bystander was answered ${answer.status}`);
    longest.api_ms = Math.max(longest.api_ms, performance.now() - wroteAt);
    wroteAt = null;
    await delay(WRITE_PAUSE_MS);
  }
}

parentPort?.on("message", () => {
  const now = performance.now();
  const waits: LongestWaits = {
    dns_ms: Math.max(longest.dns_ms, askedAt === null ? 0 : now - askedAt),
    api_ms: Math.max(longest.api_ms, wroteAt === null ? 0 : now - wroteAt),
  };
  longest = { dns_ms: 0, api_ms: 0 };
  parentPort?.postMessage(waits);
});
await Promise.all([keepAsking(), ...(write ? [keepWriting(write)] : [])]);

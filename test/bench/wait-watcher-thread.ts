import { createSocket } from "node:dgram";
import { readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";
import { parentPort, workerData } from "node:worker_threads";
import { queryFor } from "../support/dns-client.ts";
import type { LongestWaits, WaitWatcherOptions, WatchedPart } from "./wait-watcher.ts";

// A thread of wait-watcher.ts.

const { dns, api } = workerData as WatchedPart;
const PAUSE_MS = 2;
const API_PAUSE_MS = 20;
/** A request that has waited for this long still waits, and counts with the time so far. */
const LOST_MS = 60_000;

/** Time that the calling thread has waited for a CPU so far, in milliseconds; 0 if the system does not measure it. */
function queuedMs(): number {
  try {
    return Number(readFileSync("/proc/thread-self/schedstat", "utf8").split(" ")[1]) / 1e6 || 0;
  } catch {
    return 0;
  }
}

/** The longest time of one client's requests, without the time that `without` counts. A request in progress counts too. */
function createTimer(without = (): number => 0) {
  const nowMs = (): number => performance.now() - without();
  let longestMs = 0;
  let sinceMs: number | null = null;
  const look = (): number => Math.max(longestMs, sinceMs === null ? 0 : nowMs() - sinceMs);
  return {
    time: async (work: () => Promise<void>): Promise<void> => {
      sinceMs = nowMs();
      await work();
      longestMs = look();
      sinceMs = null;
    },
    take: (): number => {
      const found = look();
      longestMs = 0;
      return found;
    },
  };
}

const timers = { dns: createTimer(), dnsAlone: createTimer(queuedMs), read: createTimer(), write: createTimer() };

const socket = createSocket("udp4");
async function question({ port, name }: WaitWatcherOptions["dns"], id: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const listener = (answer: Buffer): void => {
    if (answer.readUInt16BE(0) === id) resolve();
  };
  socket.on("message", listener);
  const lost = setTimeout(resolve, LOST_MS);
  await timers.dns.time(() =>
    timers.dnsAlone.time(() => {
      socket.send(queryFor(name, 1, id), port, "127.0.0.1");
      return promise;
    }),
  );
  clearTimeout(lost);
  socket.off("message", listener);
}

async function keepAsking(asked: WaitWatcherOptions["dns"]): Promise<never> {
  for (let i = 0; ; i++) {
    await question(asked, i & 0xffff);
    await delay(PAUSE_MS);
  }
}

async function succeed(url: string, request: RequestInit): Promise<void> {
  const answer = await fetch(url, request);
  await answer.arrayBuffer();
  if (!answer.ok) throw new Error(`a bystander was answered ${answer.status}`);
}

async function keepReading({ url, record, headers }: NonNullable<WaitWatcherOptions["api"]>): Promise<never> {
  for (;;) {
    await timers.read.time(() => succeed(`${url}/${record}`, { headers }));
    await delay(API_PAUSE_MS);
  }
}

async function keepWriting({ url, headers }: NonNullable<WaitWatcherOptions["api"]>): Promise<never> {
  for (let i = 0; ; i++) {
    const body = JSON.stringify({ type: "TXT", name: `w${i}`, content: "bystander" });
    await timers.write.time(() => succeed(url, { method: "POST", headers: { ...headers, "content-type": "application/json" }, body }));
    await delay(API_PAUSE_MS);
  }
}

parentPort?.on("message", () => {
  const waits: LongestWaits = {
    ...{ dns_ms: timers.dns.take(), dns_alone_ms: timers.dnsAlone.take() },
    ...{ read_ms: timers.read.take(), write_ms: timers.write.take() },
  };
  parentPort?.postMessage(waits);
});
await Promise.all([...(dns ? [keepAsking(dns)] : []), ...(api ? [keepReading(api), keepWriting(api)] : [])]);

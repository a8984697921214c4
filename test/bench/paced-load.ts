import { connect, type Socket } from "node:net";
import { latin1 } from "#wire/http/bytes.ts";

// The client of `edge-detection-latency`, in a separate process: sends requests at predetermined times, whatever the responses.

export interface PacedLoad {
  readonly port: number;
  /** The hosts alternate, in every order equally often. */
  readonly hosts: readonly string[];
  readonly path: string;
  readonly requestsPerSecond: number;
  readonly connections: number;
  readonly turnMs: number;
  /** Requests this soon after the start of a period are not counted, because work of the previous one may still run. */
  readonly settleMs: number;
  /** Requests of one period for each host. */
  readonly blocks: number;
  /** This many requests before them are not reported, so that both sides are warm. */
  readonly warmUpBlocks: number;
}

/** By block, then by host: µs from when a request was due until all of its response had come. */
export type PacedLatencies = readonly (readonly (readonly number[])[])[];

interface Visit {
  readonly socket: Socket;
  /** Bytes of the response still to come; -1 before its head, which arrives in one chunk. */
  left: number;
  dueAt: number;
  /** Array for its latency; null if it is not counted. */
  into: number[] | null;
}

const PIECE_BYTES = 64 * 1024;
const END_OF_HEAD = "\r\n\r\n";

const load = JSON.parse(process.argv[2] ?? "{}") as PacedLoad;

/** All orders of the values, in a drawn one. */
function drawnOrders<T>(values: readonly T[]): readonly (readonly T[])[] {
  const orders = (left: readonly T[]): readonly (readonly T[])[] =>
    left.length === 0 ? [[]] : left.flatMap((first) => orders(left.filter((value) => value !== first)).map((rest) => [first, ...rest]));
  return orders(values)
    .map((order) => ({ order, at: Math.random() }))
    .sort((a, b) => a.at - b.at)
    .map(({ order }) => order);
}

/** Longest idle first, so that all connections are used equally. */
const free: Visit[] = [];
/** Due, and no connection was free. */
const waiting: { readonly request: string; readonly dueAt: number; readonly into: number[] | null }[] = [];

async function open(): Promise<void> {
  const buffer = Buffer.allocUnsafe(PIECE_BYTES);
  const visit: Visit = await new Promise((resolve) => {
    const socket = connect({
      port: load.port,
      host: "127.0.0.1",
      noDelay: true,
      onread: { buffer, callback: (bytes) => take(visit, buffer, bytes) },
    });
    socket.on("error", fail).on("close", fail);
    socket.once("connect", () => resolve({ socket, left: -1, dueAt: 0, into: null }));
  });
  free.push(visit);
}

const fail = (): void => {
  console.error("a connection was lost, or a response was not 200 with its length");
  process.exit(1);
};

function take(visit: Visit, buffer: Buffer, bytes: number): boolean {
  if (visit.left < 0) {
    const end = buffer.subarray(0, bytes).indexOf(END_OF_HEAD) + END_OF_HEAD.length;
    const length = /^HTTP\/1\.1 200 [^]*?\r\ncontent-length: (\d+)\r\n/i.exec(latin1(buffer, 0, end))?.[1];
    if (length === undefined) fail();
    visit.left = end + Number(length);
  }
  visit.left -= bytes;
  if (visit.left > 0) return true;
  visit.into?.push(Math.round((performance.now() - visit.dueAt) * 1000));
  visit.left = -1;
  const next = waiting.shift();
  if (next === undefined) free.push(visit);
  else send(visit, next.request, next.dueAt, next.into);
  return true;
}

function send(visit: Visit, request: string, dueAt: number, into: number[] | null): void {
  visit.dueAt = dueAt;
  visit.into = into;
  visit.socket.write(request, "latin1");
}

function ask(request: string, into: number[] | null): void {
  const dueAt = performance.now();
  const visit = free.shift();
  if (visit === undefined) waiting.push({ request, dueAt, into });
  else send(visit, request, dueAt, into);
}

await Promise.all(Array.from({ length: load.connections }, open));
const requests = load.hosts.map((host) => `GET ${load.path} HTTP/1.1\r\nHost: ${host}\r\nUser-Agent: paced-load\r\n\r\n`);
const { hosts, turnMs, settleMs, requestsPerSecond, warmUpBlocks } = load;

/** Milliseconds after the start of a period. */
function drawn(): readonly number[] {
  const gap = (): number => (-Math.log(1 - Math.random()) * 1000) / requestsPerSecond;
  const times: number[] = [];
  for (let at = gap(); at < turnMs; at += gap()) times.push(at);
  return times;
}

// New random times for each order, and in every run: repeated times would coincide with periodic work of the machine.
let orders: (readonly number[])[] = [];
const blocks = Array.from({ length: warmUpBlocks + load.blocks }, (_, index) => {
  if (orders.length === 0 || index === warmUpBlocks) orders = [...drawnOrders(hosts.map((_host, host) => host))];
  // The same times for each host, because the number of concurrent requests matters more than the requested content.
  return { told: hosts.map((): number[] => []), order: orders.pop()!, times: drawn() };
});
let turnAt = performance.now();
for (const { told, order, times } of blocks) {
  for (const host of order) {
    for (const time of times) {
      const leftMs = turnAt + time - performance.now();
      if (leftMs > 0) await new Promise((resolve) => setTimeout(resolve, leftMs));
      ask(requests[host]!, time < settleMs ? null : told[host]!);
    }
    turnAt += turnMs;
  }
}
// Requests in progress still count.
while (free.length < load.connections) await new Promise((resolve) => setTimeout(resolve, 1));
console.log(JSON.stringify(blocks.slice(warmUpBlocks).map(({ told }) => told) satisfies PacedLatencies));
process.exit(0);

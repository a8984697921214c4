import { connect } from "node:net";
import { quantile } from "./statistics.ts";

// The client of `api-creates`, in a separate process so that its work is not the server's. It uses raw HTTP/1.1: on two
// cores a client library would take much of the measured CPU time.

export interface CreateLoad {
  readonly host: string;
  readonly port: number;
  readonly server: "selvedge" | "powerdns";
  /** Selvedge: the zone's collection of records; PowerDNS: the zone. */
  readonly path: string;
  readonly zoneName: string;
  /** The credential: a token, or PowerDNS's key. */
  readonly secret: string;
  readonly connections: number;
  readonly seconds: number;
}

export interface CreateLoadResult {
  readonly acknowledged: number;
  readonly refused: number;
  /** Text of the first refusal. */
  readonly refusal: string;
  readonly seconds: number;
  readonly latency_p50_ms: number;
  readonly latency_p99_ms: number;
}

const load = JSON.parse(process.argv[2] ?? "{}") as CreateLoad;
const latencies: number[] = [];
let created = 0;
let refused = 0;
let refusal = "";

const started = performance.now();
const deadline = started + load.seconds * 1000;
await Promise.all(Array.from({ length: load.connections }, createUntilDeadline));
const seconds = (performance.now() - started) / 1000;
const result: CreateLoadResult = {
  acknowledged: latencies.length,
  refused,
  refusal,
  seconds,
  latency_p50_ms: quantile(latencies, 0.5),
  latency_p99_ms: quantile(latencies, 0.99),
};
console.log(JSON.stringify(result));

/** The request that creates one address record at each server. */
function createOf(n: number): { readonly method: string; readonly authorization: string; readonly body: object } {
  const content = `10.${(n >> 16) & 255}.${(n >> 8) & 255}.${n & 255}`;
  if (load.server === "selvedge")
    return { method: "POST", authorization: `authorization: Bearer ${load.secret}`, body: { type: "A", name: `h${n}`, content, ttl: 300 } };
  const set = { name: `h${n}.${load.zoneName}.`, type: "A", ttl: 300, changetype: "REPLACE", records: [{ content, disabled: false }] };
  return { method: "PATCH", authorization: `x-api-key: ${load.secret}`, body: { rrsets: [set] } };
}

function nextRequest(): string {
  const { method, authorization, body: fields } = createOf(created++);
  const body = JSON.stringify(fields);
  return [
    `${method} ${load.path} HTTP/1.1`,
    `host: ${load.host}:${load.port}`,
    authorization,
    "content-type: application/json",
    `content-length: ${body.length}`,
    "",
    body,
  ].join("\r\n");
}

/** Opens a new connection when the server closes one; sends one request at a time. */
async function createUntilDeadline(): Promise<void> {
  while (performance.now() < deadline) await createUntilClosed();
}

function createUntilClosed(): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const socket = connect({ host: load.host, port: load.port, noDelay: true });
  let received = "";
  let sentAt = 0;
  let answered = 0;
  const send = (): void => {
    sentAt = performance.now();
    if (sentAt < deadline) socket.write(nextRequest());
    else socket.end(() => resolve());
  };
  socket.setEncoding("latin1");
  socket.on("connect", send);
  socket.on("error", reject);
  socket.on("close", () => (answered > 0 ? resolve() : reject(new Error("the server closed the connection without an answer"))));
  socket.on("data", (chunk: string) => {
    received += chunk;
    const body = received.indexOf("\r\n\r\n") + 4;
    const length = /\r\ncontent-length: (\d+)\r\n/i.exec(received)?.[1];
    const bodyless = received.startsWith("HTTP/1.1 204 ");
    if (body < 4 || (!bodyless && (length === undefined || received.length < body + Number(length)))) return;
    answered += 1;
    if (bodyless || received.startsWith("HTTP/1.1 200 ")) {
      latencies.push(performance.now() - sentAt);
    } else {
      refused++;
      refusal ||= received.slice(0, 2000);
    }
    const closes = /\r\nconnection: close\r\n/i.test(received);
    received = "";
    if (closes) socket.end();
    else send();
  });
  return promise;
}

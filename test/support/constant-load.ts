import { once } from "node:events";
import { Agent, request } from "node:http";
import { type ClientHttp2Session, connect as connectHttp2 } from "node:http2";
import { setTimeout as delay } from "node:timers/promises";
import { TYPE } from "#wire/dns/codes.ts";
import { askTcp, askUdp, queryFor } from "./dns-client.ts";

/** Clients that ask without a pause, each one request after the other. */
export interface ConstantLoad {
  /** Stops the clients; returns the results of each kind. */
  stop(): Promise<readonly LoadResult[]>;
}

export interface LoadResult {
  readonly kind: string;
  readonly done: number;
  readonly failures: readonly LoadFailure[];
  /** The longest wait for an answer, in milliseconds. */
  readonly slowestMs: number;
}

export interface LoadFailure {
  readonly reason: string;
  readonly tookMs: number;
}

/** Sends one request; rejects if the response is not the expected one. */
export type Ask = () => Promise<void>;

const PAUSE_MS = 20;
const TIMEOUT_MS = 60_000;

export function startLoad(kinds: Readonly<Record<string, readonly Ask[]>>): ConstantLoad {
  let isOver = false;
  const loops = Object.entries(kinds).map(async ([kind, clients]): Promise<LoadResult> => {
    const failures: LoadFailure[] = [];
    let [done, slowestMs] = [0, 0];
    await Promise.all(
      clients.map(async (ask) => {
        while (!isOver) {
          const began = performance.now();
          const error = await ask().catch((cause: Error) => cause);
          const tookMs = Math.round(performance.now() - began);
          if (error === undefined) done++;
          else failures.push({ reason: String(error.stack), tookMs });
          slowestMs = Math.max(slowestMs, tookMs);
          await delay(PAUSE_MS);
        }
      }),
    );
    return { kind, done, failures, slowestMs };
  });
  return {
    stop: () => {
      isOver = true;
      return Promise.all(loops);
    },
  };
}

/** HTTP/1.1 on one connection as long as the server keeps it open, or on a new one for each request. */
export function http1Client(url: string, options: { readonly host?: string; readonly keepAlive: boolean; readonly token?: string }): Ask {
  const agent = new Agent({ keepAlive: options.keepAlive, maxSockets: 1 });
  const headers = {
    ...(options.host === undefined ? {} : { host: options.host }),
    ...(options.token === undefined ? {} : { authorization: `Bearer ${options.token}` }),
  };
  return async () => {
    const req = request(url, { agent, headers, timeout: TIMEOUT_MS });
    req.end();
    const [res] = await once(req, "response");
    for await (const _ of res) void _;
    if (res.statusCode !== 200) throw new Error(`status ${res.statusCode}`);
  };
}

/**
 * HTTP/2, with a new connection once the server has sent GOAWAY. A refused stream was not processed and is sent once
 * more, as all clients do (RFC 9113 §8.7).
 */
export function http2Client(url: string, options: { readonly host: string; readonly ca: string }): Ask {
  const { port } = new URL(url);
  let session: ClientHttp2Session | undefined;
  const opened = (): ClientHttp2Session => {
    if (session !== undefined && !session.closed && !session.destroyed) return session;
    session = connectHttp2(`https://127.0.0.1:${port}`, { servername: options.host, ca: options.ca });
    return session.on("error", () => undefined);
  };
  const ask: Ask = async () => {
    const stream = opened().request({ ":path": "/", ":authority": options.host });
    stream.setTimeout(TIMEOUT_MS, () => stream.close());
    const answered = once(stream, "response");
    stream.end();
    const [head] = await answered;
    for await (const _ of stream) void _;
    if (head[":status"] !== 200) throw new Error(`status ${head[":status"]}`);
  };
  return () =>
    ask().catch((error: Error) => {
      if (!error.message.includes("NGHTTP2_REFUSED_STREAM")) throw error;
      session?.close();
      return ask();
    });
}

/** DNS over UDP, once without another try; or over TCP, on a new connection. */
export function dnsClient(address: string, name: string, transport: "udp" | "tcp"): Ask {
  const port = Number(address.split(":")[1]);
  const ask = transport === "udp" ? askUdp : askTcp;
  let id = 0;
  return async () => {
    const [answer] = await ask(port, [queryFor(name, TYPE.A, (id = (id + 1) % 65_536))], 10_000);
    if (answer === undefined || (answer[3]! & 15) !== 0 || answer.readUInt16BE(6) === 0) throw new Error("an answer without the record");
  };
}

/** One streamed chat; the answer must be whole. */
export function streamClient(url: string, token: string): Ask {
  return async () => {
    const res = await fetch(url, {
      method: "POST",
      headers: { "content-type": "application/json", authorization: "Bearer k", "cf-aig-authorization": `Bearer ${token}` },
      body: JSON.stringify({ model: "gpt-4o", stream: true, messages: [{ role: "user", content: "endless" }] }),
      signal: AbortSignal.timeout(TIMEOUT_MS),
    });
    const text = await res.text();
    if (res.status !== 200 || !text.includes("data: [DONE]")) throw new Error(`status ${res.status}: ${text.slice(-200)}`);
  };
}

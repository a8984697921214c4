import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer, get } from "node:http";
import type { AddressInfo } from "node:net";
import { succeed } from "../support/api.ts";
import type { Benchmark, Measurement } from "./benchmark.ts";
import { type BenchServer, startBenchServer } from "./bench-server.ts";
import { quantile } from "./statistics.ts";

const WRITES = 100;
const TIMEOUT_MS = 2_000;
const ZONE = "propagation.example";

/** A write and the query to a plane that shows its effect. */
export interface Switch {
  /** Writes the state with this number. */
  write(state: number): Promise<unknown>;
  /** The number of the state that the plane currently shows. */
  read(): Promise<number>;
  close?(): void;
}

/** Measures from the write to the API to the plane's first answer that shows it, polled without a pause. */
function propagation(plane: string, open: () => Promise<{ server: BenchServer; observed: Switch }>): Benchmark {
  return {
    name: `propagation-${plane}`,
    unit: "ms from an API write to its first visible answer, p50",
    better: "lower",
    target: 50,
    tools: [],
    prepare: async () => {
      const { server, observed } = await open();
      let state = 0;
      const run = async (): Promise<Measurement> => {
        const delays: number[] = [];
        for (let i = 0; i < WRITES; i++) delays.push(await timeToSee(observed, ++state));
        return { value: quantile(delays, 0.5), also: { p99_ms: quantile(delays, 0.99) } };
      };
      return {
        ours: { name: "selvedge", run },
        close: async () => {
          observed.close?.();
          await server.selvedge.stop();
        },
      };
    },
  };
}

/** In milliseconds; once it returns, the write is acknowledged. */
export async function timeToSee(observed: Switch, state: number): Promise<number> {
  const started = performance.now();
  const written = observed.write(state);
  // A refused write must not end the process before the loop below notices.
  written.catch(() => {});
  while ((await observed.read()) !== state) {
    if (performance.now() - started > TIMEOUT_MS) {
      await written;
      throw new Error(`a write was not visible after ${TIMEOUT_MS} ms`);
    }
  }
  const delay = performance.now() - started;
  await written;
  return delay;
}

export const propagationDns = propagation("dns", async () => {
  const server = await startBenchServer();
  return { server, observed: await addressSwitch(server, ZONE, await server.createZone(ZONE)) };
});

/** The address of `www` in the zone, queried through a separate socket. */
export async function addressSwitch({ selvedge, call }: BenchServer, zone: string, zoneId: string): Promise<Switch> {
  const content = (state: number): string => `10.0.${state >> 8}.${state & 255}`;
  const record = await succeed(call("POST", `/zones/${zoneId}/dns_records`, { type: "A", name: "www", content: content(0), ttl: 60 }));
  const { read, close } = await addressReader(Number(selvedge.ready.dns.split(":")[1]), `www.${zone}`);
  return {
    write: (state) => succeed(call("PATCH", `/zones/${zoneId}/dns_records/${record.id}`, { content: content(state) })),
    read,
    close,
  };
}

/** The last two bytes of the name's address, queried through a separate socket. */
export async function addressReader(port: number, name: string): Promise<{ read(): Promise<number>; close(): void }> {
  const socket = createSocket("udp4");
  socket.connect(port, "127.0.0.1");
  await once(socket, "connect");
  const question = addressQuestion(name);
  return {
    read: async () => {
      socket.send(question);
      const [answer] = (await once(socket, "message", { signal: AbortSignal.timeout(TIMEOUT_MS) })) as [Buffer];
      // The address is at the end of the answer, because the query has no EDNS.
      return answer.readUInt16BE(answer.length - 2);
    },
    close: () => socket.close(),
  };
}

/** The write moves a proxied record from one loopback address to the next; the origin answers with its address. */
export const propagationEdge = propagation("edge", async () => {
  const origin = createServer((req, res) => res.end(req.socket.localAddress)).listen(0, "0.0.0.0");
  await once(origin, "listening");
  const server = await startBenchServer(["--edge-origin-port", String((origin.address() as AddressInfo).port)]);
  const { selvedge, call } = server;
  const zoneId = await server.createZone(ZONE);
  const content = (state: number): string => `127.0.${state >> 8}.${state & 255 || 1}`;
  const create = { type: "A", name: "www", content: content(0), proxied: true, ttl: 1 };
  const record = await succeed(call("POST", `/zones/${zoneId}/dns_records`, create));
  let written = 0;
  const observed: Switch = {
    write: (state) => {
      written = state;
      return succeed(call("PATCH", `/zones/${zoneId}/dns_records/${record.id}`, { content: content(state) }));
    },
    read: async () => ((await visit(selvedge.ready.http, `www.${ZONE}`)) === content(written) ? written : written - 1),
    close: () => {
      origin.close();
      origin.closeAllConnections();
    },
  };
  return { server, observed };
});

/** The write turns authentication on and off; while it is on, a request without a token is refused. */
export const propagationGateway = propagation("gateway", async () => {
  const server = await startBenchServer();
  const { selvedge, call } = server;
  const collection = `/accounts/${selvedge.ready.account_id}/ai-gateway/gateways`;
  const settings = {
    cache_invalidate_on_update: false,
    cache_ttl: 0,
    collect_logs: false,
    rate_limiting_interval: 0,
    rate_limiting_limit: 0,
  };
  await succeed(call("POST", collection, { ...settings, id: "bench", authentication: false }));
  // The provider does not exist, so the gateway answers without a request to one.
  const url = `${selvedge.ready.gateway}/v1/${selvedge.ready.account_id}/bench/no-such-provider/x`;
  let written = 0;
  const observed: Switch = {
    write: (state) => {
      written = state;
      return succeed(call("PUT", `${collection}/bench`, { ...settings, authentication: state % 2 === 1 }));
    },
    read: async () => ((await isRefused(url)) === (written % 2 === 1) ? written : written - 1),
  };
  return { server, observed };
});

function addressQuestion(name: string): Buffer {
  const labels = name.split(".").map((label) => Buffer.concat([Buffer.of(label.length), Buffer.from(label)]));
  const header = Buffer.from("000101000001000000000000", "hex");
  return Buffer.concat([header, ...labels, Buffer.from("0000010001", "hex")]);
}

async function isRefused(url: string): Promise<boolean> {
  const res = await fetch(url, { method: "POST", body: "{}", headers: { "content-type": "application/json" } });
  await res.arrayBuffer();
  return res.status === 401;
}

/** The page's text; fetch() would not let us choose the Host. */
function visit(base: string, host: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const request = get(`${new URL(base).origin}/`, { headers: { host }, timeout: TIMEOUT_MS }, (res) => {
    res.setEncoding("utf8");
    let body = "";
    res.on("data", (chunk: string) => {
      body += chunk;
    });
    res.on("end", () => resolve(body));
  });
  request.on("error", reject);
  return promise;
}

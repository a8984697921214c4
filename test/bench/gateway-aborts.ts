import { randomUUID } from "node:crypto";
import { once } from "node:events";
import { createServer, request, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { constants, getPriority, setPriority } from "node:os";
import { setTimeout as delay } from "node:timers/promises";
import type { BenchContext, Benchmark, Measurement } from "./benchmark.ts";
import { type BenchGateway, loadGateway, startGatewaySite, type Target } from "./gateway-site.ts";

const DEPARTURES = 1_000;
const CLIENTS = 32;
const LOAD = { connections: 64, stream: true } as const;
const NORMAL = getPriority();
const EVERY_MS = 50;
/** Until a load has all its connections. */
const BEGINNING_MS = 300;
/** Clients disconnect at any time during a stream. */
const STAY_MS = [50, 300] as const;
const EVENT = `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content: " word" }, finish_reason: null }] })}\n\n`;

/**
 * Measures how long after a client's disconnect its provider sees the end of the gateway's request, beside a load that
 * uses all CPU of the gateway. The load and its provider are separate processes from the disconnecting clients and
 * theirs. `direct` runs the same clients without a gateway, to show the share of the measurement itself.
 */
export const gatewayAborts: Benchmark = {
  name: "gateway-aborts",
  unit: "ms at most until a provider sees that the client has left, of 1,000 or more beside a saturating load",
  better: "lower",
  target: 100,
  tools: ["wrk"],
  prepare: async (context) => {
    const provider = await startLeftProvider();
    const { port } = provider.server.address() as AddressInfo;
    const site = await startGatewaySite({ hasPeer: false, args: ["--provider", `groq=http://127.0.0.1:${port}/v1`] });
    const [gateway] = site.gateways;
    if (gateway === undefined) throw new Error("no gateway");
    const through = { headers: gateway.headers, url: new URL(gateway.url.href.replace("/openai/", "/groq/")) };
    const direct = { headers: site.direct.headers, url: new URL(`http://127.0.0.1:${port}/v1/chat/completions`) };
    const contender = (name: string, target: Target) => ({
      name,
      run: () => besideLoad(context, gateway, () => departure(target, provider)),
    });
    return {
      ours: contender(gateway.name, through),
      peers: [contender("direct", direct)],
      close: async () => {
        await site.close();
        provider.server.closeAllConnections();
        provider.server.close();
      },
    };
  },
};

/** Loads the gateway again and again until there have been enough departures. */
async function besideLoad(context: BenchContext, gateway: BenchGateway, depart: () => Promise<number>): Promise<Measurement> {
  const times: number[] = [];
  while (times.length < DEPARTURES) {
    const load = loadGateway(context, gateway, LOAD);
    await delay(BEGINNING_MS);
    ahead(true);
    const untilMs = performance.now() + context.seconds * 1000 - 2 * BEGINNING_MS;
    const client = async (): Promise<void> => {
      while (performance.now() < untilMs) times.push(await depart());
    };
    try {
      await Promise.all(Array.from({ length: CLIENTS }, client));
    } finally {
      ahead(false);
      await load;
    }
  }
  const sorted = times.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
  return { value: at(1), also: { p50_ms: at(0.5), p99_ms: at(0.99), departures: times.length } };
}

/** The measuring client must not wait for the load's CPU. If the system does not allow a priority, `direct` shows the wait. */
function ahead(isAhead: boolean): void {
  try {
    setPriority(isAhead ? Math.max(constants.priority.PRIORITY_HIGHEST, NORMAL - 10) : NORMAL);
  } catch {
    // Only the superuser may.
  }
}

interface LeftProvider {
  readonly server: Server;
  /** Called when the request of this name has ended. */
  readonly ended: Map<string, (atMs: number) => void>;
}

/** Streams to each request until its connection closes. */
async function startLeftProvider(): Promise<LeftProvider> {
  const ended: LeftProvider["ended"] = new Map();
  const server = createServer((req, res) => {
    let body = "";
    req.setEncoding("utf8").on("data", (part: string) => (body += part));
    req.on("end", () => {
      const name = (JSON.parse(body) as { user: string }).user;
      res.writeHead(200, { "content-type": "text/event-stream" });
      const timer = setInterval(() => res.write(EVENT), EVERY_MS);
      res.once("close", () => {
        clearInterval(timer);
        ended.get(name)?.(performance.now());
      });
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return { server, ended };
}

function departure({ url, headers }: Target, { ended }: LeftProvider): Promise<number> {
  const name = randomUUID();
  return new Promise((resolve, reject) => {
    const body = JSON.stringify({ model: "m", stream: true, user: name, messages: [{ role: "user", content: "hello" }] });
    const req = request(url, { method: "POST", headers, agent: false }, (res) => {
      if (res.statusCode !== 200) return reject(new Error(`status ${res.statusCode}`));
      res.once("data", () => {
        const [least, most] = STAY_MS;
        setTimeout(
          () => {
            const leftMs = performance.now();
            ended.set(name, (atMs) => {
              ended.delete(name);
              resolve(atMs - leftMs);
            });
            res.destroy();
          },
          least + Math.random() * (most - least),
        );
      });
    });
    req.once("error", reject);
    req.end(body);
  });
}

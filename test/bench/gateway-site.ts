import { writeFile } from "node:fs/promises";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { succeed } from "../support/api.ts";
import { type BenchServer, startBenchServer } from "./bench-server.ts";
import type { BenchContext, Measurement } from "./benchmark.ts";
import { measure } from "./http-load.ts";
import { freePort, pinToFirstCpu, pinToOtherCpus, runTool, startProgram, startScript } from "./program.ts";

/** One provider behind our gateway and behind another one. Each gateway uses the first CPU, load and provider the others. */
export interface GatewaySite {
  readonly ours: BenchServer;
  readonly gateways: readonly BenchGateway[];
  /** The provider by itself. */
  readonly direct: Target;
  close(): Promise<void>;
}

/** Target of chats. */
export interface Target {
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
}

export interface BenchGateway extends Target {
  readonly name: string;
  readonly pid: number;
  readonly threads?: string;
}

const root = dirname(dirname(import.meta.dirname));
const GATEWAY = { id: "bench", authentication: true, collect_logs: true, cache_invalidate_on_update: false, cache_ttl: null };

/**
 * Our gateway requires its token and stores rows with bodies. `pauseMs`: time between two events of a stream; `args`:
 * further arguments of ours.
 */
export async function startGatewaySite({ pauseMs = 0, hasPeer = true, args = [] as readonly string[] } = {}): Promise<GatewaySite> {
  const [providerPort, peerPort] = [await freePort(), await freePort()];
  const provider = await startScript("gateway-provider-engine.ts", [String(providerPort), String(pauseMs)], () => reach(providerPort));
  await pinToOtherCpus(provider.pid);
  const address = `http://127.0.0.1:${providerPort}/v1`;
  const ours = await startBenchServer(["--provider", `openai=${address}`, "--gateway-connections-per-address-max", "0", ...args]);
  const { account_id, token, gateway, pid } = { token: "", ...ours.selvedge.ready };
  await succeed(
    ours.call("POST", `/accounts/${account_id}/ai-gateway/gateways`, {
      ...GATEWAY,
      rate_limiting_interval: null,
      rate_limiting_limit: null,
    }),
  );
  await pinToFirstCpu(pid);
  const peer = hasPeer ? await startPortkey(peerPort, address) : undefined;
  const headers = { "content-type": "application/json", authorization: "Bearer provider-key-0123456789" };
  const url = new URL(`${gateway}/v1/${account_id}/bench/openai/chat/completions`);
  return {
    ours,
    direct: { url: new URL(`${address}/chat/completions`), headers },
    gateways: [
      { name: "selvedge", pid, threads: "gateway", url, headers: { ...headers, "svc-aig-authorization": `Bearer ${token}` } },
      ...(peer === undefined ? [] : [{ ...peer, headers: { ...headers, ...peer.headers } }]),
    ],
    close: async () => {
      await ours.selvedge.stop();
      await peer?.stop();
      await provider.stop();
    },
  };
}

async function startPortkey(port: number, address: string): Promise<BenchGateway & { stop(): Promise<void> }> {
  const script = join(root, "node_modules/@portkey-ai/gateway/build/start-server.js");
  const { pid, stop } = await startProgram("portkey", process.execPath, [script, "--headless", `--port=${port}`], () => reach(port));
  await pinToFirstCpu(pid);
  const headers = { "x-portkey-provider": "openai", "x-portkey-custom-host": address };
  return { name: "portkey", pid, stop, url: new URL(`http://127.0.0.1:${port}/v1/chat/completions`), headers };
}

function reach(port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.destroy();
      resolve();
    });
  });
}

/** A chat of some 600 bytes. */
export const chatBody = (stream: boolean): string =>
  JSON.stringify({
    model: "gpt-4o-mini",
    ...(stream ? { stream: true, stream_options: { include_usage: true } } : {}),
    messages: [
      { role: "system", content: "You are an assistant who answers in a few sentences and never more than asked." },
      { role: "user", content: "Tell me of the sea, of the waves and of the wind. ".repeat(8) },
    ],
  });

/** Chat completions over kept-alive connections, per CPU second of the gateway. Throws if one fails. */
export async function loadGateway(
  { directory, seconds }: BenchContext,
  gateway: BenchGateway,
  { connections, stream }: { readonly connections: number; readonly stream: boolean },
): Promise<Measurement> {
  const script = join(directory, `${gateway.name}-${String(stream)}.lua`);
  await writeFile(script, luaPost(gateway, chatBody(stream)));
  const load = ["-t", "1", "-c", String(connections), "-d", `${seconds}s`, "--timeout", "20s", "-s", script];
  const measured = await measure(gateway, async () => {
    const report = await runTool("wrk", [...load, gateway.url.href]);
    if (/Non-2xx|Socket errors/.test(report)) throw new Error(`not every request succeeded:\n${report}`);
    const requests = Number(/(\d+) requests in/.exec(report)?.[1] ?? Number.NaN);
    const perSecond = Number(/Requests\/sec:\s+([\d.]+)/.exec(report)?.[1] ?? Number.NaN);
    return { requests, also: { requests_per_second: perSecond } };
  });
  return { value: measured.value, also: { ...measured.also, cpu_us_per_request: 1_000_000 / measured.value } };
}

const luaPost = ({ headers }: Target, body: string): string =>
  [
    'wrk.method = "POST"',
    `wrk.body = ${JSON.stringify(body)}`,
    ...Object.entries(headers).map(([name, value]) => `wrk.headers[${JSON.stringify(name)}] = ${JSON.stringify(value)}`),
  ].join("\n");

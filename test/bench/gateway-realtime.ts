import { once } from "node:events";
import { request } from "node:http";
import { setTimeout as delay } from "node:timers/promises";
import { Worker } from "node:worker_threads";
import type { BenchContext, Benchmark, Measurement } from "./benchmark.ts";
import { threadCpuSeconds } from "./cpu-time.ts";
import { chatBody, startGatewaySite, type Target } from "./gateway-site.ts";
import type { RealtimeLoad } from "./realtime-load.ts";

const PAUSE_MS = 5;
const BEGINNING_MS = 500;
const LOADS: readonly RealtimeLoad[] = [1, 5, 20].flatMap((sessions) => [
  { sessions, messageBytes: 80, areAnswers: true },
  { sessions, messageBytes: 64 * 1024, areAnswers: false },
]);
const NOTHING: RealtimeLoad = { sessions: 0, messageBytes: 80, areAnswers: true };

/** One client's chats beside realtime sessions whose provider sends as fast as the gateway reads. */
export const gatewayRealtime: Benchmark = {
  name: "gateway-realtime",
  unit: "ms at most that a chat takes beside 20 realtime sessions at full speed, messages of 80 bytes",
  better: "lower",
  target: 100,
  tools: [],
  prepare: async (context) => ({
    ours: { name: "selvedge", run: () => beside(context, { sessions: 20, messageBytes: 80, areAnswers: true }) },
    peers: [NOTHING, ...LOADS].map((load) => ({
      name: `${load.sessions} x ${load.messageBytes}`,
      run: () => beside(context, load),
    })),
    close: async () => undefined,
  }),
};

async function beside({ seconds }: BenchContext, load: RealtimeLoad): Promise<Measurement> {
  const worker = new Worker(new URL("./realtime-load.ts", import.meta.url), { workerData: load });
  const [port] = (await once(worker, "message")) as [number];
  const site = await startGatewaySite({ hasPeer: false, args: ["--provider", `groq=http://127.0.0.1:${port}/v1`] });
  try {
    const [gateway] = site.gateways;
    if (gateway === undefined) throw new Error("no gateway");
    await chatMs(gateway);
    const url = gateway.url.href.replace("/openai/chat/completions", "/groq/realtime?model=m");
    worker.postMessage({ url, headers: gateway.headers });
    await delay(BEGINNING_MS);
    worker.postMessage("bytes");
    await once(worker, "message");
    const times: number[] = [];
    const before = threadCpuSeconds(gateway.pid, "gateway");
    const startMs = performance.now();
    while (performance.now() < startMs + seconds * 1000) {
      times.push(await chatMs(gateway));
      await delay(PAUSE_MS);
    }
    const lastedMs = performance.now() - startMs;
    const cpuSeconds = threadCpuSeconds(gateway.pid, "gateway") - before;
    worker.postMessage("bytes");
    const [bytes] = (await once(worker, "message")) as [number];
    const sorted = times.toSorted((a, b) => a - b);
    const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN;
    const also = {
      p50_ms: at(0.5),
      p99_ms: at(0.99),
      chats: times.length,
      mb_per_second: bytes / lastedMs / 1000,
      mb_per_cpu_second: bytes / cpuSeconds / 1e6,
    };
    return { value: at(1), also };
  } finally {
    // Its sessions end with it: the gateway would wait for them.
    await worker.terminate();
    await site.close();
  }
}

function chatMs({ url, headers }: Target): Promise<number> {
  const startMs = performance.now();
  return new Promise((resolve, reject) => {
    const asked = request(url, { method: "POST", headers }, (res) => {
      if (res.statusCode !== 200) return reject(new Error(`status ${res.statusCode}`));
      res.resume().once("end", () => resolve(performance.now() - startMs));
    });
    asked.once("error", reject);
    asked.end(chatBody(false));
  });
}

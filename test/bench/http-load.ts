import type { Measurement } from "./benchmark.ts";
import { cpuSecondsOf, threadCpuSeconds } from "./cpu-time.ts";
import { runTool } from "./program.ts";

/** The proxy that is visited. */
export interface VisitedProxy {
  /** Its process, whose CPU time is measured, threads and children included. */
  readonly pid: number;
  /** Prefix of the names of threads whose CPU time is also reported separately. */
  readonly threads?: string;
  readonly url: URL;
}

export interface Visit {
  readonly host: string;
  readonly connections: number;
  readonly seconds: number;
}

/** Requests per CPU second of the proxy over kept-alive HTTP/1.1 connections. Throws if one fails. */
export async function visit(proxy: VisitedProxy, { host, connections, seconds }: Visit): Promise<Measurement> {
  const load = ["-t", "1", "-c", String(connections), "-d", `${seconds}s`, "--latency", "-H", `Host: ${host}`];
  return measure(proxy, async () => {
    const report = await runTool("wrk", [...load, proxy.url.href]);
    if (/Non-2xx|Socket errors/.test(report)) throw new Error(`not every request succeeded:\n${report}`);
    return {
      requests: Number(/(\d+) requests in/.exec(report)?.[1] ?? Number.NaN),
      also: {
        requests_per_second: Number(/Requests\/sec:\s+([\d.]+)/.exec(report)?.[1] ?? Number.NaN),
        latency_p50_ms: latencyMs(report, "50%"),
        latency_p99_ms: latencyMs(report, "99%"),
      },
    };
  });
}

/** The same over TLS, whose handshakes name the host. `flags` for h2load: `--h1` for HTTP/1.1. */
export async function visitSecurely(
  proxy: VisitedProxy,
  { host, connections, seconds }: Visit,
  flags: readonly string[],
): Promise<Measurement> {
  const load = ["-t", "1", "-c", String(connections), "-D", String(seconds), `--connect-to=127.0.0.1:${proxy.url.port}`, ...flags];
  return measure(proxy, async () => {
    const report = await runTool("h2load", [...load, `https://${host}${proxy.url.pathname}`]);
    const [, done, succeeded] = /(\d+) done, (\d+) succeeded/.exec(report) ?? [];
    if (done === undefined || done !== succeeded || !/ 0 4xx, 0 5xx/.test(report))
      throw new Error(`not every request succeeded:\n${report}`);
    return {
      requests: Number(done),
      also: { requests_per_second: Number(/finished in [\d.]+m?s, ([\d.]+) req\/s/.exec(report)?.[1] ?? Number.NaN) },
    };
  });
}

interface Load {
  readonly requests: number;
  readonly also: Readonly<Record<string, number>>;
}

/** The load per CPU second of the proxy, and of its named threads if it has any. */
export async function measure({ pid, threads }: VisitedProxy, load: () => Promise<Load>): Promise<Measurement> {
  const before = threads === undefined ? 0 : threadCpuSeconds(pid, threads);
  const { result, seconds } = await cpuSecondsOf(pid, load);
  const also: Record<string, number> = { ...result.also };
  if (threads !== undefined) also[`${threads}_threads_alone`] = result.requests / (threadCpuSeconds(pid, threads) - before);
  return { value: result.requests / seconds, also };
}

const UNIT_MS: Readonly<Record<string, number>> = { us: 0.001, ms: 1, s: 1000 };

function latencyMs(report: string, quantile: string): number {
  const [, value, unit = ""] = new RegExp(`${quantile}\\s+([\\d.]+)(us|ms|s)`).exec(report) ?? [];
  return Number(value) * (UNIT_MS[unit] ?? Number.NaN);
}

import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { succeed } from "../support/api.ts";
import type { Benchmark, Contender, Measurement } from "./benchmark.ts";
import { type BenchServer, startBenchServer } from "./bench-server.ts";
import { cpuSecondsOf } from "./cpu-time.ts";
import { DNS_SERVER_TOOLS, SIGNED_SERVER_TOOLS, type ServedZone, signedZone, startDnsServers, startFileServers } from "./dns-servers.ts";
import { pinToFirstCpu, runTool } from "./program.ts";
import { quantile } from "./statistics.ts";

const HOSTS = 200;
const zoneOf = (name: string): ServedZone => ({
  name,
  probe: `h1.${name}`,
  lines: [
    `$ORIGIN ${name}.`,
    "$TTL 300",
    "@ SOA ns1 hostmaster 1 10000 2400 604800 1800",
    "@ NS ns1",
    "ns1 A 192.0.2.1",
    ...Array.from({ length: HOSTS }, (_, i) => `h${i} A 192.0.2.${i}`),
  ],
});
const ZONE = zoneOf("queries.example");

/** dnsperf's line on the codes of the answers. */
const NOERROR_AND_NXDOMAIN = /^NOERROR \d+ \([^)]*\), NXDOMAIN \d+ \([^)]*\)$/;
const NOERROR = /^NOERROR \d+ \([^)]*\)$/;

type Ask = (target: { readonly pid: number; readonly port: number }, questions: string, seconds: number) => Promise<Measurement>;

/** Questions that a zone of addresses answers, one in ten of them for a name that does not exist. */
const benchmark = (row: Pick<Benchmark, "name" | "unit" | "better">, ask: Ask): Benchmark => ({
  ...row,
  tools: ["dnsperf", ...DNS_SERVER_TOOLS],
  prepare: async ({ seconds, directory }) => {
    const questions = await writeQuestions(directory, ZONE.name);
    // One client sends all queries, as for the peers.
    const server = await startBenchServer(["--dns-rate-limit-per-second", "0"]);
    await fillZone(server, ZONE.name);
    const peers = await startDnsServers(directory, ZONE);
    const contender = async (name: string, pid: number, port: number): Promise<Contender> => {
      await pinToFirstCpu(pid);
      return { name, run: () => ask({ pid, port }, questions, seconds) };
    };
    return {
      ours: await contender("selvedge", server.selvedge.pid, Number(server.selvedge.ready.dns.split(":")[1])),
      peers: await Promise.all(peers.map(({ name, pid, port }) => contender(name, pid, port))),
      close: async () => {
        for (const peer of peers) await peer.stop();
        await server.selvedge.stop();
      },
    };
  },
});

async function writeQuestions(directory: string, zone: string): Promise<string> {
  const path = join(directory, `questions.${zone}`);
  const lines = Array.from({ length: HOSTS }, (_, i) => `${i % 10 === 9 ? "missing" : "h"}${i}.${zone} A\n`);
  await writeFile(path, lines.join(""));
  return path;
}

async function fillZone(server: BenchServer, zone: string): Promise<string> {
  const zoneId = await server.createZone(zone);
  const posts = Array.from({ length: HOSTS }, (_, i) => ({ type: "A", name: `h${i}`, content: `192.0.2.${i}`, ttl: 300 }));
  await succeed(server.call("POST", `/zones/${zoneId}/dns_records/batch`, { posts }));
  return zoneId;
}

/** Flags of dnsperf: eight clients, one thread. */
const load = (port: number, questions: string, seconds: number): readonly string[] => [
  ...["-s", "127.0.0.1", "-p", String(port), "-d", questions, "-l", String(seconds), "-c", "8", "-T", "1", "-q", "100"],
];

const answersPerCpuSecond =
  (flags: readonly string[], codes: RegExp): Ask =>
  async ({ pid, port }, questions, seconds) => {
    const { result: report, seconds: cpu } = await cpuSecondsOf(pid, () =>
      runTool("dnsperf", [...load(port, questions, seconds), ...flags]),
    );
    assertAnswers(report, codes);
    const figure = (pattern: RegExp): number => Number(pattern.exec(report)?.[1] ?? Number.NaN);
    return {
      value: figure(/Queries completed:\s+(\d+)/) / cpu,
      also: {
        answers_per_second: figure(/Queries per second:\s+([\d.]+)/),
        lost: figure(/Queries lost:\s+(\d+)/),
        response_bytes: figure(/Average packet size:\s+request \d+, response (\d+)/),
      },
    };
  };

export const dnsQueries = benchmark(
  { name: "dns-queries", unit: "answers per CPU second of the server, UDP", better: "higher" },
  answersPerCpuSecond([], NOERROR_AND_NXDOMAIN),
);

/**
 * The same queries for a signed zone, with the DO bit, beside an unsigned zone of the same server and beside other
 * servers that serve a pre-signed zone.
 */
export const dnsSignedQueries: Benchmark = {
  name: "dns-signed-queries",
  unit: "signed answers per CPU second of the server, UDP",
  better: "higher",
  tools: ["dnsperf", ...SIGNED_SERVER_TOOLS],
  prepare: async ({ seconds, directory }) => {
    const server = await startBenchServer(["--dns-rate-limit-per-second", "0"]);
    const signed = await fillZone(server, "signed.example");
    await fillZone(server, "unsigned.example");
    await succeed(server.call("PATCH", `/zones/${signed}/dnssec`, { status: "active" }));
    const target = { pid: server.selvedge.pid, port: Number(server.selvedge.ready.dns.split(":")[1]) };
    const servers = await startFileServers(directory, await signedZone(directory, zoneOf("signed.example")));
    for (const { pid } of [target, ...servers]) await pinToFirstCpu(pid);
    const contender = async (name: string, zone: string, ask: Ask, asked = target): Promise<Contender> => {
      const questions = await writeQuestions(directory, zone);
      return { name, run: () => ask(asked, questions, seconds) };
    };
    const denied = answersPerCpuSecond(["-D"], NOERROR_AND_NXDOMAIN);
    return {
      // Compact denial answers NOERROR for names that do not exist (RFC 9824 §3).
      ours: await contender("signed", "signed.example", answersPerCpuSecond(["-D"], NOERROR)),
      peers: [
        await contender("unsigned", "unsigned.example", answersPerCpuSecond([], NOERROR_AND_NXDOMAIN)),
        ...(await Promise.all(servers.map((server) => contender(server.name, "signed.example", denied, server)))),
      ],
      close: async () => {
        for (const server of servers) await server.stop();
        await server.selvedge.stop();
      },
    };
  },
};

const PACE = 5_000;

/** How long one question waits at a load that no server is busy with. */
export const dnsLatency = benchmark(
  { name: "dns-latency", unit: `ms at p99 of an answer over UDP, at ${PACE} questions a second`, better: "lower" },
  async ({ port }, questions, seconds) => {
    const report = await runTool("dnsperf", [...load(port, questions, seconds), "-Q", String(PACE), "-v"]);
    assertAnswers(report, NOERROR_AND_NXDOMAIN);
    const waits = [...report.matchAll(/^> \S+ \S+ A (\d+\.\d+)$/gm)].map(([, wait]) => Number(wait) * 1000);
    return { value: quantile(waits, 0.99), also: { p50_ms: quantile(waits, 0.5), p999_ms: quantile(waits, 0.999), answers: waits.length } };
  },
);

function assertAnswers(report: string, expected: RegExp): void {
  const codes = /Response codes:\s+(.*)/.exec(report)?.[1] ?? "";
  if (!expected.test(codes)) throw new Error(`unexpected answers: ${codes}`);
}

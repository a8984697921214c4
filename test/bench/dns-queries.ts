import { Resolver } from "node:dns/promises";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { succeed } from "../support/api.ts";
import type { Benchmark, Contender, Measurement } from "./benchmark.ts";
import { startBenchServer } from "./bench-server.ts";
import { cpuSecondsOf } from "./cpu-time.ts";
import { freePort, runTool, startTool } from "./program.ts";

const ZONE = "queries.example";
const HOSTS = 200;

/** Questions that a zone of addresses answers, one in ten of them for a name that does not exist. */
export const dnsQueries: Benchmark = {
  name: "dns-queries",
  unit: "answers per CPU second of the server, UDP",
  better: "higher",
  tools: ["dnsperf", "nsd"],
  prepare: async ({ seconds, directory }) => {
    const questions = join(directory, "questions");
    await writeFile(questions, Array.from({ length: HOSTS }, (_, i) => `${i % 10 === 9 ? "missing" : "h"}${i}.${ZONE} A\n`).join(""));
    const server = await startBenchServer();
    const zoneId = await server.createZone(ZONE);
    for (let i = 0; i < HOSTS; i++) {
      await succeed(server.call("POST", `/zones/${zoneId}/dns_records`, { type: "A", name: `h${i}`, content: `192.0.2.${i}`, ttl: 300 }));
    }
    const nsd = await startNsd(directory);
    const contender = (name: string, pid: number, port: number): Contender => ({ name, run: () => ask(pid, port, questions, seconds) });
    return {
      ours: contender("selvedge", server.selvedge.pid, Number(server.selvedge.ready.dns.split(":")[1])),
      peer: contender("nsd", nsd.pid, nsd.port),
      close: async () => {
        await nsd.stop();
        await server.selvedge.stop();
      },
    };
  },
};

async function ask(pid: number, port: number, questions: string, seconds: number): Promise<Measurement> {
  const args = ["-s", "127.0.0.1", "-p", String(port), "-d", questions, "-l", String(seconds), "-c", "8", "-T", "1", "-q", "100"];
  const { result: report, seconds: cpu } = await cpuSecondsOf(pid, () => runTool("dnsperf", args));
  const figure = (pattern: RegExp): number => Number(pattern.exec(report)?.[1] ?? Number.NaN);
  const answered = figure(/Queries completed:\s+(\d+)/);
  const codes = /Response codes:\s+(.*)/.exec(report)?.[1] ?? "";
  if (!/^NOERROR \d+ \([^)]*\), NXDOMAIN \d+ \([^)]*\)$/.test(codes)) throw new Error(`unexpected answers: ${codes}`);
  return {
    value: answered / cpu,
    also: { answers_per_second: figure(/Queries per second:\s+([\d.]+)/), lost: figure(/Queries lost:\s+(\d+)/) },
  };
}

async function startNsd(directory: string): Promise<{ pid: number; port: number; stop(): Promise<void> }> {
  const port = await freePort();
  const home = join(directory, "nsd");
  await mkdir(home);
  const hosts = Array.from({ length: HOSTS }, (_, i) => `h${i} A 192.0.2.${i}`);
  const zone = [
    `$ORIGIN ${ZONE}.`,
    "$TTL 300",
    "@ SOA ns1 hostmaster 1 10000 2400 604800 1800",
    "@ NS ns1",
    "ns1 A 192.0.2.1",
    ...hosts,
    "",
  ];
  await writeFile(join(home, "zone"), zone.join("\n"));
  const config = [
    "server:",
    `  ip-address: 127.0.0.1@${port}`,
    '  username: ""',
    '  chroot: ""',
    ...["database", "pidfile", "xfrdfile"].map((key) => `  ${key}: ""`),
    `  zonelistfile: "${home}/zones"`,
    `  xfrdir: "${home}"`,
    "  server-count: 1",
    // NSD would otherwise stop answering a client that asks this often.
    "  rrl-ratelimit: 0",
    "  rrl-whitelist-ratelimit: 0",
    "remote-control:",
    "  control-enable: no",
    "zone:",
    `  name: ${ZONE}`,
    `  zonefile: "${home}/zone"`,
    "",
  ];
  await writeFile(join(home, "nsd.conf"), config.join("\n"));
  const resolver = new Resolver({ timeout: 500, tries: 1 });
  resolver.setServers([`127.0.0.1:${port}`]);
  const server = await startTool("nsd", ["-d", "-c", join(home, "nsd.conf")], () => resolver.resolve4(`h1.${ZONE}`));
  return { ...server, port };
}

import { join } from "node:path";
import { succeed } from "../support/api.ts";
import type { Benchmark, Measurement } from "./benchmark.ts";
import { startBenchServer } from "./bench-server.ts";
import { cpuSeconds } from "./cpu-time.ts";
import { type PowerDns, startPowerDns } from "./power-dns.ts";
import { residentBytes } from "./resident-bytes.ts";
import { quantile } from "./statistics.ts";

const LINES = 100_000;
const FILE_BYTES_MAX = 64 * 1024 * 1024;

/**
 * Imports a zone file of 100,000 lines as one version. Meanwhile one client sends small requests to the same API, and
 * another creates records in another zone, each of which waits for the planes.
 */
export const dnsImport: Benchmark = {
  name: "dns-import-100k",
  unit: "ms for one import",
  better: "lower",
  target: 10_000,
  tools: ["pdns_server", "pdns-backend-sqlite3"],
  prepare: async ({ directory }) => {
    const server = await startBenchServer(["--dns-import-bytes-max", String(FILE_BYTES_MAX), "--dns-import-requests-per-minute", "0"]);
    const { selvedge } = server;
    const headers = { authorization: `Bearer ${selvedge.ready.token ?? ""}` };
    const file = zoneFile();
    const powerDns = await startPowerDns(join(directory, "powerdns"));
    const otherZone = await server.createZone("bystander.example");
    let rounds = 0;
    return {
      ours: {
        name: "selvedge",
        run: async () => {
          const zoneId = await server.createZone(`import${rounds++}.example`);
          const form = new FormData();
          form.set("file", new Blob([file]), "zone.txt");
          const before = residentBytes(selvedge.pid);
          const cpuBefore = cpuSeconds(selvedge.pid);
          const residentBytesMax = watchMemory(selvedge.pid);
          const readWaits = watch(() => fetch(`${selvedge.ready.api}/user/tokens/verify`, { headers }));
          const writeWaits = watch((i) =>
            fetch(`${selvedge.ready.api}/zones/${otherZone}/dns_records`, {
              method: "POST",
              headers: { ...headers, "content-type": "application/json" },
              body: JSON.stringify({ type: "TXT", name: `r${rounds}-${i}`, content: "bystander" }),
            }),
          );
          const started = performance.now();
          const answer = await fetch(`${selvedge.ready.api}/zones/${zoneId}/dns_records/import`, { method: "POST", headers, body: form });
          const ms = performance.now() - started;
          const [reads, writes] = [await readWaits(), await writeWaits()];
          const rssPeak = residentBytesMax();
          const { result } = (await answer.json()) as { result: { recs_added: number } | null };
          // Deletes the zone, so that every round starts with the same amount of data.
          await succeed(server.call("DELETE", `/zones/${zoneId}`));
          if (result?.recs_added !== LINES) throw new Error(`HTTP ${answer.status}: ${result?.recs_added} records were added`);
          return {
            value: ms,
            also: {
              cpu_seconds: cpuSeconds(selvedge.pid) - cpuBefore,
              read_wait_p99_ms: quantile(reads, 0.99),
              read_wait_max_ms: Math.max(...reads),
              write_wait_p99_ms: quantile(writes, 0.99),
              write_wait_max_ms: Math.max(...writes),
              rss_before_mb: before / 1e6,
              rss_peak_mb: rssPeak / 1e6,
            },
          };
        },
      },
      peers: [{ name: "powerdns", run: () => importInto(powerDns, file) }],
      close: async () => {
        await powerDns.stop();
        await selvedge.stop();
      },
    };
  },
};

/** A new zone from the same file; PowerDNS imports a file in this way. */
async function importInto(powerDns: PowerDns, file: string): Promise<Measurement> {
  const name = "import.example";
  const text = `$ORIGIN ${name}.\n@ 300 SOA ns1.example.net. hostmaster.example.net. 1 10000 2400 604800 1800\n@ 300 NS ns1.example.net.\n${file}`;
  const started = performance.now();
  await powerDns.importZone(name, text);
  const value = performance.now() - started;
  const rss_peak_mb = residentBytes(powerDns.pid) / 1e6;
  await powerDns.removeZone(name);
  return { value, also: { rss_peak_mb } };
}

function zoneFile(): string {
  const kinds = [
    (i: number) => `h${i} A 10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`,
    (i: number) => `h${i} CNAME target.example.net.`,
    (i: number) => `h${i} TXT "record ${i}" ; a comment`,
    (i: number) => `h${i} MX 10 mail.example.net.`,
  ];
  const lines = Array.from({ length: LINES }, (_, i) => kinds[i % kinds.length]?.(i) ?? "");
  return `$TTL 300\n${lines.join("\n")}\n`;
}

const PAUSE_MS = 5;

/** Sends requests until the returned function is called, which returns the time of each response. */
function watch(ask: (i: number) => Promise<Response>): () => Promise<readonly number[]> {
  const waits: number[] = [];
  let done = false;
  const asking = (async () => {
    while (!done) {
      const started = performance.now();
      const answer = await ask(waits.length);
      await answer.arrayBuffer();
      if (!answer.ok) throw new Error(`a bystander was answered ${answer.status}`);
      waits.push(performance.now() - started);
      await new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
    }
  })();
  return async () => {
    done = true;
    await asking;
    return waits;
  };
}

/** The most memory that the process had until the returned function is called. */
function watchMemory(pid: number): () => number {
  let most = residentBytes(pid);
  const look = (): void => {
    most = Math.max(most, residentBytes(pid));
  };
  const timer = setInterval(look, 4 * PAUSE_MS);
  return () => {
    clearInterval(timer);
    look();
    return most;
  };
}

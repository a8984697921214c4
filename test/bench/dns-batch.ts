import { join } from "node:path";
import { succeed } from "../support/api.ts";
import type { Benchmark, Measurement } from "./benchmark.ts";
import { startBenchServer } from "./bench-server.ts";
import { type PowerDns, type PowerDnsChange, startPowerDns } from "./power-dns.ts";

/** The limit of one batch (dns.md, "Limits"). */
const CHANGES = 3500;

/** One batch that creates as many records as it may, acknowledged on disk and in the nameserver; then it edits and deletes them. */
export const dnsBatch: Benchmark = {
  name: `dns-batch-${CHANGES}`,
  unit: "ms for one batch of creates",
  better: "lower",
  target: 1000,
  tools: ["pdns_server", "pdns-backend-sqlite3"],
  prepare: async ({ directory }) => {
    const server = await startBenchServer();
    const zoneId = await server.createZone("batch.example");
    const batch = async (body: object): Promise<{ ms: number; posts: readonly { id: string }[] }> => {
      const started = performance.now();
      const { posts } = await succeed(server.call("POST", `/zones/${zoneId}/dns_records/batch`, body));
      return { ms: performance.now() - started, posts };
    };
    const powerDns = await startPowerDns(join(directory, "powerdns"));
    await powerDns.importZone("batch.example");
    return {
      ours: {
        name: "selvedge",
        run: async () => {
          const posts = Array.from({ length: CHANGES }, (_, i) => ({ type: "A", name: `h${i}`, content: address(i, 0), ttl: 300 }));
          const created = await batch({ posts });
          const edited = await batch({ patches: created.posts.map(({ id }, i) => ({ id, content: address(i, 1) })) });
          const deleted = await batch({ deletes: created.posts.map(({ id }) => ({ id })) });
          return { value: created.ms, also: { edit_ms: edited.ms, delete_ms: deleted.ms } };
        },
      },
      peers: [{ name: "powerdns", run: () => changeSets(powerDns) }],
      close: async () => {
        await powerDns.stop();
        await server.selvedge.stop();
      },
    };
  },
};

const address = (i: number, net: number): string => `10.${net}.${i >> 8}.${i & 255}`;

/** The same three steps: sets that did not exist, sets that change, sets that go. */
async function changeSets(powerDns: PowerDns): Promise<Measurement> {
  const step = async (change: (i: number) => Partial<PowerDnsChange>): Promise<number> => {
    const set = (i: number): PowerDnsChange => ({ name: `h${i}.batch.example.`, type: "A", changetype: "REPLACE", ...change(i) });
    const sets = Array.from({ length: CHANGES }, (_, i) => set(i));
    const started = performance.now();
    await powerDns.changeSets("batch.example", sets);
    return performance.now() - started;
  };
  const put = (net: number) => (i: number) => ({ ttl: 300, records: [{ content: address(i, net), disabled: false }] });
  const value = await step(put(0));
  const edit_ms = await step(put(1));
  return { value, also: { edit_ms, delete_ms: await step(() => ({ changetype: "DELETE" })) } };
}

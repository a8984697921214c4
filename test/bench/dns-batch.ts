import { succeed } from "../support/api.ts";
import type { Benchmark } from "./benchmark.ts";
import { startBenchServer } from "./bench-server.ts";

/** The most that one batch may hold (dns.md, "Limits"). */
const CHANGES = 3500;

/** One batch that creates as many records as it may, acknowledged on disk and in the nameserver; then it edits and deletes them. */
export const dnsBatch: Benchmark = {
  name: `dns-batch-${CHANGES}`,
  unit: "ms for one batch of creates",
  better: "lower",
  target: 1000,
  tools: [],
  prepare: async () => {
    const server = await startBenchServer();
    const zoneId = await server.createZone("batch.example");
    const batch = async (body: object): Promise<{ ms: number; posts: readonly { id: string }[] }> => {
      const started = performance.now();
      const { posts } = await succeed(server.call("POST", `/zones/${zoneId}/dns_records/batch`, body));
      return { ms: performance.now() - started, posts };
    };
    const address = (i: number, net: number): string => `10.${net}.${i >> 8}.${i & 255}`;
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
      close: async () => void (await server.selvedge.stop()),
    };
  },
};

import { Resolver } from "node:dns/promises";
import { rm } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "#kernel/clock.ts";
import { openStore } from "#store/database/open.ts";
import { startSelvedge } from "../support/selvedge.ts";
import type { Benchmark, Measurement } from "./benchmark.ts";
import { fillStore, RECORDS } from "./million-records.ts";
import { residentBytes } from "./resident-bytes.ts";

const ZONES = 1_000;
const START_TIMEOUT_MS = 300_000;

/** From the process's start until every plane serves a million records from its last good copy. */
export const dnsStart: Benchmark = {
  name: "dns-start-1m",
  unit: `ms to ready with ${RECORDS} records in ${ZONES} zones`,
  better: "lower",
  target: 20_000,
  tools: [],
  prepare: async ({ directory }) => {
    const dataDir = join(directory, "data");
    // The first start makes the keys, the second the last good copy.
    await (await startSelvedge({ dataDir })).stop();
    const store = await openStore({ url: `sqlite:${join(dataDir, "control.db")}`, clock: systemClock });
    await fillStore(store, ZONES);
    const known = await store.read
      .selectFrom("dns_records")
      .select("name")
      .where("type", "=", "A")
      .where("proxied", "=", 0)
      .limit(1)
      .executeTakeFirst();
    await store.close();
    if (known === undefined) throw new Error("there are no records");
    // The data was written past the server without an announcement.
    for (const suffix of ["", ".journal"]) await rm(join(dataDir, `snapshot.last-good${suffix}`), { force: true });
    const start = (): ReturnType<typeof startSelvedge> => startSelvedge({ dataDir, timeoutMs: START_TIMEOUT_MS });
    await (await start()).stop(60_000);
    return {
      ours: {
        name: "selvedge",
        run: async (): Promise<Measurement> => {
          const started = performance.now();
          const selvedge = await start();
          const value = performance.now() - started;
          const rss_ready_mb = residentBytes(selvedge.pid) / 1e6;
          const resolver = new Resolver({ timeout: 5_000, tries: 1 });
          resolver.setServers([selvedge.ready.dns]);
          await resolver.resolve4(known.name);
          await selvedge.stop(60_000);
          return { value, also: { rss_ready_mb } };
        },
      },
      close: async () => {},
    };
  },
};

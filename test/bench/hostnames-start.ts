import { rm } from "node:fs/promises";
import { join } from "node:path";
import { systemClock } from "#kernel/clock.ts";
import { newId } from "#kernel/crypto/ids.ts";
import { openStore } from "#store/database/open.ts";
import { apiCaller, succeed } from "../support/api.ts";
import { startSelvedge } from "../support/selvedge.ts";
import type { Benchmark, Measurement } from "./benchmark.ts";
import { cpuSeconds } from "./cpu-time.ts";
import { copyRow } from "./row-copies.ts";

const HOSTNAMES = 100_000;
const START_TIMEOUT_MS = 300_000;

/** From the process's start until every plane serves, with as many active custom hostnames and a certificate for each. */
export const hostnamesStart: Benchmark = {
  name: "hostnames-start-100k",
  unit: `ms to ready with ${HOSTNAMES} custom hostnames and their certificates in one zone`,
  better: "lower",
  target: 15_000,
  tools: [],
  roundsMax: 3,
  prepare: async ({ directory }) => {
    const dataDir = join(directory, "data");
    const start = (): ReturnType<typeof startSelvedge> => startSelvedge({ dataDir, timeoutMs: START_TIMEOUT_MS });
    const first = await start();
    const call = apiCaller(first.ready);
    const zone = await succeed(call("POST", "/zones", { name: "service.example", account: { id: first.ready.account_id } }));
    const hostname = { hostname: "shop.customer.test", ssl: { method: "http", type: "dv" } };
    const { id } = await succeed(call("POST", `/zones/${zone.id}/custom_hostnames`, hostname));
    await first.stop();
    await fillHostnames(`sqlite:${join(dataDir, "control.db")}`, String(zone.id), String(id));
    // The data was written past the server without an announcement; the first start writes the copy that later ones read.
    for (const suffix of ["", ".journal"]) await rm(join(dataDir, `snapshot.last-good${suffix}`), { force: true });
    await (await start()).stop(60_000);
    return {
      ours: {
        name: "selvedge",
        run: async (): Promise<Measurement> => {
          const started = performance.now();
          const selvedge = await start();
          const value = performance.now() - started;
          const cpu_s = cpuSeconds(selvedge.pid);
          await selvedge.stop(60_000);
          return { value, also: { cpu_s } };
        },
      },
      close: async () => {},
    };
  },
};

async function fillHostnames(url: string, zoneId: string, hostnameId: string): Promise<void> {
  const store = await openStore({ url, clock: systemClock });
  try {
    const ids = Array.from({ length: HOSTNAMES }, () => newId());
    await store.write(({ db }) =>
      db
        .updateTable("custom_hostnames")
        .set({ status: "active", ssl_status: "active", next_check_ms: null, ssl_due_ms: null, home_zone_id: null, home_serial: null })
        .execute(),
    );
    const name = (n: number): string => `shop${n}.customer${n % 977}.test`;
    await copyRow(store, "custom_hostnames", HOSTNAMES, (n) => ({ id: ids[n], hostname: name(n) }));
    const at = "2026-01-01T00:00:00.000000Z";
    await store.write(({ db }) =>
      db
        .insertInto("custom_hostname_certificates")
        .values({
          id: newId(),
          custom_hostname_id: hostnameId,
          zone_id: zoneId,
          hosts: '["shop.customer.test"]',
          // Certificates as long as those of an authority; a start opens none of them.
          chain: "c".repeat(3_000),
          private_key: "k".repeat(380),
          issuer: "Bench",
          is_custom: 0,
          serial_number: "1",
          signature: "ECDSA-SHA256",
          not_before: at,
          not_after: "2099-01-01T00:00:00.000000Z",
          created_on: at,
        })
        .execute(),
    );
    await copyRow(store, "custom_hostname_certificates", HOSTNAMES, (n) => ({
      id: newId(),
      custom_hostname_id: ids[n],
      hosts: JSON.stringify([name(n)]),
      chain: `${n}${"c".repeat(3_000)}`,
    }));
  } finally {
    await store.close();
  }
}

import { randomBytes } from "node:crypto";
import { createLocalCa, createRoot } from "#acme/local-ca.ts";
import { systemClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/metrics.ts";
import { createSealer } from "#kernel/seal.ts";
import { createTlsServers } from "#edge/tls-servers.ts";
import { createCertificates } from "#snapshot/certificates.ts";
import { EDGE_SETTINGS_DEFAULTS } from "#snapshot/edge-settings.ts";
import type { Op } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";

// Prints what ten thousand certificates take in a thread: as entries, and open after each was asked for once.

const CERTIFICATES = 10_000;

const resident = (): number => {
  globalThis.gc?.();
  return process.memoryUsage().rss;
};
const sealer = createSealer(randomBytes(32));
const ca = createLocalCa({ root: await createRoot(systemClock), clock: systemClock });
const issued = await ca.issue(["www.example.com"]);
const replica = createMemoryReplica([]);
const certificates = createCertificates({
  replica,
  sealer,
  contextsMax: 0,
  keysNotOpened: createMetrics().counter("keys_not_opened", ""),
});
const servers = createTlsServers({
  certificates,
  certificatesMax: CERTIFICATES,
  handshakeTimeoutMs: 10_000,
  onSecure: () => undefined,
  onFailed: () => undefined,
});
const host = (i: number): string => `www.site-${i}.example`;
const before = resident();
for (let i = 0; i < CERTIFICATES; i++) {
  const id = `certificate-${i}`;
  const op: Op = {
    kind: "certificate",
    id,
    value: {
      zone_id: `zone-${i}`,
      hosts: [host(i)],
      // A text of its own for each, as different certificates have.
      chain: Buffer.from(issued.chain).toString(),
      private_key: sealer.seal(issued.privateKey, `certificate:${id}`),
      not_after: issued.notAfter,
    },
  };
  replica.apply([op]);
}
const withEntries = resident();
for (let i = 0; i < CERTIFICATES; i++)
  if (servers.get(certificates.idFor(host(i)) ?? "", EDGE_SETTINGS_DEFAULTS, "") === null) throw new Error("nothing was opened");
const withContexts = resident();
process.stdout.write(
  JSON.stringify({
    certificates: CERTIFICATES,
    certificate_entry_kb: (withEntries - before) / CERTIFICATES / 1000,
    certificate_context_kb: (withContexts - withEntries) / CERTIFICATES / 1000,
  }),
);

import { randomBytes } from "node:crypto";
import { createLocalCa, createRoot } from "#acme/local-ca.ts";
import { systemClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import { createTlsContexts } from "#edge/tls/contexts.ts";
import { createCertificates } from "#snapshot/certificates.ts";
import { EDGE_SETTINGS_DEFAULTS } from "#snapshot/edge-settings.ts";
import type { Op } from "#snapshot/entries.ts";
import { createMemoryReplica } from "#snapshot/memory-replica.ts";
import { loadSocketCalls } from "#wire/connections/epoll/socket-calls.ts";

// Prints the memory of ten thousand certificates in a thread: as entries of its snapshot, opened by one handshake each,
// and opened again after a renewal of the ticket keys, which closes all of them.

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
  zoneIdOf: () => null,
  keysNotOpened: createMetrics().counter("keys_not_opened", ""),
});
const openSsl = (await loadSocketCalls())?.secure?.openSsl;
if (openSsl === undefined) throw new Error("the edge has TLS of Node's here");
const contexts = createTlsContexts({ openSsl, certificates, certificatesMax: CERTIFICATES });
const openAll = (): number => {
  for (let i = 0; i < CERTIFICATES; i++)
    if (contexts.get(certificates.idFor(host(i)) ?? "", EDGE_SETTINGS_DEFAULTS, "") === null) throw new Error("nothing was opened");
  return resident();
};
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
      // A separate text for each, as with different certificates.
      chain: Buffer.from(issued.chain).toString(),
      private_key: sealer.seal(issued.privateKey, `certificate:${id}`),
      not_after: issued.notAfter,
    },
  };
  replica.apply([op]);
}
const withEntries = resident();
const startedMs = performance.now();
const withContexts = openAll();
const openedMs = performance.now() - startedMs;
contexts.useTicketKeys([randomBytes(48)]);
const openedAgain = openAll();
const kilobytesEach = (more: number): number => more / CERTIFICATES / 1000;
process.stdout.write(
  JSON.stringify({
    certificates: CERTIFICATES,
    certificate_entry_kb: kilobytesEach(withEntries - before),
    certificate_context_kb: kilobytesEach(withContexts - withEntries),
    certificate_context_again_kb: kilobytesEach(openedAgain - withEntries),
    certificate_open_ms: openedMs / CERTIFICATES,
  }),
);

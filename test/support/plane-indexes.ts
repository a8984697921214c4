import { createGatewayRoute } from "#edge/origin/gateway-route.ts";
import { createZones as createEdgeZones } from "#edge/zones/zones.ts";
import { createAuthenticator } from "#gateway/auth/auth.ts";
import { createStoredKeys, type StoredKeysDeps } from "#gateway/credentials/stored-keys.ts";
import { createCustomProviders } from "#gateway/providers/custom-providers.ts";
import { createGatewayDomains } from "#gateway/auth/domains.ts";
import { createDlpProfiles } from "#gateway/guard/dlp-profiles.ts";
import { createGatewayRoutes } from "#gateway/plans/gateway-routes.ts";
import { fixedClock } from "#kernel/clock.ts";
import { createMetrics } from "#kernel/process/metrics.ts";
import { createSealer } from "#kernel/crypto/seal.ts";
import { createZones as createNameserverZones } from "#nameserver/zones/zones.ts";
import { createCertificates } from "#snapshot/certificates.ts";
import type { Replica } from "#snapshot/feed.ts";

const sealer = createSealer(Buffer.alloc(32, 7));
const clock = fixedClock("2026-05-06T12:00:00Z");
const counter = () => createMetrics().counter("c_total", "C");

/** The indexes that planes build of a replica and keep up to date, without their sockets. */
export const PLANE_INDEXES = {
  nameserver: (replica) => {
    const zones = createNameserverZones();
    zones.rebuild(replica.snapshot);
    replica.onApplied((ops) => void (ops === null ? zones.rebuild(replica.snapshot) : zones.apply(ops)));
  },
  edge: (replica) => {
    const zones = createEdgeZones(replica, () => {});
    createGatewayRoute({ replica, zones, port: 0 });
  },
  certificates: (replica) => void createCertificates({ replica, sealer, contextsMax: 10, keysNotOpened: counter(), zoneIdOf: () => "z" }),
  gateway: (replica) => {
    createGatewayDomains(replica);
    createAuthenticator({ replica, clock, vendorPrefix: "svc" });
    createCustomProviders({ replica, sealer });
    createDlpProfiles(replica);
    createGatewayRoutes(replica);
    createStoredKeys({ replica, sealer, clock } as unknown as StoredKeysDeps);
  },
} satisfies Readonly<Record<string, (replica: Replica) => void>>;

import { createLocalCa, createRoot } from "#acme/local-ca.ts";
import { bootstrap } from "#control/access/bootstrap.ts";
import { type Call, systemActor } from "#control/call.ts";
import type { Control } from "#control/control.ts";
import { createControl } from "#control/create.ts";
import type { ControlDeps } from "#control/control-deps.ts";
import { openGatewayLogReads } from "#events/read/log-reads.ts";
import { openGatewayLogStore } from "#events/read/store.ts";
import { openEventQueries } from "#events/read/queries.ts";
import { type Clock, systemClock } from "#kernel/clock.ts";
import { createSealer, type Sealer } from "#kernel/crypto/seal.ts";
import type { Store } from "#store/database/store.ts";

export interface ControlFixture {
  readonly control: Control;
  readonly sealer: Sealer;
  readonly account_id: string;
  /** A new call by the installation itself, which may do everything. */
  call(): Call;
}

/** Every use-case over a given store, with a first account and a local authority. */
export async function controlOver(
  store: Store,
  options: {
    readonly recordsPerZoneMax?: number;
    readonly recordsPerFreeZoneMax?: number;
    readonly scanResolvers?: readonly string[];
    readonly dnssecRolloverDays?: number;
    readonly ruleListLimits?: NonNullable<ControlDeps["ruleListLimits"]>;
    readonly rulesetLimits?: NonNullable<ControlDeps["rulesetLimits"]>;
    readonly customHostnamesPerZoneMax?: number;
    readonly hostnameIssuancesPerMinute?: number;
    readonly edgeAddresses?: readonly string[];
    readonly records?: NonNullable<ControlDeps["records"]>;
    readonly clock?: Clock;
    readonly secondaryLimits?: NonNullable<ControlDeps["secondaryLimits"]>;
    readonly webhookAllowed?: NonNullable<ControlDeps["webhookAllowed"]>;
    readonly mailServer?: NonNullable<ControlDeps["mailServer"]>;
    readonly ownership?: NonNullable<ControlDeps["ownership"]>;
    readonly parentServers?: NonNullable<ControlDeps["parentServers"]>;
    readonly nameServers?: NonNullable<ControlDeps["nameServers"]>;
    readonly ordering?: NonNullable<ControlDeps["ordering"]>;
    readonly logSegments?: string;
    readonly onOrderError?: NonNullable<ControlDeps["onOrderError"]>;
  } = {},
): Promise<ControlFixture> {
  const { clock = systemClock, ...rest } = options;
  const sealer = createSealer(Buffer.alloc(32, 7));
  const { account_id } = await bootstrap({ store, clock, sealer, email: "owner@example.com" });
  const control = createControl({
    nodeId: "node-of-the-test",
    store,
    clock,
    sealer,
    events: openEventQueries("/nonexistent/events.db"),
    gatewayLogStore: openGatewayLogStore("/nonexistent/events.db", openGatewayLogReads("/nonexistent/events.db")),
    logSegments: "/nonexistent/gateway-logs",
    ca: createLocalCa({ root: await createRoot(clock), clock }),
    edgeAddresses: ["127.0.0.1"],
    localOriginAllowed: () => true,
    primaryAllowed: () => true,
    vendorPrefix: "svc",
    // The address has no listener, so that no test uses the network.
    scanResolvers: ["127.0.0.1:1"],
    ...rest,
  });
  return { control, sealer, account_id, call: () => ({ actor: systemActor("test"), request_id: "test", rev: null }) };
}

import type { AddressPolicy } from "#kernel/net/address-policy.ts";
import type { LocalCa } from "#acme/local-ca.ts";
import type { AccessDeps } from "#control/access/access.ts";
import type { SeenReport } from "#control/nodes/nodes.ts";
import type { OrderingConfig } from "#control/certificates/create.ts";
import type { TunnelEndpoint } from "#control/tunnels/tunnels.ts";
import type { ImagesConfig } from "#control/images/image-control.ts";
import type { MailServer } from "#control/notifications/delivery/send-email.ts";
import type { RuleListLimits } from "#control/lists/lists.ts";
import type { RulesetLimits } from "#control/rulesets/limits.ts";
import type { CheckReport } from "#control/secondary/outcomes.ts";
import type { SecondaryLimits } from "#control/secondary/secondaries.ts";
import type { ParentViewDeps } from "#control/ownership/parent-view.ts";
import type { OwnershipConfig } from "#control/ownership/policy.ts";
import type { ReadOrderedBatch } from "#control/logpush/batch-order.ts";
import type { GatewayLogStore } from "#events/read/store.ts";
import type { EventQueries } from "#events/read/queries.ts";
import type { EventReads } from "#events/read/read-client.ts";
import type { RetentionLimits } from "#events/retention/retention.ts";
import type { Clock } from "#kernel/clock.ts";
import type { IpAddress } from "#kernel/net/ip.ts";
import type { SharedLimits } from "#kernel/net/shared-limits.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { ServerHealth } from "#model/access/server-health.ts";
import type { RecordPolicy } from "#model/dns/prepared-record.ts";
import type { SharedLogs } from "#control/gateways/shared-logs.ts";
import type { Store } from "#store/database/store.ts";

/** The parts that control is made of, and their settings. */
export interface ControlDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  /** Limits that other servers with control count, too; absent: this server counts alone. */
  readonly sharedLimits?: SharedLimits;
  /** Queries over the planes' logs. */
  readonly events: EventQueries;
  /** Distinguishes nodes with the same database; kept as long as the events. */
  readonly nodeId: string;
  readonly gatewayLogStore: GatewayLogStore;
  /** Carries logs of gateways to other servers with control; absent: each has its own. */
  readonly sharedLogs?: SharedLogs;
  /** Whether all servers of the installation read the same events; default: each has its own. */
  readonly areEventsShared?: boolean;
  /** Directory of the segments of gateway logs. */
  readonly logSegments: string;
  /** Reads segments for jobs that push logs; by default in this thread. */
  readonly readLogBatch?: ReadOrderedBatch;
  /** For queries that may be slow; by default in this thread. */
  readonly eventReads?: EventReads;
  /** The operator's limits of retention, if configured. */
  readonly eventRetention?: RetentionLimits;
  /** Issues a certificate for each new zone; null if the installation has no local authority. */
  readonly ca: LocalCa | null;
  /** Addresses in the nameserver's answers for proxied names. */
  readonly edgeAddresses: readonly string[];
  /** Whether the edge may use this loopback or private address as an origin; public addresses are always allowed. */
  localOriginAllowed(address: IpAddress): boolean;
  /** Prefix in the names of vendor-specific fields: `managed_by_<vendor>_tunnel`. */
  readonly vendorPrefix: string;
  /** Whether the edge has a database of the places of addresses; default true. */
  readonly hasPlaces?: boolean;
  /** Whether the gateways have a safety model for guardrails; default false. */
  readonly hasGuardrailModel?: boolean;
  /**
   * Host names of the installation's name servers; by default names that do not exist, so that no server is queried by
   * mistake.
   */
  readonly nameServers?: readonly string[];
  /**
   * Settings of ownership checks; by default the first account's zones need no proof, and other accounts' zones become
   * active at once.
   */
  readonly ownership?: Partial<OwnershipConfig>;
  /** Which parent servers may be queried; by default public addresses and port 53. */
  readonly parentServers?: Partial<Pick<ParentViewDeps, "isAllowed" | "port">>;
  /** Resolvers for records hosted elsewhere, with or without a port; default: the system's. */
  readonly scanResolvers?: readonly string[];
  /** Days after which a zone's key is replaced; 0 or absent: never. */
  readonly dnssecRolloverDays?: number;
  /** Rules for names of address records and the form of TXT content; default SPEC 2.2. */
  readonly records?: Partial<Pick<RecordPolicy, "names" | "txtContent">>;
  /** Limits of records per zone, in general and on the free plan. */
  readonly recordsPerZoneMax?: number;
  readonly recordsPerFreeZoneMax?: number;
  /** Limits of custom hostnames per zone, and of certificates for new ones per account and minute (SPEC 8). */
  readonly customHostnamesPerZoneMax?: number;
  readonly hostnameIssuancesPerMinute?: number;
  /** Limits of time and bytes of transfers from primaries; absent: defaults. */
  readonly secondaryLimits?: Partial<SecondaryLimits>;
  /** Limits of lists; absent: defaults. */
  readonly ruleListLimits?: Partial<RuleListLimits>;
  /** Limits of rulesets; absent: defaults. */
  readonly rulesetLimits?: Partial<RulesetLimits>;
  /** Limits of the audit log; absent: defaults. */
  readonly auditRetention?: NonNullable<AccessDeps["auditRetention"]>;
  /** Sends e-mail; absent: none is sent. */
  readonly mailServer?: MailServer | undefined;
  /** Address of the dashboard for links in e-mails; absent: they have none. */
  readonly dashboardUrl?: string;
  /** A company's provider of sign-in; absent: none. */
  readonly signInProvider?: AccessDeps["provider"];
  /** Where images are, and what an account may have; absent: nowhere, so that none can be uploaded. */
  readonly images?: ImagesConfig;
  /** Whether a primary may have this address; default: public addresses only. */
  readonly primaryAllowed?: AddressPolicy;
  /** Whether webhooks and log destinations may have this address; default: public addresses only. */
  readonly webhookAllowed?: AddressPolicy;
  /** URL of the gateway plane, such as `https://gateway.example`. */
  readonly urlOfGateways?: () => string;
  /** Where connectors of tunnels dial. */
  readonly tunnelEndpoint?: TunnelEndpoint;
  /** Address of this installation's nameserver; undefined until it listens. */
  readonly nameserver?: () => string | undefined;
  /** State of this server's threads and database; default: empty. */
  readonly serverHealth?: () => Promise<ServerHealth>;
  /** The newest report of each node that this process receives. */
  readonly heardNodes?: () => ReadonlyMap<string, SeenReport>;
  /** Configuration of certificate authorities; default: the local authority only. */
  readonly ordering?: OrderingConfig;
  /** Called for internal failures of orders. */
  readonly onOrderError?: (error: unknown) => void;
  /** Called with the result of each check of a secondary zone. */
  readonly onSecondaryChecked?: (report: CheckReport) => void;
}

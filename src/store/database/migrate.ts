import { type Clock, isoMicros } from "#kernel/clock.ts";
import { beginWriting } from "./begin.ts";
import { foundation } from "#store/migrations/0001-foundation.ts";
import { dnsVersions } from "#store/migrations/0002-dns-versions.ts";
import { recordLists } from "#store/migrations/0003-record-lists.ts";
import { dnsSettings } from "#store/migrations/0004-dns-settings.ts";
import { recordCounts } from "#store/migrations/0005-record-counts.ts";
import { dnsImports } from "#store/migrations/0006-dns-imports.ts";
import { dnssecKeys } from "#store/migrations/0007-dnssec-keys.ts";
import { incomingTransfers } from "#store/migrations/0009-incoming-transfers.ts";
import { zoneSettings } from "#store/migrations/0010-zone-settings.ts";
import { rules } from "#store/migrations/0011-rules.ts";
import { cachePurges } from "#store/migrations/0012-cache-purges.ts";
import { phasePermissions } from "#store/migrations/0013-phase-permissions.ts";
import { sensitiveData } from "#store/migrations/0015-sensitive-data.ts";
import { gatewayDatasets } from "#store/migrations/0020-gateway-datasets.ts";
import { gatewayObjects } from "#store/migrations/0017-gateway-objects.ts";
import { gatewayDomains } from "#store/migrations/0025-gateway-domains.ts";
import { notifications } from "#store/migrations/0024-notifications.ts";
import { accountSensitiveData } from "#store/migrations/0026-account-sensitive-data.ts";
import { customHostnames } from "#store/migrations/0028-custom-hostnames.ts";
import { certificateOrders } from "#store/migrations/0029-certificate-orders.ts";
import { previousWaf } from "#store/migrations/0030-previous-waf.ts";
import { accessApps } from "#store/migrations/0031-access-apps.ts";
import { customCertificates } from "#store/migrations/0032-custom-certificates.ts";
import { logpushJobs } from "#store/migrations/0033-logpush-jobs.ts";
import { sensitiveDataTimes } from "#store/migrations/0035-sensitive-data-times.ts";
import { eventCounts } from "#store/migrations/0036-event-counts.ts";
import { zoneProofs } from "#store/migrations/0040-zone-proofs.ts";
import { largeChanges } from "#store/migrations/0046-large-changes.ts";
import { importJobsAdded } from "#store/migrations/0047-import-jobs-added.ts";
import { issuanceTimes } from "#store/migrations/0062-issuance-times.ts";
import { listStates } from "#store/migrations/0063-list-states.ts";
import { sessions } from "#store/migrations/0135-sessions.ts";
import { history } from "#store/migrations/0068-history.ts";
import { zoneNamesReversed } from "#store/migrations/0136-zone-names-reversed.ts";
import { ownedByIndex } from "#store/migrations/0160-owned-by-index.ts";
import { hostnamesOutliveZones } from "#store/migrations/0161-hostnames-outlive-zones.ts";
import { listItemsOutliveLists } from "#store/migrations/0186-list-items-outlive-lists.ts";
import { apiDates } from "#store/migrations/0203-api-dates.ts";
import { accountFirewallObjects } from "#store/migrations/0247-account-firewall-objects.ts";
import { leaseEpochs } from "#store/migrations/0250-lease-epochs.ts";
import { coreRules } from "#store/migrations/0264-core-rules.ts";
import { certificatePacks } from "#store/migrations/0254-certificate-packs.ts";
import { tunnels } from "#store/migrations/0268-tunnels.ts";
import { auditLogByActor } from "#store/migrations/0253-audit-log-by-actor.ts";
import { totp } from "#store/migrations/0243-totp.ts";
import { pageResources } from "#store/migrations/0279-page-resources.ts";
import { latestRenewals } from "#store/migrations/0282-latest-renewals.ts";
import { passkeys } from "#store/migrations/0286-passkeys.ts";
import { userIdentities } from "#store/migrations/0287-user-identities.ts";
import { nodeEventPlaces } from "#store/migrations/0290-node-event-places.ts";
import { edgeAddresses } from "#store/migrations/0300-edge-addresses.ts";
import { rollout } from "#store/migrations/0301-rollout.ts";
import { signedEvents } from "#store/migrations/0311-signed-events.ts";
import { endsOfLeftovers } from "#store/migrations/0310-ends-of-leftovers.ts";
import { sharedLogs } from "#store/migrations/0318-shared-logs.ts";
import { visitorKeys } from "#store/migrations/0309-visitor-keys.ts";
import { unitsOfLargeChanges } from "#store/migrations/0274-units-of-large-changes.ts";
import { images } from "#store/migrations/0271-images.ts";
import { invitations } from "#store/migrations/0248-invitations.ts";
import { deprecationNotices } from "#store/migrations/0204-deprecation-notices.ts";
import { recordedCalls } from "#store/migrations/0205-recorded-calls.ts";
import { nodes } from "#store/migrations/0232-nodes.ts";
import { importReports } from "#store/migrations/0130-import-reports.ts";
import type { Dialect, Session } from "#store/queries/session.ts";

export interface Migration {
  readonly version: number;
  readonly name: string;
  /** Statements in order, for the dialect. */
  statements(dialect: Dialect): readonly string[];
}

/** In order. A released migration never changes; a later one corrects it. */
export const MIGRATIONS: readonly Migration[] = [
  { version: 1, name: "foundation", statements: foundation },
  { version: 2, name: "dns-versions", statements: dnsVersions },
  { version: 3, name: "record-lists", statements: recordLists },
  { version: 4, name: "dns-settings", statements: dnsSettings },
  { version: 5, name: "record-counts", statements: recordCounts },
  { version: 6, name: "dns-imports", statements: dnsImports },
  { version: 7, name: "dnssec-keys", statements: dnssecKeys },
  { version: 9, name: "incoming-transfers", statements: incomingTransfers },
  { version: 10, name: "zone-settings", statements: zoneSettings },
  { version: 11, name: "rules", statements: rules },
  { version: 12, name: "cache-purges", statements: cachePurges },
  { version: 13, name: "phase-permissions", statements: phasePermissions },
  { version: 15, name: "sensitive-data", statements: sensitiveData },
  { version: 17, name: "gateway-objects", statements: gatewayObjects },
  { version: 20, name: "gateway-datasets", statements: gatewayDatasets },
  { version: 24, name: "notifications", statements: notifications },
  { version: 25, name: "gateway-domains", statements: gatewayDomains },
  { version: 26, name: "account-sensitive-data", statements: accountSensitiveData },
  { version: 28, name: "custom-hostnames", statements: customHostnames },
  { version: 29, name: "certificate-orders", statements: certificateOrders },
  { version: 30, name: "previous-waf", statements: previousWaf },
  { version: 31, name: "access-apps", statements: accessApps },
  { version: 32, name: "custom-certificates", statements: customCertificates },
  { version: 33, name: "logpush-jobs", statements: logpushJobs },
  { version: 35, name: "sensitive-data-times", statements: sensitiveDataTimes },
  { version: 36, name: "event-counts", statements: eventCounts },
  { version: 40, name: "zone-proofs", statements: zoneProofs },
  { version: 46, name: "large-changes", statements: largeChanges },
  { version: 47, name: "import-jobs-added", statements: importJobsAdded },
  { version: 62, name: "issuance-times", statements: issuanceTimes },
  { version: 63, name: "list-states", statements: listStates },
  { version: 68, name: "history", statements: history },
  { version: 130, name: "import-reports", statements: importReports },
  { version: 135, name: "sessions", statements: sessions },
  { version: 136, name: "zone-names-reversed", statements: zoneNamesReversed },
  { version: 160, name: "owned-by-index", statements: ownedByIndex },
  { version: 161, name: "hostnames-outlive-zones", statements: hostnamesOutliveZones },
  { version: 186, name: "list-items-outlive-lists", statements: listItemsOutliveLists },
  { version: 203, name: "api-dates", statements: apiDates },
  { version: 204, name: "deprecation-notices", statements: deprecationNotices },
  { version: 205, name: "recorded-calls", statements: recordedCalls },
  { version: 232, name: "nodes", statements: nodes },
  { version: 243, name: "totp", statements: totp },
  { version: 247, name: "account-firewall-objects", statements: accountFirewallObjects },
  { version: 248, name: "invitations", statements: invitations },
  { version: 250, name: "lease-epochs", statements: leaseEpochs },
  { version: 253, name: "audit-log-by-actor", statements: auditLogByActor },
  { version: 254, name: "certificate-packs", statements: certificatePacks },
  { version: 264, name: "core-rules", statements: coreRules },
  { version: 268, name: "tunnels", statements: tunnels },
  { version: 271, name: "images", statements: images },
  { version: 274, name: "units-of-large-changes", statements: unitsOfLargeChanges },
  { version: 279, name: "page-resources", statements: pageResources },
  { version: 282, name: "latest-renewals", statements: latestRenewals },
  { version: 286, name: "passkeys", statements: passkeys },
  { version: 287, name: "user-identities", statements: userIdentities },
  { version: 290, name: "node-event-places", statements: nodeEventPlaces },
  { version: 300, name: "edge-addresses", statements: edgeAddresses },
  { version: 301, name: "rollout", statements: rollout },
  { version: 309, name: "visitor-keys", statements: visitorKeys },
  { version: 310, name: "ends-of-leftovers", statements: endsOfLeftovers },
  { version: 311, name: "signed-events", statements: signedEvents },
  { version: 318, name: "shared-logs", statements: sharedLogs },
];

/** Throws if a newer program made the database. */
export function refuseNewer(at: number, migrations: readonly Migration[] = MIGRATIONS): void {
  const known = migrations.at(-1)?.version ?? 0;
  if (at > known)
    throw new Error(`the database has schema version ${at} and this program knows up to ${known}: start the newer program that made it`);
}

/**
 * Applies all missing migrations in one transaction. Throws if a newer program made the database, because this one could
 * damage it.
 */
export async function migrate(
  session: Session,
  dialect: Dialect,
  clock: Clock,
  migrations: readonly Migration[] = MIGRATIONS,
): Promise<void> {
  if (dialect.looseReferences !== null) await session.query(dialect.looseReferences.begin);
  try {
    await migrateInOne(session, dialect, clock, migrations);
  } finally {
    if (dialect.looseReferences !== null) await session.query(dialect.looseReferences.end);
  }
}

async function migrateInOne(session: Session, dialect: Dialect, clock: Clock, migrations: readonly Migration[]): Promise<void> {
  await beginWriting(session, dialect, clock);
  try {
    if (dialect.migrationLock !== null) await session.query(dialect.migrationLock);
    await session.query(
      `CREATE TABLE IF NOT EXISTS schema_migrations (version ${dialect.integer} PRIMARY KEY, name ${dialect.text} NOT NULL, applied_on ${dialect.text} NOT NULL) ${dialect.tableOptions}`,
    );
    const { rows } = await session.query("SELECT version FROM schema_migrations");
    const applied = new Set(rows.map(({ version }) => Number(version)));
    refuseNewer(Math.max(0, ...applied), migrations);
    for (const migration of migrations.filter(({ version }) => !applied.has(version))) {
      for (const statement of migration.statements(dialect)) await session.query(statement);
      const values = [1, 2, 3].map(dialect.placeholder).join(", ");
      await session.query(`INSERT INTO schema_migrations (version, name, applied_on) VALUES (${values})`, [
        migration.version,
        migration.name,
        isoMicros(clock.nowMicros()),
      ]);
    }
    await session.query("COMMIT");
  } catch (error) {
    await session.query("ROLLBACK");
    throw error;
  }
}

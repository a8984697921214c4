import { createSlices } from "#kernel/process/slices.ts";
import { createAccess } from "#control/access/access.ts";
import { createCachePurges } from "#control/cache/purge.ts";
import type { Control } from "#control/control.ts";
import { canonicalAddresses, edgeAddressMembers } from "#control/nodes/edge-addresses.ts";
import { createRollouts } from "#control/nodes/rollouts.ts";
import { createNodes } from "#control/nodes/nodes.ts";
import { createDeprecationCalls } from "#control/deprecations/deprecation-calls.ts";
import { createDeprecationNotices } from "#control/deprecations/notices.ts";
import { createRecordedCalls } from "#control/deprecations/recorded-calls.ts";
import { createCertificateOrdering, LOCAL_ORDERING } from "#control/certificates/create.ts";
import { createCustomCertificates } from "#control/certificates/custom-certificates.ts";
import { createOrderedPacks } from "#control/certificates/ordered-packs.ts";
import { createCertificatePacks } from "#control/certificates/packs.ts";
import { createAnalytics } from "#control/analytics/analytics.ts";
import { createDnsReports } from "#control/analytics/dns-report.ts";
import { zoneDashboard } from "#control/analytics/dashboard.ts";
import { createLargeChanges } from "#control/dns/changes/large-change.ts";
import { createRecordChanger } from "#control/dns/changes/change-records.ts";
import { createRecordView } from "#control/dns/changes/record-view.ts";
import { createRecordScans } from "#control/dns/scan/record-scans.ts";
import { createDnsRecords } from "#control/dns/records/records.ts";
import { createZoneQueries } from "#control/dns/scan/zone-queries.ts";
import { createScanResolver } from "#control/dns/scan/scan-resolver.ts";
import { createCustomNameServers } from "#control/dns/settings/custom-name-servers.ts";
import { createApexAddresses } from "#control/dns/dnssec/apex-addresses.ts";
import { createDnssec } from "#control/dns/dnssec/dnssec.ts";
import { createDnssecWatch } from "#control/dns/dnssec/dnssec-watch.ts";
import { createQueryParentDs } from "#control/dns/dnssec/parent-ds.ts";
import { createDnsSettings } from "#control/dns/settings/settings.ts";
import { createDnsVersions } from "#control/dns/versions/versions.ts";
import { createLongReads, READS_OF_EVENTS } from "#control/long-reads.ts";
import { createZoneFiles } from "#control/dns/zone-files/zone-files.ts";
import { createAccessApps } from "#control/access/apps.ts";
import { createAttentionReads } from "#control/access/attention.ts";
import { createGatewayDomains } from "./gateways/domains.ts";
import { createTunnels } from "./tunnels/tunnels.ts";
import { createDlpProfiles } from "./gateways/dlp-profiles.ts";
import { createSensitiveData } from "./detection/sensitive-data.ts";
import { retentionSeconds } from "#control/events/retention-seconds.ts";
import { createLoggedRequests } from "#control/events/logged-requests.ts";
import { createSecurityEvents } from "#control/events/security-events.ts";
import { createGateways } from "#control/gateways/gateways.ts";
import { createGatewayDatasets } from "#control/gateways/datasets.ts";
import { createGatewayEvaluations } from "#control/gateways/evaluations.ts";
import { createGatewayTries } from "#control/gateways/try-request.ts";
import { createCustomProviders } from "#control/gateways/custom-providers.ts";
import { createProviderConfigs } from "#control/gateways/provider-configs.ts";
import { createGatewayRoutes } from "#control/gateways/routes.ts";
import { createGatewayLogs } from "#control/gateways/logs.ts";
import { createNotifications } from "#control/notifications/notifications.ts";
import { createImageControl, type ImagesConfig } from "#control/images/image-control.ts";
import { createMembers } from "#control/members/members.ts";
import { createFirewallTools } from "#control/firewall-tools/firewall-tools.ts";
import { createPreviousWaf } from "#control/previous-waf/previous-waf.ts";
import { createRuleListItems } from "#control/lists/list-items.ts";
import { createRuleLists } from "#control/lists/lists.ts";
import { createRulesets } from "#control/rulesets/rulesets.ts";
import { createRuleExpressions } from "#control/rulesets/expressions.ts";
import { createEventExceptions } from "#control/rulesets/event-exceptions.ts";
import { createRuleTraces } from "#control/rulesets/trace.ts";
import { createRecentMatches } from "#control/rulesets/recent-matches.ts";
import { createRulesetVersions } from "#control/rulesets/versions.ts";
import { createCertificateRenewal } from "#control/zones/renew-certificates.ts";
import { createServiceCertificate } from "#control/service-certificate.ts";
import { createSecondaries } from "#control/secondary/secondaries.ts";
import { createTransfers } from "#control/transfers/transfers.ts";
import { createWafMigration } from "#control/waf-migration/migration.ts";
import { createLookUpTexts } from "./ownership/check-zone-ownership.ts";
import { createOwnership } from "./ownership/ownership.ts";
import { pairsOf } from "./ownership/pairs.ts";
import { createQueryParentServers } from "./ownership/parent-view.ts";
import { createOwnershipPolicy, OWNERSHIP_DEFAULTS } from "./ownership/policy.ts";
import { createZoneSettling } from "./ownership/settling.ts";
import { createPageShieldControl } from "#control/page-shield/page-shield.ts";
import { createZoneSettings } from "#control/zones/settings.ts";
import { createRemovals } from "#control/zones/removals.ts";
import { createZones } from "#control/zones/zones.ts";
import { createCustomHostnameControl } from "./hostnames/create.ts";
import { createLogpushJobs } from "#control/logpush/jobs.ts";
import { createLogPusher } from "#control/logpush/pusher.ts";
import { localReads } from "#events/read/read-client.ts";
import { DEFAULT_RETENTION } from "#events/write/writer-config.ts";
import { isGlobalAddress } from "#kernel/net/ip-class.ts";
import { planOf } from "#model/zones/plan.ts";
import type { ControlDeps } from "#control/control-deps.ts";

/** `internal` never exists in the public DNS (ICANN, 2024), and no zone of a customer lies below it. */
const NAME_SERVERS = ["ns1.selvedge.internal", "ns2.selvedge.internal"] as const;
const RECORDS_PER_ZONE_MAX = 1_000_000;

const NO_IMAGES: ImagesConfig = { directory: "", url: () => "", perAccountMax: 0, accountBytesMax: 0 };

export function createControl(deps: ControlDeps): Control {
  const { store, clock, sealer, ca, events, eventReads = localReads(events), vendorPrefix, nameServers = NAME_SERVERS } = deps;
  const edgeAddresses = new Set(canonicalAddresses(deps.edgeAddresses));
  const origins = { edgeAddresses, localOriginAllowed: deps.localOriginAllowed };
  const recordPolicy = { ...origins, names: "letter_first" as const, txtContent: "quoted" as const, ...deps.records };
  const view = createRecordView({ origins, vendorPrefix });
  const { recordsPerZoneMax: most = RECORDS_PER_ZONE_MAX, recordsPerFreeZoneMax: mostFree = most, hasPlaces = true } = deps;
  const recordsPerZoneMax = (plan: string): number => (planOf(plan).name === "free" ? mostFree : most);
  const large = createLargeChanges({ store, clock });
  const removals = createRemovals({ store });
  const changer = createRecordChanger({ store, clock, policy: recordPolicy, view, recordsPerZoneMax, large });
  const secondaries = createSecondaries({
    store,
    clock,
    sealer,
    changer,
    primaryAllowed: deps.primaryAllowed ?? isGlobalAddress,
    recordsPerZoneMax,
    limits: deps.secondaryLimits ?? {},
    report: deps.onSecondaryChecked,
  });
  const pool = pairsOf(nameServers);
  const policy = createOwnershipPolicy({ ...OWNERSHIP_DEFAULTS, ownNames: nameServers, ...deps.ownership });
  const dnsSettings = createDnsSettings({ store, clock, nameServers: pool[0] ?? nameServers });
  const queryParentDs = createQueryParentDs(deps.scanResolvers ?? []);
  const access = createAccess({
    ...{ store, clock, sealer, provider: deps.signInProvider, sharedLimits: deps.sharedLimits },
    ...(deps.auditRetention === undefined ? {} : { auditRetention: deps.auditRetention }),
  });
  const logReads = createLongReads(READS_OF_EVENTS);
  const analytics = createAnalytics({ access, store, reads: eventReads, longReads: createLongReads(READS_OF_EVENTS) });
  const slices = createSlices();
  const isTrustedAccount = (accountId: string): Promise<boolean> => policy.isTrusted(store.read, accountId);
  const rulesets = createRulesets({ store, clock, limits: deps.rulesetLimits ?? {}, slices, isTrustedAccount, hasPlaces });
  const ordering = deps.ordering ?? LOCAL_ORDERING;
  const hostnames = createCustomHostnameControl({
    ...deps,
    edgeAddresses,
    issuers: ordering.hostnames,
    isTrustedAccount,
    ordering: (owner, dns) =>
      createCertificateOrdering({
        ...{ store, clock, sealer, ca, resolvers: deps.scanResolvers ?? [], config: ordering },
        onError: deps.onOrderError ?? (() => undefined),
        hostnames: owner,
        dns,
      }),
  });
  const { certificateOrdering } = hostnames;
  const resolvers = deps.scanResolvers ?? [];
  const transitions = { store, clock, policy, issuing: { clock, sealer, ca, ordering: certificateOrdering } };
  const ownership = createOwnership({
    ...{ ...transitions, vendorPrefix, pool },
    texts: createLookUpTexts(resolvers),
    parentServers: createQueryParentServers({ clock, resolvers, isAllowed: isGlobalAddress, ...deps.parentServers }),
  });
  const zoneSettings = createZoneSettings({ store, clock });
  const allowed = deps.webhookAllowed ?? isGlobalAddress;
  const longReads = createLongReads();
  return {
    access,
    ...createMembers({ ...deps, access }),
    analytics,
    rollouts: createRollouts({ store, clock }),
    ...edgeAddressMembers(edgeAddresses, deps.edgeAddresses),
    nodes: createNodes({ store, clock, ...(deps.heardNodes === undefined ? {} : { heard: deps.heardNodes }) }),
    serverHealth: async () => (await deps.serverHealth?.()) ?? { planes: [], addresses: {}, problems: [] },
    dnsReports: createDnsReports({ analytics, clock }),
    zoneDashboard: (call, zoneId, query) => zoneDashboard({ analytics, clock }, call, zoneId, query),
    attention: createAttentionReads({ store, clock }),
    deprecationCalls: createDeprecationCalls({ store, clock }),
    deprecationNotices: createDeprecationNotices({ store, clock }),
    recordedCalls: createRecordedCalls({ store, clock }),
    certificates: createCertificateRenewal({ store, clock, sealer, ca }),
    certificatePacks: createCertificatePacks({ store, clock }),
    orderedPacks: createOrderedPacks({ store, clock, vendorPrefix, orders: certificateOrdering.orders, issuers: ordering.zones }),
    customCertificates: createCustomCertificates({ store, clock, sealer }),
    serviceCertificate: createServiceCertificate({ store, clock, sealer, ca, nameServers }),
    zones: createZones({ store, clock, sealer, ca, ownership, ordering: certificateOrdering, removals }),
    removals,
    ownership,
    zoneSettling: createZoneSettling(transitions),
    zoneSettings,
    pageShield: createPageShieldControl({ store, clock, zoneSettings, allowed }),
    cachePurges: createCachePurges({ store }),
    ...hostnames,
    dnsRecords: createDnsRecords({ store, view, changer, recordsPerZoneMax, longReads }),
    dnsVersions: createDnsVersions({ store, view, changer, longReads }),
    recordScans: createRecordScans({
      store,
      clock,
      policy: recordPolicy,
      view,
      changer,
      ask: createScanResolver(deps.scanResolvers ?? []),
    }),
    zoneQueries: createZoneQueries({ store, clock, nameserver: deps.nameserver ?? (() => undefined) }),
    zoneFiles: createZoneFiles({ store, clock, policy: recordPolicy, changer, recordsPerZoneMax, large, longReads }),
    dnsSettings,
    apexAddresses: createApexAddresses({ store }),
    dnssec: createDnssec({ store, clock, sealer, queryParentDs }),
    dnssecWatch: createDnssecWatch({ store, clock, sealer, queryParentDs, rolloverDays: deps.dnssecRolloverDays ?? 0 }),
    customNameServers: createCustomNameServers({ store, clock, settings: dnsSettings }),
    transfers: createTransfers({ store, clock, sealer, secondaries }),
    secondaries,
    rulesets,
    wafMigration: createWafMigration({ store, clock, rulesets }),
    previousWaf: createPreviousWaf({ store, clock }),
    firewallTools: createFirewallTools({ store, clock, hasPlaces }),
    ruleLists: createRuleLists({ store, clock, removals, limits: deps.ruleListLimits ?? {} }),
    ruleListItems: createRuleListItems({ store, clock, limits: deps.ruleListLimits ?? {} }),
    ruleTraces: createRuleTraces({ store, clock, slices, hasPlaces }),
    recentMatches: createRecentMatches({ store, clock, reads: eventReads, slices }),
    eventExceptions: createEventExceptions({ store, reads: eventReads }),
    ruleExpressions: createRuleExpressions({ store }),
    rulesetVersions: createRulesetVersions({ store }),
    gateways: createGateways({
      store,
      clock,
      sealer,
      logs: deps.gatewayLogStore,
      hasGuardrailModel: deps.hasGuardrailModel ?? false,
      ...(deps.urlOfGateways ? { urlOfGateways: deps.urlOfGateways } : {}),
    }),
    accessApps: createAccessApps({ store, clock }),
    gatewayDomains: createGatewayDomains({ store, clock }),
    tunnels: createTunnels({ store, clock, sealer, endpoint: deps.tunnelEndpoint ?? (() => ({ e: "" })) }),
    providerConfigs: createProviderConfigs({ store, clock, sealer }),
    customProviders: createCustomProviders({ store, clock, sealer }),
    gatewayRoutes: createGatewayRoutes({ store, clock }),
    gatewayDatasets: createGatewayDatasets({ store, clock }),
    gatewayEvaluations: createGatewayEvaluations({ store, clock, logs: deps.gatewayLogStore, longReads: logReads }),
    gatewayTries: createGatewayTries({ store, clock, urlOfGateways: deps.urlOfGateways ?? (() => "") }),
    gatewayLogs: createGatewayLogs({ store, clock, logs: deps.gatewayLogStore, longReads: logReads, shared: deps.sharedLogs }),
    securityEvents: createSecurityEvents({ reads: eventReads, clock, sealer }),
    loggedRequests: createLoggedRequests({ reads: eventReads, clock, sealer }),
    retentionSeconds: retentionSeconds(deps.eventRetention ?? DEFAULT_RETENTION, deps.areEventsShared),
    notifications: createNotifications({
      store,
      clock,
      sealer,
      events: eventReads,
      nodeId: deps.nodeId,
      areEventsShared: deps.areEventsShared ?? false,
      vendorPrefix,
      mailServer: deps.mailServer,
      webhookAllowed: allowed,
    }),
    logpush: createLogpushJobs({
      ...{ store, clock, sealer, allowed },
      pusher: createLogPusher({ store, clock, sealer, allowed, directory: deps.logSegments, readBatch: deps.readLogBatch }),
    }),
    sensitiveData: createSensitiveData({ store, clock, sealer }),
    dlpProfiles: createDlpProfiles({ store, clock }),
    ...createImageControl({ store, clock, sealer, allowed, config: deps.images ?? NO_IMAGES }),
  };
}

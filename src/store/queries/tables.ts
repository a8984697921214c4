import type {
  AccountsTable,
  UsersTable,
  UserTotpTable,
  UserPasskeysTable,
  UserIdentitiesTable,
  SignInChallengesTable,
  MembershipsTable,
  InvitationsTable,
  TokensTable,
  SessionsTable,
  AccessAppsTable,
  AcceleratorsTable,
} from "#store/tables/access.ts";
import type {
  CertificatesTable,
  CustomCertificatesTable,
  CertificatePacksTable,
  CertificateOrdersTable,
  CertificateRenewalsTable,
} from "#store/tables/certificates.ts";
import type { ChangesTable, AuditLogTable, CountersTable, RemovalsTable, SecretsTable } from "#store/tables/changes.ts";
import type { DeprecationCallsTable, RecordedCallsTable, DeprecationNoticesTable } from "#store/tables/deprecations.ts";
import type { SensitiveDataObjectsTable, AccountSensitiveDataObjectsTable, PageResourcesTable } from "#store/tables/detection.ts";
import type {
  DnsRecordsTable,
  DnsRecordTagsTable,
  DnsRecordCountsTable,
  DnsScanCandidatesTable,
  DnsImportsTable,
  DnsVersionsTable,
  DnsImportJobsTable,
  DnsImportFilesTable,
  DnsVersionPartsTable,
  ZoneDnssecTable,
  ZoneDnssecKeysTable,
  TransferObjectsTable,
  ZoneTransfersTable,
  IncomingTransferStatesTable,
} from "#store/tables/dns.ts";
import type {
  LogpushJobsTable,
  EventCountsTable,
  EventCountNodesTable,
  NotificationWebhooksTable,
  NotificationPoliciesTable,
  NotificationSilencesTable,
  NotificationSpikesTable,
  NotificationDeliveriesTable,
} from "#store/tables/events.ts";
import type {
  GatewaysTable,
  GatewayDatasetsTable,
  GatewayEvaluationsTable,
  GatewayObjectsTable,
  GatewayDomainsTable,
  SharedLogEndTable,
  SharedLogReadersTable,
  SharedLogsTable,
} from "#store/tables/gateways.ts";
import type {
  CustomHostnamesTable,
  CustomHostnameCertificatesTable,
  FallbackOriginsTable,
  HostnameIssuancesTable,
  HostnameIssuanceTimesTable,
} from "#store/tables/hostnames.ts";
import type { ImagesTable, ImageVariantsTable, ImageKeysTable } from "#store/tables/images.ts";
import type {
  TunnelsTable,
  EdgeAddressesTable,
  RolloutTable,
  VisitorKeysTable,
  NodeEventPlacesTable,
  NodesTable,
  RevokedNodeKeysTable,
  LeasesTable,
} from "#store/tables/nodes.ts";
import type {
  RulesetsTable,
  RulesetVersionsTable,
  RuleListsTable,
  RuleListItemsTable,
  RuleListOperationsTable,
  ListStatesTable,
  FirewallObjectsTable,
  AccountFirewallObjectsTable,
  CoreRulesTable,
} from "#store/tables/rulesets.ts";
import type {
  ZonesTable,
  ZoneClaimsTable,
  FormerZonesTable,
  ZoneHoldsTable,
  CachePurgesTable,
  CustomNameServersTable,
} from "#store/tables/zones.ts";

/**
 * Columns as both dialects store them: text, 64-bit integers below 2^53, and JSON as text. Booleans are 0/1 and times ISO
 * 8601 text with microseconds, so that a row reads the same on SQLite and PostgreSQL.
 */
export interface Tables {
  nodes: NodesTable;
  node_event_places: NodeEventPlacesTable;
  shared_logs: SharedLogsTable;
  shared_log_end: SharedLogEndTable;
  shared_log_readers: SharedLogReadersTable;
  edge_addresses: EdgeAddressesTable;
  rollout: RolloutTable;
  visitor_keys: VisitorKeysTable;
  revoked_node_keys: RevokedNodeKeysTable;
  leases: LeasesTable;
  core_rules: CoreRulesTable;
  accounts: AccountsTable;
  users: UsersTable;
  memberships: MembershipsTable;
  invitations: InvitationsTable;
  accelerators: AcceleratorsTable;
  images: ImagesTable;
  image_variants: ImageVariantsTable;
  image_keys: ImageKeysTable;
  tokens: TokensTable;
  sessions: SessionsTable;
  user_totp: UserTotpTable;
  user_passkeys: UserPasskeysTable;
  sign_in_challenges: SignInChallengesTable;
  user_identities: UserIdentitiesTable;
  zones: ZonesTable;
  zone_claims: ZoneClaimsTable;
  former_zones: FormerZonesTable;
  dns_records: DnsRecordsTable;
  dns_record_tags: DnsRecordTagsTable;
  dns_record_counts: DnsRecordCountsTable;
  dns_scan_candidates: DnsScanCandidatesTable;
  dns_versions: DnsVersionsTable;
  dns_version_parts: DnsVersionPartsTable;
  dns_imports: DnsImportsTable;
  dns_import_jobs: DnsImportJobsTable;
  dns_import_files: DnsImportFilesTable;
  removals: RemovalsTable;
  rulesets: RulesetsTable;
  ruleset_versions: RulesetVersionsTable;
  rule_lists: RuleListsTable;
  rule_list_items: RuleListItemsTable;
  rule_list_operations: RuleListOperationsTable;
  firewall_objects: FirewallObjectsTable;
  account_firewall_objects: AccountFirewallObjectsTable;
  gateways: GatewaysTable;
  gateway_objects: GatewayObjectsTable;
  access_apps: AccessAppsTable;
  gateway_domains: GatewayDomainsTable;
  tunnels: TunnelsTable;
  page_resources: PageResourcesTable;
  gateway_datasets: GatewayDatasetsTable;
  gateway_evaluations: GatewayEvaluationsTable;
  certificates: CertificatesTable;
  custom_certificates: CustomCertificatesTable;
  certificate_packs: CertificatePacksTable;
  certificate_orders: CertificateOrdersTable;
  certificate_renewals: CertificateRenewalsTable;
  cache_purges: CachePurgesTable;
  sensitive_data_objects: SensitiveDataObjectsTable;
  account_sensitive_data_objects: AccountSensitiveDataObjectsTable;
  zone_dnssec: ZoneDnssecTable;
  zone_dnssec_keys: ZoneDnssecKeysTable;
  transfer_objects: TransferObjectsTable;
  zone_transfers: ZoneTransfersTable;
  incoming_transfer_states: IncomingTransferStatesTable;
  custom_name_servers: CustomNameServersTable;
  custom_hostnames: CustomHostnamesTable;
  custom_hostname_certificates: CustomHostnameCertificatesTable;
  fallback_origins: FallbackOriginsTable;
  zone_holds: ZoneHoldsTable;
  hostname_issuances: HostnameIssuancesTable;
  hostname_issuance_times: HostnameIssuanceTimesTable;
  list_states: ListStatesTable;
  secrets: SecretsTable;
  deprecation_calls: DeprecationCallsTable;
  deprecation_notices: DeprecationNoticesTable;
  recorded_calls: RecordedCallsTable;
  notification_webhooks: NotificationWebhooksTable;
  notification_policies: NotificationPoliciesTable;
  notification_silences: NotificationSilencesTable;
  notification_spikes: NotificationSpikesTable;
  notification_deliveries: NotificationDeliveriesTable;
  event_counts: EventCountsTable;
  event_count_nodes: EventCountNodesTable;
  logpush_jobs: LogpushJobsTable;
  changes: ChangesTable;
  audit_log: AuditLogTable;
  counters: CountersTable;
}

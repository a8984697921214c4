import type { Generated } from "kysely";

/**
 * Columns as both dialects store them: text, 64-bit integers below 2^53, and JSON as text. Booleans are 0/1 and times ISO
 * 8601 text with microseconds, so that a row reads the same on SQLite and PostgreSQL.
 */
export interface Tables {
  nodes: NodesTable;
  node_event_places: NodeEventPlacesTable;
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

export interface LogpushJobsTable {
  id: number;
  account_id: string;
  dataset: string;
  enabled: number;
  /** `destination_conf`, sealed with the context `logpush:{id}`. */ destination: string;
  /** JSON of `LogpushSettings`. */ settings: string;
  /** When it was last enabled, in Unix milliseconds: older logs are not pushed. */ since_ms: number;
  last_complete: string | null;
  last_error: string | null;
  error_message: string | null;
}

export interface AccountsTable {
  id: string;
  name: string;
  type: string;
  settings: string;
  /** Defaults for new zones, and settings that apply to all zones. */
  dns_settings: Generated<string>;
  created_on: string;
  /** The API date that its calls have; null for the operator's. */ api_date: string | null;
}
export interface UsersTable {
  id: string;
  email: string;
  first_name: string | null;
  last_name: string | null;
  telephone: string | null;
  country: string | null;
  zipcode: string | null;
  /** SHA-256 of the global API key, hexadecimal. */ api_key_hash: string | null;
  /** Argon2id, as kernel/crypto/password.ts writes it; null if the user does not sign in with a password. */ password_hash: Generated<
    string | null
  >;
  created_on: string;
  modified_on: string;
}
export interface UserTotpTable {
  user_id: string;
  /** Base32, sealed. */
  secret: string;
  /** SHA-256 of each unused recovery code, hexadecimal, as JSON. */
  recovery: string;
  /** The step of the last code that was accepted (RFC 6238 §5.2). */
  last_step: number;
  /** Null until the first code. */
  confirmed_on: string | null;
}
export interface UserPasskeysTable {
  id: string;
  user_id: string;
  /** As the authenticator named it, base64url. */
  credential_id: string;
  /** COSE, base64url. */
  public_key: string;
  /** Of signatures; 0 if the authenticator does not count. */
  counter: number;
  /** The host name that it is for: the relying party of WebAuthn. */
  host: string;
  /** JSON. */
  transports: string;
  /** 1 if the authenticator keeps copies on other devices. */
  synced: number;
  name: string;
  created_on: string;
  last_used_on: string | null;
}
export interface UserIdentitiesTable {
  issuer: string;
  /** How the issuer names the person. */
  subject: string;
  user_id: string;
  created_on: string;
  last_used_on: string;
}
/** Of sign-ins and registrations in progress; each works once. */
export interface SignInChallengesTable {
  /** SHA-256, hexadecimal. */
  hash: string;
  purpose: string;
  /** The user that registers a passkey; null at sign-in. */
  user_id: string | null;
  /** Sealed, or empty. */
  data: string;
  expires_on: string;
}
export interface MembershipsTable {
  id: string;
  account_id: string;
  user_id: string;
  roles: string;
  status: string;
  created_on: string;
}
/** Of memberships that wait for their user. */
export interface InvitationsTable {
  membership_id: string;
  /** SHA-256 of the link's secret, hexadecimal; null if the user can sign in without it. */
  token_hash: string | null;
  /** The inviting user's e-mail address, or the name of the token. */
  invited_by: string;
  created_on: string;
  expires_on: string;
}
export interface AcceleratorsTable {
  id: string;
  account_id: string;
  name: string;
  enabled: number;
  created_on: string;
  modified_on: string;
}
export interface ImagesTable {
  account_id: string;
  id: string;
  /** The name of its file; null, like the facts about the file, until a direct upload has arrived. */
  blob_id: string | null;
  /** SHA-256 of the file, hexadecimal. */
  digest: string | null;
  bytes: number;
  format: string | null;
  frames: number;
  filename: string | null;
  creator: string | null;
  /** JSON. */
  meta: string;
  signed: number;
  uploaded_on: string;
  /** SHA-256 of the secret in the URL of a direct upload, hexadecimal; null once the file has arrived. */
  upload_hash: string | null;
  /** Of the URL. */
  expires_on: string | null;
}
export interface ImageVariantsTable {
  account_id: string;
  id: string;
  fit: string;
  width: number;
  height: number;
  metadata: string;
  never_signed: number;
}
export interface ImageKeysTable {
  account_id: string;
  name: string;
  /** Sealed. */
  value: string;
}
export interface TokensTable {
  id: string;
  /** The account that owns it, or null for a user's own token. */
  account_id: string | null;
  user_id: string | null;
  name: string;
  /** SHA-256 of the secret, hexadecimal. */
  hash: string;
  status: string;
  policies: string;
  condition: string | null;
  not_before: string | null;
  expires_on: string | null;
  issued_on: string;
  modified_on: string;
  /** 1 for the token that the first start printed, until it is rolled. */
  bootstrap: number;
  /** The API date that its calls have; null for the account's or the operator's. */ api_date: string | null;
}
export interface SessionsTable {
  id: string;
  /** SHA-256 of the cookie's secret, hexadecimal. */
  hash: string;
  /** Null for a session through a token of an account. */
  user_id: string | null;
  /** The token that signed in: the session has its permissions and ends with it. */
  token_id: string | null;
  label: string;
  ip: string;
  created_on: string;
  last_seen_on: string;
  expires_on: string;
  /** Null in older rows and for sessions through a token. */
  began_with: Generated<string | null>;
  /** The passkey that signed in; the session ends with it. */
  passkey_id: Generated<string | null>;
}
export interface ZonesTable {
  id: string;
  account_id: string;
  name: string;
  /** The name reversed (migration 0136); null in older rows. */
  name_reversed: string | null;
  status: string;
  type: string;
  paused: number;
  plan: string;
  name_servers: string;
  settings: string;
  serial: number;
  /** Number of the zone's DNS records, updated by the statement that raises the serial, so that inserts need not count. */
  record_count: number;
  /** Number of versions that writes of its records have made; decides when old ones are deleted. */
  dns_version_count: Generated<number>;
  vanity_name_servers: string;
  /** Traffic settings that differ from their defaults (model/zones/zone-settings.ts). */
  edge_settings: Generated<string>;
  /** `MigrationState` of model/rulesets/waf-migration.ts. */
  waf_migration: Generated<string>;
  /** `ZoneProof` of model/zones/zone-proof.ts. */
  proof: string;
  /** Key in a TXT record at the zone's current name servers that proves ownership; empty if that is impossible. */
  verification_key: string;
  /** JSON: the parent's name servers at the first check; null before it. */
  original_name_servers: string | null;
  /**
   * JSON: the installation's name servers to which the parent should delegate; empty if none was free, so that a
   * delegation proves nothing.
   */
  pair: string;
  activated_on: string | null;
  created_on: string;
  modified_on: string;
}
/** Pending checks of a zone's ownership, and their times; zones without pending checks have no row. */
export interface ZoneClaimsTable {
  zone_id: string;
  /** When the zone entered its status. */
  since_ms: number;
  next_look_ms: number;
  looks: number;
  /** Consecutive checks that saw the zone's pair at the parent, and the first of them. */
  seen_looks: number;
  seen_ms: number | null;
  /** Consecutive checks that saw other name servers there, and the first of them. */
  elsewhere_looks: number;
  elsewhere_since_ms: number | null;
  /** When the owner last requested a check. */
  asked_ms: number | null;
  /** Findings of the last check, as text for people. */
  reason: string;
}
/** Deleted zones that were active, by name and account. */
export interface FormerZonesTable {
  name: string;
  account_id: string;
  /** JSON: its former pair. */
  pair: string;
  /** The highest serial that its name ever had. */
  serial: number;
  proof: string;
  deleted_ms: number;
}
export interface DnsRecordsTable {
  id: string;
  zone_id: string;
  /** Absolute owner name, lower case, no trailing dot. */
  name: string;
  type: string;
  /** In the API's format. */
  content: string;
  /** White space and quotes normalized, lower case: compared by filters and the duplicate check. */
  content_key: string;
  /** JSON, or null for types without structured content. */
  data: string | null;
  priority: number | null;
  /** 1 = automatic. */
  ttl: number;
  proxied: number;
  settings: string;
  comment: string | null;
  tags: string;
  /** Uncompressed RDATA, base64. */
  rdata: string;
  comment_modified_on: string | null;
  tags_modified_on: string | null;
  created_on: string;
  modified_on: string;
  /** For filters only; derived in store/dns/record-keys.ts. */
  name_reversed: string;
  content_head: string;
  content_reversed: string;
  comment_key: string | null;
  comment_head: string | null;
  comment_reversed: string | null;
  commented: number;
  tagged: number;
}
/** One row per tag of a record, deleted with the record; for filters only. */
export interface DnsRecordTagsTable {
  record_id: string;
  zone_id: string;
  tag_key: string;
  tag_reversed: string;
  record_name: string;
  /** 1 if the record has several tags of one name. */
  repeated: number;
}
/** Number of a zone's records per facet; see store/dns/record-counts.ts. */
export interface DnsRecordCountsTable {
  zone_id: string;
  facet: string;
  count: number;
}
/** Candidates of a scan that have been neither accepted nor rejected. */
export interface DnsScanCandidatesTable {
  id: string;
  zone_id: string;
  /** The row that the record would have, as JSON. */
  record: string;
}
/** Large changes in progress, at most one per zone. */
export interface DnsImportsTable {
  zone_id: string;
  id: string;
  /** `import`, which keeps existing records, or the kind of change that undoes, restores or transfers. */
  kind: Generated<string>;
  /** When it last wrote something. */
  touched_on: string;
  /** The last unit that is done, from 1. */
  unit: Generated<number>;
  /** The run that did it: a unit may run again, because the report of its commit was lost. */
  run: Generated<number>;
}
export interface DnsVersionsTable {
  zone_id: string;
  /** The zone's serial after the write. */
  version: number;
  created_on: string;
  /** JSON: type, id and name. */
  actor: string;
  /** The kind of write: `create`, `batch`, `revert` and so on. */
  kind: string;
  /** The version that a `revert` undid, or that a `restore` returned to. */
  refers_to: number | null;
  reason: string | null;
  /** Records that the write created, updated and deleted. */
  created: number;
  updated: number;
  deleted: number;
  /** JSON array of the first changes, each `{ before, after }`; further ones are in `dns_version_parts`. */
  changes: string;
  /** The version's key in `dns_version_parts`; null: its number. */
  parts_key: Generated<number | null>;
}
/** Rows to be deleted a few at a time; they are no longer visible. */
export interface RemovalsTable {
  id: string;
  /** `zone`: records and versions of a deleted zone; `parts`: those of a deleted version. */
  kind: string;
  zone_id: string;
  parts_key: number | null;
  created_on: string;
}
/** Imports that continue after their request. */
export interface DnsImportJobsTable {
  id: string;
  zone_id: string;
  account_id: string;
  /** `receiving` until its file is complete, then `queued`, `running`, `done` or `failed`. */
  status: string;
  proxied: number;
  /** Number of records in the file, and how many have been processed. */
  total: number;
  records: number;
  /** Number of records that were new to the zone, once it is done. */
  added: number;
  /** JSON: the actor who requested it. */
  actor: string;
  reason: string | null;
  /** JSON: the error as the API returns it. */
  error: string | null;
  on_error: string;
  /** JSON: lines that were changed or skipped. */
  report: string | null;
  created_on: string;
  touched_on: string;
  finished_on: string | null;
}
export interface DnsImportFilesTable {
  job_id: string;
  part: number;
  content: string;
}
export interface DnsVersionPartsTable {
  zone_id: string;
  version: number;
  /** From 1 on. */
  part: number;
  changes: string;
}
export interface RulesetsTable {
  id: string;
  /** `account` or `zone`. */
  level: string;
  owner_id: string;
  name: string;
  description: string;
  kind: string;
  phase: string;
  version: number;
  rules: string;
  last_updated: string;
}
/** The newest versions of each ruleset, including the current one. */
export interface RulesetVersionsTable {
  ruleset_id: string;
  version: number;
  name: string;
  description: string;
  rules: string;
  last_updated: string;
}
export interface RuleListsTable {
  id: string;
  account_id: string;
  name: string;
  /** `ip`, `hostname`, `asn` or `redirect`. */
  kind: string;
  description: string;
  num_items: number;
  created_on: string;
  modified_on: string;
}
export interface RuleListItemsTable {
  list_id: string;
  id: string;
  /** The item's canonical form, which identifies it. */
  item_key: string;
  /** 16 bits of a hash of the key, which select the part of the list's snapshot. */
  bucket: number;
  /** The item as planes receive it, JSON. */
  value: string;
  comment: string;
  created_on: string;
  modified_on: string;
}
export interface RuleListOperationsTable {
  id: string;
  account_id: string;
  list_id: string;
  /** `pending`, `running`, `completed` or `failed`. */
  status: string;
  error: string | null;
  created_on: string;
  completed: string | null;
}
/** A zone's objects of the previous firewall. Packages, groups and rules have a row only if they differ from their defaults. */
export interface FirewallObjectsTable {
  zone_id: string;
  kind: string;
  id: string;
  /** JSON, without id and times. */
  value: string;
  created_on: string;
  modified_on: string;
}
export interface AccountFirewallObjectsTable extends Omit<FirewallObjectsTable, "zone_id"> {
  account_id: string;
}
export interface GatewaysTable {
  account_id: string;
  id: string;
  /** The gateway object as JSON, without its key and times. */ settings: string;
  created_at: string;
  modified_at: string;
}
/** Named objects that belong to a gateway. */
interface NamedTable {
  id: string;
  account_id: string;
  gateway_id: string;
  name: string;
  created_at: string;
  modified_at: string;
}
export interface GatewayDatasetsTable extends NamedTable {
  enable: number;
  /** JSON. */ filters: string;
}
export interface GatewayEvaluationsTable extends NamedTable {
  /** JSON of the datasets at that time. */ datasets: string;
  /** JSON. */ results: string;
  total_logs: number;
}
export interface GatewayObjectsTable {
  id: string;
  account_id: string;
  /** Empty if the object belongs to the account alone. */ gateway_id: string;
  kind: string;
  /** The provider of a cost, the route of a version or deployment; otherwise empty. */ parent_id: string;
  /** JSON. */ value: string;
  created_at: string;
  modified_at: string;
}
export interface AccessAppsTable {
  /** A UUID. */ id: string;
  account_id: string;
  /** Null if it belongs to the account itself. */ zone_id: string | null;
  type: string;
  /** 64 hexadecimal characters. */ aud: string;
  /** JSON of all other fields. */ value: string;
  created_at: string;
  updated_at: string;
}
export interface GatewayDomainsTable {
  /** Canonical. */ hostname: string;
  account_id: string;
  gateway_id: string;
  /** The zone that contains the name. */ zone_id: string;
  min_tls: string;
  created_at: string;
  modified_at: string;
}
export interface CertificatesTable {
  id: string;
  zone_id: string;
  hosts: string;
  chain: string;
  /** Sealed, context `certificate:{id}`. */ private_key: string;
  issuer: string;
  not_before: string;
  not_after: string;
  created_on: string;
}
/** Certificates that a zone's owner uploaded. */
export interface CustomCertificatesTable {
  id: string;
  zone_id: string;
  type: string;
  bundle_method: string;
  priority: number;
  /** All names of the certificate, JSON. */
  hosts: string;
  /** The names that belong to the zone, JSON. */
  served_hosts: string;
  chain: string;
  /** Sealed, context `certificate:{id}`. */ private_key: string;
  /** SHA-256 of the leaf, hexadecimal. */
  fingerprint: string;
  issuer: string;
  signature: string;
  not_before: string;
  not_after: string;
  uploaded_on: string;
  modified_on: string;
}
/** The state of the zone's DNSSEC: `DnssecLife` of model/dns/dnssec-life.ts, with times as ISO text. */
export interface ZoneDnssecTable {
  zone_id: string;
  status: string;
  status_since: string;
  rollover: string;
  rollover_since: string;
  /** Ids of keys, JSON. */
  ds_named: string;
  /** Tags of the parent's DS records that match none of the zone's keys, JSON. */
  ds_others: string;
  ds_since: string;
  ds_ttl: number;
  /** When the parent was last checked; empty before. */
  looked_on: string;
  /** Why the last check failed; empty if it succeeded. */
  look_failure: string;
  /** Failures since the last successful check. */
  look_failures: number;
  next_look_on: string;
  /** When the serial was last raised so that other servers fetch new signatures. */
  refetch_on: string;
  multi_signer: number;
  modified_on: string;
}
/** Keys of zones: one, or two during a rollover. */
export interface ZoneDnssecKeysTable {
  id: string;
  zone_id: string;
  /** As in a DNSKEY record, base64. */
  public_key: string;
  /** PKCS #8 PEM, sealed, context `dnssec:{id}`. */ private_key: string;
  created_on: string;
}
/** ACLs, peers and TSIG keys of an account. */
export interface TransferObjectsTable {
  id: string;
  account_id: string;
  /** `acl`, `peer` or `tsig`. */
  kind: string;
  /** The object as JSON, without its id; a TSIG's secret sealed, context `tsig:{id}`. */
  value: string;
  created_on: string;
}
export interface ZoneTransfersTable {
  zone_id: string;
  /** `incoming` or `outgoing`. */
  direction: string;
  id: string;
  settings: string;
  created_on: string;
  modified_on: string;
}
/** The state of a secondary zone. Times are milliseconds since 1970. */
export interface IncomingTransferStatesTable {
  zone_id: string;
  /** A running check moves this into the future, so that no other node takes the zone. */
  next_check_ms: number;
  /** 1: the next check transfers the whole zone, whatever its serial. */
  forced: number;
  /** Consecutive checks without an answer from any peer. */
  failures: number;
  checked_ms: number | null;
  /** When a peer last confirmed that our copy is current; the zone's expiry counts from here. */
  confirmed_ms: number | null;
  transferred_ms: number | null;
  /** `AXFR` or `IXFR`. */
  method: string | null;
  peer_id: string | null;
  last_error: string | null;
}
/** A certificate that a zone's owner ordered; the columns of the certificate are null until the first is issued. */
export interface CertificatePacksTable {
  id: string;
  zone_id: string;
  /** JSON array. */
  hosts: string;
  method: "http" | "txt";
  /** The requested authority; empty: any. */
  requested: string;
  validity_days: number;
  branding: number;
  status: string;
  /** Why the last attempt failed; empty if none did. */
  error: string;
  chain: string | null;
  /** Sealed, context `certificate:{id}`. */
  private_key: string | null;
  issuer: string;
  not_before: string | null;
  not_after: string | null;
  created_on: string;
  modified_on: string;
}
/** A certificate order; control/certificates/ describes its columns. */
export interface CertificateOrdersTable {
  id: string;
  owner_kind: "zone" | "custom_hostname" | "certificate_pack";
  owner_id: string;
  zone_id: string;
  /** JSON array. */
  hosts: string;
  method: "http" | "txt";
  /** The requested authority; empty: any. */
  requested: string;
  /** The chosen authority; empty until then. */
  authority: string;
  status: string;
  /** Why the last attempt failed, for the owner; empty if none did. */
  error: string;
  /** `PlacedOrder` of acme/issuance.ts, as JSON. */
  placed: string | null;
  /** PKCS #8 PEM, sealed with the context `certificate-order:{id}`. */
  private_key: string | null;
  /** The certificate that it renews, as identified to its authority (RFC 9773 §4.1). */
  replaces: string | null;
  tries: number;
  due_ms: number;
  /** The order is claimed until then. */
  lease_ms: number;
  created_ms: number;
}
/** Renewal times of the current certificate, if it came from an order. */
export interface CertificateRenewalsTable {
  owner_kind: "zone" | "custom_hostname" | "certificate_pack";
  owner_id: string;
  zone_id: string;
  hosts: string;
  method: "http" | "txt";
  requested: string;
  authority: string;
  /** Identifier for asking the authority for a renewal time; null if it offers none. */
  renewal_id: string | null;
  renew_ms: number;
  /** When the authority is asked again. */
  advice_ms: number;
  /** The authority's advice moves the renewal no later than this; null: no later at all. */
  latest_ms: number | null;
}
/** `value` is the entry of the snapshot as JSON. */
export interface CachePurgesTable {
  zone_id: string;
  value: string;
}
/** `value` is the object as the API returns it, without id and times, as JSON. */
interface SensitiveDataColumns {
  id: string;
  /** `allowed` or `pattern`. */
  kind: string;
  value: string;
  created_on: string;
  modified_on: string;
}
export interface SensitiveDataObjectsTable extends SensitiveDataColumns {
  zone_id: string;
}
export interface AccountSensitiveDataObjectsTable extends SensitiveDataColumns {
  account_id: string;
}
export interface CustomNameServersTable {
  account_id: string;
  name: string;
  ns_set: number;
  created_on: string;
}
/** Values of the installation, sealed with the key file, such as the local CA's key. */
export interface SecretsTable {
  name: string;
  value: string;
  created_on: string;
}
export interface DeprecationCallsTable {
  day: string;
  /** The account of the call; empty for routes without an account. */
  account_id: string;
  deprecation_id: string;
  token_id: string;
  route: string;
  calls: number;
}
export interface RecordedCallsTable {
  account_id: string;
  day: string;
  token_id: string;
  route: string;
  /** Of the form and the API date. */ shape_hash: string;
  /** JSON of a CallShape. */ shape: string;
  api_date: string | null;
  calls: number;
}
/** Notices that accounts got. */
export interface DeprecationNoticesTable {
  account_id: string;
  deprecation_id: string;
  /** 90, 30, 7 or 1. */ days_left: number;
  told_on: string;
}
export interface ChangesTable {
  rev: number;
  seq: number;
  kind: string;
  id: string;
  /** JSON, or null for a delete. */ value: string | null;
}
export interface AuditLogTable {
  id: string;
  at: string;
  action: string;
  actor_type: string;
  actor_id: string;
  actor_ip: string;
  account_id: string | null;
  zone_id: string | null;
  resource_type: string;
  resource_id: string;
  before: string | null;
  after: string | null;
  /** The API date of the call, if it was not the operator's. */ api_date: string | null;
}
/** `rev` is allocated from one locked row, so commit order is revision order. */
export interface CountersTable {
  name: string;
  value: Generated<number>;
  /** The history of the revisions (history.ts). */
  history: string | null;
  /** The identity of the database on which the history began, as its dialect defines it. */
  identity: string | null;
}
export interface NotificationWebhooksTable {
  id: string;
  account_id: string;
  name: string;
  /** Sealed; rows of older releases have it as it is. */
  url: string;
  /** Sealed; empty if none. */
  secret: string;
  /** The receiver's format. */
  kind: string;
  created_on: string;
  last_success: string | null;
  last_failure: string | null;
}
export interface NotificationPoliciesTable {
  id: string;
  account_id: string;
  alert_type: string;
  enabled: number;
  /** The rest of the policy, JSON. */
  value: string;
  created_on: string;
  modified_on: string;
}
export interface NotificationSilencesTable {
  id: string;
  policy_id: string;
  account_id: string;
  start_ms: number;
  end_ms: number;
  created_on: string;
  modified_on: string;
}
/** Spikes that a policy has notified about, so that each spike causes one notification. */
export interface NotificationSpikesTable {
  policy_id: string;
  /** The zone, and the service if the policy distinguishes services. */
  subject: string;
  /** 1 while the spike lasts. */
  above: number;
  told_ms: number;
}
export interface NotificationDeliveriesTable {
  id: string;
  account_id: string;
  policy_id: string;
  alert_type: string;
  name: string;
  description: string;
  body: string;
  /** `email` or `webhook`. */
  mechanism_type: string;
  /** The address, or the webhook's identifier. */
  mechanism: string;
  /** `pending`, `sent` or `failed`. */
  status: string;
  attempts: number;
  /** When the next attempt is due. */
  due_ms: number;
  created_ms: number;
  sent_on: string | null;
  error: string | null;
}
/** A node's counts for one zone and hour. */
export interface EventCountsTable {
  /** One of `COUNTED_KINDS`. */
  kind: string;
  zone_id: string;
  /** Empty for events without a selectable service, and for kinds without services. */
  service: string;
  hour_ms: number;
  node: string;
  /** Comma-separated counts, one per minute; empty if zero. */
  minutes: string;
}
export interface EventCountNodesTable {
  node: string;
  /** Identifies the process that wrote this. */
  run: string;
  /** All events before this time are counted. */
  counted_ms: number;
}
/** A custom hostname that a zone serves. */
export interface CustomHostnamesTable {
  id: string;
  zone_id: string;
  hostname: string;
  wildcard: number;
  /** Number of checks of a pending hostname; of an active one, consecutive checks that found it pointing elsewhere. */
  status: string;
  status_since_ms: number;
  /** Checks of a pending hostname since the first; of an active one, those in a row that found it pointing elsewhere. */
  checks: number;
  /** Null if no check is scheduled. */
  next_check_ms: number | null;
  /** The hosted zone that contains the name, and its serial at the last check; null if the name is hosted elsewhere. */
  home_zone_id: string | null;
  home_serial: number | null;
  verification_errors: string;
  ownership_token: string;
  custom_metadata: string | null;
  custom_origin_server: string | null;
  custom_origin_sni: string | null;
  /** Null if it has no certificate. */
  ssl_status: string | null;
  ssl_method: string | null;
  certificate_authority: string;
  branding: number;
  caa_error: number;
  /** `HostnameSsl` of model/hostnames/custom-hostname.ts. */
  ssl: string | null;
  /** When the issuer should next process it. */
  ssl_due_ms: number | null;
  ssl_tries: number;
  created_at: string;
  modified_on: string;
}
export interface CustomHostnameCertificatesTable {
  id: string;
  custom_hostname_id: string;
  zone_id: string;
  hosts: string;
  chain: string;
  /** Sealed, context `certificate:{id}`. */ private_key: string;
  issuer: string;
  /** 1 if its owner uploaded it. */
  is_custom: number;
  serial_number: string;
  signature: string;
  not_before: string;
  not_after: string;
  created_on: string;
}
export interface FallbackOriginsTable {
  zone_id: string;
  origin: string;
  created_at: string;
  updated_at: string;
}
export interface ZoneHoldsTable {
  zone_id: string;
  hold: number;
  /** When a released hold takes effect again. */
  hold_after_ms: number | null;
  include_subdomains: number;
  modified_on: string;
}
/** Certificates requested in about the last minute (SPEC 8): the sum of `hostname_issuance_times`. */
export interface HostnameIssuancesTable {
  account_id: string;
  taken: number;
  locked_until_ms: number;
}
/** Row counts and versions of lists, maintained by triggers (migrations/0063-list-states.ts). */
export interface ListStatesTable {
  /** The listed table. */
  list: string;
  owner: string;
  row_count: number;
  version: number;
}
export interface HostnameIssuanceTimesTable {
  account_id: string;
  at_ms: number;
  taken: number;
}
export interface PageResourcesTable {
  zone_id: string;
  id: string;
  kind: "script" | "connection" | "cookie";
  /** The URL, or the name of a cookie. */
  name: string;
  host: string;
  first_page_url: string;
  /** JSON: the most recent pages, the newest first. */
  page_urls: string;
  /** JSON: `CookieAttributes`; empty object for others. */
  attributes: string;
  /** JSON: contents of a script, the newest first: hash and time of the fetch. */
  versions: string;
  first_seen_at: string;
  last_seen_at: string;
  /** When control fetches the script next, in Unix milliseconds; null for others. */
  fetch_due_ms: number | null;
  /** News that no alert has reported yet: `new` or `changed`. */
  untold: "new" | "changed" | null;
}

export interface TunnelsTable {
  id: string;
  account_id: string;
  name: string;
  config_src: string;
  /** Base64, sealed with the context `tunnel:{id}`; empty after deletion. */
  secret: string;
  /** JSON; null before the first one. */
  config: string | null;
  config_version: number;
  config_at: string;
  /** JSON list: connections opened until then were ended. */
  ended: string;
  created_at: string;
  deleted_at: string | null;
  conns_active_at: string | null;
  conns_inactive_at: string | null;
}
/** A machine with planes only, from its join token on. */
export interface NodeEventPlacesTable {
  node: string;
  /** `rows` or `logs`. */
  source: string;
  /** Identifies the node's directory. */
  epoch: string;
  segment: number;
  at: number;
  /** The control process that has the events before the place. */
  collector: string;
}

export interface NodesTable {
  name: string;
  /** JSON list of plane roles. */
  planes: string;
  /** SHA-256 of the join token, hexadecimal; null once it was used. */
  token_hash: string | null;
  token_expires_ms: number;
  /** Of its user on the bus (nkey); null until it has joined. */
  public_key: string | null;
  joined_on: string | null;
  created_on: string;
  /** JSON, `NodeReport` of snapshot/bus/node-subjects.ts: the last one that was stored. */
  report: string | null;
  seen_ms: number | null;
}
export interface RevokedNodeKeysTable {
  public_key: string;
  name: string;
  revoked_on: string;
}
/** A duty that one control node has at a time. */
export interface LeasesTable {
  duty: string;
  holder: string;
  until_ms: number;
  epoch: number;
}
/** At most one row, whose id is 1. */
export interface CoreRulesTable {
  id: number;
  /** SHA-256 of the files, hexadecimal; empty if control has no Core Rule Set. */
  digest: string;
  version: string;
  /** Of the compiled form: programs of other formats cannot read it. */
  format: number;
  /** Base64 of zstd of the compiled form. */
  program: string;
  modified_on: string;
}

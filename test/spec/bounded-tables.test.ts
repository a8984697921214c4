import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import type { Tables } from "#store/queries/tables.ts";

// A table that only grows fills the disk of a server that runs for years.

const SOURCES = join(import.meta.dirname, "../../src");

type Bound =
  /** A row for each row of another table, or as many as the program or the operator names. */
  | { readonly rowsFor: string }
  /** The constant or setting that a write is compared with. */
  | { readonly file: string; readonly limit: string }
  /** The function that deletes what has ended. */
  | { readonly file: string; readonly deletes: string }
  /** Nothing deletes its rows yet. */
  | { readonly grows: string };

const rowsFor = (what: string): Bound => ({ rowsFor: what });
const limit = (file: string, name: string): Bound => ({ file, limit: name });
const deletes = (file: string, name: string): Bound => ({ file, deletes: name });
const OPERATOR = rowsFor("a machine that the operator adds or removes");

/** The type makes a new table name its bound. */
const BOUNDS: Readonly<Record<keyof Tables, Bound>> = {
  nodes: OPERATOR,
  node_event_places: OPERATOR,
  shared_logs: deletes("store/gateways/shared-logs.ts", "dropSharedLogs"),
  shared_log_end: rowsFor("the installation"),
  shared_log_readers: deletes("store/gateways/shared-logs.ts", "trimSharedLogs"),
  edge_addresses: OPERATOR,
  rollout: rowsFor("the installation"),
  visitor_keys: rowsFor("the installation"),
  revoked_node_keys: OPERATOR,
  leases: rowsFor("a job of the program"),
  core_rules: rowsFor("the installation"),
  accounts: limit("control/access/accounts.ts", "ACCOUNTS_MAX"),
  users: { grows: "users who signed in once stay when their memberships end" },
  memberships: limit("control/members/invitations.ts", "MEMBERS_MAX"),
  invitations: deletes("store/access/invitations.ts", "deleteEndedInvitations"),
  accelerators: limit("control/members/accelerators.ts", "PER_ACCOUNT_MAX"),
  images: limit("control/images/images.ts", "perAccountMax"),
  image_variants: limit("control/images/image-variants.ts", "PER_ACCOUNT_MAX"),
  image_keys: limit("control/images/image-keys.ts", "PER_ACCOUNT_MAX"),
  tokens: limit("control/access/tokens.ts", "TOKENS_PER_OWNER_MAX"),
  sessions: limit("control/access/sessions.ts", "SESSIONS_PER_OWNER_MAX"),
  user_totp: rowsFor("users"),
  user_passkeys: limit("control/sign-in/passkeys.ts", "PER_USER_MAX"),
  sign_in_challenges: limit("store/access/sign-in-challenges.ts", "CHALLENGES_MAX"),
  user_identities: rowsFor("users"),
  zones: limit("control/ownership/admission.ts", "zonesMax"),
  zone_claims: rowsFor("zones"),
  former_zones: deletes("store/zones/former-zones.ts", "deleteSomeFormerZones"),
  dns_records: limit("control/create.ts", "RECORDS_PER_ZONE_MAX"),
  dns_record_tags: rowsFor("dns_records"),
  dns_record_counts: rowsFor("dns_records"),
  dns_scan_candidates: limit("control/dns/scan/scan-resolver.ts", "ANSWERS_MAX"),
  dns_versions: limit("control/dns/changes/version-log.ts", "VERSIONS_MAX"),
  dns_version_parts: limit("control/dns/changes/version-log.ts", "VERSION_CHANGES_MAX"),
  dns_imports: rowsFor("zones"),
  dns_import_jobs: limit("control/dns/zone-files/import-jobs.ts", "KEPT_OF_ZONE"),
  dns_import_files: limit("control/dns/zone-files/import-jobs.ts", "OPEN_OF_ACCOUNT_MAX"),
  removals: deletes("store/database/removals.ts", "endRemoval"),
  rulesets: limit("control/rulesets/limits.ts", "customRulesetsMax"),
  ruleset_versions: limit("control/rulesets/limits.ts", "versionsKept"),
  rule_lists: limit("control/lists/lists.ts", "listsMax"),
  rule_list_items: limit("control/lists/lists.ts", "itemsMax"),
  rule_list_operations: deletes("store/rulesets/rule-lists.ts", "deleteOperationsBefore"),
  firewall_objects: limit("model/rulesets/firewall-rule.ts", "FIREWALL_OBJECTS_MAX"),
  account_firewall_objects: limit("model/rulesets/access-rule.ts", "ACCESS_RULES_MAX"),
  gateways: limit("control/gateways/room.ts", "GATEWAYS_MAX"),
  gateway_objects: limit("control/gateways/provider-configs.ts", "CONFIGS_MAX"),
  access_apps: limit("control/access/apps.ts", "APPS_MAX"),
  gateway_domains: limit("control/gateways/domains.ts", "DOMAINS_MAX"),
  tunnels: limit("control/tunnels/tunnels.ts", "TUNNELS_MAX"),
  page_resources: limit("control/page-shield/seen-resources.ts", "RESOURCES_MAX"),
  gateway_datasets: limit("control/gateways/room.ts", "PARTS_MAX"),
  gateway_evaluations: limit("control/gateways/room.ts", "PARTS_MAX"),
  certificates: rowsFor("zones"),
  custom_certificates: limit("control/certificates/custom-certificates.ts", "CUSTOM_CERTIFICATES_MAX"),
  certificate_packs: limit("control/certificates/ordered-packs.ts", "CERTIFICATE_PACKS_MAX"),
  certificate_orders: rowsFor("zones, packs and custom_hostnames"),
  certificate_renewals: rowsFor("zones, packs and custom_hostnames"),
  cache_purges: rowsFor("zones"),
  sensitive_data_objects: limit("control/detection/sensitive-data.ts", "ALLOWED_MAX"),
  account_sensitive_data_objects: limit("control/gateways/dlp-profiles.ts", "PROFILES_MAX"),
  zone_dnssec: rowsFor("zones"),
  zone_dnssec_keys: deletes("store/dns/zone-dnssec.ts", "deleteDnssecKey"),
  transfer_objects: limit("control/transfers/objects.ts", "OBJECTS_MAX"),
  zone_transfers: rowsFor("zones"),
  incoming_transfer_states: rowsFor("zones"),
  custom_name_servers: limit("control/dns/settings/custom-name-servers.ts", "SET_NAMES_MAX"),
  custom_hostnames: limit("control/hostnames/create.ts", "PER_ZONE_MAX"),
  custom_hostname_certificates: rowsFor("custom_hostnames"),
  fallback_origins: rowsFor("zones"),
  zone_holds: rowsFor("zones"),
  hostname_issuances: rowsFor("accounts"),
  hostname_issuance_times: deletes("store/hostnames/hostname-issuances.ts", "deleteInChunks"),
  list_states: deletes("store/queries/list-pages.ts", "deleteSomeListStates"),
  secrets: rowsFor("the installation"),
  deprecation_calls: deletes("store/access/deprecation-calls.ts", "deleteDeprecationCalls"),
  deprecation_notices: rowsFor("accounts, for each deprecation of the program"),
  recorded_calls: limit("control/deprecations/recorded-calls.ts", "FORMS_PER_DAY_MAX"),
  notification_webhooks: limit("control/notifications/delivery/webhooks.ts", "WEBHOOKS_MAX"),
  notification_policies: limit("control/notifications/policies/policies.ts", "POLICIES_MAX"),
  notification_silences: limit("control/notifications/policies/silences.ts", "SILENCES_MAX"),
  notification_spikes: deletes("store/events/notifications.ts", "deleteSpikesBefore"),
  notification_deliveries: deletes("store/events/notification-deliveries.ts", "deleteOldDeliveries"),
  event_counts: deletes("store/events/event-counts.ts", "deleteCountsBefore"),
  event_count_nodes: deletes("store/events/event-counts.ts", "deleteCountsBefore"),
  logpush_jobs: limit("control/logpush/jobs.ts", "JOBS_MAX"),
  changes: deletes("store/database/outbox.ts", "deleteInChunks"),
  audit_log: deletes("store/access/audit-log-retention.ts", "deleteOldestAudits"),
  counters: rowsFor("the installation"),
};

const source = (file: string): string => readFileSync(join(SOURCES, file), "utf8");
const timesIn = (text: string, name: string): number => text.split(new RegExp(`\\b${name}\\b`)).length - 1;

/** Whether the file has the name and uses it, or another file of the program does. */
function isUsed(file: string, name: string): boolean {
  const times = timesIn(source(file), name);
  return times > 1 || (times === 1 && programs.some((other) => other !== file && timesIn(source(other), name) > 0));
}

const programs = readdirSync(SOURCES, { recursive: true, encoding: "utf8" }).filter((path) => /(?<!\.test)\.ts$/.test(path));

test("each table is bounded by a limit that is used, by deletions that are used, or by the rows of another table", () => {
  for (const [table, bound] of Object.entries(BOUNDS)) {
    if ("rowsFor" in bound || "grows" in bound) continue;
    const name = "limit" in bound ? bound.limit : bound.deletes;
    assert.ok(isUsed(bound.file, name), `${table}: ${bound.file} does not use ${name}, and no other file does`);
  }
});

test("few tables only grow", () => {
  const growing = Object.entries(BOUNDS).flatMap(([table, bound]) => ("grows" in bound ? [table] : []));
  assert.deepEqual(growing, ["users"]);
});

import { CERTIFICATE_PRIORITY_MAX } from "#model/certificates/custom-certificate.ts";
import type { SslSettings } from "#model/hostnames/custom-hostname.ts";
import { NS_TTL_SECONDS, type ZoneSettings } from "#model/dns/dns-settings.ts";
import { keyForParent, type RolloverStage, signingKey } from "#model/dns/dnssec-life.ts";
import { dlpPolicies } from "#model/gateways/dlp.ts";
import type { GatewaySettings } from "#model/gateways/gateway.ts";
import type { StoredSpendLimits } from "#model/gateways/spend-limits.ts";
import { primaryCopy } from "#model/dns/transferred-apex.ts";
import type { ZoneProof } from "#model/zones/zone-proof.ts";
import { SOA_DEFAULTS, type SoaChange, type SoaValues } from "#model/dns/soa.ts";
import { edgeSettings } from "./chosen-settings.ts";
import type {
  CertificateEntry,
  CustomHostnameEntry,
  DnssecEntry,
  GatewayEntry,
  RecordEntry,
  RecordSettings,
  RuleEntry,
  RulesetEntry,
  SerialEntry,
  StagedEntry,
  TransferEntry,
  TransferPeerEntry,
  TransferSideEntry,
  TsigEntry,
  ZoneEntry,
} from "./entries.ts";

/** Value of "automatic" in seconds (SPEC 2.2, SPEC 8). */
export const TTL_AUTOMATIC_SECONDS = 300;

/** The columns of a zone's row that its entry uses; JSON columns are text. */
export interface ZoneColumns {
  readonly id: string;
  readonly account_id: string;
  readonly name: string;
  readonly status: string;
  readonly paused: number;
  readonly type: string;
  readonly plan: string;
  readonly name_servers: string;
  readonly vanity_name_servers: string;
  readonly settings: string;
  readonly edge_settings: string;
  readonly proof: string;
  readonly created_on: string;
}

export function zoneEntry(row: ZoneColumns): ZoneEntry {
  const settings = JSON.parse(row.settings) as ZoneSettings;
  const copy = primaryCopy(row);
  const nameServers = copy?.apex?.name_servers ?? servingNames(row, settings);
  const ownAddresses = row.type === "secondary" && settings.secondary_overrides !== true;
  const edge = edgeSettings(row.edge_settings);
  const dnsOnly = settings.zone_mode === "dns_only" || settings.enforced_dns_only === true || ownAddresses;
  return {
    id: row.id,
    account_id: row.account_id,
    name: row.name,
    status: row.status as ZoneEntry["status"],
    proof: row.proof as ZoneProof,
    // Planes treat them alike: every name has its own addresses and is not proxied.
    paused: row.paused === 1 || dnsOnly,
    type: row.type as ZoneEntry["type"],
    plan: row.plan as ZoneEntry["plan"],
    name_servers: nameServers,
    soa: copy?.apex?.soa ?? soaOf(row.name, nameServers, settings.soa ?? {}),
    ns_ttl: copy?.apex?.ns_ttl ?? settings.ns_ttl ?? NS_TTL_SECONDS,
    flatten_all_cnames: settings.flatten_all_cnames ?? false,
    multi_provider: settings.multi_provider ?? false,
    secondary_overrides: settings.secondary_overrides ?? false,
    ...(edge === null ? {} : { edge }),
    ...(copy?.expired === true ? { expired: true } : {}),
    ...(row.status === "pending" ? { created_on: row.created_on } : {}),
  };
}

/** The zone's chosen name servers replace the installation's, unless its settings choose others. */
function servingNames(row: ZoneColumns, { nameservers }: ZoneSettings): readonly string[] {
  const vanity = JSON.parse(row.vanity_name_servers) as string[];
  const own = vanity.length > 0 && (nameservers === undefined || nameservers.type === "custom.zone");
  return own ? vanity : (JSON.parse(row.name_servers) as string[]);
}

/** RFC 2142 §7 names the mailbox of a zone's administrator. */
const soaOf = (zoneName: string, nameServers: readonly string[], { mname, rname, ...numbers }: SoaChange): SoaValues => ({
  ...SOA_DEFAULTS,
  ...numbers,
  mname: mname ?? nameServers[0] ?? zoneName,
  rname: rname ?? `hostmaster.${zoneName}`,
});

/** A zone of type secondary answers with its primary's serial; its own counts the versions of its records. */
export const serialEntry = (row: Pick<ZoneColumns, "type" | "settings"> & { readonly serial: number }): SerialEntry => ({
  serial: primaryCopy(row)?.apex?.serial ?? row.serial,
});

export interface RecordColumns {
  readonly zone_id: string;
  readonly name: string;
  readonly type: string;
  readonly ttl: number;
  readonly content: string;
  readonly rdata: string;
  readonly proxied: number;
  readonly settings: string;
}

export const recordEntry = (row: RecordColumns): RecordEntry => ({
  zone_id: row.zone_id,
  name: row.name,
  type: row.type,
  ttl: row.ttl === 1 ? TTL_AUTOMATIC_SECONDS : row.ttl,
  content: row.content,
  rdata: row.rdata,
  proxied: row.proxied === 1,
  // Nearly all records have none, and the snapshot stays small.
  ...(row.settings === "{}" ? {} : { settings: JSON.parse(row.settings) as RecordSettings }),
});

/** The columns of a zone's DNSSEC that its entry uses. */
export interface DnssecColumns {
  readonly status: string;
  readonly rollover: string;
  readonly multi_signer: number;
}

export interface DnssecKeyColumns {
  readonly id: string;
  readonly public_key: string;
  readonly private_key: string;
}

/**
 * Null if the zone is unsigned: DNSSEC is off. It stays signed while the parent may still have its DS. `keys` are the
 * zone's keys, oldest first.
 */
export function dnssecEntry(row: DnssecColumns | undefined, keys: readonly DnssecKeyColumns[]): DnssecEntry | null {
  if (row === undefined || row.status === "disabled" || keys.length === 0) return null;
  const life = { rollover: row.rollover as RolloverStage, keys: keys.map(({ id }) => id) };
  const signing = signingKey(life);
  return {
    keys: keys.map(({ id, public_key, private_key }) => ({ id, public_key, private_key, signs_zone: id === signing })),
    // With several signers none can act for all: a request of one would end the others' DS records.
    cds: row.multi_signer === 1 ? [] : row.status === "pending-disabled" ? "delete" : [keyForParent(life)],
  };
}

/** One chunk of a large change. */
export const stagedEntry = (
  importId: string,
  zone_id: string,
  rows: readonly (RecordColumns & { readonly id: string })[],
  removed: readonly string[] = [],
): StagedEntry => ({
  import_id: importId,
  zone_id,
  records: rows.map((row) => {
    const { zone_id: _, ...entry } = recordEntry(row);
    return { id: row.id, ...entry };
  }),
  ...(removed.length === 0 ? {} : { removed }),
});

export interface RulesetColumns {
  readonly level: string;
  readonly owner_id: string;
  readonly kind: string;
  readonly phase: string;
  readonly name: string;
  readonly version: number;
  readonly rules: string;
}

/** `accountId` is the owner, or the account of the owning zone. */
export const rulesetEntry = (row: RulesetColumns, accountId: string): RulesetEntry => ({
  level: row.level as RulesetEntry["level"],
  owner_id: row.owner_id,
  account_id: accountId,
  kind: row.kind as RulesetEntry["kind"],
  phase: row.phase,
  name: row.name,
  version: String(row.version),
  rules: (JSON.parse(row.rules) as RuleEntry[]).map(ruleEntry),
});

/** Stored rules have more fields than planes need. */
const ruleEntry = (rule: RuleEntry): RuleEntry => ({
  id: rule.id,
  ref: rule.ref,
  version: rule.version,
  action: rule.action,
  action_parameters: rule.action_parameters ?? {},
  expression: rule.expression,
  description: rule.description,
  enabled: rule.enabled,
  ...(rule.logging === undefined ? {} : { logging: rule.logging }),
  ...(rule.ratelimit === undefined ? {} : { ratelimit: rule.ratelimit }),
});

export interface CertificateColumns {
  readonly zone_id: string;
  readonly hosts: string;
  readonly chain: string;
  readonly private_key: string;
  readonly not_after: string;
}

export const certificateEntry = (row: CertificateColumns): CertificateEntry => ({
  zone_id: row.zone_id,
  hosts: JSON.parse(row.hosts) as string[],
  chain: row.chain,
  private_key: row.private_key,
  not_after: row.not_after,
});

/** The columns of a zone owner's certificate that its entry uses. */
export interface CustomCertificateColumns extends CertificateColumns {
  readonly type: string;
  readonly priority: number;
  /** Its names that belong to the zone. */
  readonly served_hosts: string;
}

/** Certificates of the type legacy_custom precede others, regardless of priority. */
export const customCertificateEntry = (row: CustomCertificateColumns): CertificateEntry => ({
  ...certificateEntry({ ...row, hosts: row.served_hosts }),
  rank: (row.type === "legacy_custom" ? 2 : 1) * (CERTIFICATE_PRIORITY_MAX + 1) + row.priority,
});

/** The columns of a custom hostname that its entry uses. */
export interface CustomHostnameColumns {
  readonly zone_id: string;
  readonly hostname: string;
  readonly wildcard: number;
  readonly status: string;
  readonly ownership_token: string;
  readonly custom_metadata: string | null;
  readonly custom_origin_server: string | null;
  readonly custom_origin_sni: string | null;
  readonly ssl: string | null;
}

/** Null if planes do not need it. */
export const customHostnameEntry = (row: CustomHostnameColumns): CustomHostnameEntry | null =>
  row.status !== "active" && row.status !== "pending"
    ? null
    : {
        zone_id: row.zone_id,
        hostname: row.hostname,
        wildcard: row.wildcard === 1,
        active: row.status === "active",
        token: row.ownership_token,
        ...(row.custom_origin_server === null ? {} : { origin: row.custom_origin_server }),
        ...(row.custom_origin_sni === null ? {} : { sni: row.custom_origin_sni }),
        ...(row.custom_metadata === null ? {} : { metadata: JSON.parse(row.custom_metadata) as Record<string, string> }),
        ...handshakesOf(row.ssl),
      };

function handshakesOf(text: string | null): Pick<CustomHostnameEntry, "tls"> {
  const settings = text === null ? {} : (JSON.parse(text) as { readonly settings?: SslSettings }).settings;
  const { min_tls_version, tls_1_3, http2 } = settings ?? {};
  const tls = {
    ...(min_tls_version === undefined ? {} : { min_tls_version }),
    ...(tls_1_3 === undefined ? {} : { tls_1_3: tls_1_3 === "on" }),
    ...(http2 === undefined ? {} : { http2: http2 === "on" }),
  };
  return Object.keys(tls).length === 0 ? {} : { tls };
}

export interface GatewayColumns {
  readonly account_id: string;
  readonly id: string;
  readonly settings: string;
  readonly created_at: string;
  readonly modified_at: string;
}

export function gatewayEntry(row: GatewayColumns): GatewayEntry {
  const settings = JSON.parse(row.settings) as GatewaySettings;
  const { rate_limiting_limit: limit, rate_limiting_interval: interval_seconds, rate_limiting_technique: technique } = settings;
  return {
    account_id: row.account_id,
    gateway_id: row.id,
    authentication: settings.authentication,
    collect_logs: settings.collect_logs,
    ...logLimitOf(settings),
    // Clients turn it off with zero.
    ...(limit && interval_seconds ? { rate_limit: { limit, interval_seconds, technique: technique ?? "fixed" } } : {}),
    ...retryOf(settings),
    ...spendRulesOf(settings),
    ...dlpOf(settings),
    ...guardrailsOf(settings),
    ...otelOf(settings),
    // Answers of a former gateway of that name do not belong to this one.
    cache_epoch: settings.cache_invalidate_on_update ? row.modified_at : row.created_at,
    ...(settings.cache_ttl ? { cache: { ttl_seconds: settings.cache_ttl } } : {}),
  };
}

function guardrailsOf({ guardrails }: GatewaySettings): Pick<GatewayEntry, "guardrails"> {
  const { prompt = {}, response = {} } = guardrails ?? {};
  return Object.keys(prompt).length + Object.keys(response).length === 0 ? {} : { guardrails: { prompt, response } };
}

function otelOf({ otel }: GatewaySettings): Pick<GatewayEntry, "otel"> {
  if ((otel ?? []).length === 0) return {};
  return { otel: (otel ?? []).map(({ url, content_type, secret }) => ({ url, content_type, secret })) };
}

function dlpOf({ dlp }: GatewaySettings): Pick<GatewayEntry, "dlp"> {
  const policies = dlpPolicies(dlp ?? null);
  return policies.length === 0 ? {} : { dlp: policies.map(({ id, action, check, profiles }) => ({ id, action, check, profiles })) };
}

/** Without a strategy no further row is kept, so that rows are deleted only by explicit choice. */
const logLimitOf = ({ log_management: rows_max, log_management_strategy: strategy }: GatewaySettings): Pick<GatewayEntry, "log_limit"> =>
  rows_max === null ? {} : { log_limit: { rows_max, strategy: strategy ?? "STOP_INSERTING" } };

/** The rules in force, with the filters that have values. */
function spendRulesOf({ spend_limits }: GatewaySettings): Pick<GatewayEntry, "spend_rules"> {
  const rules = spend_limits?.enabled === true ? (spend_limits as StoredSpendLimits).rules.filter(({ enabled }) => enabled) : [];
  if (rules.length === 0) return {};
  return {
    spend_rules: rules.map(({ id, limit, window, technique, provider, model, metadata = {} }) => ({
      id,
      limit,
      window_seconds: window,
      technique,
      ...(provider === undefined ? {} : { provider: provider.values }),
      ...(model === undefined ? {} : { model: model.values }),
      metadata: Object.entries(metadata).map(([name, condition]) => ({
        name,
        ...(condition.mode === "filter" ? { values: condition.values } : {}),
      })),
    })),
  };
}

function retryOf({ retry_max_attempts, retry_delay, retry_backoff }: GatewaySettings): Pick<GatewayEntry, "retry"> {
  if (retry_max_attempts === null && retry_delay === null && retry_backoff === null) return {};
  return {
    retry: {
      ...(retry_max_attempts === null ? {} : { max_attempts: retry_max_attempts }),
      ...(retry_delay === null ? {} : { delay_ms: retry_delay }),
      ...(retry_backoff === null ? {} : { backoff: retry_backoff }),
    },
  };
}

/** The id of a gateway's entry: gateway ids are unique within their account only. */
export const gatewayEntryId = (row: { readonly account_id: string; readonly id: string }): string => `${row.account_id}/${row.id}`;

/** A row of the transfers that a zone has in one direction. */
export interface ZoneTransferColumns {
  readonly direction: string;
  /** `{ peers, enabled }`: outgoing transfers count once they are turned on, incoming ones always. */
  readonly settings: string;
}

/** A row of the account's transfer objects. */
export interface TransferObjectColumns {
  readonly id: string;
  readonly kind: string;
  readonly value: string;
}

/** Null if neither direction is in use. Unknown ids are left out. */
export function transferEntry(sides: readonly ZoneTransferColumns[], objects: readonly TransferObjectColumns[]): TransferEntry | null {
  const side = (direction: string): TransferSideEntry | null => {
    const row = sides.find((candidate) => candidate.direction === direction);
    const { peers, enabled } = JSON.parse(row?.settings ?? '{"peers":[]}') as { peers: readonly string[]; enabled?: boolean };
    if (!row || (direction === "outgoing" && enabled !== true)) return null;
    return {
      peers: peers.flatMap((id) => peerEntry(objects, id) ?? []),
      acl: valuesOf<{ ip_range: string }>(objects, "acl").map((acl) => acl.ip_range),
    };
  };
  const entry = { outgoing: side("outgoing"), incoming: side("incoming") };
  return entry.outgoing || entry.incoming ? entry : null;
}

function peerEntry(objects: readonly TransferObjectColumns[], id: string): TransferPeerEntry | undefined {
  const peer = valueOf<{ ip?: string; port: number; tsig_id?: string }>(objects, "peer", id);
  if (!peer) return undefined;
  const tsig =
    peer.tsig_id === undefined ? undefined : valueOf<Omit<TsigEntry, "id" | "algorithm"> & { algo: string }>(objects, "tsig", peer.tsig_id);
  // A peer with an unknown key must not become a peer without a key.
  if (peer.tsig_id !== undefined && !tsig) return undefined;
  return {
    ip: peer.ip ?? "",
    port: peer.port,
    tsig:
      tsig && peer.tsig_id !== undefined
        ? { id: peer.tsig_id, name: undotted(tsig.name), algorithm: undotted(tsig.algo), secret: tsig.secret }
        : null,
  };
}

const undotted = (name: string): string => name.replace(/\.$/, "");

function valueOf<T>(objects: readonly TransferObjectColumns[], kind: string, id: string): T | undefined {
  const row = objects.find((candidate) => candidate.kind === kind && candidate.id === id);
  return row && (JSON.parse(row.value) as T);
}

const valuesOf = <T>(objects: readonly TransferObjectColumns[], kind: string): T[] =>
  objects.filter((row) => row.kind === kind).map((row) => JSON.parse(row.value) as T);

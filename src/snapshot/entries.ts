import type { RouteCondition } from "#rules/route-conditions.ts";
import type { CustomPattern } from "#rules/detectors/engine/custom.ts";
import type { WordList } from "#rules/detectors/engine/words.ts";
import type { LegacyPhase } from "#rules/previous-waf/slots.ts";
import type { IngressConfig } from "#model/tunnels/ingress.ts";
import type { ZoneProof } from "#model/zones/zone-proof.ts";
import type { EdgeSettings } from "./edge-settings.ts";

/**
 * The knowledge of the data planes. A snapshot is a set of entries, each addressed by kind and id and frozen; control
 * compiles them from rows at commit, and planes index them as they need. Values are plain JSON, so one form serves the
 * outbox, the wire and the last good copy on disk. Secrets in entries stay sealed (kernel/crypto/seal.ts, context named
 * beside the field) and are opened where they are used.
 */
export interface EntryTypes {
  readonly zone: ZoneEntry;
  readonly serial: SerialEntry;
  readonly record: RecordEntry;
  readonly staged: StagedEntry;
  readonly release: ReleaseEntry;
  readonly dnssec: DnssecEntry;
  readonly transfer: TransferEntry;
  readonly ruleset: RulesetEntry;
  readonly list: ListEntry;
  readonly certificate: CertificateEntry;
  readonly custom_hostname: CustomHostnameEntry;
  readonly fallback_origin: FallbackOriginEntry;
  readonly acme_challenge: AcmeChallengeEntry;
  readonly purge: PurgeEntry;
  readonly detection: DetectionEntry;
  readonly gateway: GatewayEntry;
  readonly gateway_domain: GatewayDomainEntry;
  readonly tunnel: TunnelEntry;
  readonly provider_key: ProviderKeyEntry;
  readonly custom_provider: CustomProviderEntry;
  readonly gateway_route: GatewayRouteEntry;
  readonly dlp_profile: DlpProfileEntry;
  readonly token: TokenEntry;
  readonly core_rules: CoreRulesEntry;
  readonly edge_addresses: EdgeAddressesEntry;
  readonly visitor_keys: VisitorKeysEntry;
}

export type EntryKind = keyof EntryTypes;

/** id = zone id. */
export interface ZoneEntry {
  readonly id: string;
  readonly account_id: string;
  /** Absolute, lower case, A-label form, no trailing dot: `example.com`. */
  readonly name: string;
  readonly status: "initializing" | "pending" | "active" | "moved";
  /** Proof that the account owns the name; absent in copies from before proofs existed, which counts as the operator's word. */
  readonly proof?: ZoneProof;
  /**
   * Of a zone that waits for its proof: ISO 8601, UTC, microseconds. Among several such zones of one name the oldest
   * determines its name servers.
   */
  readonly created_on?: string;
  readonly paused: boolean;
  readonly type: "full" | "partial" | "secondary" | "internal";
  readonly plan: "free" | "pro" | "business" | "enterprise";
  /** Host names of the NS RRset at the apex. */
  readonly name_servers: readonly string[];
  /** Seconds (SPEC 2.4); `rname` is already in the form of a DNS name. */
  readonly soa: {
    readonly mname: string;
    readonly rname: string;
    readonly refresh: number;
    readonly retry: number;
    readonly expire: number;
    readonly ttl: number;
    readonly min_ttl: number;
  };
  readonly ns_ttl: number;
  /** SPEC 2.5; absent in copies from before they existed, which means false. */
  readonly flatten_all_cnames?: boolean;
  readonly multi_provider?: boolean;
  readonly secondary_overrides?: boolean;
  /** Settings of the zone's traffic that differ from the defaults. */
  readonly edge?: Partial<EdgeSettings>;
  /** A secondary zone that has no data yet, or whose data has been unconfirmed for too long: it is not answered. */
  readonly expired?: boolean;
}

/** id = zone id. Separate from the zone so that a record's change does not resend it. */
export interface SerialEntry {
  readonly serial: number;
}

/** id = record id. */
export interface RecordEntry {
  readonly zone_id: string;
  /** Owner name in presentation format: absolute, lower case, no trailing dot. */
  readonly name: string;
  readonly type: string;
  /** Seconds; "automatic" already resolved to 300. */
  readonly ttl: number;
  /** Presentation form, as the edge needs it for A, AAAA and CNAME. */
  readonly content: string;
  /** RDATA in wire format, uncompressed, base64. */
  readonly rdata: string;
  readonly proxied: boolean;
  /** The settings that are on; absent if none is. */
  readonly settings?: RecordSettings;
}

/** Limits or changes the answer for a name (contract.md §3). */
export interface RecordSettings {
  /** A proxied name has no addresses of the other family. */
  readonly ipv4_only?: boolean;
  readonly ipv6_only?: boolean;
  /** Addresses replace the CNAME in answers. */
  readonly flatten_cname?: boolean;
}

/**
 * id = `{change id}/{number}`. Records of a large change of one zone, such as an import, which are sent in chunks and are
 * not visible yet: they are kept aside until the release. Each record is in one chunk.
 */
export interface StagedEntry {
  /** Id of the change, of any kind. */
  readonly import_id: string;
  readonly zone_id: string;
  readonly records: readonly StagedRecord[];
  /** Ids of deleted records; absent: none. */
  readonly removed?: readonly string[];
  /** Released by the very next delta: part of a delta that was too large for one tick (large-delta.ts). */
  readonly is_next?: true;
}

export type StagedRecord = Omit<RecordEntry, "zone_id"> & { readonly id: string };

/**
 * id = change id. The staged records become the zone's records, all in the delta that contains this op; a null instead
 * discards them. The op is carried out and never kept.
 */
export interface ReleaseEntry {
  readonly zone_id: string;
  /** Expected number of records, including deleted ones. */
  readonly records: number;
}

/** id = zone id. A zone without one is answered unsigned. */
export interface DnssecEntry {
  readonly keys: readonly DnssecKeyEntry[];
  /** The request to the parent in CDS and CDNSKEY: these keys (ids), or to remove all of them (RFC 8078 §4). */
  readonly cds: readonly string[] | "delete";
}

/** A key of algorithm 13 (RFC 6605). */
export interface DnssecKeyEntry {
  readonly id: string;
  /** The curve point, base64. */
  readonly public_key: string;
  /** PKCS #8 PEM, sealed with the context `dnssec:{id}`. */
  readonly private_key: string;
  /**
   * Whether it signs every set of the zone; a key that does not is published, and signs the sets that the parent reads:
   * DNSKEY, CDS and CDNSKEY.
   */
  readonly signs_zone: boolean;
}

/** id = zone id. Zones that other servers transfer from here, or that are transferred from others. */
export interface TransferEntry {
  /** Null if no server may transfer the zone. */
  readonly outgoing: TransferSideEntry | null;
  /** Null if the zone's records are written here. */
  readonly incoming: TransferSideEntry | null;
}

export interface TransferSideEntry {
  readonly peers: readonly TransferPeerEntry[];
  /** CIDR ranges of the account's ACLs, which count in addition to the addresses of the peers. */
  readonly acl: readonly string[];
}

export interface TransferPeerEntry {
  /** Empty if only the key identifies the peer. */
  readonly ip: string;
  readonly port: number;
  /** A peer with a key is answered and trusted only with its signature (RFC 8945). */
  readonly tsig: TsigEntry | null;
}

export interface TsigEntry {
  readonly id: string;
  /** Absolute, lower case, no trailing dot. */
  readonly name: string;
  /** As in messages: `hmac-sha256`. */
  readonly algorithm: string;
  /** Base64 text of the secret, sealed with the context `tsig:{id}`. */
  readonly secret: string;
}

export interface RuleEntry {
  readonly id: string;
  readonly ref: string;
  readonly version: string;
  readonly action: string;
  readonly action_parameters: Readonly<Record<string, unknown>>;
  readonly expression: string;
  readonly description: string;
  readonly enabled: boolean;
  /** Whether the rule logs security events, if it says so itself. */
  readonly logging?: { readonly enabled: boolean };
  readonly ratelimit?: Readonly<Record<string, unknown>>;
  /** Name of its action in events, if that is an older name. */
  readonly event_action?: string;
  /** Name of its service in events, if it is not that of its ruleset. */
  readonly event_service?: string;
}

/** id = `{list id}/{part}`: lists with many items have several parts; an empty one has one part too. */
export interface ListEntry {
  readonly account_id: string;
  readonly list_id: string;
  /** Its name in rules, after the dollar sign. */
  readonly name: string;
  readonly kind: "ip" | "hostname" | "asn" | "redirect";
  readonly part: number;
  /** Addresses and blocks, numbers, or host names and redirects in the form of the list's interface. */
  readonly items: readonly unknown[];
}

/** id = ruleset id, or `{zone id}/{slot}`. Entry points and custom rulesets; managed rulesets ship with the program. */
export interface RulesetEntry {
  readonly level: "account" | "zone";
  /** The account or zone it belongs to. */
  readonly owner_id: string;
  /** Account whose lists its rules may name; absent in copies from before lists existed. */
  readonly account_id?: string;
  readonly kind: "root" | "zone" | "custom";
  readonly phase: string;
  /** Phase of the zone's older firewall, which runs beside the zone's entry point of the phase. */
  readonly slot?: LegacyPhase;
  readonly name: string;
  readonly version: string;
  readonly rules: readonly RuleEntry[];
}

/** id = certificate id. */
export interface CertificateEntry {
  readonly zone_id: string;
  /** Lower case; a wildcard is `*.example.com`. */
  readonly hosts: readonly string[];
  /** PEM, leaf first. */
  readonly chain: string;
  /** PKCS #8 PEM, sealed with the context `certificate:{id}`. */
  readonly private_key: string;
  readonly not_after: string;
  /**
   * For certificates of a zone's owner. Used only for names that the zone serves, and while they are valid; the highest
   * rank wins, and each precedes certificates without a rank.
   */
  readonly rank?: number;
}

/** id = the hostname's id. Another owner's name that a zone serves. */
export interface CustomHostnameEntry {
  readonly zone_id: string;
  /** Lower case, A-labels. */
  readonly hostname: string;
  /** Names below it are served as well, unless a zone here has them. */
  readonly wildcard: boolean;
  /** An inactive one only answers for its token. */
  readonly active: boolean;
  /** Shown to checks that the requester controls the name (custom-hostnames.md §1). */
  readonly token: string;
  /** A name in the zone that leads to the origin instead of the fallback origin. */
  readonly origin?: string;
  /** Server name for the origin's TLS: a name, or `:request_host_header:`. */
  readonly sni?: string;
  readonly metadata?: Readonly<Record<string, string>>;
  /** Settings of its handshakes that differ from the zone's. */
  readonly tls?: Partial<Pick<EdgeSettings, "min_tls_version" | "tls_1_3" | "http2">>;
}

/** id = zone id. The origin of the zone's custom hostnames that have no own origin. */
export interface FallbackOriginEntry {
  readonly origin: string;
}

/** id = the token. The answer to a certificate authority's request over plain HTTP (RFC 8555 §8.3). */
export interface AcmeChallengeEntry {
  readonly host: string;
  readonly key_authorization: string;
}

/**
 * id = zone id. Purges of the zone's cache. They are numbers, not times: a cache notes how many purges it knew when it
 * requested a response, and every later purge may remove that response, whenever the cache learns of it.
 */
export interface PurgeEntry {
  /** Number of purges. */
  readonly count: number;
  /** The newest purges, the last one last. Earlier ones count as purges of everything. */
  readonly recent: readonly PurgeSelector[];
}

export interface PurgeSelector {
  readonly by: "files" | "tags" | "hosts" | "prefixes";
  /** Absolute URLs without fragment; lower-case tags; host names; host names with the beginning of a path. */
  readonly values: readonly string[];
}

/**
 * id = zone id, or the id of an account whose patterns apply to all its zones. The owner's settings for sensitive data
 * detection; absent without settings.
 */
export interface DetectionEntry {
  readonly allowed: readonly AllowedDataEntry[];
  readonly patterns: readonly CustomPattern[];
}

/** A match of all its members is not a hit. */
export interface AllowedDataEntry {
  readonly id: string;
  /** Hash of the value (rules/detectors/engine/value-hash.ts). */
  readonly value_hash?: string;
  /** `$.orders[*].number`. */
  readonly json_path?: string;
  /** Path of the request; a star at its end matches any text. */
  readonly path?: string;
  /** The rule that would have hit. */
  readonly rule_id?: string;
}

/** id = `{account_id}/{gateway_id}`, since gateway ids are chosen by the account. */
export interface GatewayEntry {
  readonly account_id: string;
  readonly gateway_id: string;
  readonly authentication: boolean;
  readonly collect_logs: boolean;
  /** Limit of rows that are kept; absent if only retention limits them. */
  readonly log_limit?: { readonly rows_max: number; readonly strategy: "STOP_INSERTING" | "DELETE_OLDEST" };
  /** Absent if the gateway has none. */
  readonly rate_limit?: {
    /** Requests in each interval. */
    readonly limit: number;
    readonly interval_seconds: number;
    readonly technique: "fixed" | "sliding";
  };
  /** Retries after a provider's failure; absent if the gateway sets none. */
  readonly retry?: {
    readonly max_attempts?: number;
    readonly delay_ms?: number;
    readonly backoff?: "constant" | "linear" | "exponential";
  };
  /** Answers are kept for requests that do not set caching themselves; absent if they are not. */
  readonly cache?: { readonly ttl_seconds: number };
  /** Actions by hazard (`S1` …); absent if none are set. */
  readonly guardrails?: {
    readonly prompt: Readonly<Record<string, "FLAG" | "BLOCK">>;
    readonly response: Readonly<Record<string, "FLAG" | "BLOCK">>;
  };
  /** Policies of data loss prevention that are in force; absent without any. */
  readonly dlp?: readonly {
    readonly id: string;
    readonly action: "FLAG" | "BLOCK";
    readonly check: readonly ("REQUEST" | "RESPONSE")[];
    /** Ids of rules/detectors/catalog/profiles.ts, or of `dlp_profile` entries. */
    readonly profiles: readonly string[];
  }[];
  /**
   * Creation time of the gateway, or of its last change if every change discards its answers: older answers do not belong
   * to it.
   */
  readonly cache_epoch?: string;
  /** Endpoints that receive its spans; absent without any. */
  readonly otel?: readonly OtelEndpointEntry[];
  /** Rules in force; absent without any. */
  readonly spend_rules?: readonly SpendRuleEntry[];
}

/** id = the host name, canonical. Requests for it are the gateway's, with paths that begin with the provider. */
export interface GatewayDomainEntry {
  readonly account_id: string;
  readonly gateway_id: string;
  /** The zone that contains the name: while the zone is not served here, neither is the name. */
  readonly zone_id: string;
  /** Oldest version of TLS that visitors may use. */
  readonly min_tls: "1.0" | "1.1" | "1.2" | "1.3";
}

/** id = the tunnel's id. Connectors dial in for it; requests of its account's zones may be sent to them. */
export interface TunnelEntry {
  readonly account_id: string;
  readonly name: string;
  readonly config_src: "local" | "cloudflare";
  /** Base64, sealed with the context `tunnel:{id}`. */
  readonly secret: string;
  /** The rules of its connectors; absent before the first configuration. */
  readonly config?: { readonly version: number; readonly rules: IngressConfig };
  /** Connections of these connectors that were opened until then are ended; without a connector, all. */
  readonly ended?: readonly { readonly at: string; readonly connector?: string }[];
}

/** Takes OTLP over HTTP. */
export interface OtelEndpointEntry {
  readonly url: string;
  readonly content_type: "json" | "protobuf";
  /** JSON of an object of field names and values, sealed with the context `gateway-otel:{account_id}/{gateway_id}`. */
  readonly secret: string;
}

/** Limit of the total cost of the requests that match a rule. */
export interface SpendRuleEntry {
  readonly id: string;
  /** US dollars in each window. */
  readonly limit: number;
  readonly window_seconds: number;
  readonly technique: "fixed" | "sliding";
  /** The request must have one of these names; absent: any. */
  readonly provider?: readonly string[];
  readonly model?: readonly string[];
  /** Metadata of the request. Without values it only separates costs that are counted together. */
  readonly metadata?: readonly { readonly name: string; readonly values?: readonly string[] }[];
}

/** id = the configuration's id. A provider key that a gateway keeps, so that its clients need none. */
export interface ProviderKeyEntry {
  readonly account_id: string;
  readonly gateway_id: string;
  readonly provider: string;
  readonly alias: string;
  /** Used where a request names no alias. */
  readonly is_default: boolean;
  /** Sealed with the context `provider-key:{id}`. */
  readonly secret: string;
  /** Requests that may use it in each interval; absent: any number. */
  readonly rate_limit?: { readonly limit: number; readonly interval_seconds: number };
}

/** id = the provider's id. A provider that the account has added, reached as `custom-{slug}`. Only enabled ones. */
export interface CustomProviderEntry {
  readonly account_id: string;
  readonly slug: string;
  readonly base_url: string;
  /**
   * JSON of an object of field names and values that are added to every request, sealed with the context
   * `custom-provider:{id}`; absent: none.
   */
  readonly headers?: string;
  /** In the order in which they are checked. */
  readonly costs: readonly CustomCostEntry[];
}

/** US dollars per token. */
export interface CustomCostEntry {
  readonly model: string;
  readonly rule: "equals" | "starts-with" | "contains";
  readonly input: number;
  readonly output: number;
  readonly cache_read?: number;
  readonly cache_write?: number;
  readonly reasoning?: number;
}

/** id = the profile's id. An account's additions to data loss prevention: its enabled entries. */
export interface DlpProfileEntry {
  readonly account_id: string;
  readonly patterns: readonly CustomPattern[];
  /** Absent in copies from before words were separate from patterns. */
  readonly words?: readonly WordList[];
}

/** id = the route's id. The deployed version of a dynamic route, reached as the model `dynamic/{name}`. */
export interface GatewayRouteEntry {
  readonly account_id: string;
  readonly gateway_id: string;
  readonly name: string;
  readonly elements: readonly RouteElement[];
}

/** A node of a dynamic route. Each output names the element that comes next. */
export type RouteElement =
  | { readonly id: string; readonly type: "start"; readonly outputs: { readonly next: RouteTarget } }
  | {
      readonly id: string;
      readonly type: "conditional";
      readonly properties: { readonly conditions?: RouteCondition; readonly condition?: RouteCondition };
      readonly outputs: { readonly true: RouteTarget; readonly false: RouteTarget };
    }
  | { readonly id: string; readonly type: "percentage"; readonly outputs: Readonly<Record<string, RouteTarget>> }
  | {
      readonly id: string;
      readonly type: "rate" | "rate_limit";
      readonly properties: {
        readonly key?: string;
        readonly limit: number;
        readonly limitType?: "count" | "cost";
        readonly window?: number;
        readonly interval?: number;
        readonly technique?: "fixed" | "sliding";
      };
      readonly outputs: { readonly success: RouteTarget; readonly fallback: RouteTarget };
    }
  | {
      readonly id: string;
      readonly type: "model";
      readonly properties: { readonly provider: string; readonly model: string; readonly retries?: number; readonly timeout?: number };
      readonly outputs: { readonly success: RouteTarget; readonly fallback: RouteTarget };
    }
  | { readonly id: string; readonly type: "end"; readonly outputs?: Readonly<Record<string, RouteTarget>> };

export interface RouteTarget {
  readonly elementId: string;
}

/** id = token id. Only tokens that may run gateways. */
export interface TokenEntry {
  /** SHA-256 of the secret, hexadecimal. */
  readonly hash: string;
  /** Accounts whose gateways it may run, or `"*"`. */
  readonly accounts: readonly string[] | "*";
  readonly not_before: string | null;
  readonly expires_on: string | null;
  /** CIDR lists (SPEC 5, contract.md §1); an empty `allow` allows every address. */
  readonly addresses: { readonly allow: readonly string[]; readonly deny: readonly string[] };
}

/**
 * id = `owasp`. The Core Rule Set that control has compiled, for processes without control; those with control have it from its files.
 * Without the entry such a process reads the files of its machine.
 */
export interface CoreRulesEntry {
  /** SHA-256 of the files it was read from, hexadecimal; empty if control has none. */
  readonly digest: string;
  readonly version: string;
  /** Of the compiled form; 0 without one. */
  readonly format: number;
  /** Base64 of zstd of the compiled form. */
  readonly program: string;
}

/** id = `edge`. What nameservers answer for proxied names. Without the entry each has the addresses of its configuration. */
export interface EdgeAddressesEntry {
  readonly addresses: readonly string[];
}

/** id = `edge`. The keys from which edges derive those of TLS sessions and clearances. Without the entry each process makes its own. */
export interface VisitorKeysEntry {
  /** 32 bytes each, sealed with the context `visitor-keys:edge`: the one in use first, then those that only open or verify. */
  readonly keys: readonly string[];
}

export const VISITOR_KEYS_CONTEXT = "visitor-keys:edge";

/** One put (`value`) or delete (`null`). */
export type Op = { readonly [K in EntryKind]: { readonly kind: K; readonly id: string; readonly value: EntryTypes[K] | null } }[EntryKind];

/** The changes of one committed unit of work; applied as a whole or not at all. */
export interface Delta {
  /** The revision this one follows: a replica at any other revision has a gap. */
  readonly from: number;
  readonly rev: number;
  readonly ops: readonly Op[];
}

/** Weight of an op for limits of memory or files. */
export const opWeight = (op: Op): number =>
  op.kind === "staged" && op.value ? op.value.records.length + (op.value.removed?.length ?? 0) : 1;

export function opsWeight(ops: readonly Op[]): number {
  let weight = 0;
  for (const op of ops) weight += opWeight(op);
  return weight;
}

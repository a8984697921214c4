/**
 * What the data planes know. A snapshot is a set of entries, each addressed by kind and id and frozen;
 * control compiles them from rows at commit, planes index them as they need. Values are plain JSON, so
 * one form serves the outbox, the wire and the last good copy on disk. Secrets in entries stay sealed
 * (kernel/seal.ts, context named beside the field) and are opened where they are used.
 */
export interface EntryTypes {
  readonly zone: ZoneEntry;
  readonly serial: SerialEntry;
  readonly record: RecordEntry;
  readonly ruleset: RulesetEntry;
  readonly certificate: CertificateEntry;
  readonly gateway: GatewayEntry;
  readonly token: TokenEntry;
}

export type EntryKind = keyof EntryTypes;

/** id = zone id. */
export interface ZoneEntry {
  readonly id: string;
  readonly account_id: string;
  /** Absolute, lower case, A-label form, no trailing dot: `example.com`. */
  readonly name: string;
  readonly status: "initializing" | "pending" | "active" | "moved";
  readonly paused: boolean;
  readonly type: "full" | "partial" | "secondary" | "internal";
  readonly plan: "free" | "pro" | "business" | "enterprise";
  /** Host names of the NS RRset at the apex. */
  readonly name_servers: readonly string[];
  /** Seconds (SPEC 2.4); `rname` already in the form of a DNS name. */
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
  /** SPEC 2.5; absent in copies made before they existed, which means false. */
  readonly flatten_all_cnames?: boolean;
  readonly multi_provider?: boolean;
  readonly secondary_overrides?: boolean;
}

/** id = zone id. Apart from the zone so that a record's change does not resend it. */
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
}

/** id = ruleset id. Entry points and custom rulesets; managed rulesets ship with the program. */
export interface RulesetEntry {
  readonly level: "account" | "zone";
  /** The account or zone it belongs to. */
  readonly owner_id: string;
  readonly kind: "root" | "zone" | "custom";
  readonly phase: string;
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
}

/** id = `{account_id}/{gateway_id}`, since gateway ids are chosen by the account. */
export interface GatewayEntry {
  readonly account_id: string;
  readonly gateway_id: string;
  readonly authentication: boolean;
  readonly collect_logs: boolean;
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

/** One put (`value`) or delete (`null`). */
export type Op = { readonly [K in EntryKind]: { readonly kind: K; readonly id: string; readonly value: EntryTypes[K] | null } }[EntryKind];

/** What one committed unit of work changed; applied as a whole or not at all. */
export interface Delta {
  /** The revision this one follows: a replica at any other revision has a gap. */
  readonly from: number;
  readonly rev: number;
  readonly ops: readonly Op[];
}

import type { ConfigTypes } from "./config-values.ts";

/** One key: its type, its default, what it does, and bounds where the type alone is too wide. */
type Key = {
  readonly [T in keyof ConfigTypes]: {
    readonly type: T;
    readonly default: ConfigTypes[T];
    /** Read by people in `--help` and in the reference. */
    readonly doc: string;
    /** Name of the flag, where it is not the key with dashes. */
    readonly flag?: string;
    readonly min?: number;
    readonly max?: number;
    /** SIGHUP puts a new value in force; of the other keys, a restart does. */
    readonly reload?: true;
  };
}[keyof ConfigTypes];

/** Every configuration key, in the order in which help and reference list them. */
export const CONFIG_KEYS = {
  data: { type: "path", default: "./.selvedge", doc: "Directory that holds the state; created when it is absent." },
  "database.url": {
    type: "database",
    default: "",
    doc: "Control database, sqlite:PATH or postgres://…; empty: SQLite inside the data directory.",
  },
  "api.host": { type: "host", default: "127.0.0.1", doc: "Address of the management API." },
  "api.port": { type: "port", default: 8780, doc: "Port of the management API; 0: any free port." },
  "api.allowed_hosts": {
    type: "hosts",
    default: [],
    reload: true,
    doc: "Host names by which clients may call the API, the AI gateway and the operations listener, besides names of this machine, addresses that are bound and names of tls.certificate; *.NAME: one label below, *: all.",
  },
  "api.openapi": {
    type: "switch",
    default: true,
    reload: true,
    doc: "Give the OpenAPI document to everybody at /client/v4/openapi.json; off: to nobody.",
  },
  "ops.host": {
    type: "host",
    default: "127.0.0.1",
    doc: "Address of the operations listener: /metrics, /livez and /readyz over plain HTTP, without credentials. While api.host is loopback, the API's port has them as well.",
  },
  "ops.port": { type: "port", default: 0, doc: "Port of the operations listener, which `selvedge status` shows; 0: any free port." },
  "tls.certificate": {
    type: "text",
    default: "",
    reload: true,
    doc: "PEM file with the certificate chain of the management API and the AI gateway; empty: plain HTTP.",
  },
  "tls.key": { type: "text", default: "", reload: true, doc: "PEM file with the key of tls.certificate." },
  "api.rate_limit_requests": {
    type: "count",
    default: 1200,
    max: 1_000_000_000,
    reload: true,
    doc: "Requests a token may make in each period; 0: no limit.",
  },
  "api.rate_limit_period_seconds": {
    type: "count",
    default: 300,
    min: 1,
    max: 86_400,
    reload: true,
    doc: "Length of the rate limit's period.",
  },
  "api.settle_timeout_ms": {
    type: "count",
    default: 1_000,
    min: 0,
    max: 60_000,
    reload: true,
    doc: "How long the answer to a change waits until all data planes have it.",
  },
  "gateway.host": { type: "host", default: "127.0.0.1", doc: "Address of the AI gateway." },
  "gateway.port": { type: "port", default: 8781, doc: "Port of the AI gateway; 0: any free port." },
  "gateway.providers": {
    type: "providers",
    default: {},
    flag: "provider",
    doc: "Base addresses that replace a provider's own, as NAME=URL; repeatable.",
  },
  "dns.host": { type: "host", default: "127.0.0.1", doc: "Address of the nameserver, UDP and TCP." },
  "dns.port": { type: "port", default: 5300, doc: "Port of the nameserver; 0: any free port." },
  "dns.tls_port": { type: "port", default: 0, doc: "Port of DNS over TLS, which clients expect at 853; 0: any free port." },
  "dns.workers": { type: "count", default: 1, min: 1, max: 256, doc: "Nameserver threads." },
  "dns.nsid": {
    type: "tag",
    default: "",
    doc: "Name of this nameserver for clients that ask which one of several answers (NSID); empty: they are not told.",
  },
  "dns.rate_limit_per_second": {
    type: "count",
    default: 200,
    max: 1_000_000,
    doc: "Responses over UDP that say the same and go to one network (/24, /56) in a second; 0: no limit.",
  },
  "dns.rate_limit_slip": {
    type: "count",
    default: 2,
    max: 100,
    doc: "Of so many responses over the limit one sends the client to TCP, the others are dropped; 0: all are dropped.",
  },
  "dns.rate_limit_exempt": { type: "networks", default: [], doc: "Networks whose clients dns.rate_limit_per_second does not limit." },
  "dns.name_servers": {
    type: "names",
    default: ["ns1.selvedge.internal", "ns2.selvedge.internal"],
    doc: "Host names of this installation's nameservers, as zones show them and delegations at a registrar need them. Two by two they are pairs, of which zones of different accounts with one name get different ones.",
  },
  "zones.activation": {
    type: "activation",
    default: "auto",
    doc: "When new zones are served: at_once; delegation: once something shows that the account owns the name; auto: at once while there is one account or no plane is reached from other machines. Written down, at_once also says that the accounts trust each other.",
  },
  "zones.trusted_accounts": {
    type: "accounts",
    default: [],
    doc: "Accounts whose zones are always served at once, and which the names of this installation belong to; empty: the first account.",
  },
  "dns.resolvers": {
    type: "servers",
    default: [],
    doc: "Resolvers that know the addresses of names elsewhere, for CNAME flattening and origins; empty: those of the system.",
  },
  "dns.scan_resolvers": {
    type: "servers",
    default: [],
    doc: "Resolvers that are asked for a zone's existing records, and over TCP for its DS records at the parent; empty: dns.resolvers.",
  },
  "dns.primary_allow": {
    type: "networks",
    default: [],
    doc: "Networks that primaries of secondary zones may be in besides the Internet. Addresses of this machine and its network are allowed while api.host is loopback.",
  },
  "dns.dnssec_rollover_days": {
    type: "count",
    default: 0,
    max: 36_500,
    doc: "Age in days at which the key of a signed zone is replaced; 0: never by itself.",
  },
  "dns.records_per_zone_max": { type: "count", default: 1_000_000, min: 1, max: 5_000_000, doc: "DNS records that a zone may have." },
  "custom_hostnames.per_zone_max": {
    type: "count",
    default: 50_000,
    max: 1_000_000,
    doc: "Custom hostnames that a zone may have; 0: none.",
  },
  "custom_hostnames.issuances_per_minute": {
    type: "count",
    default: 15,
    min: 1,
    max: 100_000,
    doc: "Custom hostnames with certificates that an account may create in a minute; one more locks issuing for 30 seconds.",
  },
  "dns.records_per_free_zone_max": {
    type: "count",
    default: 1_000_000,
    min: 1,
    max: 5_000_000,
    doc: "DNS records that a zone of the free plan may have.",
  },
  "dns.import_bytes_max": {
    type: "count",
    default: 262_144,
    min: 1024,
    max: 268_435_456,
    doc: "Size of a zone file that the management API imports, in bytes.",
  },
  "dns.import_requests_per_minute": {
    type: "count",
    default: 3,
    max: 1_000_000,
    reload: true,
    doc: "Zone files that a token may import in a minute; 0: no limit.",
  },
  "edge.host": { type: "host", default: "127.0.0.1", doc: "Address of the HTTP edge." },
  "edge.workers": { type: "count", default: 1, min: 1, max: 256, doc: "HTTP edge threads." },
  "edge.addresses": { type: "addresses", default: [], doc: "Addresses that the nameserver answers for proxied names; empty: edge.host." },
  "edge.origin_port": { type: "port", default: 0, doc: "Port at which origins are reached; 0: the port of the scheme." },
  "edge.origin_allow": { type: "networks", default: [], doc: "Networks whose origins may be reached when the edge is bound publicly." },
  "edge.origin_connect_timeout_seconds": {
    type: "count",
    default: 5,
    min: 1,
    max: 600,
    doc: "Time for a connection to an origin (error 522 after that), as long again for TLS (525), and for a request to wait for one (503).",
  },
  "edge.origin_connections_max": {
    type: "count",
    default: 512,
    min: 1,
    max: 1_000_000,
    doc: "Connections to one address of an origin, of all edge threads together; more requests wait for their turn.",
  },
  "edge.place_databases": {
    type: "paths",
    default: [],
    doc: "Databases in MaxMind's format (.mmdb) that know countries, cities or autonomous systems of addresses; read again when a file changes.",
  },
  "edge.proxy_protocol_from": {
    type: "networks",
    default: [],
    doc: "Networks of balancers in front of the edge: their connections must begin with a PROXY header, version 1 or 2, before TLS as well.",
  },
  "edge.connections_max": {
    type: "count",
    default: 50_000,
    max: 10_000_000,
    doc: "Open connections of visitors, of all threads together; more are closed at once. 0: no limit.",
  },
  "edge.connections_per_address_max": {
    type: "count",
    default: 1_000,
    max: 10_000_000,
    doc: "Open connections of one IPv4 address or IPv6 /64, of all threads together; more are closed at once. 0: no limit.",
  },
  "edge.head_timeout_seconds": {
    type: "count",
    default: 10,
    min: 1,
    max: 3600,
    doc: "Time for a request's head, and for a PROXY header, from the connection or from its first byte.",
  },
  "edge.idle_timeout_seconds": {
    type: "count",
    default: 75,
    min: 1,
    max: 86_400,
    doc: "Time that a visitor's connection is kept open between two requests.",
  },
  "edge.cache_memory_bytes_max": {
    type: "count",
    default: 67_108_864,
    max: 1_099_511_627_776,
    doc: "Memory for cached responses, of all edge threads together, in bytes; 0: nothing is kept in memory.",
  },
  "edge.cache_disk_bytes_max": {
    type: "count",
    default: 536_870_912,
    max: 1_099_511_627_776,
    doc: "Room in the data directory for cached responses that are asked for again or are large, of all edge threads together, in bytes; 0: nothing is kept on disk.",
  },
  "events.rows_kept_days": {
    type: "count",
    default: 30,
    min: 1,
    max: 36_500,
    doc: "Age in days at which rows of requests, security events, DNS questions and AI gateway requests are deleted.",
  },
  "events.bytes_max": {
    type: "count",
    default: 4_294_967_296,
    min: 16_777_216,
    max: 1_099_511_627_776,
    doc: "Size of the events database, in bytes; beyond it the oldest rows of the account that takes the most of it are deleted, whatever their age.",
  },
  "events.minutes_kept_days": {
    type: "count",
    default: 14,
    min: 1,
    max: 36_500,
    doc: "Age in days at which counts by the minute are deleted.",
  },
  "events.hours_kept_days": {
    type: "count",
    default: 400,
    min: 1,
    max: 36_500,
    doc: "Age in days at which counts by the hour are deleted, of which those by the day are made.",
  },
  "rules.per_ruleset_max": { type: "count", default: 1000, min: 1, max: 1000, doc: "Rules that a ruleset may have." },
  "rules.per_free_ruleset_max": {
    type: "count",
    default: 1000,
    min: 1,
    max: 1000,
    doc: "Rules that a ruleset of a zone of the free plan may have.",
  },
  "rules.custom_rulesets_max": { type: "count", default: 100, max: 1000, doc: "Custom rulesets that an account may have." },
  "rules.versions_kept": {
    type: "count",
    default: 50,
    min: 1,
    max: 1000,
    doc: "Versions that are kept of each ruleset, the one in force among them.",
  },
  "rules.lists_max": { type: "count", default: 100, max: 1000, doc: "Lists that an account may have." },
  "rules.list_items_max": { type: "count", default: 100_000, min: 1, max: 1_000_000, doc: "Items that a list may have." },
  "edge.rate_limit_keys_max": {
    type: "count",
    default: 1_000_000,
    min: 1024,
    max: 100_000_000,
    doc: "Keys that rate limits count under at the same time, of all edge threads together; each takes 50 bytes of memory.",
  },
  "edge.body_timeout_seconds": { type: "count", default: 3600, min: 1, max: 604_800, doc: "Time for a whole request body." },
  "edge.body_bytes_per_second_min": {
    type: "count",
    default: 250,
    max: 1_000_000_000,
    doc: "Rate that a request body must keep over 20 seconds at a time; 0: it may pause for as long as edge.body_timeout_seconds.",
  },
  "edge.request_body_bytes_max": {
    type: "count",
    default: 104_857_600,
    doc: "Size of a request body; more is answered with 413. 0: no limit.",
  },
  "edge.rule_body_bytes_max": {
    type: "count",
    default: 131_072,
    min: 1024,
    max: 16_777_216,
    doc: "How much of a request body rules see, in bytes; what is longer is passed on all the same. Only sites whose rules read bodies wait for them.",
  },
  "edge.rule_body_memory_bytes_max": {
    type: "count",
    default: 268_435_456,
    min: 1_048_576,
    doc: "Memory for request bodies that rules wait for, of all edge threads together, in bytes; beyond, such requests are answered with 503.",
  },
  "edge.response_timeout_seconds": {
    type: "count",
    default: 100,
    min: 1,
    max: 86_400,
    doc: "Time for an origin to begin its response, and for each piece of it to follow; error 524 after that.",
  },
  "edge.tunnel_idle_timeout_seconds": {
    type: "count",
    default: 600,
    min: 1,
    max: 604_800,
    doc: "Time that an upgraded connection, such as a WebSocket, is kept open without a byte either way.",
  },
  "gateway.provider_allow": {
    type: "networks",
    default: [],
    doc: "Networks whose providers accounts may add when the gateway is bound publicly.",
  },
  "gateway.guardrail_model": {
    type: "text",
    default: "",
    doc: "PROVIDER/MODEL of the Llama Guard kind, by which gateways' guardrails judge prompts and answers; empty: none can be switched on.",
  },
  "gateway.guardrail_key": {
    type: "secret",
    default: "",
    doc: "Key for the provider of gateway.guardrail_model; empty: it asks for none.",
  },
  "gateway.cache_memory_bytes_max": {
    type: "count",
    default: 67_108_864,
    max: 1_099_511_627_776,
    doc: "Memory for provider answers that gateways keep, in bytes; 0: nothing is kept in memory.",
  },
  "gateway.cache_disk_bytes_max": {
    type: "count",
    default: 268_435_456,
    max: 1_099_511_627_776,
    doc: "Room in the data directory for provider answers that gateways keep, in bytes; 0: nothing is kept on disk.",
  },
  "certificates.authorities": {
    type: "issuers",
    default: ["local"],
    doc: "Authorities of custom hostnames' certificates, the preferred one first; where CAA records forbid it, the next one issues. local: this installation's own. Others are asked over ACME, and their terms are agreed to.",
  },
  "certificates.zone_authorities": {
    type: "issuers",
    default: ["local"],
    doc: "The same for the certificates that zones have for themselves. Until one of another authority is there, the local one's serves.",
  },
  "certificates.directories": {
    type: "directories",
    default: {},
    flag: "certificate-directory",
    doc: "Addresses of ACME directories that replace an authority's own, as NAME=URL; repeatable.",
  },
  "certificates.bindings": {
    type: "bindings",
    default: {},
    doc: "External accounts that google, ssl_com and digicert ask for, as NAME=KEY_ID:KEY with the key in base64url.",
  },
  "certificates.email": { type: "text", default: "", doc: "Mail address that authorities may write to; empty: none." },
  "certificates.roots": {
    type: "text",
    default: "",
    doc: "PEM file of roots that the servers of ACME directories may have, beside the usual ones; empty: none.",
  },
  "http.port": { type: "port", default: 8080, doc: "Port of the edge for HTTP; 0: any free port." },
  "https.port": { type: "port", default: 8443, doc: "Port of the edge for HTTPS; 0: any free port." },
  "vendor.prefix": { type: "label", default: "svc", doc: "Prefix of our header and field names: svc gives svc-aig-authorization." },
  "deprecations.as_of": {
    type: "day",
    default: "",
    reload: true,
    doc: "API date: deprecations after this day are not yet in force; empty: today.",
  },
  "deprecations.negotiate": {
    type: "switch",
    default: false,
    reload: true,
    doc: "Honour a request's api-version header as its API date.",
  },
  "log.level": {
    type: "level",
    default: "info",
    reload: true,
    doc: "How much is logged to standard error: debug, info, warn, error or silent.",
  },
  "bootstrap.token": { type: "secret", default: "", doc: "Presets the first API token; empty: made up and printed at the first start." },
  "bootstrap.email": { type: "text", default: "admin@selvedge.local", doc: "E-mail address of the first user." },
  "bootstrap.api_key": {
    type: "secret",
    default: "",
    doc: "Presets the first user's API key, for clients that send X-Auth-Email and X-Auth-Key; empty: it has none.",
  },
  "notifications.smtp_host": {
    type: "text",
    default: "",
    doc: "Mail server that notifications are sent through; empty: no e-mail is sent.",
  },
  "notifications.smtp_port": {
    type: "port",
    default: 587,
    doc: "Port of the mail server: TLS from the first byte at 465, by STARTTLS at others. Without TLS only a server on this machine is used.",
  },
  "notifications.smtp_username": { type: "text", default: "", doc: "Login at the mail server; empty: none." },
  "notifications.smtp_password": { type: "password", default: "", doc: "Password of notifications.smtp_username." },
  "notifications.email_from": { type: "text", default: "", doc: "Sender's address of notifications; empty: no e-mail is sent." },
  "notifications.webhook_allow": {
    type: "networks",
    default: [],
    doc: "Networks that webhooks and destinations of logs may be in besides the Internet. Addresses of this machine and its network are allowed while api.host is loopback.",
  },
  insecure_bind: { type: "switch", default: false, doc: "Allow public addresses without TLS or with the first token unchanged." },
  json: { type: "switch", default: false, doc: "Print results as JSON, one object a line." },
} as const satisfies Readonly<Record<string, Key>>;

export type ConfigKeyName = keyof typeof CONFIG_KEYS;
/** The type's value as the loaded configuration carries it. */
export type ConfigValue<K extends ConfigKeyName> = ConfigTypes[(typeof CONFIG_KEYS)[K]["type"]];

type SectionName = ConfigKeyName extends infer K ? (K extends `${infer S}.${string}` ? S : never) : never;

/** The effective configuration: `api.port` of the schema is `config.api.port`. Frozen throughout. */
export type Config = { readonly [K in ConfigKeyName as K extends `${string}.${string}` ? never : K]: ConfigValue<K> } & {
  readonly [S in SectionName]: { readonly [K in ConfigKeyName as K extends `${S}.${infer Field}` ? Field : never]: ConfigValue<K> };
};

/** The rows under their common type, for code that treats all keys alike. */
export const CONFIG_ROWS: ReadonlyMap<ConfigKeyName, Key> = new Map(Object.entries(CONFIG_KEYS) as [ConfigKeyName, Key][]);

/** `deprecations.as_of` → `SELVEDGE_DEPRECATIONS_AS_OF`. */
export const variableName = (key: string): string => `SELVEDGE_${key.replaceAll(".", "_").toUpperCase()}`;

/** `api.rate_limit_requests` → `api-rate-limit-requests`. */
export const flagName = (key: ConfigKeyName): string => CONFIG_ROWS.get(key)?.flag ?? key.replace(/[._]/g, "-");

import type { ConfigTypes } from "./config-types.ts";

/** One key: its type, its default, its purpose, and limits if the type alone is too wide. */
type Key = {
  readonly [T in keyof ConfigTypes]: {
    readonly type: T;
    readonly default: ConfigTypes[T];
    /** Shown in `--help` and in the reference. */
    readonly doc: string;
    /** Name of the flag, if it is not the key with dashes. */
    readonly flag?: string;
    /** Its former name, which is accepted with a warning, also as a flag and as a variable. */
    readonly formerly?: string;
    readonly min?: number;
    readonly max?: number;
    /** SIGHUP applies a new value; for the other keys, a restart does. */
    readonly reload?: true;
  };
}[keyof ConfigTypes];

const LOOPBACK: readonly string[] = ["127.0.0.1"];

/** Every configuration key, in the order in which help and reference list them. */
export const CONFIG_KEYS = {
  data: { type: "path", default: "./.selvedge", doc: "Directory for all state. The server creates it if it does not exist." },
  "database.url": {
    type: "database",
    default: "",
    doc: "Control database: sqlite:PATH or postgres://…. Empty: SQLite in the data directory.",
  },
  "bus.url": {
    type: "bus",
    default: "",
    doc: "NATS server with JetStream over which nodes on other machines follow the changes: tls://HOST:PORT, or nats://HOST:PORT on this machine. Empty: nodes cannot join. On a node: replaces the URL that it got when it joined.",
  },
  "bus.node_url": {
    type: "bus",
    default: "",
    doc: "URL of the bus that nodes get when they join, if they reach it at another address than this server does. Empty: bus.url.",
  },
  "bus.ca": {
    type: "text",
    default: "",
    doc: "PEM file of the authority that issued the certificate of bus.url. Nodes get it when they join. Empty: the authorities that the system trusts.",
  },
  "counters.url": {
    type: "counters",
    default: "",
    doc: "Redis or Valkey server with which all machines count rate limits and spend together: rediss://USER:PASSWORD@HOST:PORT/DATABASE, or redis:// without TLS in a network that you trust. Each machine needs it in its own configuration. Empty: each counts alone.",
  },
  "counters.ca": {
    type: "text",
    default: "",
    doc: "PEM file of the authority that issued the certificate of counters.url. Empty: the authorities that the system trusts.",
  },
  "rollout.wait_seconds": {
    type: "count",
    default: 30,
    min: 1,
    max: 86_400,
    doc: "How long a change stays with the canaries among the nodes before the other nodes get it.",
  },
  "settle.remote_ms": {
    type: "count",
    default: 250,
    min: 0,
    max: 60_000,
    reload: true,
    doc: "How long the API waits for the connected nodes to apply a change before it responds and names those that have not.",
  },
  "api.host": { type: "hosts_to_listen", default: LOOPBACK, doc: "Addresses of the management API, with a port if it is not api.port." },
  "api.port": { type: "port", default: 8780, doc: "Port of the management API. 0: any free port." },
  "api.allowed_hosts": {
    type: "hosts",
    default: [],
    reload: true,
    doc: "Host names that clients may use for the API, the AI gateway and the operations listener, in addition to the names of this machine, the addresses that they listen on and the names in tls.certificate. *.NAME: one label below NAME; *: any name.",
  },
  "api.dashboard_url": {
    type: "site",
    default: "",
    doc: "Address at which people reach the dashboard, such as https://selvedge.example. Invitations by email link to it. Empty: they have a code instead of a link.",
  },
  "sign_in.oidc_issuer": {
    type: "issuer",
    default: "",
    doc: "Issuer of a provider of OpenID Connect, with which members sign in to the dashboard, such as https://accounts.example.com. Needs api.dashboard_url. Empty: none.",
  },
  "sign_in.oidc_client_id": { type: "text", default: "", doc: "Client that the provider has for this installation." },
  "sign_in.oidc_client_secret": { type: "password", default: "", doc: "Secret of the client." },
  "sign_in.oidc_client_secret_file": {
    type: "text",
    default: "",
    doc: "File with the secret of the client, instead of sign_in.oidc_client_secret. It is read again every hour.",
  },
  "sign_in.oidc_email_domains": {
    type: "domains",
    default: [],
    doc: "Domains of e-mail addresses that may sign in by the provider, such as example.com. Empty: any member.",
  },
  "sign_in.oidc_name": { type: "text", default: "OpenID Connect", doc: "Name of the provider on the sign-in page: Sign in with NAME." },
  "api.openapi": {
    type: "switch",
    default: true,
    reload: true,
    doc: "Serve the OpenAPI document (/client/v4/openapi.json) and the documentation (/docs) to everyone. Off: do not serve them.",
  },
  "api.trusted_proxies": {
    type: "networks",
    default: [],
    doc: "Networks of HTTP proxies in front of the management API. The client of their requests is the rightmost address in api.client_address_header that is not in these networks.",
  },
  "api.client_address_header": {
    type: "client_field",
    default: "x-forwarded-for",
    doc: "Header in which every proxy of api.trusted_proxies sends the client's address: x-forwarded-for, x-real-ip, cf-connecting-ip or forwarded. The others are not read.",
  },
  "ops.host": {
    type: "hosts_to_listen",
    default: LOOPBACK,
    doc: "Addresses of the operations listener, with a port if it is not ops.port. It serves /metrics, /livez and /readyz over plain HTTP without authentication. While api.host is loopback, the API's port serves them as well.",
  },
  "ops.port": { type: "port", default: 0, doc: "Port of the operations listener; `selvedge status` shows it. 0: any free port." },
  "tls.certificate": {
    type: "text",
    default: "",
    reload: true,
    doc: "PEM file with the certificate chain for the management API and the AI gateway. Empty: plain HTTP.",
  },
  "tls.key": { type: "text", default: "", reload: true, doc: "PEM file with the private key of tls.certificate." },
  "api.connections_max": {
    type: "count",
    default: 10_000,
    max: 10_000_000,
    doc: "Maximum number of open client connections. The API closes further connections immediately. 0: no limit.",
  },
  "api.connections_per_address_max": {
    type: "count",
    default: 500,
    max: 10_000_000,
    doc: "Maximum number of open connections from one IPv4 address or IPv6 /64, except from api.trusted_proxies. The API closes further connections immediately. 0: no limit.",
  },
  "api.rate_limit_requests": {
    type: "count",
    default: 1200,
    max: 1_000_000_000,
    reload: true,
    doc: "Requests that a token may send per period. All tokens of a user, or of an account, may send ten times as many together. 0: no limit.",
  },
  "api.rate_limit_period_seconds": {
    type: "count",
    default: 300,
    min: 1,
    max: 86_400,
    reload: true,
    doc: "Length of the rate limit period.",
  },
  "api.propagation_timeout_ms": {
    formerly: "api.settle_timeout_ms",
    type: "count",
    default: 1_000,
    min: 0,
    max: 60_000,
    reload: true,
    doc: "How long the API waits for all planes to apply a change before it responds.",
  },
  "gateway.host": {
    type: "hosts_to_listen",
    default: LOOPBACK,
    doc: "Addresses of the AI gateway, with a port if it is not gateway.port.",
  },
  "gateway.port": { type: "port", default: 8781, doc: "Port of the AI gateway. 0: any free port." },
  "gateway.providers": {
    type: "providers",
    default: {},
    flag: "provider",
    doc: "Base URLs that replace the default URLs of providers, as NAME=URL; repeatable.",
  },
  "gateway.trusted_proxies": {
    type: "networks",
    default: [],
    doc: "Networks of HTTP proxies in front of the AI gateway. The client of their requests is the rightmost address in gateway.client_address_header that is not in these networks.",
  },
  "gateway.client_address_header": {
    type: "client_field",
    default: "x-forwarded-for",
    doc: "Header in which every proxy of gateway.trusted_proxies sends the client's address: x-forwarded-for, x-real-ip, cf-connecting-ip or forwarded. The others are not read.",
  },
  "dns.host": {
    type: "hosts_to_listen",
    default: LOOPBACK,
    doc: "Addresses of the nameserver, with a port for UDP and TCP if it is not dns.port.",
  },
  "dns.port": { type: "port", default: 5300, doc: "Port of the nameserver. 0: any free port." },
  "dns.tls_port": {
    type: "port_or_auto",
    default: "auto",
    doc: "Port for DNS over TLS. auto: 853, which clients expect, or any free port if 853 is in use or not permitted; the log says why. 0: any free port.",
  },
  "dns.workers": { type: "count", default: 1, min: 1, max: 256, doc: "Nameserver threads." },
  "dns.nsid": {
    type: "tag",
    default: "",
    doc: "Name that this nameserver sends to clients that request its identifier (NSID). Empty: it sends none.",
  },
  "dns.rate_limit_per_second": {
    type: "count",
    default: 200,
    max: 1_000_000,
    doc: "Identical UDP responses per second to one network (/24, /56). 0: no limit, neither this one nor dns.rate_limit_all_per_second.",
  },
  "dns.rate_limit_all_per_second": {
    type: "count",
    default: 1_000,
    max: 1_000_000,
    doc: "All UDP responses per second to one network (/24, /56), in units: each started 512 bytes of a response count as one. 0: only identical responses are limited.",
  },
  "dns.rate_limit_slip": {
    type: "count",
    default: 2,
    max: 100,
    doc: "The nameserver truncates one in this many responses over the limit, so that the client retries over TCP, and drops the others. 0: it drops all.",
  },
  "dns.rate_limit_exempt": { type: "networks", default: [], doc: "Networks without limits of UDP responses." },
  "dns.name_servers": {
    type: "names",
    default: ["ns1.selvedge.internal", "ns2.selvedge.internal"],
    doc: "Host names of this installation's nameservers, as zones show them and as you enter them at the registrar. Each two names form a pair. Zones of different accounts with the same name get different pairs.",
  },
  "dns.txt_content": {
    type: "txt_content",
    default: "quoted",
    doc: "How the API returns TXT content that was written without quotes. quoted: in quotes; as_sent: as it was written, which cert-manager, lexicon and Terraform need. Answers and exports are the same.",
  },
  "dns.names": {
    type: "names_rule",
    default: "letter_first",
    doc: "Names that A, AAAA and CNAME records can have. letter_first: each starts with a letter; rfc1123: it can also start with a digit. Names in reverse zones, and those that a zone already has, can always start with a digit.",
  },
  "zones.activation": {
    type: "activation",
    default: "auto",
    doc: "When the planes start to serve a new zone. at_once: immediately; delegation: after something proves that the account owns the name; auto: immediately while there is only one account or other machines cannot reach any plane. If you set at_once, you also state that the accounts trust each other.",
  },
  "zones.per_account_max": {
    type: "count",
    default: 1_000,
    max: 10_000_000,
    doc: "Maximum number of zones in an account, except those in zones.trusted_accounts. 0: no limit.",
  },
  "audit_log.retention_days": {
    type: "count",
    default: 548,
    min: 1,
    max: 36_500,
    doc: "Days for which the audit log is kept.",
  },
  "audit_log.rows_per_account_max": {
    type: "count",
    default: 500_000,
    min: 100,
    max: 1_000_000_000,
    doc: "Maximum number of rows that the audit log keeps of an account, and of each user and token outside of accounts; the oldest above it are deleted.",
  },
  "zones.trusted_accounts": {
    type: "accounts",
    default: [],
    doc: "Accounts whose zones are always served immediately, and which own the names of this installation. Empty: the first account.",
  },
  "dns.resolvers": {
    type: "servers",
    default: [],
    doc: "Resolvers for names outside this installation, used for CNAME flattening and origins. Empty: the resolvers of the system.",
  },
  "dns.scan_resolvers": {
    type: "servers",
    default: [],
    doc: "Resolvers for looking up a zone's existing records and, over TCP, its DS records at the parent. Empty: dns.resolvers.",
  },
  "dns.primary_allow": {
    type: "networks",
    default: [],
    doc: "Networks in which primaries of secondary zones, and secondaries that get NOTIFY messages, may be in addition to the Internet. While api.host is loopback, this machine and its network are allowed.",
  },
  "dns.dnssec_rollover_days": {
    type: "count",
    default: 0,
    max: 36_500,
    doc: "Age in days at which the server replaces the key of a signed zone. 0: never automatically.",
  },
  "dns.records_per_zone_max": {
    type: "count",
    default: 1_000_000,
    min: 1,
    max: 5_000_000,
    doc: "Maximum number of DNS records in a zone.",
  },
  "custom_hostnames.per_zone_max": {
    type: "count",
    default: 50_000,
    max: 1_000_000,
    doc: "Maximum number of custom hostnames in a zone. 0: none.",
  },
  "custom_hostnames.issuances_per_minute": {
    type: "count",
    default: 15,
    min: 1,
    max: 100_000,
    doc: "Custom hostnames with certificates that an account may create per minute. One more locks issuance for 30 seconds.",
  },
  "dns.records_per_free_zone_max": {
    type: "count",
    default: 1_000_000,
    min: 1,
    max: 5_000_000,
    doc: "Maximum number of DNS records in a zone on the free plan.",
  },
  "dns.transfer_memory_bytes_max": {
    type: "count",
    default: 1_073_741_824,
    min: 16_777_216,
    max: 68_719_476_736,
    doc: "Memory for records of zones that are being transferred from primaries, in bytes. A record takes about 300. One account gets three quarters at most.",
  },
  "dns.import_bytes_max": {
    type: "count",
    default: 262_144,
    min: 1024,
    max: 268_435_456,
    doc: "Maximum size of a zone file that the management API imports, in bytes.",
  },
  "dns.import_requests_per_minute": {
    type: "count",
    default: 3,
    max: 1_000_000,
    reload: true,
    doc: "Zone files that a token may import per minute. 0: no limit.",
  },
  "edge.host": { type: "addresses_to_listen", default: LOOPBACK, doc: "Addresses of the HTTP edge." },
  "edge.workers": { type: "count", default: 1, min: 1, max: 256, doc: "HTTP edge threads." },
  "edge.addresses": {
    type: "addresses",
    default: [],
    doc: "Addresses that the nameserver returns for proxied names, beside those of healthy nodes. Empty: those of edge.host. With addresses of nodes, only control's setting counts.",
  },
  "edge.origin_port": { type: "port", default: 0, doc: "Port that the edge uses for origins. 0: the default port of the scheme." },
  "edge.origin_allow": {
    type: "networks",
    default: [],
    doc: "Networks whose origins the edge may connect to when it listens on a public address.",
  },
  "edge.origin_connect_timeout_seconds": {
    type: "count",
    default: 5,
    min: 1,
    max: 600,
    doc: "Timeout for connecting to an origin (then error 522). The same timeout applies to the TLS handshake (525) and to a request that waits for a connection (503).",
  },
  "edge.origin_header_bytes_max": {
    formerly: "edge.origin_head_bytes_max",
    type: "count",
    default: 131_072,
    min: 1_024,
    max: 1_048_576,
    doc: "Maximum size of the header of an origin's response, in bytes. A visitor gets error 520 for a larger one.",
  },
  "edge.origin_header_fields_max": {
    formerly: "edge.origin_head_fields_max",
    type: "count",
    default: 256,
    min: 16,
    max: 256,
    doc: "Maximum number of fields in the header of an origin's response. A visitor gets error 520 for more.",
  },
  "edge.origin_connections_max": {
    type: "count",
    default: 512,
    min: 1,
    max: 1_000_000,
    doc: "Maximum number of connections to one origin address, for all edge threads together. Further requests wait.",
  },
  "edge.geoip_databases": {
    formerly: "edge.place_databases",
    type: "paths",
    default: [],
    doc: "GeoIP databases in MaxMind format (.mmdb) with countries, cities or autonomous systems. The edge reloads them when a file changes.",
  },
  "edge.proxy_protocol_from": {
    type: "networks",
    default: [],
    doc: "Networks of load balancers in front of the edge. Their connections must begin with a PROXY protocol header, version 1 or 2, also before TLS.",
  },
  "edge.trusted_proxies": {
    type: "networks",
    default: [],
    doc: "Networks of HTTP proxies in front of the edge. The client of their requests is the rightmost address in edge.client_address_header that is not in these networks.",
  },
  "edge.client_address_header": {
    type: "client_field",
    default: "x-forwarded-for",
    doc: "Header in which every proxy of edge.trusted_proxies sends the client's address: x-forwarded-for, x-real-ip, cf-connecting-ip or forwarded. The others are not read.",
  },
  "edge.connections_max": {
    type: "count",
    default: 50_000,
    max: 10_000_000,
    doc: "Maximum number of open client connections, for all threads together. For a further one, the edge closes the connection that has been idle longest, or the new one if none is idle. 0: no limit.",
  },
  "edge.connections_per_address_max": {
    type: "count",
    default: 1_000,
    max: 10_000_000,
    doc: "Maximum number of open connections from one IPv4 address or IPv6 /64, for all threads together. For a further one, the edge closes the connection that has been idle longest, or the new one if none is idle. 0: no limit.",
  },
  "edge.header_timeout_seconds": {
    formerly: "edge.head_timeout_seconds",
    type: "count",
    default: 10,
    min: 1,
    max: 3600,
    doc: "Timeout for receiving a request's header section, and a PROXY protocol header, counted from the start of the connection or from the first byte.",
  },
  "edge.idle_timeout_seconds": {
    type: "count",
    default: 75,
    min: 1,
    max: 86_400,
    doc: "How long the edge keeps an idle client connection open between requests.",
  },
  "edge.cache_memory_bytes_max": {
    type: "count",
    default: 67_108_864,
    max: 1_099_511_627_776,
    doc: "Memory for cached responses, for all edge threads together, in bytes. 0: no memory cache.",
  },
  "edge.cache_disk_bytes_max": {
    type: "count",
    default: 536_870_912,
    max: 1_099_511_627_776,
    doc: "Disk space in the data directory for cached responses that are large or requested again, for all edge threads together, in bytes. 0: no disk cache.",
  },
  "events.url": {
    type: "clickhouse",
    default: "",
    doc: "ClickHouse server for rows of requests, security events and DNS queries, instead of the events database: https://USER:PASSWORD@HOST:8443/DATABASE, or http:// without TLS in a network that you trust. All servers with the role control need the same one; nodes send their events to these. Empty: the events database.",
  },
  "events.ca": {
    type: "text",
    default: "",
    doc: "PEM file of the authority that issued the certificate of events.url. Empty: the authorities that the system trusts.",
  },
  "events.rows_retention_days": {
    formerly: "events.rows_kept_days",
    type: "count",
    default: 30,
    min: 1,
    max: 36_500,
    doc: "Age in days at which the server deletes rows of requests, security events, DNS queries and AI gateway requests.",
  },
  "events.bytes_max": {
    type: "count",
    default: 4_294_967_296,
    min: 16_777_216,
    max: 1_099_511_627_776,
    doc: "Maximum size of the events database, in bytes. Above it, the server deletes the oldest rows of the account that uses the most space, regardless of their age. With events.url, also the maximum size of the rows that wait for ClickHouse; rows above it are dropped.",
  },
  "events.minutes_retention_days": {
    formerly: "events.minutes_kept_days",
    type: "count",
    default: 14,
    min: 1,
    max: 36_500,
    doc: "Age in days at which the server deletes counts per minute.",
  },
  "events.hours_retention_days": {
    formerly: "events.hours_kept_days",
    type: "count",
    default: 400,
    min: 1,
    max: 36_500,
    doc: "Age in days at which the server deletes counts per hour. Counts per day are computed from them.",
  },
  "rules.per_ruleset_max": { type: "count", default: 1000, min: 1, max: 1000, doc: "Maximum number of rules in a ruleset." },
  "rules.per_free_ruleset_max": {
    type: "count",
    default: 1000,
    min: 1,
    max: 1000,
    doc: "Maximum number of rules in a ruleset of a zone on the free plan.",
  },
  "rules.custom_rulesets_max": { type: "count", default: 100, max: 1000, doc: "Maximum number of custom rulesets in an account." },
  "rules.account_bytes_max": {
    type: "count",
    default: 16_000_000,
    min: 10_000,
    max: 10_000_000_000,
    doc: "Maximum number of bytes of the rules in all rulesets of an account and its zones, as JSON; each edge thread holds all of them in memory. No limit for zones.trusted_accounts.",
  },
  "rules.versions_max": {
    formerly: "rules.versions_kept",
    type: "count",
    default: 50,
    min: 1,
    max: 1000,
    doc: "Number of versions that the server keeps of each ruleset, including the active one.",
  },
  "rules.lists_max": { type: "count", default: 100, max: 1000, doc: "Maximum number of lists in an account." },
  "rules.list_items_max": { type: "count", default: 100_000, min: 1, max: 1_000_000, doc: "Maximum number of items in a list." },
  "rules.managed_lists_directory": {
    type: "text",
    default: "",
    reload: true,
    doc: "Directory of lists that the rules of every account can use as $cf.NAME. NAME.txt contains one address, CIDR block or range per line; # starts a comment. SIGHUP reads the files again. Without a file, $cf.anonymizer, $cf.botnetcc, $cf.malware, $cf.open_proxies and $cf.vpn are empty.",
  },
  "waf.crs_directory": {
    type: "text",
    default: "",
    reload: true,
    doc: "Directory of the OWASP Core Rule Set, with rules/*.conf and crs-setup.conf. Empty: the one that selvedge waf crs install installed, otherwise Debian's modsecurity-crs; without the role control, first the one that control shares over the bus, and then the copy in crs.last-good. none: use Selvedge's own rules. SIGHUP reads the files again.",
  },
  "waf.rows_file": {
    type: "text",
    default: "",
    reload: true,
    doc: "TOML file with your own managed rules, one table [rows.NAME] for each, with title, category, pattern, hits, misses and the other keys that the guide on rules lists. SIGHUP reads the file again.",
  },
  "edge.rate_limit_keys_max": {
    type: "count",
    default: 1_000_000,
    min: 1024,
    max: 100_000_000,
    doc: "Maximum number of keys that rate limits count at the same time, for all edge threads together. Each uses 50 bytes of memory.",
  },
  "edge.body_timeout_seconds": {
    type: "count",
    default: 3600,
    min: 1,
    max: 604_800,
    doc: "Timeout for receiving a complete request body.",
  },
  "edge.body_bytes_per_second_min": {
    type: "count",
    default: 250,
    max: 1_000_000_000,
    doc: "Minimum rate of a request body in bytes per second, measured over 20 seconds. 0: it may pause until edge.body_timeout_seconds.",
  },
  "edge.request_body_bytes_max": {
    type: "count",
    default: 104_857_600,
    doc: "Maximum size of a request body, in bytes; the edge responds to larger ones with 413. 0: no limit.",
  },
  "edge.rule_body_bytes_max": {
    type: "count",
    default: 1_048_576,
    min: 1024,
    max: 16_777_216,
    doc: "How much of a request body, and of what it decompresses to, rules can inspect, in bytes. The edge forwards the rest uninspected. Only sites whose rules read bodies wait for them.",
  },
  "edge.rule_body_memory_bytes_max": {
    type: "count",
    default: 268_435_456,
    min: 1_048_576,
    doc: "Memory for bodies of requests and responses that rules inspect, for all edge threads together, in bytes. When it is used up, the edge responds to such requests with 503; a client, and the zones of an account, get at most as much as is free.",
  },
  "edge.response_timeout_seconds": {
    type: "count",
    default: 100,
    min: 1,
    max: 86_400,
    doc: "Timeout for the first byte of an origin's response and between any two parts of it. Then error 524.",
  },
  "edge.tunnel_idle_timeout_seconds": {
    type: "count",
    default: 600,
    min: 1,
    max: 604_800,
    doc: "How long the edge keeps an upgraded connection, such as a WebSocket, open without traffic in either direction.",
  },
  "gateway.provider_allow": {
    type: "networks",
    default: [],
    doc: "Networks in which providers that accounts add may be when the gateway listens on a public address.",
  },
  "gateway.guardrail_model": {
    type: "text",
    default: "",
    doc: "PROVIDER/MODEL of a Llama Guard model that checks prompts and responses for guardrails. Empty: guardrails cannot be turned on.",
  },
  "gateway.connections_max": {
    type: "count",
    default: 50_000,
    max: 10_000_000,
    doc: "Maximum number of open client connections. The gateway closes further connections immediately. 0: no limit.",
  },
  "gateway.connections_per_address_max": {
    type: "count",
    default: 4_000,
    max: 10_000_000,
    doc: "Maximum number of open connections from one IPv4 address or IPv6 /64, except from gateway.trusted_proxies. For a further one, the gateway closes the connection that has been idle longest, or, with TLS or if none is idle, the new one. 0: no limit.",
  },
  "gateway.guardrail_key": {
    type: "secret",
    default: "",
    doc: "API key for the provider of gateway.guardrail_model. Empty: the provider needs none.",
  },
  "gateway.cache_memory_bytes_max": {
    type: "count",
    default: 67_108_864,
    max: 1_099_511_627_776,
    doc: "Memory for provider responses that gateways cache, in bytes. 0: no memory cache.",
  },
  "gateway.cache_disk_bytes_max": {
    type: "count",
    default: 268_435_456,
    max: 1_099_511_627_776,
    doc: "Disk space in the data directory for provider responses that gateways cache, in bytes. 0: no disk cache.",
  },
  "certificates.authorities": {
    type: "issuers",
    default: ["local"],
    doc: "Certificate authorities for custom hostnames, in order of preference. If CAA records forbid one, the next one issues. local: this installation's own authority. The server uses ACME for the others and agrees to their terms of service.",
  },
  "certificates.zone_authorities": {
    type: "issuers",
    default: ["local"],
    doc: "Certificate authorities for the zones' own certificates, in order of preference. The edge serves a certificate of the local authority until another authority has issued one.",
  },
  "certificates.directories": {
    type: "directories",
    default: {},
    flag: "certificate-directory",
    doc: "ACME directory URLs that replace the default URLs of authorities, as NAME=URL; repeatable.",
  },
  "certificates.bindings": {
    type: "bindings",
    default: {},
    doc: "External account bindings that google, ssl_com and digicert require, as NAME=KEY_ID:KEY with the key in base64url.",
  },
  "certificates.email": { type: "text", default: "", doc: "Email address at which authorities may contact you. Empty: none." },
  "certificates.roots": {
    type: "text",
    default: "",
    doc: "PEM file with root certificates to trust for ACME servers, in addition to the usual ones. Empty: none.",
  },
  "http.port": { type: "port", default: 8080, doc: "Port of the edge for HTTP. 0: any free port." },
  "https.port": { type: "port", default: 8443, doc: "Port of the edge for HTTPS. 0: any free port." },
  "vendor.prefix": {
    type: "label",
    default: "svc",
    doc: "Prefix of this project's header and field names; for example, svc gives svc-aig-authorization.",
  },
  "deprecations.as_of": {
    type: "day",
    default: "",
    reload: true,
    doc: "API date: deprecations after this day are not in effect. Empty: today.",
  },
  "deprecations.negotiate": {
    type: "switch",
    default: false,
    reload: true,
    doc: "Use the api-version header of a request as its API date.",
  },
  "deprecations.record": {
    type: "switch",
    default: true,
    reload: true,
    doc: "Record the form of management calls for rehearsals: method, path template and field names, never values. Off: record nothing.",
  },
  "deprecations.later_rows": {
    type: "switch",
    default: false,
    doc: "Also follow the deprecations of 2026 that this API does not follow by default: fixed types of DNS records, the end of the batch of zone settings, authentication of new gateways, the end of DNS reports.",
  },
  "deprecations.unsafe_pins": {
    type: "switch",
    default: false,
    reload: true,
    doc: "Let the api_date of a token or account restore behaviour that a deprecation removed for security.",
  },
  "log.level": {
    type: "level",
    default: "info",
    reload: true,
    doc: "Level of the log on standard error: debug, info, warn, error or silent.",
  },
  "log.levels": {
    type: "levels",
    default: {},
    flag: "log-area",
    reload: true,
    doc: "Levels of areas that differ from log.level, as AREA=LEVEL, such as edge=warn; repeatable. Areas: api, jobs, nodes, edge, nameserver, gateway, events and detector.",
  },
  "bootstrap.token": { type: "secret", default: "", doc: "Value of the first API token. Empty: the first start generates and prints one." },
  "bootstrap.email": { type: "text", default: "admin@selvedge.local", doc: "Email address of the first user." },
  "bootstrap.api_key": {
    type: "secret",
    default: "",
    doc: "API key of the first user, for clients that send X-Auth-Email and X-Auth-Key. Empty: no key.",
  },
  "images.url": {
    type: "site",
    default: "",
    doc: "Beginning of the URLs of images and uploads, such as https://images.example.com, a name of a zone. Empty: the address of the management API.",
  },
  "images.control": {
    type: "site",
    default: "",
    doc: "On a node: where control's API answers requests for images, such as https://control.example.net:8780. Empty: the address at which the node joined.",
  },
  "images.per_account_max": {
    type: "count",
    default: 100_000,
    min: 0,
    max: 10_000_000,
    doc: "Largest number of images of an account.",
  },
  "images.account_bytes_max": {
    type: "count",
    default: 10_737_418_240,
    min: 0,
    max: 1_000_000_000_000_000,
    doc: "Largest number of bytes of all images of an account.",
  },
  "images.in_s3": {
    type: "switch",
    default: false,
    doc: "Keep the files of images in the bucket of s3.*; the data directory then has copies only.",
  },
  "notifications.smtp_host": {
    type: "text",
    default: "",
    doc: "Mail server for notifications. Empty: no email is sent.",
  },
  "notifications.smtp_port": {
    type: "port",
    default: 587,
    doc: "Port of the mail server. 465: TLS from the first byte; others: STARTTLS. Without TLS, only a server on this machine is used.",
  },
  "notifications.smtp_username": { type: "text", default: "", doc: "User name at the mail server. Empty: none." },
  "notifications.smtp_password": { type: "password", default: "", doc: "Password of notifications.smtp_username." },
  "notifications.email_from": { type: "text", default: "", doc: "Sender address of notifications. Empty: no email is sent." },
  "notifications.webhook_allow": {
    type: "networks",
    default: [],
    doc: "Networks in which webhooks, log destinations and the sources of images may be, in addition to the Internet. While api.host is loopback, this machine and its network are allowed.",
  },
  "runtime.native": {
    type: "native",
    default: "auto",
    doc: "auto: use system calls and OpenSSL directly where koffi loads, which is faster; off: use only Node.js. `selvedge status` shows what is in use.",
  },
  "backup.every_hours": {
    type: "count",
    default: 0,
    max: 8_784,
    reload: true,
    doc: "Hours between backups that the server makes in backup.directory. 0: it makes none.",
  },
  "backup.directory": {
    type: "text",
    default: "",
    reload: true,
    doc: "Directory for scheduled backups, best on another disk than the data directory.",
  },
  "backup.files_max": {
    formerly: "backup.files_kept",
    type: "count",
    default: 7,
    min: 1,
    max: 10_000,
    reload: true,
    doc: "Number of scheduled backups that the server keeps in backup.directory; it deletes the oldest.",
  },
  "backup.passphrase_file": {
    type: "text",
    default: "",
    reload: true,
    doc: "File with the passphrase that encrypts scheduled backups. Empty: they are not encrypted, unless backup.recipients is set.",
  },
  "backup.recipients": {
    type: "recipients",
    default: [],
    reload: true,
    doc: "Public keys of age (age1…) to which scheduled backups are encrypted, so that this machine cannot decrypt them.",
  },
  "backup.in_s3": {
    type: "switch",
    default: false,
    doc: "Copy each scheduled backup to the bucket of s3.*, below backups/. Copies are not deleted by Selvedge; give the bucket a lifecycle rule.",
  },
  "s3.endpoint": {
    type: "site",
    default: "",
    doc: "Address of S3 or of a server with its API, such as https://s3.eu-central-1.amazonaws.com, for images.in_s3 and backup.in_s3.",
  },
  "s3.region": { type: "text", default: "us-east-1", doc: "Region of the bucket." },
  "s3.bucket": { type: "text", default: "", doc: "Name of the bucket." },
  "s3.prefix": {
    type: "text",
    default: "",
    doc: "Beginning of the names of all objects, such as edge/. Each installation needs its own, because it deletes images below it that it does not know.",
  },
  "s3.access_key_id": { type: "text", default: "", doc: "Access key that may read, write, list and delete objects below the prefix." },
  "s3.secret_access_key": { type: "secret", default: "", doc: "Secret of the access key." },
  roles: {
    type: "roles",
    default: ["control", "edge", "nameserver", "gateway"],
    doc: "Roles of this process: control (management API, database and jobs) and the data planes edge, nameserver and gateway. Without control, the process opens no database and serves the last good copy on its disk.",
  },
  insecure_bind: { type: "switch", default: false, doc: "Allow public addresses without TLS or with the unchanged first token." },
  json: { type: "switch", default: false, doc: "Print results as JSON, one object per line." },
} as const satisfies Readonly<Record<string, Key>>;

export type ConfigKeyName = keyof typeof CONFIG_KEYS;
/** The type's value in the loaded configuration. */
export type ConfigValue<K extends ConfigKeyName> = ConfigTypes[(typeof CONFIG_KEYS)[K]["type"]];

type SectionName = ConfigKeyName extends infer K ? (K extends `${infer S}.${string}` ? S : never) : never;

/** The effective configuration: `api.port` of the schema is `config.api.port`. Fully frozen. */
export type Config = { readonly [K in ConfigKeyName as K extends `${string}.${string}` ? never : K]: ConfigValue<K> } & {
  readonly [S in SectionName]: { readonly [K in ConfigKeyName as K extends `${S}.${infer Field}` ? Field : never]: ConfigValue<K> };
};

/** The rows under their common type, for code that treats all keys alike. */
export const CONFIG_ROWS: ReadonlyMap<ConfigKeyName, Key> = new Map(Object.entries(CONFIG_KEYS) as [ConfigKeyName, Key][]);

/** Keys by their former names. */
export const FORMER_KEYS: ReadonlyMap<string, ConfigKeyName> = new Map(
  Array.from(CONFIG_ROWS).flatMap(([key, { formerly }]) => (formerly === undefined ? [] : [[formerly, key] as const])),
);

/** `deprecations.as_of` → `SELVEDGE_DEPRECATIONS_AS_OF`. */
export const variableName = (key: string): string => `SELVEDGE_${key.replaceAll(".", "_").toUpperCase()}`;

/** `api.rate_limit_requests` → `api-rate-limit-requests`. */
export const flagName = (key: ConfigKeyName): string => CONFIG_ROWS.get(key)?.flag ?? defaultFlagName(key);

/** The flag of a key, or of a former name, without a flag name of its row. */
export const defaultFlagName = (key: string): string => key.replace(/[._]/g, "-");

/** A default for help and reference; empty if it needs no mention. */
export const shownDefault = (value: unknown): string =>
  Array.isArray(value) ? value.join(", ") : typeof value === "object" ? "" : String(value);

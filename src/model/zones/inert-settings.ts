import { type TSchema, Type } from "typebox";

/** A setting that the vendor's API has and that has no effect here. Values of `schema` are kept, and `messages` names them. */
export interface InertSetting {
  readonly schema: TSchema;
  /** The value that the edge acts on, shown until another one is sent. */
  readonly value: unknown;
  readonly why: string;
}

const OnOff = Type.Enum(["on", "off"]);

const words = (why: string, value: string, schema: TSchema, ...ids: readonly string[]): Readonly<Record<string, InertSetting>> =>
  Object.fromEntries(ids.map((id) => [id, { schema, value, why }]));

const off = (why: string, ...ids: readonly string[]): Readonly<Record<string, InertSetting>> => words(why, "off", OnOff, ...ids);

export const NO_EARLY_DATA = "Early data (0-RTT) is not supported because it can be replayed (RFC 8446 §8).";
const REWRITING = "The edge does not rewrite response bodies in this way.";
const NO_IMAGES = "The edge does not convert images.";
const NO_CHALLENGE = "This setting does not challenge visitors; use rules that block.";
const ORIGIN_HTTP = "The edge uses HTTP/1.1 to origins.";
const NO_AGENTS = "The edge does not serve pages differently to AI agents.";

/** Values after the vendor's OpenAPI document. */
export const INERT_SETTINGS: Readonly<Record<string, InertSetting>> = {
  ...off(NO_EARLY_DATA, "0rtt"),
  ...off("Routing through other networks is not supported.", "opportunistic_onion", "orange_to_orange"),
  ...off("This product is not available.", "advanced_ddos", "binary_ast", "china_network_enabled", "fonts", "speed_brain"),
  aegis: {
    schema: Type.Object(
      { enabled: Type.Optional(Type.Boolean()), pool_id: Type.Optional(Type.String({ maxLength: 64 })) },
      { additionalProperties: false },
    ),
    value: { enabled: false },
    why: "Connections to origins come from this server's addresses.",
  },
  automatic_platform_optimization: {
    schema: Type.Object(
      {
        enabled: Type.Boolean(),
        cf: Type.Optional(Type.Boolean()),
        wordpress: Type.Optional(Type.Boolean()),
        wp_plugin: Type.Optional(Type.Boolean()),
        cache_by_device_type: Type.Optional(Type.Boolean()),
        hostnames: Type.Optional(Type.Array(Type.String({ maxLength: 253 }), { maxItems: 100 })),
      },
      { additionalProperties: false },
    ),
    value: { enabled: false, cf: false, wordpress: false, wp_plugin: false, cache_by_device_type: false, hostnames: [] },
    why: "Use cache rules for pages of WordPress.",
  },
  ...words("The server never changes the setting ssl by itself.", "custom", Type.Enum(["auto", "custom"]), "ssl_automatic_mode"),
  ...off(REWRITING, "automatic_https_rewrites", "content_converter", "email_obfuscation", "mirage", "replace_insecure_js"),
  ...words(REWRITING, "off", Type.Enum(["on", "off", "manual"]), "rocket_loader"),
  ...words(NO_IMAGES, "off", Type.Enum(["off", "lossless", "lossy"]), "polish"),
  ...words(NO_IMAGES, "off", Type.Enum(["on", "off", "open"]), "image_resizing", "transformations"),
  ...words(NO_IMAGES, "", Type.String({ maxLength: 4096 }), "transformations_allowed_origins"),
  ...off(NO_IMAGES, "webp"),
  ...off(NO_CHALLENGE, "browser_check"),
  ...words(NO_CHALLENGE, "off", Type.Enum(["off", "essentially_off", "low", "medium", "high", "under_attack"]), "security_level"),
  challenge_ttl: { schema: Type.Integer({ minimum: 300, maximum: 31_536_000 }), value: 1800, why: NO_CHALLENGE },
  ...off("The edge serves stale pages of unavailable origins as RFC 9111 allows, without a setting.", "always_online"),
  ...off(
    "The edge does not generate early hints; it forwards 103 responses from the origin.",
    "early_hints",
    "pre_render",
    "prefetch_preload",
  ),
  ...off("Use a rule on the Referer header.", "hotlink_protection"),
  ...off("HTTP/3 is not supported.", "http3"),
  ...words(
    "The edge sends streams in the order in which their data is ready.",
    "off",
    Type.Enum(["on", "off", "custom"]),
    "h2_prioritization",
  ),
  ...words(
    "The edge sends the visitor's address to the origin only in the documented headers.",
    "off",
    Type.Enum(["off", "add_header", "overwrite_header"]),
    "pseudo_ipv4",
  ),
  ...off("The edge sends the visitor's address to the origin only in the documented headers.", "true_client_ip_header", "visitor_ip"),
  ...off("Responses over plain HTTP do not advertise HTTPS; use always_use_https.", "opportunistic_encryption"),
  ...off("The edge streams responses.", "response_buffering"),
  ...off("Certificates are signed with SHA-256.", "sha1_support"),
  ...off("Use min_tls_version and tls_1_3.", "tls_1_2_only"),
  ...off("The edge does not send a client certificate to origins.", "tls_client_auth"),
  ...off("Logs are only on this server; use Logpush.", "log_to_cloudflare", "filter_logs_to_cloudflare"),
  ...off(NO_AGENTS, "redirects_for_ai_training", "search_for_agents", "webmcp_enabled"),
  ...words(NO_AGENTS, "", Type.String({ maxLength: 4096 }), "webmcp_packs"),
  ciphers: {
    schema: Type.Array(Type.String({ maxLength: 64 }), { maxItems: 64 }),
    value: [],
    why: "Every zone uses the cipher suites with forward secrecy and authenticated encryption.",
  },
  ...words("The edge's addresses decide this; a record's settings can limit it to one address family.", "on", OnOff, "ipv6"),
  nel: {
    schema: Type.Object({ enabled: Type.Boolean() }, { additionalProperties: false }),
    value: { enabled: false },
    why: "Network error logging is not supported.",
  },
  ...words("The edge forwards the origin's error responses.", "on", OnOff, "origin_error_page_pass_thru"),
  ...words(ORIGIN_HTTP, "1", Type.Enum(["1", "2"]), "origin_max_http_version"),
  origin_h2_max_streams: { schema: Type.Integer({ minimum: 1, maximum: 1000 }), value: 1, why: ORIGIN_HTTP },
  max_upload: {
    schema: Type.Integer({ minimum: 100, maximum: 1000, description: "Megabytes." }),
    value: 100,
    why: "The edge streams request bodies to the origin; the operator's configuration bounds them.",
  },
  proxy_read_timeout: {
    schema: Type.Union([Type.Number({ minimum: 1, maximum: 6000 }), Type.String({ pattern: "^[1-9][0-9]{0,3}$" })]),
    value: 125,
    why: "The operator's configuration has the timeout of origins.",
  },
  edge_cache_ttl: {
    schema: Type.Integer({ minimum: 30, maximum: 604_800 }),
    value: 7200,
    why: "Use a cache rule.",
  },
};

export const inertSetting = (id: string): InertSetting | undefined => (Object.hasOwn(INERT_SETTINGS, id) ? INERT_SETTINGS[id] : undefined);

import { type Static, type TSchema, Type } from "typebox";

/**
 * Settings of a zone's traffic (contract.md §9), one row each. `EDITABLE_SETTINGS` have an effect at the edge;
 * `FIXED_SETTINGS` are true of every zone and cannot be changed, so that no setting without an effect is stored.
 */
const OnOff = Type.Enum(["on", "off"]);
const YEARS_2_SECONDS = 63_072_000;

const SecurityHeader = Type.Object(
  {
    strict_transport_security: Type.Partial(
      Type.Object(
        {
          enabled: Type.Boolean(),
          max_age: Type.Integer({ minimum: 0, maximum: YEARS_2_SECONDS, description: "Seconds." }),
          include_subdomains: Type.Boolean(),
          preload: Type.Boolean(),
          nosniff: Type.Boolean(),
        },
        { additionalProperties: false },
      ),
    ),
  },
  { additionalProperties: false },
);

const MobileRedirect = Type.Object(
  {
    status: OnOff,
    mobile_subdomain: Type.Union([
      Type.String({ pattern: "^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$", description: "One label, such as m, of a name that exists." }),
      Type.Null(),
    ]),
    strip_uri: Type.Boolean({ description: "Send them to / instead of the same path." }),
  },
  { additionalProperties: false },
);

interface EditableRow<S extends TSchema> {
  readonly schema: S;
  readonly default: Static<S>;
  /** Values of the schema that are not supported here, with the reason. */
  readonly unavailable?: Readonly<Record<string, string>>;
}

const setting = <S extends TSchema>(schema: S, initial: Static<S>, unavailable?: Readonly<Record<string, string>>): EditableRow<S> => ({
  schema,
  default: initial,
  ...(unavailable === undefined ? {} : { unavailable }),
});

const OLD_TLS = "TLS 1.0 and 1.1 are not supported (RFC 8996); min_tls_version can be 1.2 or 1.3.";

export const EDITABLE_SETTINGS = {
  always_use_https: setting(OnOff, "off"),
  /** Deprecated (`ENDED_SETTING_IDS`); values that zones have set stay in effect. */
  brotli: setting(OnOff, "on"),
  browser_cache_ttl: setting(
    Type.Integer({ minimum: 0, maximum: 31_536_000, description: "Seconds; 0 respects the origin's headers." }),
    14_400,
  ),
  cache_level: setting(Type.Enum(["aggressive", "basic", "simplified"]), "aggressive"),
  development_mode: setting(OnOff, "off"),
  http2: setting(OnOff, "on"),
  ip_geolocation: setting(OnOff, "on"),
  /** Which sensitive texts are masked in rows of requests and events (docs/guides/sensitive-data.md); not in the vendor's API. */
  log_masking: setting(Type.Enum(["undoubted", "all", "off"]), "undoubted"),
  min_tls_version: setting(Type.Enum(["1.0", "1.1", "1.2", "1.3"]), "1.2", { "1.0": OLD_TLS, "1.1": OLD_TLS }),
  security_header: setting(SecurityHeader, {
    strict_transport_security: { enabled: false, max_age: 0, include_subdomains: false, preload: false, nosniff: false },
  }),
  /** Deprecated like `brotli`. Visitors with mobile devices are sent from the apex and `www` to a subdomain. */
  mobile_redirect: setting(MobileRedirect, { status: "off", mobile_subdomain: null, strip_uri: false }),
  sort_query_string_for_cache: setting(OnOff, "off"),
  ssl: setting(Type.Enum(["off", "flexible", "full", "strict"]), "flexible"),
  tls_1_3: setting(Type.Enum(["on", "off", "zrt"]), "on", {
    zrt: "Early data (0-RTT) is not supported because it can be replayed (RFC 8446 §8); tls_1_3 can be on or off.",
  }),
  /** The previous WAF (docs/guides/waf-migration.md). */
  waf: setting(OnOff, "off"),
  websockets: setting(OnOff, "on"),
} as const;

export type EditableSettingId = keyof typeof EDITABLE_SETTINGS;
export type SettingValue<K extends EditableSettingId> = Static<(typeof EDITABLE_SETTINGS)[K]["schema"]>;

/** Stored in `zones.edge_settings`: explicitly set values with their times; absent ones have their default. */
export type ChosenZoneSettings = {
  readonly [K in EditableSettingId]?: { readonly value: SettingValue<K>; readonly modified_on: string };
};

/** Duration of development mode. */
export const DEVELOPMENT_MODE_MS = 3 * 3_600_000;

/** A setting with a fixed value, and the reason why it cannot be changed. */
export interface FixedSetting {
  readonly value: unknown;
  readonly why: string;
}

const off = (why: string, ...ids: readonly string[]): Readonly<Record<string, FixedSetting>> =>
  Object.fromEntries(ids.map((id) => [id, { value: "off", why }]));

const REWRITING = "The edge does not rewrite response bodies.";
const NO_CHALLENGE = "This setting does not challenge visitors; use rules that block.";

export const FIXED_SETTINGS: Readonly<Record<string, FixedSetting>> = {
  ...off("Early data is not supported because it can be replayed (RFC 8446 §8).", "0rtt"),
  ...off("Routing through other networks is not supported.", "opportunistic_onion", "orange_to_orange"),
  ...off("This product is not available.", "advanced_ddos", "china_network_enabled"),
  ...off(
    REWRITING,
    "automatic_https_rewrites",
    "email_obfuscation",
    "image_resizing",
    "mirage",
    "polish",
    "replace_insecure_js",
    "rocket_loader",
    "webp",
  ),
  ...off(NO_CHALLENGE, "browser_check", "security_level"),
  challenge_ttl: { value: 1800, why: NO_CHALLENGE },
  ...off("The edge serves stale pages of unavailable origins as RFC 9111 allows, without a setting.", "always_online"),
  ...off("The edge does not generate early hints; it forwards 103 responses from the origin.", "early_hints", "prefetch_preload"),
  ...off("Use a rule on the Referer header.", "hotlink_protection"),
  ...off("HTTP/3 is not supported.", "http3"),
  ...off("The edge sends streams in the order in which their data is ready.", "h2_prioritization"),
  ...off("The edge sends the visitor's address to the origin only in the documented headers.", "pseudo_ipv4", "true_client_ip_header"),
  ...off("Responses over plain HTTP do not advertise HTTPS; use always_use_https.", "opportunistic_encryption"),
  ...off("The edge streams responses.", "response_buffering"),
  ...off("Certificates are signed with SHA-256.", "sha1_support"),
  ...off("Use min_tls_version and tls_1_3.", "tls_1_2_only"),
  ...off("The edge does not send a client certificate to origins.", "tls_client_auth"),
  ciphers: { value: [], why: "Every zone uses the cipher suites with forward secrecy and authenticated encryption." },
  ipv6: { value: "on", why: "The edge's addresses decide this; a record's settings can limit it to one address family." },
  nel: { value: { enabled: false }, why: "Network error logging is not supported." },
  origin_error_page_pass_thru: { value: "on", why: "The edge forwards the origin's error responses." },
  origin_max_http_version: { value: "1", why: "The edge uses HTTP/1.1 to origins." },
};

/** Deprecated settings without an effect here, as shown until their end date in `deprecations/table.ts`. */
export const ENDED_SETTINGS: Readonly<Record<string, FixedSetting>> = {
  minify: { value: { css: "off", html: "off", js: "off" }, why: REWRITING },
  ...off(NO_CHALLENGE, "privacy_pass"),
  ...off(REWRITING, "server_side_exclude"),
};

/** All deprecated settings except `cname_flattening`. */
export const ENDED_SETTING_IDS: readonly string[] = ["brotli", "mobile_redirect", ...Object.keys(ENDED_SETTINGS)];

/** An older name for a DNS setting, whose value is `flatten_all_cnames` (SPEC 9, 2025-03-21). */
export const CNAME_FLATTENING_ID = "cname_flattening";
export const CnameFlattening = Type.Enum(["on", "apex", "off", "flatten_all", "flatten_at_root"]);

/** A setting in responses. */
export const ZoneSetting = Type.Object({
  id: Type.String({ maxLength: 64 }),
  value: Type.Unknown({ description: "The value that the guide describes for the setting." }),
  editable: Type.Boolean(),
  modified_on: Type.Union([Type.String({ format: "date-time" }), Type.Null()]),
  time_remaining: Type.Optional(Type.Integer({ description: "Seconds until development mode ends." })),
});
export type ZoneSetting = Static<typeof ZoneSetting>;

export const ZoneSettingEdit = Type.Object({ value: Type.Unknown() });
export type ZoneSettingEdit = Static<typeof ZoneSettingEdit>;

export const ZoneSettingsEdit = Type.Object({
  items: Type.Array(Type.Object({ id: Type.String({ maxLength: 64 }), value: Type.Unknown() }), { minItems: 1, maxItems: 100 }),
});
export type ZoneSettingsEdit = Static<typeof ZoneSettingsEdit>;

/** When development mode ends, in milliseconds since the epoch; 0 if it is off. */
export const developmentModeUntilMs = ({ development_mode: mode }: ChosenZoneSettings): number =>
  mode?.value === "on" ? Date.parse(mode.modified_on) + DEVELOPMENT_MODE_MS : 0;

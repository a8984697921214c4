import { PAGE_SHIELD_OFF, PageShieldFlags } from "./page-shield.ts";
import { type Static, type TSchema, Type } from "typebox";
import { documented } from "#model/documented.ts";
import { UrlNormalization } from "./url-normalization.ts";
import { INERT_SETTINGS, NO_EARLY_DATA } from "./inert-settings.ts";

/** Settings of a zone's traffic (contract.md §9) that have an effect at the edge, one row each; `inert-settings.ts` has the others. */
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
      Type.String({
        pattern: "^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?)?$",
        description: "One label, such as m, of a name that exists. Empty: none, as null.",
      }),
      Type.Null(),
    ]),
    strip_uri: Type.Boolean({ description: "Send them to / instead of the same path." }),
  },
  { additionalProperties: false },
);

interface EditableRow<S extends TSchema> {
  readonly schema: S;
  readonly default: Static<S>;
  /** Values that have the effect of another one, with the reason. */
  readonly acts_as?: Readonly<Record<string, ActsAs>>;
}

interface ActsAs {
  readonly value: string;
  readonly why: string;
}

const setting = <S extends TSchema>(schema: S, initial: Static<S>, acts_as?: Readonly<Record<string, ActsAs>>): EditableRow<S> => ({
  schema,
  default: initial,
  ...(acts_as === undefined ? {} : { acts_as }),
});

const OLD_TLS = { value: "1.2", why: "TLS 1.0 and 1.1 are not supported (RFC 8996)." };

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
  /** With its own paths in the API, `page_shield`. */
  page_shield: setting(PageShieldFlags, PAGE_SHIELD_OFF),
  /** Deprecated like `brotli`. A passed challenge counts at every address of the visitor's browser. */
  privacy_pass: setting(OnOff, "off"),
  security_header: setting(SecurityHeader, {
    strict_transport_security: { enabled: false, max_age: 0, include_subdomains: false, preload: false, nosniff: false },
  }),
  /** Deprecated like `brotli`. Bodies in the cache are sent without white space and comments that mean nothing. */
  minify: setting(Type.Object({ css: OnOff, html: OnOff, js: OnOff }, { additionalProperties: false }), {
    css: "off",
    html: "off",
    js: "off",
  }),
  /** Deprecated like `brotli`. Visitors with mobile devices are sent from the apex and `www` to a subdomain. */
  mobile_redirect: setting(MobileRedirect, { status: "off", mobile_subdomain: null, strip_uri: false }),
  /** Deprecated like `brotli`. Suspicious visitors get pages without their marked parts. */
  server_side_exclude: setting(OnOff, "off"),
  sort_query_string_for_cache: setting(OnOff, "off"),
  ssl: setting(Type.Enum(["off", "flexible", "full", "strict"]), "flexible"),
  tls_1_3: setting(Type.Enum(["on", "off", "zrt"]), "on", {
    zrt: { value: "on", why: NO_EARLY_DATA },
  }),
  /** With its own path in the API, `url_normalization`. */
  url_normalization: setting(UrlNormalization, { scope: "incoming", type: "cloudflare" }),
  /** The previous WAF (docs/guides/waf-migration.md). */
  waf: setting(OnOff, "off"),
  websockets: setting(OnOff, "on"),
} as const;

export type EditableSettingId = keyof typeof EDITABLE_SETTINGS;
export type SettingValue<K extends EditableSettingId> = Static<(typeof EDITABLE_SETTINGS)[K]["schema"]>;

interface Chosen<V> {
  readonly value: V;
  readonly modified_on: string;
}

/** Explicitly set values with their times; absent ones have their default. */
export type ChosenZoneSettings = { readonly [K in EditableSettingId]?: Chosen<SettingValue<K>> };

/** `zones.edge_settings`. */
export type StoredZoneSettings = ChosenZoneSettings & {
  /** Settings without an effect, by id, as they were sent. */
  readonly inert?: Readonly<Record<string, Chosen<unknown>>>;
};

/** Duration of development mode. */
export const DEVELOPMENT_MODE_MS = 3 * 3_600_000;

/** All deprecated settings except `cname_flattening`. */
export const ENDED_SETTING_IDS: readonly string[] = ["brotli", "minify", "mobile_redirect", "server_side_exclude", "privacy_pass"];

/** An older name for a DNS setting, whose value is `flatten_all_cnames` (SPEC 9, 2025-03-21). */
export const CNAME_FLATTENING_ID = "cname_flattening";
export const CnameFlattening = Type.Enum(["on", "apex", "off", "flatten_all", "flatten_at_root", "flatten_none"]);

const SCHEMAS: ReadonlyMap<string, TSchema> = new Map([
  ...[EDITABLE_SETTINGS, INERT_SETTINGS].flatMap((table) =>
    Object.entries(table).map(([id, { schema }]): [string, TSchema] => [id, schema]),
  ),
  [CNAME_FLATTENING_ID, CnameFlattening],
]);
const AnyValue = Type.Union([Type.String(), Type.Number(), Type.Array(Type.String()), Type.Object({})]);
const Value = documented(AnyValue, "The value that the guide describes for the setting.");

/** A setting in responses. */
export const ZoneSetting = Type.Object({
  id: Type.String({ maxLength: 64 }),
  value: Value,
  editable: Type.Boolean(),
  modified_on: Type.Union([Type.String({ format: "date-time" }), Type.Null()]),
  time_remaining: Type.Optional(Type.Integer({ description: "Seconds until development mode ends." })),
  note: Type.Optional(Type.String({ description: "Present if the value is kept without its effect: the reason." })),
});
export type ZoneSetting = Static<typeof ZoneSetting>;

export const ZoneSettingEdit = Type.Object({ value: Value });
export type ZoneSettingEdit = Static<typeof ZoneSettingEdit>;

/** The body for one setting. */
export const zoneSettingEdit = (id: string): typeof ZoneSettingEdit => Type.Object({ value: documented(SCHEMAS.get(id) ?? AnyValue) });

export const ZoneSettingsEdit = Type.Object({
  items: Type.Array(Type.Object({ id: Type.String({ maxLength: 64 }), value: Value }), { minItems: 1, maxItems: 100 }),
});
export type ZoneSettingsEdit = Static<typeof ZoneSettingsEdit>;

/** When development mode ends, in milliseconds since the epoch; 0 if it is off. */
export const developmentModeUntilMs = ({ development_mode: mode }: ChosenZoneSettings): number =>
  mode?.value === "on" ? Date.parse(mode.modified_on) + DEVELOPMENT_MODE_MS : 0;

import { type Static, Type } from "typebox";

/** Page Shield: the scripts that a zone's pages load, the connections that they open, and the cookies that pages set. */

const FLAGS = {
  enabled: Type.Boolean({ description: "Whether browsers report what pages load." }),
  use_cloudflare_reporting_endpoint: Type.Boolean({ description: "Kept without an effect: browsers report to the page's own name." }),
  use_connection_url_path: Type.Boolean({ description: "Whether connections are kept with the path of their URL." }),
};

export const PageShieldSettings = Type.Object({ ...FLAGS, updated_at: Type.String({ format: "date-time" }) });
export type PageShieldSettings = Static<typeof PageShieldSettings>;

/** The zone setting in which the flags are stored. */
export const PageShieldFlags = Type.Object(FLAGS, { additionalProperties: false });
export type PageShieldFlags = Static<typeof PageShieldFlags>;
export const PAGE_SHIELD_OFF: PageShieldFlags = {
  enabled: false,
  use_cloudflare_reporting_endpoint: false,
  use_connection_url_path: false,
};

export const PageShieldUpdate = Type.Partial(Type.Object(FLAGS));
export type PageShieldUpdate = Static<typeof PageShieldUpdate>;

const Time = Type.String({ format: "date-time" });
const Urls = Type.Array(Type.String(), { description: "Up to 10 pages, the most recent one first, without their queries." });
const seen = { first_seen_at: Time, last_seen_at: Time, page_urls: Urls };
const resource = {
  id: Type.String({ maxLength: 32 }),
  url: Type.String({ description: "Without its query." }),
  host: Type.String(),
  url_contains_cdn_cgi_path: Type.Boolean(),
  added_at: Time,
  first_page_url: Type.String(),
  ...seen,
};

const Hash = Type.Union([Type.String({ minLength: 64, maxLength: 64 }), Type.Null()], {
  description: "SHA-256 of the script, hexadecimal; null until control has fetched it.",
});
const FetchedAt = Type.Union([Time, Type.Null()]);

export const PageScript = Type.Object({ ...resource, hash: Hash, fetched_at: FetchedAt });
export type PageScript = Static<typeof PageScript>;

/** With the versions of its content, the newest first. */
export const PageScriptDetails = Type.Object({
  ...PageScript.properties,
  versions: Type.Array(Type.Object({ hash: Hash, fetched_at: FetchedAt })),
});
export type PageScriptDetails = Static<typeof PageScriptDetails>;

export const PageConnection = Type.Object(resource);
export type PageConnection = Static<typeof PageConnection>;

const SameSite = Type.Enum(["lax", "strict", "none"]);

/** A cookie that a response has set; never its value. */
export const PageCookie = Type.Object({
  id: Type.String({ maxLength: 32 }),
  type: Type.Enum(["first_party", "unknown"]),
  name: Type.String(),
  host: Type.String(),
  ...seen,
  domain_attribute: Type.Optional(Type.String()),
  path_attribute: Type.Optional(Type.String()),
  expires_attribute: Type.Optional(Time),
  max_age_attribute: Type.Optional(Type.Integer()),
  secure_attribute: Type.Boolean(),
  http_only_attribute: Type.Boolean(),
  same_site_attribute: Type.Optional(SameSite),
});
export type PageCookie = Static<typeof PageCookie>;

const order = {
  order_by: Type.Optional(Type.Enum(["first_seen_at", "last_seen_at"])),
  direction: Type.Optional(Type.Enum(["asc", "desc"])),
  hosts: Type.Optional(Type.String({ maxLength: 4096, description: "Host names, separated by commas; `*` at either end." })),
  page_url: Type.Optional(Type.String({ maxLength: 4096, description: "Pages, separated by commas; `*` at either end." })),
};

export const PageResourceQuery = Type.Object({
  ...order,
  urls: Type.Optional(Type.String({ maxLength: 4096, description: "Parts of URLs, percent-encoded and separated by commas." })),
  exclude_urls: Type.Optional(Type.String({ maxLength: 4096 })),
  exclude_cdn_cgi: Type.Optional(Type.Boolean({ description: "Default true." })),
  exclude_duplicates: Type.Optional(Type.Boolean({ description: "Scripts with the same content and host occur once." })),
  status: Type.Optional(
    Type.String({
      maxLength: 64,
      pattern: "^(active|infrequent|inactive)(,(active|infrequent|inactive))*$",
      description: "`active` (the default): seen within 7 days. `infrequent`: within 30 days. `inactive`: longer ago. Several with commas.",
    }),
  ),
});
export type PageResourceQuery = Static<typeof PageResourceQuery>;

export const PageCookieQuery = Type.Object({
  ...order,
  name: Type.Optional(Type.String({ maxLength: 1024, description: "`*` at either end." })),
  secure: Type.Optional(Type.Boolean()),
  http_only: Type.Optional(Type.Boolean()),
  same_site: Type.Optional(SameSite),
  type: Type.Optional(Type.Enum(["first_party", "unknown"])),
  path: Type.Optional(Type.String({ maxLength: 1024 })),
  domain: Type.Optional(Type.String({ maxLength: 1024 })),
});
export type PageCookieQuery = Static<typeof PageCookieQuery>;

import { documented } from "#model/documented.ts";
import { Type, type Static } from "typebox";

const Uuid = Type.String({ format: "uuid" });
const Text = Type.String({ maxLength: 2048 });
const Uri = Type.String({ minLength: 1, maxLength: 2048, description: "A host name with an optional path: app.example.com/admin" });
const Texts = (maxItems: number) => Type.Array(Text, { maxItems });
const Time = Type.String({ format: "date-time" });

/** The resource that an application protects (SPEC 2.8). */
const Destination = Type.Union([
  Type.Object({ type: Type.Optional(Type.Literal("public", { default: "public" })), uri: Uri }),
  Type.Object({
    type: Type.Literal("private"),
    cidr: Type.Optional(Type.String({ maxLength: 64 })),
    hostname: Type.Optional(Type.String({ maxLength: 253 })),
    l4_protocol: Type.Optional(Type.Enum(["tcp", "udp"])),
    port_range: Type.Optional(Type.String({ pattern: "^[0-9]{1,5}(-[0-9]{1,5})?$" })),
    vnet_id: Type.Optional(Uuid),
  }),
  Type.Object({ type: Type.Literal("via_mcp_server_portal"), mcp_server_id: Type.String({ minLength: 1, maxLength: 64 }) }),
  Type.Object({ type: Type.Enum(["worker", "preview_worker"]), worker_id: Type.String({ minLength: 1, maxLength: 64 }) }),
  Type.Object({ type: Type.Enum(["all_workers", "all_preview_workers"]) }),
]);
export type AccessDestination = Static<typeof Destination>;

/** The supported types, with the fields that each requires. */
export const ACCESS_APP_NEEDS = {
  self_hosted: ["destinations"],
  ssh: ["destinations"],
  vnc: ["destinations"],
  rdp: ["destinations", "target_criteria"],
  bookmark: ["domain"],
  app_launcher: [],
  warp: [],
  biso: [],
  proxy_endpoint: [],
  mcp: [],
  mcp_portal: ["destinations"],
} as const satisfies Readonly<Record<string, readonly string[]>>;
export type AccessAppType = keyof typeof ACCESS_APP_NEEDS;

/** Types that clients know but that this server does not support. */
const UNAVAILABLE_TYPES = ["saas", "dash_sso", "infrastructure"] as const;

const Methods = Type.Array(Type.Enum(["GET", "POST", "HEAD", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"]), { maxItems: 9 });
const Cors = Type.Object({
  allow_all_headers: Type.Optional(Type.Boolean()),
  allow_all_methods: Type.Optional(Type.Boolean()),
  allow_all_origins: Type.Optional(Type.Boolean()),
  allow_credentials: Type.Optional(Type.Boolean()),
  allowed_headers: Type.Optional(Texts(64)),
  allowed_methods: Type.Optional(Methods),
  allowed_origins: Type.Optional(Texts(64)),
  max_age: Type.Optional(Type.Number({ minimum: -1, maximum: 86_400 })),
});
const Link = Type.Object({ name: Text, url: Text });
const LandingPage = Type.Object({
  button_color: Type.Optional(Text),
  button_text_color: Type.Optional(Text),
  image_url: Type.Optional(Text),
  message: Type.Optional(Text),
  title: Type.Optional(Text),
});
const Target = Type.Object({
  port: Type.Integer({ minimum: 1, maximum: 65_535 }),
  protocol: Type.Enum(["RDP", "SSH"]),
  target_attributes: Type.Record(Type.String({ maxLength: 128 }), Texts(64), { maxProperties: 64 }),
});

/** The type determines which of these fields have an effect. */
const FIELDS = {
  name: Type.String({ maxLength: 256 }),
  domain: Uri,
  destinations: Type.Array(Destination, { maxItems: 100 }),
  allowed_idps: Type.Array(Uuid, { maxItems: 100 }),
  app_launcher_visible: Type.Boolean({ default: true }),
  auto_redirect_to_identity: Type.Boolean({ default: false }),
  allow_authenticate_via_warp: Type.Boolean(),
  allow_iframe: Type.Boolean(),
  cors_headers: Cors,
  custom_deny_message: Text,
  custom_deny_url: Text,
  custom_non_identity_deny_url: Text,
  custom_pages: Texts(64),
  eager_redirect_cookie_setting: Type.Boolean({ default: true }),
  enable_binding_cookie: Type.Boolean({ default: false }),
  http_only_cookie_attribute: Type.Boolean({ default: true }),
  logo_url: Text,
  options_preflight_bypass: Type.Boolean(),
  path_cookie_attribute: Type.Boolean({ default: false }),
  read_service_tokens_from_header: Type.String({ maxLength: 128 }),
  same_site_cookie_attribute: Type.Enum(["none", "lax", "strict", ""]),
  service_auth_401_redirect: Type.Boolean(),
  session_duration: Type.String({ pattern: "^(0|([0-9]+(\\.[0-9]+)?(ns|us|µs|ms|s|m|h))+)$", maxLength: 32, default: "24h" }),
  skip_interstitial: Type.Boolean(),
  tags: Type.Array(Type.String({ minLength: 1, maxLength: 64 }), { maxItems: 25 }),
  use_clientless_isolation_app_launcher_url: Type.Boolean({ default: false }),
  target_criteria: Type.Array(Target, { maxItems: 64 }),
  app_launcher_logo_url: Text,
  bg_color: Text,
  footer_links: Type.Array(Link, { maxItems: 64 }),
  header_bg_color: Text,
  landing_page_design: LandingPage,
  skip_app_launcher_login_page: Type.Boolean({ default: false }),
};
export type AccessAppField = keyof typeof FIELDS;
export const ACCESS_APP_FIELDS = Object.keys(FIELDS) as readonly AccessAppField[];

/** Fields that are refused because they would have no effect: identity providers, policies and directories are not supported. */
export const UNAVAILABLE_ACCESS_FIELDS = ["policies", "saas_app", "scim_config", "mfa_config", "oauth_configuration"] as const;

/** Defaults of fields that a write omits, for these types. */
const WEB = {
  app_launcher_visible: true,
  auto_redirect_to_identity: false,
  eager_redirect_cookie_setting: true,
  enable_binding_cookie: false,
  http_only_cookie_attribute: true,
  path_cookie_attribute: false,
  session_duration: "24h",
  allowed_idps: [],
  tags: [],
} as const;
const SESSION = { auto_redirect_to_identity: false, session_duration: "24h", allowed_idps: [] } as const;
export const ACCESS_APP_DEFAULTS: Readonly<Record<AccessAppType, Readonly<Record<string, unknown>>>> = {
  ...{ self_hosted: WEB, ssh: WEB, vnc: WEB, rdp: WEB },
  ...{ app_launcher: SESSION, warp: SESSION, biso: SESSION, proxy_endpoint: SESSION },
  ...{ mcp: { ...SESSION, tags: [] }, mcp_portal: { ...SESSION, tags: [] } },
  bookmark: { app_launcher_visible: true, tags: [] },
};

const Kind = Type.Enum([...Object.keys(ACCESS_APP_NEEDS), ...UNAVAILABLE_TYPES]);
const Fields = Type.Partial(Type.Object(FIELDS));

const Unavailable = Type.Union([Type.Object({}), Type.Array(Type.Object({}))], { description: "Not available." });

/** Body of creation and replacement. */
export const AccessAppWrite = Type.Object({
  type: Kind,
  ...Fields.properties,
  ...Object.fromEntries(UNAVAILABLE_ACCESS_FIELDS.map((field) => [field, Type.Optional(documented(Unavailable))])),
});
export type AccessAppWrite = Static<typeof Fields> & { readonly type: string };

export const AccessApp = Type.Object({
  id: Uuid,
  aud: Type.String({ pattern: "^[0-9a-f]{64}$" }),
  type: Kind,
  ...Fields.properties,
  policies: Type.Array(Type.Object({}), { maxItems: 0 }),
  created_at: Time,
  updated_at: Time,
});
export type AccessApp = Static<typeof Fields> &
  Pick<Static<typeof AccessApp>, "id" | "aud" | "policies" | "created_at" | "updated_at"> & {
    readonly type: string;
  };

export const AccessAppQuery = Type.Object({
  name: Type.Optional(Text),
  domain: Type.Optional(Text),
  aud: Type.Optional(Text),
  exact: Type.Optional(Type.Boolean({ description: "Match name and domain exactly, not as substrings." })),
  search: Type.Optional(Text),
});
export type AccessAppQuery = Static<typeof AccessAppQuery>;

/** A bookmark application in the format of the former bookmarks API. */
export const AccessBookmarkWrite = Type.Object({
  name: Type.Optional(Type.String({ maxLength: 256 })),
  domain: Uri,
  logo_url: Type.Optional(Text),
  app_launcher_visible: Type.Optional(Type.Boolean()),
});
export type AccessBookmarkWrite = Static<typeof AccessBookmarkWrite>;
export const AccessBookmark = Type.Object({ id: Uuid, ...AccessBookmarkWrite.properties, created_at: Time, updated_at: Time });
export type AccessBookmark = Static<typeof AccessBookmark>;

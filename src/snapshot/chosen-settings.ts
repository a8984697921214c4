import {
  type ChosenZoneSettings,
  DEVELOPMENT_MODE_MS,
  developmentModeUntilMs,
  type EditableSettingId,
  type SettingValue,
} from "#model/zones/zone-settings.ts";
import { PAGE_SHIELD_OFF } from "#model/zones/page-shield.ts";
import { EDGE_SETTINGS_DEFAULTS, type EdgeSettings } from "./edge-settings.ts";

/** The edge settings of each zone setting; the type makes a setting without a mapping an error. */
const BECOMES: { readonly [K in EditableSettingId]: (value: SettingValue<K>, chosen: ChosenZoneSettings) => Partial<EdgeSettings> } = {
  always_use_https: (value) => ({ always_use_https: value === "on" }),
  brotli: (value) => ({ brotli: value === "on" }),
  browser_cache_ttl: (value) => ({ browser_cache_ttl: value }),
  cache_level: (value) => ({ cache_level: value }),
  development_mode: (_, chosen) => ({ development_mode_until_ms: developmentModeUntilMs(chosen) }),
  http2: (value) => ({ http2: value === "on" }),
  ip_geolocation: (value) => ({ ip_geolocation: value === "on" }),
  log_masking: (value) => ({ log_masking: value }),
  min_tls_version: (value) => ({ min_tls_version: value === "1.3" ? value : "1.2" }),
  minify: ({ css, html, js }) => ({
    minify: [css, html, js].includes("on") ? { css: css === "on", html: html === "on", js: js === "on" } : null,
  }),
  mobile_redirect: ({ status, mobile_subdomain, strip_uri }) => ({
    mobile_redirect:
      status === "on" && mobile_subdomain !== null && mobile_subdomain !== "" ? { subdomain: mobile_subdomain, strip_uri } : null,
  }),
  page_shield: ({ enabled, use_connection_url_path }) => ({
    page_shield: enabled ? { connection_paths: use_connection_url_path } : null,
  }),
  privacy_pass: (value) => ({ privacy_pass: value === "on" }),
  security_header: (value) => ({
    security_header: { ...EDGE_SETTINGS_DEFAULTS.security_header, ...value.strict_transport_security },
  }),
  server_side_exclude: (value) => ({ server_side_exclude: value === "on" }),
  sort_query_string_for_cache: (value) => ({ sort_query_string_for_cache: value === "on" }),
  ssl: (value) => ({ ssl: value }),
  tls_1_3: (value) => ({ tls_1_3: value !== "off" }),
  url_normalization: ({ scope, type }) => ({ url_normalization: { scope, type } }),
  // It turns on rules, which are separate entries.
  waf: () => ({}),
  websockets: (value) => ({ websockets: value === "on" }),
};

/** The settings that differ from the defaults, or null if none does. `column` is `zones.edge_settings`. */
export function edgeSettings(column: string): Partial<EdgeSettings> | null {
  // Most zones have chosen no settings.
  if (column === "{}") return null;
  const chosen = JSON.parse(column) as ChosenZoneSettings;
  const ids = Object.keys(chosen).filter((id): id is EditableSettingId => id !== "inert");
  const becomes = Object.assign({}, ...ids.map((id) => becomesOf(id, chosen))) as Partial<EdgeSettings>;
  const different = Object.entries(becomes).filter(
    ([field, value]) => JSON.stringify(value) !== JSON.stringify(EDGE_SETTINGS_DEFAULTS[field as keyof EdgeSettings]),
  );
  return different.length === 0 ? null : Object.fromEntries(different);
}

function becomesOf<K extends EditableSettingId>(id: K, chosen: ChosenZoneSettings): Partial<EdgeSettings> {
  const stored = chosen[id];
  return stored === undefined ? {} : BECOMES[id](stored.value, chosen);
}

const onOff = (isOn: boolean): "on" | "off" => (isOn ? "on" : "off");

/** The setting that each field comes from; the type makes a field without one an error. */
const COMES_FROM: { readonly [F in keyof EdgeSettings]: (value: EdgeSettings[F], modified_on: string) => ChosenZoneSettings } = {
  always_use_https: (value, modified_on) => ({ always_use_https: { value: onOff(value), modified_on } }),
  brotli: (value, modified_on) => ({ brotli: { value: onOff(value), modified_on } }),
  browser_cache_ttl: (value, modified_on) => ({ browser_cache_ttl: { value, modified_on } }),
  cache_level: (value, modified_on) => ({ cache_level: { value, modified_on } }),
  // The stored time is when it began.
  development_mode_until_ms: (value) => ({
    development_mode: { value: "on", modified_on: new Date(value - DEVELOPMENT_MODE_MS).toISOString() },
  }),
  http2: (value, modified_on) => ({ http2: { value: onOff(value), modified_on } }),
  ip_geolocation: (value, modified_on) => ({ ip_geolocation: { value: onOff(value), modified_on } }),
  log_masking: (value, modified_on) => ({ log_masking: { value, modified_on } }),
  min_tls_version: (value, modified_on) => ({ min_tls_version: { value, modified_on } }),
  minify: (value, modified_on) => ({
    minify: { value: { css: onOff(value?.css ?? false), html: onOff(value?.html ?? false), js: onOff(value?.js ?? false) }, modified_on },
  }),
  mobile_redirect: (value, modified_on) => ({
    mobile_redirect: {
      value: { status: onOff(value !== null), mobile_subdomain: value?.subdomain ?? null, strip_uri: value?.strip_uri ?? false },
      modified_on,
    },
  }),
  page_shield: (value, modified_on) => ({
    page_shield: {
      value: { ...PAGE_SHIELD_OFF, enabled: value !== null, use_connection_url_path: value?.connection_paths ?? false },
      modified_on,
    },
  }),
  privacy_pass: (value, modified_on) => ({ privacy_pass: { value: onOff(value), modified_on } }),
  security_header: (value, modified_on) => ({ security_header: { value: { strict_transport_security: value }, modified_on } }),
  server_side_exclude: (value, modified_on) => ({ server_side_exclude: { value: onOff(value), modified_on } }),
  sort_query_string_for_cache: (value, modified_on) => ({ sort_query_string_for_cache: { value: onOff(value), modified_on } }),
  ssl: (value, modified_on) => ({ ssl: { value, modified_on } }),
  tls_1_3: (value, modified_on) => ({ tls_1_3: { value: onOff(value), modified_on } }),
  url_normalization: (value, modified_on) => ({ url_normalization: { value, modified_on } }),
  websockets: (value, modified_on) => ({ websockets: { value: onOff(value), modified_on } }),
};

/** Settings that become these fields: the reverse of `edgeSettings`. */
export const chosenSettings = (edge: Partial<EdgeSettings>, modifiedOn: string): ChosenZoneSettings =>
  Object.assign({}, ...(Object.keys(edge) as (keyof EdgeSettings)[]).map((field) => chosenFor(field, edge, modifiedOn)));

function chosenFor<F extends keyof EdgeSettings>(field: F, edge: Partial<EdgeSettings>, modifiedOn: string): ChosenZoneSettings {
  const value = edge[field];
  return value === undefined ? {} : COMES_FROM[field](value as EdgeSettings[F], modifiedOn);
}

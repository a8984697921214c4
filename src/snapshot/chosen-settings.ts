import { type ChosenZoneSettings, developmentModeUntilMs, type EditableSettingId, type SettingValue } from "#model/zones/zone-settings.ts";
import { EDGE_SETTINGS_DEFAULTS, type EdgeSettings } from "./edge-settings.ts";

/** What each setting becomes at the edge; the type makes a setting without a meaning an error. */
const BECOMES: { readonly [K in EditableSettingId]: (value: SettingValue<K>, chosen: ChosenZoneSettings) => Partial<EdgeSettings> } = {
  always_use_https: (value) => ({ always_use_https: value === "on" }),
  brotli: (value) => ({ brotli: value === "on" }),
  browser_cache_ttl: (value) => ({ browser_cache_ttl: value }),
  cache_level: (value) => ({ cache_level: value }),
  development_mode: (_, chosen) => ({ development_mode_until_ms: developmentModeUntilMs(chosen) }),
  http2: (value) => ({ http2: value === "on" }),
  ip_geolocation: (value) => ({ ip_geolocation: value === "on" }),
  log_masking: (value) => ({ log_masking: value }),
  min_tls_version: (value) => ({ min_tls_version: value }),
  security_header: (value) => ({
    security_header: { ...EDGE_SETTINGS_DEFAULTS.security_header, ...value.strict_transport_security },
  }),
  sort_query_string_for_cache: (value) => ({ sort_query_string_for_cache: value === "on" }),
  ssl: (value) => ({ ssl: value }),
  tls_1_3: (value) => ({ tls_1_3: value !== "off" }),
  // What it turns on are rules.
  waf: () => ({}),
  websockets: (value) => ({ websockets: value === "on" }),
};

/** What differs from the defaults, or null where nothing does. `column` is `zones.edge_settings`. */
export function edgeSettings(column: string): Partial<EdgeSettings> | null {
  // Most zones have chosen nothing.
  if (column === "{}") return null;
  const chosen = JSON.parse(column) as ChosenZoneSettings;
  const ids = Object.keys(chosen) as EditableSettingId[];
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

import type { TSchema } from "typebox";
import { Compile } from "typebox/schema";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { ZoneSettings as DnsSettings } from "#model/dns/dns-settings.ts";
import {
  CNAME_FLATTENING_ID,
  CnameFlattening,
  EDITABLE_SETTINGS,
  type EditableSettingId,
  type StoredZoneSettings,
} from "#model/zones/zone-settings.ts";
import { inertSetting } from "#model/zones/inert-settings.ts";
import { chosenIn, flattensAll, isEditable, type SettingColumns } from "#control/open-zone/setting-views.ts";

/** One change, and its location in the body; empty if the path names the setting. */
export interface SettingChange {
  readonly id: string;
  readonly value: unknown;
  readonly pointer: string;
}

type Columns = { -readonly [K in keyof SettingColumns]?: SettingColumns[K] };

/** The changed columns, empty if nothing changes. Throws the errors of `ZoneSettings.edit`. */
export function changedColumns(row: SettingColumns, changes: readonly SettingChange[], now: string): Columns {
  const chosen = changes.reduce((settings, change) => choose(settings, change, now), chosenIn(row));
  checkTogether(chosen);
  const edge_settings = JSON.stringify(chosen);
  const flattening = changes.find(({ id }) => id === CNAME_FLATTENING_ID);
  const flatten = flattening === undefined ? flattensAll(row) : flattening.value === "on" || flattening.value === "flatten_all";
  return {
    ...(edge_settings === row.edge_settings ? {} : { edge_settings }),
    ...(flatten === flattensAll(row)
      ? {}
      : { settings: JSON.stringify({ ...(JSON.parse(row.settings) as DnsSettings), flatten_all_cnames: flatten }) }),
  };
}

const CHECKS = new Map<string, (value: unknown) => boolean>();

function fits(id: string, schema: TSchema, value: unknown): boolean {
  let check = CHECKS.get(id);
  if (check === undefined) {
    const compiled = Compile(schema);
    CHECKS.set(id, (check = (candidate) => compiled.Check(candidate)));
  }
  return check(value);
}

function choose(chosen: StoredZoneSettings, { id, value, pointer }: SettingChange, now: string): StoredZoneSettings {
  const source = `${pointer}/value`;
  if (id === CNAME_FLATTENING_ID) {
    if (!fits(id, CnameFlattening, value)) throw invalid(id, source);
    return chosen;
  }
  if (isEditable(id)) return chooseEditable(chosen, id, value, source, now);
  const inert = inertSetting(id);
  if (inert === undefined)
    throw new PlatformError("zone_setting_unknown", {
      message: `Unrecognized zone setting name: ${id}`,
      ...(pointer === "" ? {} : { status: 400, source: `${pointer}/id` }),
    });
  if (!fits(id, inert.schema, value)) throw invalid(id, source);
  const before = chosen.inert?.[id]?.value ?? inert.value;
  if (JSON.stringify(value) === JSON.stringify(before)) return chosen;
  return { ...chosen, inert: { ...chosen.inert, [id]: { value, modified_on: now } } };
}

function chooseEditable(
  chosen: StoredZoneSettings,
  id: EditableSettingId,
  value: unknown,
  source: string,
  now: string,
): StoredZoneSettings {
  const row = EDITABLE_SETTINGS[id];
  if (!fits(id, row.schema, value)) throw invalid(id, source);
  const before = chosen[id]?.value ?? row.default;
  const wanted = id === "security_header" ? mergedHeader(before, value) : value;
  // Enabling development mode again restarts its time.
  const begins = id === "development_mode" && wanted === "on";
  if (!begins && JSON.stringify(wanted) === JSON.stringify(before)) return chosen;
  return { ...chosen, [id]: { value: wanted, modified_on: now } };
}

type HeaderValue = (typeof EDITABLE_SETTINGS)["security_header"]["default"];

/** Omitted members keep their value. */
const mergedHeader = (before: unknown, value: unknown): HeaderValue => ({
  strict_transport_security: {
    ...EDITABLE_SETTINGS.security_header.default.strict_transport_security,
    ...(before as HeaderValue).strict_transport_security,
    ...(value as HeaderValue).strict_transport_security,
  },
});

function checkTogether({ min_tls_version: min, tls_1_3: newest, mobile_redirect: mobile }: StoredZoneSettings): void {
  if (mobile?.value.status === "on" && (mobile.value.mobile_subdomain ?? "") === "")
    throw new PlatformError("zone_setting_invalid", { message: "mobile_redirect needs a mobile_subdomain, such as m, to be on." });
  if (min?.value === "1.3" && newest?.value === "off")
    throw new PlatformError("zone_setting_invalid", {
      message: "min_tls_version 1.3 with tls_1_3 off would leave no TLS version enabled.",
    });
}

const invalid = (id: string, source: string): PlatformError =>
  new PlatformError("zone_setting_invalid", { message: `Invalid value for zone setting ${id}`, source });

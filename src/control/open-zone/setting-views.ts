import type { ZoneSettings as DnsSettings } from "#model/dns/dns-settings.ts";
import {
  type ChosenZoneSettings,
  CNAME_FLATTENING_ID,
  developmentModeUntilMs,
  EDITABLE_SETTINGS,
  type EditableSettingId,
  ENDED_SETTINGS,
  FIXED_SETTINGS,
  type ZoneSetting,
} from "#model/zones/zone-settings.ts";
import type { ZoneRow } from "#store/zones/zones.ts";

/** The columns that the views need. */
export type SettingColumns = Pick<ZoneRow, "settings" | "edge_settings">;

const IDS = [
  ...Object.keys(EDITABLE_SETTINGS),
  ...Object.keys(FIXED_SETTINGS),
  ...Object.keys(ENDED_SETTINGS),
  CNAME_FLATTENING_ID,
].toSorted();

/** Every setting by name, including deprecated ones, which the deprecation table removes at their end date. */
export const settingViews = (row: SettingColumns, nowMs: number): readonly ZoneSetting[] =>
  IDS.flatMap((id) => settingView(row, id, nowMs) ?? []);

export function settingView(row: SettingColumns, id: string, nowMs: number): ZoneSetting | undefined {
  if (id === CNAME_FLATTENING_ID) return { id, value: flattensAll(row) ? "on" : "apex", editable: true, modified_on: null };
  if (isEditable(id)) return editableView(chosenIn(row), id, nowMs);
  const fixed = fixedSetting(id);
  return fixed && { id, value: fixed.value, editable: false, modified_on: null };
}

function editableView(chosen: ChosenZoneSettings, id: EditableSettingId, nowMs: number): ZoneSetting {
  const { value = EDITABLE_SETTINGS[id].default, modified_on = null } = chosen[id] ?? {};
  if (id !== "development_mode") return { id, value, editable: true, modified_on };
  const time_remaining = developmentModeSeconds(chosen, nowMs);
  return { id, value: time_remaining > 0 ? "on" : "off", editable: true, modified_on, time_remaining };
}

/** Remaining seconds of development mode; 0 if it is off. */
export const developmentModeSeconds = (chosen: ChosenZoneSettings, nowMs: number): number =>
  Math.max(0, Math.ceil((developmentModeUntilMs(chosen) - nowMs) / 1000));

export const chosenIn = (row: Pick<ZoneRow, "edge_settings">): ChosenZoneSettings => JSON.parse(row.edge_settings) as ChosenZoneSettings;

export const flattensAll = (row: Pick<ZoneRow, "settings">): boolean =>
  (JSON.parse(row.settings) as DnsSettings).flatten_all_cnames ?? false;

export const isEditable = (id: string): id is EditableSettingId => Object.hasOwn(EDITABLE_SETTINGS, id);

export const fixedSetting = (id: string) =>
  Object.hasOwn(FIXED_SETTINGS, id) ? FIXED_SETTINGS[id] : Object.hasOwn(ENDED_SETTINGS, id) ? ENDED_SETTINGS[id] : undefined;

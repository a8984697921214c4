import type { ZoneSettings as DnsSettings } from "#model/dns/dns-settings.ts";
import {
  type ChosenZoneSettings,
  CNAME_FLATTENING_ID,
  developmentModeUntilMs,
  EDITABLE_SETTINGS,
  type EditableSettingId,
  type StoredZoneSettings,
  type ZoneSetting,
} from "#model/zones/zone-settings.ts";
import { INERT_SETTINGS, inertSetting } from "#model/zones/inert-settings.ts";
import type { ZoneRow } from "#store/zones/zones.ts";

/** The columns that the views need. */
export type SettingColumns = Pick<ZoneRow, "settings" | "edge_settings">;

const IDS = [...Object.keys(EDITABLE_SETTINGS), ...Object.keys(INERT_SETTINGS), CNAME_FLATTENING_ID].toSorted();

/** Every setting by name, including deprecated ones, which the deprecation table removes at their end date. */
export const settingViews = (row: SettingColumns, nowMs: number): readonly ZoneSetting[] =>
  IDS.flatMap((id) => settingView(row, id, nowMs) ?? []);

export function settingView(row: SettingColumns, id: string, nowMs: number): ZoneSetting | undefined {
  if (id === CNAME_FLATTENING_ID) return { id, value: flattensAll(row) ? "on" : "apex", editable: true, modified_on: null };
  if (isEditable(id)) return editableView(chosenIn(row), id, nowMs);
  const inert = inertSetting(id);
  if (inert === undefined) return undefined;
  const { value, modified_on } = chosenIn(row).inert?.[id] ?? { value: inert.value, modified_on: null };
  return { id, value, editable: true, modified_on, ...noted(unmet(id, value)) };
}

const noted = (note: string | undefined) => (note === undefined ? {} : { note });

/** Why the edge does not do what a value says; undefined if it does. */
export function unmet(id: string, value: unknown): string | undefined {
  if (isEditable(id)) {
    const row = EDITABLE_SETTINGS[id];
    const acts = "acts_as" in row && typeof value === "string" ? row.acts_as?.[value] : undefined;
    return acts && `It acts as ${acts.value}: ${acts.why}`;
  }
  const inert = inertSetting(id);
  return inert === undefined || JSON.stringify(value) === JSON.stringify(inert.value) ? undefined : `It has no effect: ${inert.why}`;
}

function editableView(chosen: ChosenZoneSettings, id: EditableSettingId, nowMs: number): ZoneSetting {
  const { value = EDITABLE_SETTINGS[id].default, modified_on = null } = chosen[id] ?? {};
  if (id !== "development_mode") return { id, value, editable: true, modified_on, ...noted(unmet(id, value)) };
  const time_remaining = developmentModeSeconds(chosen, nowMs);
  return { id, value: time_remaining > 0 ? "on" : "off", editable: true, modified_on, time_remaining };
}

/** Remaining seconds of development mode; 0 if it is off. */
export const developmentModeSeconds = (chosen: ChosenZoneSettings, nowMs: number): number =>
  Math.max(0, Math.ceil((developmentModeUntilMs(chosen) - nowMs) / 1000));

export const chosenIn = (row: Pick<ZoneRow, "edge_settings">): StoredZoneSettings => JSON.parse(row.edge_settings) as StoredZoneSettings;

export const flattensAll = (row: Pick<ZoneRow, "settings">): boolean =>
  (JSON.parse(row.settings) as DnsSettings).flatten_all_cnames ?? false;

export const isEditable = (id: string): id is EditableSettingId => Object.hasOwn(EDITABLE_SETTINGS, id);

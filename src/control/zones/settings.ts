import { type Clock, isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import type { ZoneSetting } from "#model/zones/zone-settings.ts";
import { zoneEntry } from "#snapshot/compile/zone-entry.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { recordsNamed } from "#store/dns/dns-record-rows.ts";
import { lockZone, updateZone, zoneRowById, type ZoneRow } from "#store/zones/zones.ts";
import { changeSlotSettings } from "#control/previous-waf/waf-setting.ts";
import { openZone, writeZone } from "#control/open-zone/change-zone.ts";
import { changedColumns, type SettingChange } from "./setting-values.ts";
import { chosenIn, type SettingColumns, settingView, settingViews, unmet } from "#control/open-zone/setting-views.ts";

export interface ZoneSettings {
  list(zoneId: string): Promise<readonly ZoneSetting[]>;
  /** Throws `zone_setting_unknown`. */
  get(zoneId: string, settingId: string): Promise<ZoneSetting>;
  /**
   * Applies all of the changes or none; returns the changed settings. Notes which values are kept without an effect.
   * Throws `zone_setting_unknown` and `zone_setting_invalid`.
   */
  edit(call: Call, zoneId: string, changes: readonly SettingChange[]): Promise<readonly ZoneSetting[]>;
}

export interface ZoneSettingsDeps {
  readonly store: Store;
  readonly clock: Clock;
}

export function createZoneSettings(deps: ZoneSettingsDeps): ZoneSettings {
  const { store, clock } = deps;
  const view = (row: SettingColumns, id: string): ZoneSetting => {
    const shown = settingView(row, id, clock.nowMs());
    if (shown === undefined) throw new PlatformError("zone_setting_unknown", { message: `Unrecognized zone setting name: ${id}` });
    return shown;
  };
  return {
    list: async (zoneId) => settingViews(await load(store.read, zoneId), clock.nowMs()),
    get: async (zoneId, settingId) => view(await load(store.read, zoneId), settingId),
    edit: async (call, zoneId, changes) => {
      checkNamedOnce(changes);
      return commit(deps, call, async (unit) => {
        await lockZone(unit.db, zoneId);
        const before = await load(unit.db, zoneId);
        const columns = changedColumns(before, changes, isoMicros(clock.nowMicros()));
        noteUnmet(call, changes);
        if (changes.some(({ id }) => id === "mobile_redirect")) await noteMissingName(call, unit, { ...before, ...columns });
        if (Object.keys(columns).length === 0) return changes.map(({ id }) => view(before, id));
        const row = await write(deps, unit, before, columns);
        await changeSlotSettings(unit, before, row);
        const shown = changes.map(({ id }) => view(row, id));
        noteContradictions(call, row);
        unit.audit({
          action: "zone.settings.edit",
          actor: auditActor(call),
          account_id: row.account_id,
          zone_id: zoneId,
          resource: { type: "zone", id: zoneId },
          before: changes.map(({ id }) => view(before, id)),
          after: shown,
        });
        return shown;
      });
    },
  };
}

async function load(db: Unit["db"], id: string): Promise<ZoneRow> {
  const row = await zoneRowById(db, id);
  if (row === undefined) throw new PlatformError("zone_not_found");
  return row;
}

/** Traffic settings do not affect DNS answers, so the serial only changes with a DNS setting. */
async function write(deps: ZoneSettingsDeps, unit: Unit, before: ZoneRow, columns: Partial<SettingColumns>): Promise<ZoneRow> {
  if (columns.settings !== undefined) return writeZone(deps, unit, await openZone(unit, before.id), columns);
  const values = { ...columns, modified_on: isoMicros(deps.clock.nowMicros()) };
  await updateZone(unit.db, before.id, values);
  const row = { ...before, ...values };
  unit.change({ kind: "zone", id: row.id, value: zoneEntry(row) });
  return row;
}

function checkNamedOnce(changes: readonly SettingChange[]): void {
  const seen = new Set<string>();
  for (const { id, pointer } of changes) {
    if (seen.has(id)) throw new PlatformError("invalid_input", { message: `"${id}" is named twice.`, source: `${pointer}/id` });
    seen.add(id);
  }
}

function noteUnmet(call: Call, changes: readonly SettingChange[]): void {
  const notes = changes.flatMap(({ id, value }) => {
    const why = unmet(id, value);
    return why === undefined ? [] : [`${id} is kept as ${JSON.stringify(value)}. ${why}`];
  });
  if (notes.length > 0) call.notes = [...(call.notes ?? []), ...notes];
}

function noteContradictions(call: Call, row: SettingColumns): void {
  const { ssl, always_use_https: always } = chosenIn(row);
  if (ssl?.value === "off" && always?.value === "on")
    call.notes = [...(call.notes ?? []), "always_use_https has no effect while ssl is off."];
}

const ADDRESS_TYPES: ReadonlySet<string> = new Set(["A", "AAAA", "CNAME"]);

/** The name to which mobile devices are sent may come later. A partial zone has names elsewhere. */
async function noteMissingName(call: Call, unit: Unit, row: ZoneRow): Promise<void> {
  const { status, mobile_subdomain: label } = chosenIn(row).mobile_redirect?.value ?? {};
  if (status !== "on" || row.type === "partial") return;
  const name = `${label}.${row.name}`;
  const records = await recordsNamed(unit.db, row.id, [name, `*.${row.name}`]);
  if (records.some(({ type }) => ADDRESS_TYPES.has(type))) return;
  call.notes = [...(call.notes ?? []), `mobile_redirect has no effect until ${name} has an A, AAAA or CNAME record.`];
}

import { type Method, type Route, route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import type { Control } from "#control/control.ts";
import type { Call } from "#control/call.ts";
import { ENDED_SETTING_IDS, ZoneSetting, ZoneSettingEdit, zoneSettingEdit, ZoneSettingsEdit } from "#model/zones/zone-settings.ts";

const READ = ["Zone Settings Read", "Zone Settings Write"] as const;
const WRITE = ["Zone Settings Write"] as const;

async function editOne(control: Control, call: Call, zoneId: string, id: string, value: unknown): Promise<ZoneSetting> {
  const [shown] = await control.zoneSettings.edit(call, zoneId, [{ id, value, pointer: "" }]);
  return shown as ZoneSetting;
}

/** SPEC 9 has POST for it, whereas all others have PATCH. */
const POSTED = "privacy_pass";

/** A setting that has ended has separate paths, so that the deprecation table can name them. */
const ended = (settingId: string): readonly Route[] => {
  const path = `/zones/:zone_id/settings/${settingId}`;
  const id = `zone-setting-${settingId.replaceAll("_", "-")}`;
  const edit = (method: Method, name: string): Route =>
    route({
      method,
      path,
      id: `${id}-${name}`,
      summary: `Change the zone setting ${settingId}`,
      scope: "zone",
      permissions: WRITE,
      body: zoneSettingEdit(settingId),
      result: ZoneSetting,
      paging: "one",
      handler: ({ control, call, resolved, body }) => editOne(control, call, zoneOf(resolved).id, settingId, body.value),
    });
  return [
    route({
      method: "GET",
      path,
      id: `${id}-get`,
      summary: `Show the zone setting ${settingId}`,
      scope: "zone",
      permissions: READ,
      result: ZoneSetting,
      paging: "one",
      handler: ({ control, resolved }) => control.zoneSettings.get(zoneOf(resolved).id, settingId),
    }),
    edit("PATCH", "edit"),
    ...(settingId === POSTED ? [edit("POST", "post")] : []),
  ];
};

export const ZONE_SETTING_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    path: "/zones/:zone_id/settings",
    id: "zone-settings-list",
    summary: "List the settings of a zone's traffic",
    scope: "zone",
    permissions: READ,
    result: ZoneSetting,
    paging: "list",
    handler: ({ control, resolved }) => control.zoneSettings.list(zoneOf(resolved).id),
  }),
  route({
    method: "PATCH",
    path: "/zones/:zone_id/settings",
    id: "zone-settings-edit",
    summary: "Change several settings at once",
    scope: "zone",
    permissions: WRITE,
    body: ZoneSettingsEdit,
    result: ZoneSetting,
    paging: "list",
    handler: ({ control, call, resolved, body: { items } }) => {
      const changes = items.map(({ id, value }, index) => ({ id, value, pointer: `/items/${index}` }));
      return control.zoneSettings.edit(call, zoneOf(resolved).id, changes);
    },
  }),
  ...ENDED_SETTING_IDS.flatMap(ended),
  route({
    method: "GET",
    path: "/zones/:zone_id/settings/:setting_id",
    id: "zone-setting-get",
    summary: "Show one setting",
    scope: "zone",
    permissions: READ,
    result: ZoneSetting,
    paging: "one",
    handler: ({ control, resolved, params }) => control.zoneSettings.get(zoneOf(resolved).id, params.setting_id),
  }),
  route({
    method: "PATCH",
    path: "/zones/:zone_id/settings/:setting_id",
    id: "zone-setting-edit",
    summary: "Change one setting",
    scope: "zone",
    permissions: WRITE,
    body: ZoneSettingEdit,
    result: ZoneSetting,
    paging: "one",
    handler: ({ control, call, resolved, params, body }) => editOne(control, call, zoneOf(resolved).id, params.setting_id, body.value),
  }),
];

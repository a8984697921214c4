import { type Route, route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import type { Call } from "#control/call.ts";
import type { Control } from "#control/control.ts";
import { UrlNormalization } from "#model/zones/url-normalization.ts";
import { EDITABLE_SETTINGS, type ZoneSetting } from "#model/zones/zone-settings.ts";

const ID = "url_normalization";
const PATH = `/zones/:zone_id/${ID}`;
const READ = ["Zone Settings Read", "Zone Settings Write"] as const;
const WRITE = ["Zone Settings Write"] as const;

/** The setting's value has been checked when it was stored. */
const valueOf = (setting: ZoneSetting | undefined): UrlNormalization => setting?.value as UrlNormalization;

async function change(control: Control, call: Call, zoneId: string, value: UrlNormalization): Promise<UrlNormalization> {
  const [shown] = await control.zoneSettings.edit(call, zoneId, [{ id: ID, value, pointer: "" }]);
  return valueOf(shown);
}

export const URL_NORMALIZATION_ROUTES: readonly Route[] = [
  route({
    method: "GET",
    scope: "zone",
    permissions: READ,
    path: PATH,
    id: "url-normalization-get",
    summary: "Show whether paths are normalized for rules and origins",
    result: UrlNormalization,
    paging: "one",
    handler: async ({ control, resolved }) => valueOf(await control.zoneSettings.get(zoneOf(resolved).id, ID)),
  }),
  route({
    method: "PUT",
    scope: "zone",
    permissions: WRITE,
    path: PATH,
    id: "url-normalization-update",
    summary: "Change whether paths are normalized for rules and origins",
    body: UrlNormalization,
    result: UrlNormalization,
    paging: "one",
    handler: ({ control, call, resolved, body }) => change(control, call, zoneOf(resolved).id, body),
  }),
  route({
    method: "DELETE",
    scope: "zone",
    permissions: WRITE,
    path: PATH,
    id: "url-normalization-delete",
    summary: "Return to the default: paths are normalized for rules only",
    result: UrlNormalization,
    paging: "one",
    handler: ({ control, call, resolved }) => change(control, call, zoneOf(resolved).id, EDITABLE_SETTINGS[ID].default),
  }),
];

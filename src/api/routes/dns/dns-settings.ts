import { type Route, route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import { AccountDnsSettings, AccountDnsSettingsEdit, ZoneDnsSettings, ZoneDnsSettingsEdit } from "#model/dns/dns-settings.ts";

const ZONE_READ = ["Zone DNS Settings Read", "Zone DNS Settings Write", "DNS Read", "DNS Write"] as const;
const ZONE_WRITE = ["Zone DNS Settings Write", "DNS Write"] as const;

type Row = Pick<Route, "path" | "id" | "summary" | "permissions">;

const show = (row: Row): Route =>
  route({
    ...row,
    method: "GET",
    scope: "zone",
    result: ZoneDnsSettings,
    paging: "one",
    handler: ({ control, resolved }) => control.dnsSettings.ofZone(zoneOf(resolved).id),
  });

const edit = (row: Row): Route =>
  route({
    ...row,
    method: "PATCH",
    scope: "zone",
    body: ZoneDnsSettingsEdit,
    result: ZoneDnsSettings,
    paging: "one",
    handler: ({ control, call, resolved, body }) => control.dnsSettings.editZone(call, zoneOf(resolved).id, body),
  });

/** Older paths have the newest handlers: the deprecation table gives them their former shapes. */
const legacy = (path: string, id: string, what: string, permissions: Readonly<Record<"read" | "write", Route["permissions"]>>) => [
  show({ path, id: `${id}-get`, summary: `Show ${what}`, permissions: permissions.read }),
  edit({ path, id: `${id}-edit`, summary: `Change ${what}`, permissions: permissions.write }),
];

export const DNS_SETTINGS_ROUTES: readonly Route[] = [
  show({ path: "/zones/:zone_id/dns_settings", id: "zone-dns-settings-get", summary: "Show DNS settings", permissions: ZONE_READ }),
  edit({ path: "/zones/:zone_id/dns_settings", id: "zone-dns-settings-edit", summary: "Update DNS settings", permissions: ZONE_WRITE }),
  route({
    method: "GET",
    path: "/accounts/:account_id/dns_settings",
    id: "account-dns-settings-get",
    summary: "Show the DNS defaults for new zones of the account",
    scope: "account",
    permissions: ["Account DNS Settings Read", "Account DNS Settings Write"],
    result: AccountDnsSettings,
    paging: "one",
    handler: ({ control, params }) => control.dnsSettings.ofAccount(params.account_id),
  }),
  route({
    method: "PATCH",
    path: "/accounts/:account_id/dns_settings",
    id: "account-dns-settings-edit",
    summary: "Update the DNS defaults for new zones of the account",
    scope: "account",
    permissions: ["Account DNS Settings Write"],
    body: AccountDnsSettingsEdit,
    result: AccountDnsSettings,
    paging: "one",
    handler: ({ control, call, params, body }) => control.dnsSettings.editAccount(call, params.account_id, body),
  }),
  ...legacy("/zones/:zone_id/settings/cname_flattening", "zone-setting-cname-flattening", "the zone setting cname_flattening", {
    read: ["Zone Settings Read", "Zone Settings Write"],
    write: ["Zone Settings Write"],
  }),
  ...legacy("/zones/:zone_id/dns_settings/use_apex_ns", "zone-use-apex-ns", "whether NS records at the apex are used", {
    read: ZONE_READ,
    write: ZONE_WRITE,
  }),
  ...legacy("/zones/:zone_id/dns_settings/secondary_overrides", "zone-secondary-overrides", "whether a secondary zone has overrides", {
    read: ZONE_READ,
    write: ZONE_WRITE,
  }),
];

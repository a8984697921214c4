import type { AccountSettingsForDns, ZoneSettings } from "#model/dns/dns-settings.ts";
import type { AccountRow } from "#store/access/accounts.ts";
import { namesOfSet } from "#store/dns/custom-name-servers.ts";
import type { Unit } from "#store/database/store.ts";
import type { ZoneRow } from "#store/zones/zones.ts";

/** Columns of a new zone that come from its account's defaults (SPEC 2.5). */
export async function accountDefaults(db: Unit["db"], account: AccountRow): Promise<Partial<Pick<ZoneRow, "settings" | "name_servers">>> {
  const { enforce_dns_only, zone_defaults = {} } = JSON.parse(account.dns_settings) as AccountSettingsForDns;
  const { nameservers, ...others } = zone_defaults;
  // An unusable default, such as a tenant's name servers, gives the zone the installation's name servers.
  const names = nameservers?.type === "custom.account" ? await namesOfSet(db, account.id, 1) : [];
  const settings: ZoneSettings = {
    ...others,
    ...(enforce_dns_only === true ? { enforced_dns_only: true } : {}),
    ...(names.length > 0 ? { nameservers: { type: "custom.account", ns_set: 1 } } : {}),
  };
  return { settings: JSON.stringify(settings), ...(names.length > 0 ? { name_servers: JSON.stringify(names) } : {}) };
}

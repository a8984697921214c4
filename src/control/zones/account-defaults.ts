import type { AccountSettingsForDns, ZoneSettings } from "#model/dns/dns-settings.ts";
import type { AccountRow } from "#store/access/accounts.ts";
import { namesOfSet } from "#store/dns/custom-name-servers.ts";
import type { Unit } from "#store/database/store.ts";
import type { ZoneRow } from "#store/zones/zones.ts";

/** What a new zone takes over from its account (SPEC 2.5), as columns of its row. */
export async function accountDefaults(db: Unit["db"], account: AccountRow): Promise<Partial<Pick<ZoneRow, "settings" | "name_servers">>> {
  const { enforce_dns_only, zone_defaults = {} } = JSON.parse(account.dns_settings) as AccountSettingsForDns;
  const { nameservers, ...others } = zone_defaults;
  // A default that nothing stands behind, as of a tenant, leaves the zone with the installation's name servers.
  const names = nameservers?.type === "custom.account" ? await namesOfSet(db, account.id, 1) : [];
  const settings: ZoneSettings = {
    ...others,
    ...(enforce_dns_only === true ? { enforced_dns_only: true } : {}),
    ...(names.length > 0 ? { nameservers: { type: "custom.account", ns_set: 1 } } : {}),
  };
  return { settings: JSON.stringify(settings), ...(names.length > 0 ? { name_servers: JSON.stringify(names) } : {}) };
}

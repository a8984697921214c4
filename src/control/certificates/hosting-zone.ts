import { hasAlias } from "#store/certificates/certificate-orders.ts";
import { answersItself, hostedName } from "#store/zones/local-names.ts";
import type { Store } from "#store/database/store.ts";
import { zoneRowById } from "#store/zones/zones.ts";
import type { HostnameDns } from "./hostname-dns.ts";
import type { ChallengePlacement } from "./placement.ts";

/** Limit of the alias chain. */
const ALIASES_MAX = 4;

/**
 * The place in a hosted zone for a TXT record of the name, or of the target of its alias. Null if the name is hosted
 * elsewhere, or by another account, whose zones prove nothing for this one.
 */
export const createHostingZoneOf =
  ({ store, dns }: { readonly store: Store; readonly dns: HostnameDns }) =>
  async (order: { readonly zone_id: string }, txtName: string): Promise<ChallengePlacement | null> => {
    const own = await zoneRowById(store.read, order.zone_id);
    if (own === undefined) return null;
    let name = txtName;
    for (let aliases = 0; aliases < ALIASES_MAX; aliases++) {
      const hosted = await hostedName(store.read, name, own.account_id);
      const home = answersItself(hosted) && hosted.zone.type === "full" ? await zoneRowById(store.read, hosted.zone.id) : undefined;
      if (home !== undefined && home.account_id === own.account_id && !(await hasAlias(store.read, home.id, name)))
        return { zone_id: home.id, name };
      const looked = await dns(own.account_id).cname(name);
      const alias = "found" in looked ? looked.found[0] : undefined;
      if (alias === undefined) return null;
      name = alias;
    }
    return null;
  };

import { holdsInAccount, zoneReach } from "#control/access/grants.ts";
import type { Actor } from "#control/call.ts";
import { ANALYTICS_DATASETS, type AnalyticsDataset } from "#model/events/analytics.ts";
import { listAccounts } from "#store/access/accounts.ts";
import type { Store } from "#store/database/store.ts";
import { listZones } from "#store/zones/zones.ts";

const DATASETS: readonly AnalyticsDataset[] = Object.values(ANALYTICS_DATASETS);
const ZONE_READERS = [...new Set(DATASETS.flatMap(({ zonePermissions }) => zonePermissions))];
const ACCOUNT_READERS = [...new Set(DATASETS.flatMap(({ accountPermissions }) => accountPermissions))];

/** Zones of which the credential may read a dataset, by name. */
export async function readableZones(store: Store, actor: Actor, max: number): Promise<readonly string[]> {
  const filter = { reach: zoneReach(actor, ZONE_READERS), match: "all", order: "name", direction: "asc" } as const;
  const items = await listZones(store.read, filter, { limit: max, offset: 0 });
  return items.map(({ id }) => id);
}

/** Accounts of which the credential may read a dataset, oldest first. */
export async function readableAccounts(store: Store, actor: Actor, max: number): Promise<readonly string[]> {
  const ids = [...actor.reach.keys()].filter((id) => holdsInAccount(actor, id, ACCOUNT_READERS));
  const { rows } = await listAccounts(store.read, { ids, name: undefined, direction: "asc" }, { limit: max, offset: 0 });
  return rows.map(({ id }) => id);
}

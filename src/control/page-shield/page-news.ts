import { systemCall } from "#control/call.ts";
import { commit } from "#control/commit.ts";
import { pageAlert, type PageAlertName } from "#control/notifications/alerts/page-alert.ts";
import { enqueueAlert } from "#control/notifications/policies/enqueue-alert.ts";
import type { Clock } from "#kernel/clock.ts";

import type { Store, Unit } from "#store/database/store.ts";
import { knewHost, markPageResourcesTold, type PageResourceRow, untoldPageResources } from "#store/page-shield/page-resources.ts";

/** Alerts about scripts and connections that pages did not have before. */
export interface PageNews {
  /** Tells each zone's policies what is new since the last call; returns the number of resources. */
  tell(): Promise<number>;
}

const AT_ONCE = 500;

export function createPageNews({ store, clock }: { readonly store: Store; readonly clock: Clock }): PageNews {
  return {
    tell: async () => {
      const rows = await untoldPageResources(store.read, AT_ONCE);
      for (const [zoneId, news] of Map.groupBy(rows, ({ zone_id }) => zone_id))
        await commit({ store }, systemCall("page-shield"), async (unit) => {
          for (const [type, items] of await newsByType(unit, news))
            if (items.length > 0) await enqueueAlert(unit, clock.nowMs(), type, zoneId, (zone) => pageAlert(zone, type, items));
          await markPageResourcesTold(
            unit.db,
            zoneId,
            news.map(({ id }) => id),
          );
        });
      return rows.length;
    },
  };
}

async function newsByType(
  { db }: Unit,
  rows: readonly PageResourceRow[],
): Promise<readonly (readonly [PageAlertName, readonly string[]])[]> {
  const isNew = rows.filter(({ untold }) => untold === "new");
  const hosts = new Set<string>();
  for (const row of isNew) if (!hosts.has(row.host) && !(await knewHost(db, row))) hosts.add(row.host);
  const scripts = rows.filter(({ kind }) => kind === "script");
  const named = (untold: string): string[] => scripts.filter((row) => row.untold === untold).map(({ name }) => name);
  return [
    ["scriptmonitor_alert_new_hosts", [...hosts]],
    ["scriptmonitor_alert_new_resources", named("new")],
    ["scriptmonitor_alert_new_code_change_detections", named("changed")],
  ];
}

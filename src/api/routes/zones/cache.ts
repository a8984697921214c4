import { type Route, route } from "#api/route.ts";
import { zoneOf } from "#api/zone-of.ts";
import { CachePurge, CachePurged } from "#model/zones/cache-purge.ts";

export const CACHE_ROUTES: readonly Route[] = [
  route({
    method: "POST",
    path: "/zones/:zone_id/purge_cache",
    id: "zone-purge",
    summary: "Purge cached content",
    scope: "zone",
    permissions: ["Cache Purge"],
    body: CachePurge,
    result: CachePurged,
    paging: "one",
    handler: ({ control, call, resolved, body }) => control.cachePurges.purge(call, zoneOf(resolved), body),
  }),
];

import type { Access } from "#control/access/access.ts";
import type { Call } from "#control/call.ts";
import type { EventReads } from "#events/reads.ts";
import type { Condition } from "#events/where-sql.ts";
import type { DnsQueryRow } from "#events/rows.ts";
import { PlatformError } from "#kernel/errors.ts";
import {
  DNS_DIMENSIONS,
  type DnsAnalyticsGroup,
  type DnsAnalyticsQuery,
  type DnsDimension,
  type DnsDimensionName,
} from "#model/dns-analytics.ts";
import type { PermissionGroupName } from "#model/permission-groups.ts";

export interface DnsAnalytics {
  /**
   * What the nameservers answered for the zone, counted by the query's dimensions. Throws `zone_not_found` and
   * `authentication_error` as every route of a zone does, `invalid_input` where the order is not among the dimensions.
   */
  groups(call: Call, zoneId: string, query: DnsAnalyticsQuery): Promise<readonly DnsAnalyticsGroup[]>;
}

export const DNS_ANALYTICS_PERMISSIONS: readonly PermissionGroupName[] = ["Analytics Read", "DNS Read", "DNS Write"];

export function createDnsAnalytics({
  access,
  reads,
}: {
  readonly access: Pick<Access, "authorize">;
  readonly reads: EventReads;
}): DnsAnalytics {
  return {
    groups: async (call, zoneId, query) => {
      await access.authorize(call.actor, { type: "zone", zone_id: zoneId }, DNS_ANALYTICS_PERMISSIONS);
      const rows = await reads.groups("dns_queries", {
        where: [
          { column: "zone_id", operator: "eq", value: zoneId },
          ...query.filters.map(({ dimension, operator, value }): Condition<"dns_queries"> => ({
            column: columnOf(dimension),
            operator,
            value,
          })),
        ],
        by: query.dimensions.map((name) => ({ column: columnOf(name), ...intervalOf(name) })),
        measures: [
          { kind: "sum", column: "query_bytes" },
          { kind: "sum", column: "response_bytes" },
        ],
        order: query.order.map(({ by, direction }) => ({ by: by === "count" ? by : positionOf(query, by), direction })),
        limit: query.limit,
      });
      return rows.map(({ count, dimensions, measures: [queryBytes = 0, responseBytes = 0] }) => ({
        count,
        dimensions: Object.fromEntries(query.dimensions.map((name, i) => [name, shown(DNS_DIMENSIONS[name], dimensions[i] ?? "")])),
        sum: { queryBytes, responseBytes },
      }));
    },
  };
}

const columnOf = (name: DnsDimensionName): keyof DnsQueryRow => DNS_DIMENSIONS[name].column;

const intervalOf = (name: DnsDimensionName): { intervalMs?: number } => {
  const { intervalMs }: DnsDimension = DNS_DIMENSIONS[name];
  return intervalMs === undefined ? {} : { intervalMs };
};

function positionOf({ dimensions }: DnsAnalyticsQuery, name: DnsDimensionName): number {
  const at = dimensions.indexOf(name);
  if (at === -1) throw new PlatformError("invalid_input", { message: `orderBy ${name} needs ${name} among the dimensions asked for` });
  return at;
}

function shown({ kind }: DnsDimension, value: string | number): string | number {
  if (kind === "time") return `${new Date(Number(value)).toISOString().slice(0, 19)}Z`;
  return kind === "date" ? new Date(Number(value)).toISOString().slice(0, 10) : value;
}

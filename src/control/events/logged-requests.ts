import type { EventReads } from "#events/reads.ts";
import type { RequestRow } from "#events/rows.ts";
import type { Where, WherePart } from "#events/where-sql.ts";
import type { LoggedRequest, LoggedRequestQuery } from "#model/request-log.ts";
import { aroundRay, fromNetwork, timeOf } from "./event-filter.ts";

export interface LoggedRequests {
  /** Requests of a zone that the edge answered, newest first. Throws `invalid_input` for a time or address that is none. */
  list(zoneId: string, query: LoggedRequestQuery): Promise<readonly LoggedRequest[]>;
}

const LIMIT = 100;

export const createLoggedRequests = ({ reads }: { readonly reads: EventReads }): LoggedRequests => ({
  list: async (zoneId, { limit = LIMIT, ...query }) => {
    const { rows } = await reads.page("requests", { where: whereOf(zoneId, query), limit });
    return rows.map(view);
  },
});

const view = (row: RequestRow): LoggedRequest => ({
  ray_id: row.ray_id,
  at_ms: row.at_ms,
  occurred_at: new Date(row.at_ms).toISOString(),
  client_ip: row.client_ip,
  method: row.method,
  scheme: row.scheme,
  host: row.host,
  path: row.path,
  query: row.query,
  user_agent: row.user_agent,
  status: row.status,
  origin_status: row.origin_status,
  bytes_in: row.bytes_in,
  bytes_out: row.bytes_out,
  duration_ms: row.duration_ms,
  custom_fields: row.custom_fields as LoggedRequest["custom_fields"],
});

const EXACT = ["ray_id", "host", "path", "status"] as const;

function whereOf(zoneId: string, query: Omit<LoggedRequestQuery, "limit">): Where<"requests"> {
  const where: WherePart<"requests">[] = [{ column: "zone_id", operator: "eq", value: zoneId }];
  for (const column of EXACT) {
    const value = query[column];
    if (value !== undefined) where.push({ column, operator: "eq", value });
  }
  if (query.ray_id !== undefined) where.push(...aroundRay(query.ray_id));
  if (query.since !== undefined) where.push({ column: "at_ms", operator: "ge", value: timeOf("since", query.since) });
  if (query.until !== undefined) where.push({ column: "at_ms", operator: "lt", value: timeOf("until", query.until) });
  if (query.client_ip !== undefined) where.push(fromNetwork(query.client_ip));
  return where;
}

import type { RequestRow } from "#events/rows.ts";
import type { Where, WherePart } from "#events/where-sql.ts";
import type { Sealer } from "#kernel/seal.ts";
import type { LoggedRequest, LoggedRequestQuery, LoggedRequestTail } from "#model/request-log.ts";
import { aroundRay, betweenTimes, fromNetwork } from "./event-filter.ts";
import { createRowMarks } from "./row-marks.ts";
import { createTails, type TailDeps, type TailSource } from "./tail.ts";

export interface LoggedRequests {
  /** Requests of a zone that the edge answered, newest first. Throws `invalid_input` for a time or address that is none. */
  list(zoneId: string, query: LoggedRequestQuery): Promise<readonly LoggedRequest[]>;
  /** What comes from now on, as SecurityEvents has it. */
  tail(zoneId: string, query: LoggedRequestTail, accountId: string): AsyncIterable<string>;
  /** Ends every tail. */
  close(): void;
}

const LIMIT = 100;

export function createLoggedRequests({ reads, clock, sealer }: TailDeps & { readonly sealer: Sealer }): LoggedRequests {
  const tails = createTails({ reads, clock }, REQUESTS, createRowMarks(sealer, "requests"));
  return {
    close: tails.close,
    list: async (zoneId, { limit = LIMIT, ...query }) => {
      const { rows } = await reads.page("requests", { where: whereOf(zoneId, query), limit });
      return rows.map(view);
    },
    tail: (zoneId, { last_event_id: lastEventId, for_seconds: seconds, ...query }, accountId) =>
      tails.open(whereOf(zoneId, query), {
        ...{ scope: { zone_id: zoneId }, accountId, lastEventId },
        forMs: seconds === undefined ? undefined : seconds * 1000,
      }),
  };
}

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

const REQUESTS: TailSource<"requests"> = {
  table: "requests",
  event: "request",
  idOf: ({ ray_id }) => ray_id,
  view,
  whereIs: (id) => {
    const around = aroundRay(id);
    return around.length === 0 ? null : [...around, { column: "ray_id", operator: "eq", value: id }];
  },
};

const EXACT = ["ray_id", "host", "path", "status"] as const;

function whereOf(zoneId: string, query: Omit<LoggedRequestQuery, "limit">): Where<"requests"> {
  const where: WherePart<"requests">[] = [{ column: "zone_id", operator: "eq", value: zoneId }];
  for (const column of EXACT) {
    const value = query[column];
    if (value !== undefined) where.push({ column, operator: "eq", value });
  }
  if (query.ray_id !== undefined) where.push(...aroundRay(query.ray_id));
  where.push(...betweenTimes(query));
  if (query.client_ip !== undefined) where.push(fromNetwork(query.client_ip));
  return where;
}

import type { Page } from "#control/call.ts";
import type { RequestRow } from "#events/rows/rows.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { LoggedRequest, LoggedRequestExport, LoggedRequestQuery, LoggedRequestTail } from "#model/events/request-log.ts";
import { aroundRay, type EventScope, requestsOf } from "./event-filter.ts";
import { createRowLog, type LogSource } from "./row-log.ts";
import { createRowMarks } from "./row-marks.ts";
import { createTails, type TailDeps } from "./tail.ts";

/** Requests that the edge answered; errors as in SecurityEvents. */
export interface LoggedRequests {
  /** Newest first; `limit` is an older name of `per_page`. */
  list(scope: EventScope, query: LoggedRequestQuery & { readonly page: number; readonly per_page: number }): Promise<Page<LoggedRequest>>;
  export(scope: EventScope, query: LoggedRequestExport, accountId: string): AsyncIterableIterator<string>;
  tail(scope: EventScope, query: LoggedRequestTail, accountId: string): AsyncIterableIterator<string>;
  /** Ends every tail. */
  close(): void;
}

export function createLoggedRequests({ reads, clock, sealer }: TailDeps & { readonly sealer: Sealer }): LoggedRequests {
  const marks = createRowMarks(sealer, "requests");
  const tails = createTails({ reads, clock }, REQUESTS, marks);
  const log = createRowLog(reads, REQUESTS, marks);
  return {
    close: tails.close,
    list: async (scope, { page, per_page, limit, cursor, ...filter }) =>
      log.list(scope, requestsOf(scope, filter), { page, per_page: limit ?? per_page, cursor }),
    export: (scope, { format, limit, ...filter }, accountId) => log.export(requestsOf(scope, filter), { accountId, format, limit }),
    tail: (scope, { last_event_id: lastEventId, for_seconds: forSeconds, ...filter }, accountId) =>
      tails.open(requestsOf(scope, filter), { scope, accountId, lastEventId, forSeconds }),
  };
}

const view = (row: RequestRow): LoggedRequest => ({
  ray_id: row.ray_id,
  at_ms: row.at_ms,
  occurred_at: new Date(row.at_ms).toISOString(),
  zone_id: row.zone_id,
  client_ip: row.client_ip,
  country: row.country ?? "",
  method: row.method,
  scheme: row.scheme,
  host: row.host,
  path: row.path,
  query: row.query,
  user_agent: row.user_agent,
  status: row.status,
  origin_status: row.origin_status,
  cache_status: row.cache_status ?? "",
  edge_error: row.edge_error ?? "",
  edge_error_name: row.edge_error_name ?? "",
  bytes_in: row.bytes_in,
  bytes_out: row.bytes_out,
  duration_ms: row.duration_ms,
  custom_fields: row.custom_fields as LoggedRequest["custom_fields"],
});

const REQUESTS: LogSource<"requests", LoggedRequest> = {
  table: "requests",
  event: "request",
  idOf: ({ ray_id }) => ray_id,
  view,
  whereIs: (id) => {
    const around = aroundRay(id);
    return around.length === 0 ? null : [...around, { column: "ray_id", operator: "eq", value: id }];
  },
  columns: [
    "occurred_at",
    "ray_id",
    "zone_id",
    "client_ip",
    "country",
    "method",
    "scheme",
    "host",
    "path",
    "query",
    "user_agent",
    "status",
    "origin_status",
    "cache_status",
    "edge_error",
    "edge_error_name",
    "bytes_in",
    "bytes_out",
    "duration_ms",
    "custom_fields",
  ],
};

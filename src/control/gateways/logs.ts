import { setTimeout as pause } from "node:timers/promises";
import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import { ulidTimeMs } from "#kernel/crypto/ids.ts";
import type { Call, Page, PageRequest } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import type { LogBodies } from "#events/logs/bodies.ts";
import type { LongReads } from "#control/long-reads.ts";
import { filtersSql } from "#events/logs/filters.ts";
import type { LogScope } from "#events/read/log-pieces.ts";
import type { GatewayLogStore } from "#events/read/store.ts";
import type { GatewayLogRow } from "#events/rows/rows.ts";
import type { GatewayLog, GatewayLogDelete, GatewayLogDetail, GatewayLogList, GatewayLogPatch } from "#model/gateways/gateway-log.ts";
import { gatewayById, type GatewayRow } from "#store/gateways/gateways.ts";
import type { Store } from "#store/database/store.ts";
import type { SharedLogs } from "./shared-logs.ts";
import { oldParameterFilters, parseLogFilters, withLogFilters } from "./log-filters.ts";

/** Logs of gateways. Throws `gateway_not_found` for an unknown gateway or log, also if it belongs to another account. */
export interface GatewayLogs {
  list(call: Call, accountId: string, gatewayId: string, query: GatewayLogList, page: PageRequest): Promise<Page<GatewayLog>>;
  get(accountId: string, gatewayId: string, id: string): Promise<GatewayLogDetail>;
  /** One of the stored bodies. Throws `gateway_not_found` if none is stored. */
  body(accountId: string, gatewayId: string, id: string, which: keyof LogBodies): Promise<LogBody>;
  patch(accountId: string, gatewayId: string, id: string, change: GatewayLogPatch): Promise<void>;
  /** Deletes rows and bodies. */
  delete(call: Call, accountId: string, gatewayId: string, query: GatewayLogDelete): Promise<void>;
}

export interface LogBody {
  readonly type: string;
  readonly bytes: Buffer;
}

export interface GatewayLogsDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly logs: GatewayLogStore;
  /** An account's reads are few at a time. */
  readonly longReads: LongReads;
  /** Absent: no other server has an API for the same logs. */
  readonly shared?: Pick<SharedLogs, "changed" | "deleted" | "missingBefore"> | undefined;
}

const DELETED_MAX = 10_000;
const HEAD_BYTES_MAX = 64 * 1024;
/** Clients may request a log immediately after its response, but reading it from its segment takes a moment. */
const RECENT_MS = 10_000;
const ARRIVAL_MS_MAX = 1_000;
const ARRIVAL_PAUSE_MS = 25;

/** Excludes rows of an earlier gateway with the same id. */
export const logScope = ({ account_id, id, created_at }: GatewayRow): LogScope => ({
  account_id,
  gateway_id: id,
  since_ms: Date.parse(created_at),
});

export function createGatewayLogs(deps: GatewayLogsDeps): GatewayLogs {
  const { store, clock, logs, longReads, shared } = deps;
  const inPlace = async <T>(accountId: string, work: () => Promise<T>): Promise<T> => {
    const place = await longReads.begin(accountId);
    return work().finally(() => place.release());
  };

  const scopeOf = async (accountId: string, gatewayId: string): Promise<LogScope> => {
    const row = await gatewayById(store.read, accountId, gatewayId);
    if (row === undefined) throw new PlatformError("gateway_not_found");
    return logScope(row);
  };

  /** Retries for a while if the id is so recent that the log may not have been read yet. */
  const arrived = async <T>(id: string, find: () => T | undefined): Promise<T> => {
    const endMs = clock.monotonicMs() + ARRIVAL_MS_MAX;
    const isRecent = Math.abs(clock.nowMs() - (ulidTimeMs(id) ?? Infinity)) < RECENT_MS;
    for (;;) {
      const found = find();
      if (found !== undefined) return found;
      if (!isRecent || clock.monotonicMs() >= endMs)
        throw new PlatformError("gateway_not_found", { message: "The gateway has no such log." });
      await pause(ARRIVAL_PAUSE_MS);
    }
  };
  /** Waits for recent logs, so that lists contain them and deletes include them. */
  const caughtUp = async (): Promise<void> => {
    const mark = logs.unread();
    const endMs = clock.monotonicMs() + ARRIVAL_MS_MAX;
    while (mark !== undefined && !logs.hasRead(mark) && clock.monotonicMs() < endMs) await pause(ARRIVAL_PAUSE_MS);
  };
  const load = async (accountId: string, gatewayId: string, id: string): Promise<GatewayLogRow> => {
    const scope = await scopeOf(accountId, gatewayId);
    return arrived(id, () => logs.get(scope, id));
  };

  return {
    list: async (call, accountId, gatewayId, query, page) => {
      const scope = await scopeOf(accountId, gatewayId);
      const missing = await shared?.missingBefore(scope.since_ms ?? 0);
      if (missing)
        (call.notes ??= []).push(`Logs that another server with control took before ${missing} are not in the list of this server.`);
      const filters = [...parseLogFilters(query.filters), ...oldParameterFilters(query)];
      await caughtUp();
      const fitting = { filters, search: query.search ?? "" };
      withLogFilters(() => filtersSql(filters));
      return inPlace(accountId, async () => {
        const offset = (page.page - 1) * page.per_page;
        const rows = await logs.list(scope, {
          ...fitting,
          offset,
          orderBy: query.order_by ?? "created_at",
          direction: query.order_by_direction ?? query.direction ?? "desc",
          limit: page.per_page,
        });
        // A page that is not full ends the list, and nothing has to be looked through again.
        const isEnd = rows.length < page.per_page && (rows.length > 0 || offset === 0);
        const total = isEnd ? offset + rows.length : await logs.count(scope, fitting);
        return {
          items: rows.map(logView),
          ...page,
          total_count: total,
          ...(query.meta_info === true ? { info: { ...(await logs.bounds(scope, fitting)) } } : {}),
        };
      });
    },
    get: async (accountId, gatewayId, id) => {
      const row = await load(accountId, gatewayId, id);
      return detailView(row, logs.bodies(row));
    },
    body: async (accountId, gatewayId, id, which) => {
      const row = await load(accountId, gatewayId, id);
      const bytes = logs.bodies(row)?.[which];
      if (bytes === undefined) throw new PlatformError("gateway_not_found", { message: `The ${which} of this log is not stored.` });
      return { type: row[`${which}_content_type`], bytes };
    },
    patch: async (accountId, gatewayId, id, { feedback, score, metadata }) => {
      const scope = await scopeOf(accountId, gatewayId);
      const text = metadata === undefined ? {} : { metadata: metadata === null ? "" : JSON.stringify(metadata) };
      const given = { ...(feedback === undefined ? {} : { feedback }), ...(score === undefined ? {} : { score }), ...text };
      await arrived(id, () => logs.change(scope, id, given) || undefined);
      await shared?.changed(scope, id, given);
    },
    delete: async (
      call,
      accountId,
      gatewayId,
      { filters: text, order_by = "created_at", order_by_direction = "asc", limit = DELETED_MAX },
    ) => {
      const scope = await scopeOf(accountId, gatewayId);
      const filters = parseLogFilters(text);
      await caughtUp();
      withLogFilters(() => filtersSql(filters));
      const found = { filters, orderBy: order_by, direction: order_by_direction, limit };
      const deleted = await inPlace(accountId, () => logs.delete(scope, found, (ids) => shared?.deleted(scope, ids) ?? Promise.resolve()));
      await commit(deps, call, async (unit) =>
        unit.audit({
          action: "gateway_logs.delete",
          actor: auditActor(call),
          account_id: accountId,
          zone_id: null,
          resource: { type: "gateway", id: gatewayId },
          before: { filters: text ?? "[]", rows: deleted },
          after: null,
        }),
      );
    },
  };
}

const detailView = (row: GatewayLogRow, bodies: LogBodies | null): GatewayLogDetail => {
  const head = (bytes: Buffer | undefined): string => bytes?.subarray(0, HEAD_BYTES_MAX).toString("utf8") ?? "";
  const isWhole = (bytes: Buffer | undefined, size: number): boolean => (bytes?.length ?? 0) === size && size <= HEAD_BYTES_MAX;
  return {
    ...logView(row),
    request_head: head(bodies?.request),
    request_head_complete: isWhole(bodies?.request, row.request_bytes),
    request_size: row.request_bytes,
    response_head: head(bodies?.response),
    response_head_complete: isWhole(bodies?.response, row.response_bytes),
    response_size: row.response_bytes,
  };
};

const logView = (row: GatewayLogRow): GatewayLog => ({
  id: row.id,
  created_at: new Date(row.at_ms).toISOString(),
  provider: row.provider,
  model: row.model,
  model_type: row.model_type ?? "",
  path: row.path,
  success: row.success,
  cached: row.cached,
  duration: row.duration_ms,
  tokens_in: row.tokens_in,
  tokens_out: row.tokens_out,
  cost: row.cost,
  custom_cost: row.custom_cost ?? false,
  metadata: row.metadata ?? "",
  request_type: row.request_type ?? "",
  request_content_type: row.request_content_type,
  response_content_type: row.response_content_type,
  status_code: row.status_code,
  step: row.step,
  event_id: row.event_id ?? "",
  user_agent: row.user_agent ?? "",
  time_to_first_byte: row.first_byte_ms ?? null,
  tokens_in_cached: row.tokens_cache_read ?? null,
  tokens_in_cache_written: row.tokens_cache_write ?? null,
  tokens_out_reasoning: row.tokens_reasoning ?? null,
  tokens_estimated: row.estimated ?? false,
  authentication: row.authentication ?? false,
  compatibility_mode: row.compatibility_mode ?? false,
  dlp_action: row.dlp_action ?? "",
  guardrail_action: row.guardrail_action ?? "",
  guardrail_findings: row.guardrail_findings ?? "",
  feedback: row.feedback ?? null,
  score: row.score ?? null,
});

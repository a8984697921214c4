import { PlatformError } from "#kernel/errors.ts";
import type { Page, PageRequest } from "#control/call.ts";
import type { EventQueries } from "#events/queries.ts";
import type { Where } from "#events/where-sql.ts";
import type { GatewayLogRow } from "#events/rows.ts";
import type { GatewayLog, GatewayLogDetail, GatewayLogList } from "#model/gateway-log.ts";
import { gatewayById } from "#store/gateways.ts";
import type { Store } from "#store/store.ts";

/** Reads what the gateway plane logged. Throws `gateway_not_found` for another account's gateway or log alike. */
export interface GatewayLogs {
  list(accountId: string, gatewayId: string, query: GatewayLogList, page: PageRequest): Promise<Page<GatewayLog>>;
  get(accountId: string, gatewayId: string, id: string): Promise<GatewayLogDetail>;
}

/** Columns by the names under which callers order. No row has a model type yet, so ordering by it is ordering by time. */
const ORDER_COLUMNS = {
  created_at: "at_ms",
  provider: "provider",
  model: "model",
  model_type: "at_ms",
  success: "success",
  cached: "cached",
} as const;
const SEARCHED_COLUMNS = ["id", "provider", "model", "path"] as const;

export function createGatewayLogs(deps: { readonly store: Store; readonly events: EventQueries }): GatewayLogs {
  const { store, events } = deps;

  /** The conditions that keep one account's logs from another's. */
  const within = async (accountId: string, gatewayId: string): Promise<Where<"gateway_logs">> => {
    if ((await gatewayById(store.read, accountId, gatewayId)) === undefined) throw new PlatformError("gateway_not_found");
    return [
      { column: "account_id", operator: "eq", value: accountId },
      { column: "gateway_id", operator: "eq", value: gatewayId },
    ];
  };

  return {
    list: async (accountId, gatewayId, query, page) => {
      const { search = "" } = query;
      const scope = await within(accountId, gatewayId);
      const where: Where<"gateway_logs"> =
        search === "" ? scope : [...scope, SEARCHED_COLUMNS.map((column) => ({ column, operator: "has" as const, value: search }))];
      const rows = events.list("gateway_logs", {
        where,
        order_by: ORDER_COLUMNS[query.order_by ?? "created_at"],
        direction: query.order_by_direction ?? query.direction ?? "desc",
        limit: page.per_page,
        offset: (page.page - 1) * page.per_page,
      });
      return { items: rows.map(logView), ...page, total_count: events.count("gateway_logs", where) };
    },
    get: async (accountId, gatewayId, id) => {
      const [row] = events.list("gateway_logs", {
        where: [...(await within(accountId, gatewayId)), { column: "id", operator: "eq", value: id }],
        limit: 1,
      });
      if (row === undefined) throw new PlatformError("gateway_not_found");
      return { ...logView(row), request_size: row.request_bytes, response_size: row.response_bytes };
    },
  };
}

const logView = (row: GatewayLogRow): GatewayLog => ({
  id: row.id,
  created_at: new Date(row.at_ms).toISOString(),
  provider: row.provider,
  model: row.model,
  model_type: "",
  path: row.path,
  success: row.success,
  cached: row.cached,
  duration: row.duration_ms,
  tokens_in: row.tokens_in,
  tokens_out: row.tokens_out,
  cost: row.cost,
  custom_cost: false,
  request_type: "",
  request_content_type: row.request_content_type,
  response_content_type: row.response_content_type,
  status_code: row.status_code,
  step: row.step,
});

import { parseTimestamp } from "#kernel/timestamp.ts";
import { Compile } from "typebox/schema";
import type { LogFilter, LogFilterKey, LogOperator } from "#events/logs/filters.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { GatewayLogList } from "#model/gateways/gateway-log.ts";
import { GatewayLogFilters } from "#model/gateways/gateway-log-filter.ts";

/** Compiled on first use. */
let filterList: ReturnType<typeof Compile<typeof GatewayLogFilters>> | undefined;

/** Parses the filters of a query, a JSON list. Throws `gateway_input_invalid`. */
export function parseLogFilters(text: string | undefined): readonly LogFilter[] {
  if (text === undefined || text === "") return [];
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid("filters must be a JSON array.", "/filters");
  }
  filterList ??= Compile(GatewayLogFilters);
  if (!filterList.Check(value)) {
    const [, [first]] = filterList.Errors(value);
    const allowed =
      first !== undefined && "allowedValues" in first.params ? `: ${(first.params.allowedValues as unknown[]).join(", ")}` : "";
    const place = first?.instancePath ?? "";
    throw invalid(`filters: ${place} ${first?.message ?? "is not valid"}${allowed}.`, `/filters${place}`);
  }
  return value;
}

/** Runs `work` and converts errors of invalid filters. */
export function withLogFilters<T>(work: () => T): T {
  try {
    return work();
  } catch (error) {
    throw error instanceof RangeError ? invalid(error.message, "/filters") : error;
  }
}

const invalid = (message: string, source: string): PlatformError => new PlatformError("gateway_input_invalid", { message, source });

type OldParameter = Exclude<keyof GatewayLogList, "search" | "order_by" | "order_by_direction" | "filters" | "meta_info" | "direction">;

/**
 * Filters that replace the older parameters. The parameters are inclusive bounds; the filters listed here are exclusive,
 * so they are negated.
 */
const OLD_PARAMETERS: Readonly<Record<OldParameter, readonly [LogFilterKey, LogOperator]>> = {
  start_date: ["created_at", "lt"],
  end_date: ["created_at", "gt"],
  min_cost: ["cost", "lt"],
  max_cost: ["cost", "gt"],
  min_tokens_in: ["tokens_in", "lt"],
  max_tokens_in: ["tokens_in", "gt"],
  min_tokens_out: ["tokens_out", "lt"],
  max_tokens_out: ["tokens_out", "gt"],
  min_total_tokens: ["tokens", "lt"],
  max_total_tokens: ["tokens", "gt"],
  min_duration: ["duration", "lt"],
  max_duration: ["duration", "gt"],
  feedback: ["feedback", "eq"],
  success: ["success", "eq"],
  cached: ["cached", "eq"],
  model: ["model", "eq"],
  model_type: ["model_type", "eq"],
  provider: ["provider", "eq"],
  request_content_type: ["request_content_type", "eq"],
  response_content_type: ["response_content_type", "eq"],
};

/**
 * A bound keeps rows that have a value and do not exceed it. Throws `gateway_input_invalid` for times that are invalid or
 * in the wrong order.
 */
export function oldParameterFilters(query: GatewayLogList): readonly LogFilter[] {
  const [fromMs, toMs] = (["start_date", "end_date"] as const).map((name) => timeOf(name, query[name]));
  if (fromMs !== undefined && toMs !== undefined && fromMs > toMs)
    throw invalid(`"start_date" must not be after "end_date".`, "/start_date");
  return Object.entries(OLD_PARAMETERS).flatMap(([name, [key, operator]]): readonly LogFilter[] => {
    const value = query[name as OldParameter];
    if (value === undefined) return [];
    if (operator === "eq") return [{ key, operator, value: [value] }];
    return [
      { key, operator, value: [value], negated: true },
      { key, operator: "neq", value: [null] },
    ];
  });
}

function timeOf(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  const ms = parseTimestamp(text);
  if (ms === undefined) throw invalid(`"${name}" must be a time like 2030-01-31T08:00:00Z.`, `/${name}`);
  return ms;
}

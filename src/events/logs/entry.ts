import type { ColumnOf, GatewayLogRow } from "#events/rows/rows.ts";
import type { Cell } from "#events/rows/schema.ts";

/** One accepted request as the gateway passes it on. */
export interface GatewayLogEntry {
  readonly row: GatewayLogRow;
  readonly keep: KeepRule;
  /** The bodies with secrets masked, together at most KEPT_BYTES_MAX. */
  readonly request: Buffer | null;
  readonly response: readonly Buffer[];
}

/** The retention of the row. */
export interface KeepRule {
  /** `none`: it is counted but not kept. */
  readonly mode: "none" | "STOP_INSERTING" | "DELETE_OLDEST";
  /** Rows that the gateway keeps; null if only retention limits them. */
  readonly rowsMax: number | null;
}

/** Accepts every accepted request. Never throws; entries that could not be written are counted. */
export interface GatewayLogSink {
  /** The watcher is called once, and not during this call. */
  append(entry: GatewayLogEntry, watcher?: StoredWatcher): void;
}

/** Waits until an entry is kept, so that a client with an answer finds it in the log. Must not throw. */
export interface StoredWatcher {
  /** The entry outlives the process, or could not be written. */
  onKept(): void;
}

/** The cells of an entry in its segment: the table's columns known by then, and the row's retention. */
export const ENTRY_COLUMNS = [
  "id",
  "at_ms",
  "account_id",
  "gateway_id",
  "provider",
  "model",
  "path",
  "method",
  "status_code",
  "success",
  "cached",
  "duration_ms",
  "tokens_in",
  "tokens_out",
  "cost",
  "step",
  "request_content_type",
  "response_content_type",
  "request_bytes",
  "response_bytes",
  "event_id",
  "metadata",
  "model_type",
  "request_type",
  "user_agent",
  "custom_cost",
  "estimated",
  "tokens_cache_read",
  "tokens_cache_write",
  "tokens_reasoning",
  "first_byte_ms",
  "authentication",
  "compatibility_mode",
  "dlp_action",
  "guardrail_action",
  "guardrail_findings",
  "keep_mode",
  "keep_rows",
] as const satisfies readonly (ColumnOf<"gateway_logs"> | "keep_mode" | "keep_rows")[];

type CellsOf<T extends readonly string[]> = { readonly [K in keyof T]: Cell };

/**
 * The row as stored in the segment: a JSON list of cells. Each is named here, because a look-up by name would cost every
 * request.
 */
export function entryCells({ row, keep }: GatewayLogEntry): string {
  const cells: CellsOf<typeof ENTRY_COLUMNS> = [
    row.id,
    row.at_ms,
    row.account_id,
    row.gateway_id,
    row.provider,
    row.model,
    row.path,
    row.method,
    row.status_code,
    row.success ? 1 : 0,
    row.cached ? 1 : 0,
    row.duration_ms,
    row.tokens_in,
    row.tokens_out,
    row.cost,
    row.step,
    row.request_content_type,
    row.response_content_type,
    row.request_bytes,
    row.response_bytes,
    row.event_id ?? "",
    row.metadata ?? "",
    row.model_type ?? "",
    row.request_type ?? "",
    row.user_agent ?? "",
    row.custom_cost === true ? 1 : 0,
    row.estimated === true ? 1 : 0,
    row.tokens_cache_read ?? null,
    row.tokens_cache_write ?? null,
    row.tokens_reasoning ?? null,
    row.first_byte_ms ?? null,
    row.authentication === true ? 1 : 0,
    row.compatibility_mode === true ? 1 : 0,
    row.dlp_action ?? "",
    row.guardrail_action ?? "",
    row.guardrail_findings ?? "",
    keep.mode,
    keep.rowsMax,
  ];
  return JSON.stringify(cells);
}

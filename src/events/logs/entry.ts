import type { GatewayLogRow } from "#events/rows.ts";
import { columnsOf } from "#events/schema.ts";

/** One accepted request as the gateway hands it over. */
export interface GatewayLogEntry {
  readonly row: GatewayLogRow;
  readonly keep: KeepRule;
  /** The bodies as they may be kept: secrets are masked. Together no more than KEPT_BYTES_MAX. */
  readonly request: Buffer | null;
  readonly response: readonly Buffer[];
}

/** What is to become of the row. */
export interface KeepRule {
  /** `none`: it is counted, and not kept. */
  readonly mode: "none" | "STOP_INSERTING" | "DELETE_OLDEST";
  /** Rows that the gateway keeps; null where only retention bounds them. */
  readonly rowsMax: number | null;
}

/** Takes every accepted request. Never throws; what could not be written is counted. */
export interface GatewayLogSink {
  append(entry: GatewayLogEntry): void;
}

/** Given afterwards, or by whoever reads the segment. */
const NOT_WRITTEN: ReadonlySet<string> = new Set(["feedback", "score", "segment", "segment_at", "request_kept", "response_kept"]);

const ROW_COLUMNS = columnsOf("gateway_logs").filter((column) => !NOT_WRITTEN.has(column.name));

/** The cells of an entry's row in its segment: those of the table, then what is to become of it. */
export const ENTRY_COLUMNS: readonly string[] = [...ROW_COLUMNS.map((column) => column.name), "keep_mode", "keep_rows"];

/** The row as it lies in the segment: a JSON list of cells. */
export function entryCells({ row, keep }: GatewayLogEntry): string {
  const values = row as unknown as Readonly<Record<string, unknown>>;
  const cells: unknown[] = [];
  for (const { name, sql, form, nullable } of ROW_COLUMNS) {
    const value = values[name];
    if (form === "boolean") cells.push(value === true ? 1 : 0);
    else cells.push(value ?? (nullable ? null : sql === "TEXT" ? "" : 0));
  }
  cells.push(keep.mode, keep.rowsMax);
  return JSON.stringify(cells);
}

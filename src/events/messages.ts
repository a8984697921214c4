import type { PackedRows } from "./packed-rows.ts";

/** From a sink to the writer. */
export interface RowsMessage {
  readonly type: "rows";
  readonly batch: number;
  readonly tables: readonly PackedRows[];
}

/** From the writer to a sink, once the batch is committed (or could not be). */
export interface WrittenMessage {
  readonly type: "written";
  readonly batch: number;
}

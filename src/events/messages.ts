import type { Cell } from "./schema.ts";
import type { EventTable } from "./rows.ts";

/** From a sink to the writer. Cells of all rows one after the other, in the schema's column order: cheap to copy. */
export interface RowsMessage {
  readonly type: "rows";
  readonly batch: number;
  readonly tables: readonly { readonly table: EventTable; readonly cells: readonly Cell[] }[];
}

/** From the writer to a sink, once the batch is committed (or could not be). */
export interface WrittenMessage {
  readonly type: "written";
  readonly batch: number;
}

import type { PackedRows } from "./packed-rows.ts";

/** From a sink to the writer. */
export interface RowsMessage {
  readonly type: "rows";
  readonly batch: number;
  readonly tables: readonly PackedRows[];
  /** Settings of zones that have rows here and have chosen a setting other than `undoubted`. */
  readonly maskings?: Maskings;
}

/** How much of visitors' texts is masked in a zone's rows (snapshot/edge-settings.ts). */
export type LogMasking = "undoubted" | "all" | "off";

/** By identifier of the zone. */
export type Maskings = ReadonlyMap<string, LogMasking>;

/** From the writer to a sink, once the batch is committed or has failed. */
export interface WrittenMessage {
  readonly type: "written";
  readonly batch: number;
}

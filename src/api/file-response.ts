import type { RawReply } from "./route.ts";

/** A file of lines, with a name for its content. */
export const exported = (name: string, format: "ndjson" | "csv" = "ndjson", body: AsyncIterableIterator<string>): RawReply => ({
  type: format === "csv" ? "text/csv; charset=utf-8; header=present" : "application/x-ndjson",
  headers: { "content-disposition": `attachment; filename="${name}.${format}"` },
  body,
});

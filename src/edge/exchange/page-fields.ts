import type { Page } from "#edge/pages/error-page.ts";
import type { Exchange } from "./exchange.ts";
import type { Field } from "#edge/http/header-edits.ts";

/** The fields of a response that the edge makes itself, without those of the connection. */
export function pageFields(page: Page, bodyBytes: number, exchange: Exchange, rayName: string): readonly Field[] {
  const { responseEdits: edits } = exchange;
  const fields: readonly Field[] = [
    ["Date", new Date(exchange.at_ms).toUTCString()],
    ["Content-Type", page.contentType],
    ["Content-Length", String(bodyBytes)],
    ["Cache-Control", "no-store"],
    ["X-Content-Type-Options", "nosniff"],
  ];
  const kept = edits === null ? fields : fields.filter(([name]) => name === "Content-Length" || !edits.drop.includes(name.toLowerCase()));
  return [...kept, ...(edits === null ? [] : edits.add.map(({ name, value }): Field => [name, value])), [rayName, exchange.ray_id]];
}

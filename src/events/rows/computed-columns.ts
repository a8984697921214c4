import type { EventTable } from "./rows.ts";

/** All tokens of a gateway's request, which may lack one or both counts. */
export const ALL_TOKENS = "(IFNULL(tokens_in, 0) + IFNULL(tokens_out, 0))";

/** Values that can be summed besides columns, as SQL over these. Tables of blocks and of roll-ups have none. */
const COMPUTED = {
  gateway_logs: {
    errored: "(1 - success)",
    tokens_all: ALL_TOKENS,
    tokens_in_cached: "cached * tokens_in",
    tokens_out_cached: "cached * tokens_out",
    tokens_in_uncached: "(1 - cached) * tokens_in",
    tokens_out_uncached: "(1 - cached) * tokens_out",
  },
} as const;

export type ComputedColumn<T extends EventTable> = T extends keyof typeof COMPUTED ? keyof (typeof COMPUTED)[T] & string : never;

/** SQL of a computed column; undefined if the table has none of that name. */
export function computedColumn(table: EventTable, column: string): string | undefined {
  const computed: Readonly<Record<string, string>> = table in COMPUTED ? COMPUTED[table as keyof typeof COMPUTED] : {};
  return Object.hasOwn(computed, column) ? computed[column] : undefined;
}

import type { RowPosition } from "#events/queries.ts";
import type { Sealer } from "#kernel/seal.ts";
import type { EventScope } from "./event-filter.ts";

/**
 * Where a list or a tail goes on, as text for clients. Rows are numbered through all tenants' events: sealed, the number tells nobody how
 * many there are, and what another zone or account was given is none here.
 */
export interface RowMarks {
  write(position: RowPosition, scope: EventScope): string;
  /** Undefined for what was not written here, or for another scope. */
  read(mark: string, scope: EventScope): RowPosition | undefined;
}

/** Of sealed values, which a mark goes without. */
const VERSION = "sv1.";
const MARK = /^[\w-]{40,200}$/;

export function createRowMarks(sealer: Pick<Sealer, "seal" | "open">, table: "security_events" | "requests"): RowMarks {
  const context = (scope: EventScope): string =>
    `row:${table}:${"zone_id" in scope ? `zone:${scope.zone_id}` : `account:${scope.account_id}`}`;
  return {
    write: ({ at_ms, row_id }, scope) => sealer.seal(`${at_ms}.${row_id}`, context(scope)).slice(VERSION.length),
    read: (mark, scope) => {
      if (!MARK.test(mark)) return undefined;
      try {
        const [at, row] = sealer
          .open(VERSION + mark, context(scope))
          .toString()
          .split(".");
        return { at_ms: Number(at), row_id: Number(row) };
      } catch {
        return undefined;
      }
    },
  };
}

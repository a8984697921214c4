import type { RowPosition } from "#events/read/queries.ts";
import type { EventTable } from "#events/rows/rows.ts";
import type { Where } from "#events/sql/where-sql.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type { EventScope } from "./event-filter.ts";

/**
 * Cursors of lists and tails, as text for clients. Rows are numbered across all tenants, so the number is sealed to hide
 * how many there are. A cursor is only valid for its scope, and for its conditions if these were given.
 */
export interface RowMarks {
  write<T extends EventTable>(position: RowPosition, scope: EventScope, where?: Where<T>): string;
  /** Undefined for a mark that was not issued here, or was for another scope or other conditions. */
  read<T extends EventTable>(mark: string, scope: EventScope, where?: Where<T>): RowPosition | undefined;
}

/** Prefix of sealed values, which marks omit. */
const VERSION = "sv1.";
const MARK = /^[\w-]{40,200}$/;

export function createRowMarks(sealer: Pick<Sealer, "seal" | "open">, table: "security_events" | "requests"): RowMarks {
  const context = (scope: EventScope, where: unknown): string =>
    `row:${table}:${"zone_id" in scope ? `zone:${scope.zone_id}` : `account:${scope.account_id}`}:${JSON.stringify(where)}`;
  return {
    write: ({ at_ms, row_id }, scope, where = []) => sealer.seal(`${at_ms}.${row_id}`, context(scope, where)).slice(VERSION.length),
    read: (mark, scope, where = []) => {
      if (!MARK.test(mark)) return undefined;
      try {
        const [at, row] = sealer
          .open(VERSION + mark, context(scope, where))
          .toString()
          .split(".");
        return { at_ms: Number(at), row_id: Number(row) };
      } catch {
        return undefined;
      }
    },
  };
}

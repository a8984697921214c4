import type { Call } from "#control/call.ts";
import { auditActor } from "#control/commit.ts";
import type { Unit } from "#store/database/store.ts";

/**
 * Writes the audit row for a change of an account's row, in the form of `view`: without `before` it is new, without
 * `after` deleted.
 */
export function auditChange<Row extends { readonly id: string; readonly account_id: string }>(
  unit: Unit,
  call: Call,
  type: string,
  view: (row: Row) => object,
  before: Row | null,
  after: Row | null,
): void {
  const row = after ?? before;
  if (row === null) return;
  const verb = before === null ? "create" : after === null ? "delete" : "update";
  unit.audit({
    action: `${type}.${verb}`,
    actor: auditActor(call),
    account_id: row.account_id,
    zone_id: null,
    resource: { type, id: row.id },
    before: before && view(before),
    after: after && view(after),
  });
}

import type { Clock } from "#kernel/clock.ts";
import { isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { Call, Page, PageRequest } from "#control/call.ts";
import { auditActor } from "#control/commit.ts";
import type { Op } from "#snapshot/entries.ts";
import { gatewayById } from "#store/gateways/gateways.ts";
import {
  deleteGatewayObject,
  gatewayObject,
  type GatewayObjectKind,
  type GatewayObjectScope,
  type GatewayObjectRow,
  putGatewayObject,
} from "#store/gateways/gateway-objects.ts";
import type { Store, Unit } from "#store/database/store.ts";

export interface ObjectDeps {
  readonly store: Store;
  readonly clock: Clock;
}

export const invalidInput = (source: string, message: string): PlatformError =>
  new PlatformError("gateway_input_invalid", { message, source });

/** Throws `gateway_not_found` if the account has no such gateway. */
export async function requireGateway(db: Unit["db"], accountId: string, gatewayId: string): Promise<void> {
  if ((await gatewayById(db, accountId, gatewayId)) === undefined) throw new PlatformError("gateway_not_found");
}

/** Throws `gateway_not_found` if the object does not exist. */
export async function loadObject(db: Unit["db"], place: GatewayObjectScope, id: string): Promise<GatewayObjectRow> {
  const row = await gatewayObject(db, place, id);
  if (row === undefined) throw new PlatformError("gateway_not_found");
  return row;
}

/** A new row, or `before` with another value. */
export function objectRow(
  { clock }: Pick<ObjectDeps, "clock">,
  place: Required<GatewayObjectScope>,
  id: string,
  value: object,
): GatewayObjectRow {
  const now = isoMicros(clock.nowMicros());
  return { id, ...place, value: JSON.stringify(value), created_at: now, modified_at: now };
}

export const changedRow = ({ clock }: Pick<ObjectDeps, "clock">, before: GatewayObjectRow, value: object): GatewayObjectRow => ({
  ...before,
  value: JSON.stringify(value),
  modified_at: isoMicros(clock.nowMicros()),
});

export const valueOf = <V>(row: GatewayObjectRow): V => JSON.parse(row.value) as V;

export interface ObjectWrite {
  readonly call: Call;
  readonly before: GatewayObjectRow | null;
  readonly after: GatewayObjectRow | null;
  /** The object without secrets, for the audit log. */
  readonly audited: (row: GatewayObjectRow) => object;
  /** Entries to publish. */
  readonly ops?: readonly Op[];
}

const ACTIONS = { create: "create", update: "update", delete: "delete" } as const;

/** Writes or deletes the row, writes its audit row and publishes the entries. */
export async function writeObject(unit: Unit, { call, before, after, audited, ops = [] }: ObjectWrite): Promise<void> {
  const row = (after ?? before) as GatewayObjectRow;
  if (after === null) await deleteGatewayObject(unit.db, row.id);
  else await putGatewayObject(unit.db, after);
  const action = before === null ? ACTIONS.create : after === null ? ACTIONS.delete : ACTIONS.update;
  const kind = `gateway_${row.kind satisfies string as GatewayObjectKind}`;
  unit.audit({
    action: `${kind}.${action}`,
    actor: auditActor(call),
    account_id: row.account_id,
    zone_id: null,
    resource: { type: kind, id: row.id },
    before: before && audited(before),
    after: after && audited(after),
  });
  for (const op of ops) unit.change(op);
}

/** One page of a list in memory, because these lists are short. */
export const pageOf = <T>(items: readonly T[], { page, per_page }: PageRequest): Page<T> => ({
  items: items.slice((page - 1) * per_page, page * per_page),
  page,
  per_page,
  total_count: items.length,
});

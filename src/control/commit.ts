import { type Call, DryRunEnd } from "#control/call.ts";
import type { AuditEntry, Store, Unit, WriteOptions } from "#store/database/store.ts";

/**
 * Runs one unit of work and stores its revision on the call, so that the API can wait for the planes. In a dry run,
 * throws `DryRunEnd` at the end, which undoes the unit.
 */
export async function commit<T>(
  deps: { readonly store: Store },
  call: Call,
  work: (unit: Unit) => Promise<T>,
  options: WriteOptions = {},
): Promise<T> {
  const tried = async (unit: Unit): Promise<T> => {
    await work(unit);
    throw new DryRunEnd();
  };
  const { result, rev } = await deps.store.write(call.dry_run === true ? tried : work, options);
  if (rev !== null) call.rev = Math.max(call.rev ?? 0, rev);
  return result;
}

/** The actor of an audit row. */
export const auditActor = ({ actor, api_date }: Call): AuditEntry["actor"] => ({
  type: actor.type,
  id: actor.id,
  ip: actor.ip,
  ...(api_date === undefined ? {} : { api_date }),
});

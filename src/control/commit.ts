import type { Call } from "#control/call.ts";
import type { Store, Unit, WriteOptions } from "#store/store.ts";

/** Runs one unit of work and notes its revision on the call, so that the API can wait for the planes. */
export async function commit<T>(
  deps: { readonly store: Store },
  call: Call,
  work: (unit: Unit) => Promise<T>,
  options: WriteOptions = {},
): Promise<T> {
  const { result, rev } = await deps.store.write(work, options);
  if (rev !== null) call.rev = Math.max(call.rev ?? 0, rev);
  return result;
}

/** The actor of an audit row. */
export const auditActor = (call: Call): { type: "token" | "user" | "system"; id: string; ip: string } => ({
  type: call.actor.type,
  id: call.actor.id,
  ip: call.actor.ip,
});

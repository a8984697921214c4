import { randomBytes } from "node:crypto";
import type { Clock } from "#kernel/clock.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import { systemCall } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { VISITOR_KEYS_CONTEXT, type VisitorKeysEntry } from "#snapshot/entries.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { deleteVisitorKeys, putVisitorKeys, visitorKeysRow } from "#store/nodes/visitor-keys.ts";

/** Its only entry. */
export const VISITOR_KEYS_ID = "edge";

/**
 * For how long edges use one key. The key after it is already known to all of them, and the one before it still counts, so a visitor who
 * goes to another edge meanwhile is known there: a session or a clearance ends before its key does.
 */
export const KEY_LIFE_MS = 6 * 3_600_000;
const KEY_BYTES = 32;
/** In use, next, former: all that edges have at once. */
const KEYS = 3;

interface Deps {
  readonly store: Store;
  readonly sealer: Sealer;
  readonly clock: Clock;
}

/** Replaces the keys when they are old or revoked. To be called about once a second by the process that leads. */
export async function renewVisitorKeys({ store, sealer, clock }: Deps): Promise<void> {
  const isDue = (made: number | undefined): boolean => made === undefined || Math.abs(clock.nowMs() - made) >= KEY_LIFE_MS;
  if (!isDue((await visitorKeysRow(store.read))?.made_ms)) return;
  await commit({ store }, call(), async (unit) => {
    const row = await visitorKeysRow(unit.db);
    if (!isDue(row?.made_ms)) return;
    const fresh = (): string => sealer.seal(randomBytes(KEY_BYTES), VISITOR_KEYS_CONTEXT);
    const [used, next] = row === undefined || row.made_ms === 0 ? [] : (JSON.parse(row.keys) as readonly string[]);
    const keys = used === undefined || next === undefined ? [fresh(), fresh()] : [next, fresh(), used].slice(0, KEYS);
    await putVisitorKeys(unit.db, { keys: JSON.stringify(keys), made_ms: clock.nowMs() });
    noteChange(unit, { keys });
  });
}

/** A server without a bus has no other edges: each process makes keys for itself. */
export async function forgetVisitorKeys({ store }: Pick<Deps, "store">): Promise<void> {
  if ((await visitorKeysRow(store.read)) === undefined) return;
  await commit({ store }, call(), async (unit) => {
    await deleteVisitorKeys(unit.db);
    noteChange(unit, null);
  });
}

function noteChange(unit: Unit, value: VisitorKeysEntry | null): void {
  unit.change({ kind: "visitor_keys", id: VISITOR_KEYS_ID, value });
  unit.audit({
    action: "visitor_keys.change",
    actor: auditActor(call()),
    ...{ account_id: null, zone_id: null },
    resource: { type: "visitor_keys", id: VISITOR_KEYS_ID },
  });
}

export async function visitorKeysEntry(db: Unit["db"]): Promise<VisitorKeysEntry | null> {
  const row = await visitorKeysRow(db);
  return row === undefined ? null : { keys: JSON.parse(row.keys) as string[] };
}

const call = () => systemCall("nodes");

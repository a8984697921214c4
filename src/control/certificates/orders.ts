import type { Clock } from "#kernel/clock.ts";
import { newId } from "#kernel/crypto/ids.ts";
import {
  type CertificateOrderRow,
  type CertificateOwner,
  deleteOrder,
  deleteRenewal,
  insertOrder,
  orderFromRow,
  updateOrder,
} from "#store/certificates/certificate-orders.ts";
import { claimOrderOf, claimOrders, hasDueOrders, releaseOrders } from "#store/certificates/order-claims.ts";
import type { Store, Unit } from "#store/database/store.ts";
import { changeProofs, placementOf } from "./placement.ts";
import type { OrderSteps } from "./order-steps.ts";

/** A request for a certificate. */
export interface CertificateRequest extends CertificateOwner {
  readonly zone_id: string;
  readonly hosts: readonly string[];
  readonly method: "http" | "txt";
  /** The authority's name; empty: any. */
  readonly requested: string;
  /** The certificate that it renews, as identified to its authority. */
  readonly replaces?: string | null;
}

/** Pending certificate orders. An owner has at most one order. */
export interface CertificateOrders {
  /** Creates the order. Replaces a different one; an equal one becomes due at once. */
  request(unit: Unit, wish: CertificateRequest): Promise<void>;
  /** Starts work on due orders, up to the limit; returns their number. */
  turn(): Promise<number>;
  /** Works on the owner's order now, unless it is claimed; resolves when it cannot advance further now. */
  workFor(owner: CertificateOwner): Promise<void>;
  /** Starts work on due orders without waiting for the next interval. */
  wake(): void;
  /** Continues orders of a previous process at once, if no other process can be working on them. */
  resume(): Promise<void>;
  close(): Promise<void>;
}

export interface CertificateOrdersDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly workOn: OrderSteps;
  /** The authority that an owner's order goes to first, if it names none. */
  readonly preferred: Readonly<Record<CertificateOrderRow["owner_kind"], string>>;
  /** Called for internal failures, not for those of an authority. */
  onError(error: unknown): void;
}

/** Concurrent orders of one account; the rest of the capacity is for others, however slow the authority is. */
const PER_ACCOUNT_MAX = 6;
/** Concurrent orders of one authority; the rest of the capacity is for others, however slow it is. */
const PER_AUTHORITY_MAX = 8;
/** As many as all five authorities together may have, so that slow ones keep no place from another. */
const CONCURRENCY_MAX = 5 * PER_AUTHORITY_MAX;
/** Including orders that a caller waits for. */
const RUNNING_MAX = 64;
/** Longer than any attempt takes; afterwards another process may claim the order. */
const LEASE_MS = 300_000;
/** Delay of an order whose attempt has failed here, not at the authority. */
const FAILED_MS = 60_000;
/** Delay before an authority is asked to check a new challenge, because planes need a moment to show it. */
const LOOK_AGAIN_MS = 1_050;

export function createCertificateOrders(deps: CertificateOrdersDeps): CertificateOrders {
  const { store, clock, workOn } = deps;
  const closing = new AbortController();
  /** From before the claim until the attempt ends, so that callers at the same time stay within the limit and closing waits for all. */
  const running = new Set<Promise<void>>();
  /** Those that no caller waits for: callers' orders keep no place from these. */
  let planned = 0;
  let turning: Promise<unknown> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;

  const wakeIn = (ms: number): void => {
    if (closing.signal.aborted) return;
    clearTimeout(timer);
    timer = setTimeout(() => void turn().catch(deps.onError), ms).unref();
  };
  const track = (work: Promise<void>): Promise<void> => {
    const run = work.finally(() => {
      running.delete(run);
      wakeIn(LOOK_AGAIN_MS);
    });
    running.add(run);
    return run;
  };
  const start = async (id: string): Promise<void> => {
    const { signal } = closing;
    try {
      await workOn(id, signal);
    } catch (error) {
      if (!signal.aborted) deps.onError(error);
      // Releases the claim. What failed here would fail again at once, and keep its place from others.
      const later = signal.aborted ? {} : { due_ms: clock.nowMs() + FAILED_MS };
      await store.write(({ db }) => updateOrder(db, id, { lease_ms: 0, ...later })).catch(deps.onError);
    }
  };
  const claim = async (): Promise<number> => {
    const limit = CONCURRENCY_MAX - planned;
    // Reading is cheap, but every write is synced to disk.
    if (closing.signal.aborted || limit <= 0 || !(await hasDueOrders(store.read, clock.nowMs()))) return 0;
    const { result: ids } = await store.write(({ db }) =>
      claimOrders(db, {
        nowMs: clock.nowMs(),
        leaseMs: LEASE_MS,
        limit,
        perAccount: PER_ACCOUNT_MAX,
        perAuthority: PER_AUTHORITY_MAX,
        preferred: deps.preferred,
      }),
    );
    planned += ids.length;
    for (const id of ids) void track(start(id).finally(() => planned--));
    return ids.length;
  };
  /** One after another, because each counts what the one before has claimed. */
  const turn = (): Promise<number> => {
    const next = turning.then(claim);
    turning = next.catch(() => undefined);
    return next;
  };

  return {
    request: async (unit, wish) => {
      const { replaces = null, hosts, ...rest } = wish;
      const present = await orderFromRow(unit.db, wish);
      const wanted = { ...rest, hosts: JSON.stringify(hosts) };
      if (present !== undefined && isSame(present, wanted)) return updateOrder(unit.db, present.id, { due_ms: clock.nowMs(), tries: 0 });
      if (present !== undefined) await remove(unit, present);
      const nowMs = clock.nowMs();
      await insertOrder(unit.db, {
        ...{ id: newId(), ...wanted, replaces, authority: "", status: "initializing", error: "", placed: null, private_key: null },
        ...{ tries: 0, due_ms: nowMs, lease_ms: 0, created_ms: nowMs },
      });
    },
    turn,
    workFor: async (owner) => {
      if (closing.signal.aborted || running.size >= RUNNING_MAX) return;
      const claimed = store.write(({ db }) => claimOrderOf(db, owner, clock.nowMs(), LEASE_MS));
      await track(claimed.then(({ result: id }) => (id === undefined ? undefined : start(id))));
    },
    wake: () => wakeIn(0),
    resume: async () => {
      if (store.dialect === "sqlite") await store.write(({ db }) => releaseOrders(db));
    },
    close: async () => {
      closing.abort(new Error("the server is shutting down"));
      clearTimeout(timer);
      await turning;
      await Promise.allSettled(running);
    },
  };
}

/** Deletes an owner's order. Nothing is revoked, because others may still use the certificate (custom-hostnames.md §1). */
export async function forgetOrder(unit: Unit, owner: CertificateOwner): Promise<void> {
  const present = await orderFromRow(unit.db, owner);
  if (present !== undefined) await remove(unit, present);
  await deleteRenewal(unit.db, owner);
}

async function remove(unit: Unit, row: CertificateOrderRow): Promise<void> {
  const placement = placementOf(row);
  if (placement !== null) await changeProofs(unit, row, placement, "take_back");
  await deleteOrder(unit.db, row.id);
}

const isSame = (row: CertificateOrderRow, wanted: { hosts: string; method: string; requested: string }): boolean =>
  row.hosts === wanted.hosts && row.method === wanted.method && row.requested === wanted.requested;

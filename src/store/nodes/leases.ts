import { sql } from "kysely";
import { databaseNow } from "#store/database/database-time.ts";
import { type Fence, LeaseLostError } from "#store/database/fence.ts";
import type { Store } from "#store/database/store.ts";

/** The lease of a duty, as its holder has it. */
export interface Lease {
  readonly duty: string;
  readonly holder: string;
  /** Changes with each holder, and where the same holder had let it run out. */
  readonly epoch: number;
}

/**
 * Takes or renews the leases of duties; returns those that the holder has now. Uses the database's clock, so that clocks of holders may differ.
 * A holder that was frozen may believe that it still has a lease: its work needs a fence.
 */
export async function takeLeases(store: Store, duties: readonly string[], holder: string, forMs: number): Promise<readonly Lease[]> {
  const now = databaseNow(store.dialect);
  const until = sql<number>`${now} + ${sql.lit(forMs)}`;
  // In one order, so that two holders do not wait for each other.
  const values = duties.toSorted().map((duty) => ({ duty, holder, until_ms: until, epoch: 1 }));
  const { result } = await store.write(({ db }) =>
    db
      .insertInto("leases")
      .values(values)
      .onConflict((conflict) =>
        conflict
          .column("duty")
          .doUpdateSet({
            holder,
            until_ms: until,
            epoch: sql<number>`leases.epoch + CASE WHEN leases.holder = excluded.holder AND leases.until_ms >= ${now} THEN 0 ELSE 1 END`,
          })
          .where((eb) => eb.or([eb("leases.holder", "=", holder), eb("leases.until_ms", "<", now)])),
      )
      .returning(["duty", "holder", "epoch"])
      .execute(),
  );
  return result;
}

export const takeLease = async (store: Store, duty: string, holder: string, forMs: number): Promise<boolean> =>
  (await takeLeases(store, [duty], holder, forMs)).length > 0;

/** Another holder need not wait for its end. The row stays, because its epoch goes on. */
export async function releaseLeases(store: Store, duties: readonly string[], holder: string): Promise<void> {
  // few: one for each duty
  await store.write(({ db }) =>
    db.updateTable("leases").set({ until_ms: 0 }).where("duty", "in", duties).where("holder", "=", holder).execute(),
  );
}

/**
 * Lets units of work begin only while the holder has the lease. The row stays locked until the unit's end, so that another holder takes
 * the lease before it or after it.
 */
export const fenceOf = ({ duty, holder, epoch }: Lease, dialect: Store["dialect"]): Fence => ({
  check: async (db) => {
    const query = db
      .selectFrom("leases")
      .select("duty")
      .where("duty", "=", duty)
      .where("holder", "=", holder)
      .where("epoch", "=", epoch)
      .where("until_ms", ">", databaseNow(dialect));
    const row = await (dialect === "postgres" ? query.forShare() : query).executeTakeFirst();
    if (row === undefined) throw new LeaseLostError(duty);
  },
});

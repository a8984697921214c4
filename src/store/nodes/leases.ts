import { sql } from "kysely";
import { databaseNow } from "#store/database/database-time.ts";
import type { Store } from "#store/database/store.ts";

/**
 * Takes or renews the lease of a duty; false if another holder has it. Uses the database's clock, so that clocks of
 * holders may differ. A holder that was frozen may believe that it still has the lease: its work needs its own fence.
 */
export async function takeLease(store: Store, duty: string, holder: string, forMs: number): Promise<boolean> {
  const now = databaseNow(store.dialect);
  const { result } = await store.write(({ db }) =>
    db
      .insertInto("leases")
      .values({ duty, holder, until_ms: sql<number>`${now} + ${sql.lit(forMs)}` })
      .onConflict((conflict) =>
        conflict
          .column("duty")
          .doUpdateSet({ holder, until_ms: sql<number>`${now} + ${sql.lit(forMs)}` })
          .where((eb) => eb.or([eb("leases.holder", "=", holder), eb("leases.until_ms", "<", now)])),
      )
      .returning("duty")
      .executeTakeFirst(),
  );
  return result !== undefined;
}

/** Another holder need not wait for its end. */
export async function releaseLease(store: Store, duty: string, holder: string): Promise<void> {
  // few: one for each duty
  await store.write(({ db }) => db.deleteFrom("leases").where("duty", "=", duty).where("holder", "=", holder).execute());
}

import type { Kysely } from "kysely";
import { isSpecialUse } from "#kernel/net/hostname.ts";
import { isReverseZone } from "#model/zones/zone-name.ts";
import { reversed } from "#store/queries/reversed.ts";
import { namesUp } from "./local-names.ts";
import { textTest } from "#store/queries/like.ts";
import type { Tables } from "#store/queries/tables.ts";
import type { ZoneRow } from "./zones.ts";

type Db = Kysely<Tables>;

/** Zones at or above the name, of any account, nearest first. */
export async function zonesUp(db: Db, name: string): Promise<ZoneRow[]> {
  const rows = await db.selectFrom("zones").selectAll().where("name", "in", namesUp(name)).orderBy("id").execute();
  return rows.toSorted((a, b) => b.name.length - a.name.length);
}

const BELOW_MAX = 1000;

/** Zones below the name, of any account. */
export function zonesBelow(db: Db, name: string): Promise<ZoneRow[]> {
  const from = `${reversed(name)}.`;
  return db
    .selectFrom("zones")
    .selectAll()
    .where((eb) => {
      const inRange = eb.and([eb("name_reversed", ">=", from), eb("name_reversed", "<", `${from.slice(0, -1)}/`)]);
      if (!mayHaveOldZonesBelow(name)) return inRange;
      return eb.or([inRange, eb.and([eb("name_reversed", "is", null), textTest(eb.ref("name"), "endswith", `.${name}`)])]);
    })
    .orderBy("name")
    .limit(BELOW_MAX)
    .execute();
}

/** Older zones without a reversed name lie below such names only; all of them must be read. */
const mayHaveOldZonesBelow = (name: string): boolean => isSpecialUse(name) || isReverseZone(name);

/** All active zones. */
export const activeZoneNames = (db: Db): Promise<{ id: string; name: string; account_id: string; proof: string }[]> =>
  db.selectFrom("zones").select(["id", "name", "account_id", "proof"]).where("status", "=", "active").orderBy("name").execute();

/** At most one. */
export const activeZonesOfName = (db: Db, name: string): Promise<ZoneRow[]> =>
  db.selectFrom("zones").selectAll().where("name", "=", name).where("status", "=", "active").execute();

export const zonesOfName = (db: Db, name: string): Promise<ZoneRow[]> =>
  db.selectFrom("zones").selectAll().where("name", "=", name).orderBy("id").execute();

export async function pendingCount(db: Db, accountId: string): Promise<number> {
  const row = await db
    .selectFrom("zones")
    .select((eb) => eb.fn.countAll().as("n"))
    .where("account_id", "=", accountId)
    .where("status", "=", "pending")
    .executeTakeFirstOrThrow();
  return Number(row.n);
}

/** Name servers that other accounts' zones of the name have as their pair, or show if they have no pair. */
export async function serversOfOthers(db: Db, zone: Pick<ZoneRow, "id" | "name">): Promise<ReadonlySet<string>> {
  const others = db
    .selectFrom("zones")
    .select(["pair", "name_servers"])
    .distinct()
    .where("name", "=", zone.name)
    .where("id", "!=", zone.id);
  const rows = await others.execute();
  return new Set(rows.flatMap(({ pair, name_servers }) => JSON.parse(pair === "[]" ? name_servers : pair) as string[]));
}

/** The pair of any of the account's zones. */
export async function usualPair(db: Db, accountId: string): Promise<string | undefined> {
  const ofAccount = db.selectFrom("zones").select("pair").where("account_id", "=", accountId);
  return (await ofAccount.where("pair", "!=", "[]").orderBy("name").limit(1).executeTakeFirst())?.pair;
}

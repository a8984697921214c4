import type { CustomPattern } from "#rules/detectors/engine/custom.ts";
import { accountSensitiveData, zoneSensitiveData } from "#store/detection/sensitive-data.ts";
import type { Unit } from "#store/database/store.ts";
import { detectionEntry } from "./entry.ts";

/** The patterns that apply in a zone: its own and its account's. Without a zone, the account's. */
export async function ownPatterns(
  db: Unit["db"],
  { zone_id, account_id }: { readonly zone_id: string | null; readonly account_id: string },
): Promise<readonly CustomPattern[]> {
  const ofZone = zone_id === null ? [] : await zoneSensitiveData.of(db, zone_id);
  return detectionEntry([...ofZone, ...(await accountSensitiveData.of(db, account_id))])?.patterns ?? [];
}

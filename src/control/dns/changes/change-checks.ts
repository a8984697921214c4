import { setImmediate } from "node:timers/promises";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { ChangeStep } from "./change-steps.ts";
import type { PlannedZoneRef } from "#control/open-zone/zone-ref.ts";
import { checkSiblings, type Sibling } from "#model/dns/dns-conflicts.ts";
import { recordsNamed } from "#store/dns/dns-record-rows.ts";
import type { Unit } from "#store/database/store.ts";

export interface CheckContext {
  /** Number of the zone's records before the first step. */
  readonly recordCount: number;
  readonly recordCountMax: number;
  /** Whether errors include the position of the change. */
  readonly pointed: boolean;
  /** The records of the same name that each record is checked against. */
  readonly beside: "all" | "own_type" | "nothing";
  /** Records that other chunks of the same change also modify; they are not checked against. */
  readonly ignored?: ReadonlySet<string>;
  /** The result of `namesakes`, if it is known. */
  readonly known?: readonly Namesake[] | undefined;
}

export type Namesake = Awaited<ReturnType<typeof recordsNamed>>[number];

/** The zone's records with a name of the steps. */
export const namesakes = (db: Unit["db"], zone: PlannedZoneRef, steps: readonly ChangeStep[]): Promise<readonly Namesake[]> =>
  recordsNamed(db, zone.id, [...new Set(steps.flatMap(({ place }) => place?.name ?? []))]);

/** Steps per tick of a large write. */
const SLICE = 2000;

/** Checks each step against the records as left by the previous steps: conflict, duplicate, size, quota. */
export async function checkSteps(db: Unit["db"], zone: PlannedZoneRef, steps: readonly ChangeStep[], context: CheckContext): Promise<void> {
  const byName = new Map<string, Map<string, Sibling>>();
  if (context.beside !== "nothing") {
    for (const { place } of steps) if (place) byName.set(place.name, new Map());
    for (const row of context.known ?? (await namesakes(db, zone, steps)))
      if (context.ignored?.has(row.id) !== true) byName.get(row.name)?.set(row.id, row);
  }
  let recordCount = context.recordCount;
  for (const [index, step] of steps.entries()) {
    if (index % SLICE === SLICE - 1) await setImmediate();
    try {
      const { remove, place, error } = step;
      if (error) throw error;
      if (remove) byName.get(remove.name)?.delete(remove.id);
      recordCount += (place ? 1 : 0) - (remove ? 1 : 0);
      if (!place) continue;
      const siblings = byName.get(place.name);
      const judges = siblings ? [...siblings.values()] : [];
      if (context.beside !== "nothing")
        checkSiblings(place, context.beside === "all" ? judges : judges.filter(({ type }) => type === place.type), zone.name);
      siblings?.set(place.id, place);
      if (!remove && recordCount > context.recordCountMax) throw new PlatformError("dns_quota");
    } catch (error) {
      throw error instanceof PlatformError && context.pointed ? located(error, step) : error;
    }
  }
}

/** The same error with the position of its change. */
export function located(error: PlatformError, { part, index, place }: Pick<ChangeStep, "part" | "index" | "place">): PlatformError {
  // The caller of an undo did not send the record and knows it by its name.
  if (part === "restores")
    return new PlatformError("dns_undo_conflict", {
      message: `Nothing was reverted: the record ${place?.name ?? ""} ${place?.type ?? ""} cannot be restored. ${error.message}`,
      cause: error,
    });
  return new PlatformError(error.errorName, {
    message: error.message,
    source: `/${part}/${index}${error.source ?? (part === "deletes" ? "/id" : "")}`,
    cause: error,
  });
}

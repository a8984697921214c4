import { PlatformError } from "#kernel/errors/errors.ts";
import { createdRow } from "#control/dns/changes/change-steps.ts";
import { permittedSteps } from "#control/dns/changes/secondary-restrictions.ts";
import type { PlannedZoneRef } from "#control/open-zone/zone-ref.ts";
import { checkSiblings, identityOf, type Sibling } from "#model/dns/dns-conflicts.ts";
import { recordsNamed } from "#store/dns/dns-record-rows.ts";
import type { Unit } from "#store/database/store.ts";
import { zoneRowById } from "#store/zones/zones.ts";
import { entryKey, type ImportEntry, type ImportProblem } from "./read-zone-file.ts";

/** Receives the problem of a record; throws unless such records are skipped. */
export type Refuse = (problem: ImportProblem) => void;

/**
 * The records that the zone lacks and can have, each checked against the zone and the previous ones. Throws
 * `secondary_zone_read_only` in a secondary zone.
 */
export async function newEntries(
  db: Unit["db"],
  zone: PlannedZoneRef,
  entries: readonly ImportEntry[],
  { recordsMax, refuse }: { readonly recordsMax: number; readonly refuse: Refuse },
): Promise<readonly ImportEntry[]> {
  const row = await zoneRowById(db, zone.id);
  if (row === undefined) throw new PlatformError("zone_not_found");
  const names = [...new Set(entries.map(({ record }) => record.name))];
  const byName = new Map<string, Sibling[]>(names.map((name) => [name, []]));
  const known = new Set<string>();
  for (const sibling of await recordsNamed(db, zone.id, names)) {
    byName.get(sibling.name)?.push(sibling);
    known.add(entryKey(sibling.name, identityOf(sibling)));
  }
  const fresh: ImportEntry[] = [];
  for (const entry of entries) {
    const { key, line, record } = entry;
    if (known.has(key)) continue;
    const siblings = byName.get(record.name) ?? [];
    try {
      checkSiblings(record, siblings, zone.name);
      if (row.record_count + fresh.length >= recordsMax) throw new PlatformError("dns_quota");
    } catch (error) {
      if (!(error instanceof PlatformError)) throw error;
      refuse({ line, error });
      continue;
    }
    siblings.push({ id: "", ...record });
    known.add(key);
    fresh.push(entry);
  }
  permittedSteps(
    row,
    fresh.map(({ record }, index) => ({ part: "posts", index, remove: null, place: createdRow("", record, zone.id, ""), error: null })),
  );
  return fresh;
}

import type { RecordView } from "#control/dns/changes/record-view.ts";
import { decodeChanges, foldChanges, type VersionedChange } from "#control/dns/changes/version-changes.ts";
import type { PlannedZoneRef } from "#control/open-zone/zone-ref.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { DnsVersion, DnsVersionChange, DnsVersionDiffQuery } from "#model/dns/dns-version.ts";
import {
  changeCount,
  CHANGES_PER_ROW,
  type DnsVersionHead,
  versionChanges,
  versionHead,
  versionRange,
  versionSizes,
} from "#store/dns/dns-versions.ts";
import type { Unit } from "#store/database/store.ts";

type Db = Unit["db"];

/** Changed records of the version and all later ones: an upper limit of the work of an undo. */
export async function changesFrom(db: Db, zone: PlannedZoneRef, version: number): Promise<number> {
  const sizes = await versionSizes(db, zone.id);
  return sizes.reduce((sum, size) => (size.version >= version ? sum + changeCount(size) : sum), 0);
}

export async function findVersion(db: Db, zone: PlannedZoneRef, version: number): Promise<DnsVersionHead> {
  const head = await versionHead(db, zone.id, version);
  if (head) return head;
  const range = await versionRange(db, zone.id);
  if (range === null || version > range.oldest) throw new PlatformError("dns_version_not_found");
  throw new PlatformError("dns_version_pruned", {
    message: `Version ${version} does not exist or has been deleted; the oldest stored version is ${range.oldest}.`,
  });
}

/** Both versions, the older one first. Without `from`, the state before `to`, which need not be stored. */
export async function findVersionRange(
  db: Db,
  zone: PlannedZoneRef,
  { from, to }: DnsVersionDiffQuery,
): Promise<readonly [older: number, newer: number]> {
  if (from !== undefined) await findVersion(db, zone, from);
  const other = to ?? (await versionRange(db, zone.id))?.newest;
  if (other === undefined) throw new PlatformError("dns_version_not_found");
  await findVersion(db, zone, other);
  return from === undefined ? [other - 1, other] : from < other ? [from, other] : [other, from];
}

export async function foldVersions(db: Db, zone: PlannedZoneRef, after: number, upTo: number): Promise<Map<string, VersionedChange>> {
  const folded = new Map<string, VersionedChange>();
  for await (const text of versionChanges(db, zone.id, after, upTo)) foldChanges(folded, decodeChanges(text));
  return folded;
}

/**
 * A part of one version's changes. Every text except the last has the same number of changes, so texts before `offset`
 * are not decoded.
 */
export async function readVersionChanges(db: Db, head: DnsVersionHead, offset: number, limit: number): Promise<readonly VersionedChange[]> {
  const changes: VersionedChange[] = [];
  let skipped = 0;
  for await (const text of versionChanges(db, head.zone_id, head.version - 1, head.version)) {
    if (offset - skipped >= CHANGES_PER_ROW) {
      skipped += CHANGES_PER_ROW;
      continue;
    }
    for (const change of decodeChanges(text)) changes.push(change);
    if (changes.length >= offset - skipped + limit) break;
  }
  return changes.slice(offset - skipped, offset - skipped + limit);
}

export const versionView = (row: DnsVersionHead): DnsVersion => ({
  version: row.version,
  kind: row.kind as DnsVersion["kind"],
  created_on: row.created_on,
  actor: JSON.parse(row.actor) as DnsVersion["actor"],
  reason: row.reason,
  refers_to: row.refers_to,
  created: row.created,
  updated: row.updated,
  deleted: row.deleted,
});

export const versionChangeView = ({ before, after }: VersionedChange, view: RecordView): DnsVersionChange => ({
  action: before === null ? "create" : after === null ? "delete" : "update",
  id: (after ?? before)?.id ?? "",
  before: before && view(before),
  after: after && view(after),
});

export function byRecordName(a: VersionedChange, b: VersionedChange): number {
  const key = ({ before, after }: VersionedChange): string => {
    const row = after ?? before;
    return row === null ? "" : `${row.name} ${row.type} ${row.id}`;
  };
  return key(a) < key(b) ? -1 : 1;
}

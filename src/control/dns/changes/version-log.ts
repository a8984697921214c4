import type { Actor } from "#control/call.ts";
import { encodeChanges, type VersionedChange } from "./version-changes.ts";
import type { DnsVersionKind } from "#model/dns/dns-version.ts";
import {
  changeCount,
  CHANGES_PER_ROW,
  type DnsVersionRow,
  deleteVersionsAbove,
  deleteVersionsBelow,
  insertVersion,
  putVersionPart,
  nthNewestVersion,
  versionSizes,
} from "#store/dns/dns-versions.ts";
import { removeParts } from "#store/database/removals.ts";
import type { Unit } from "#store/database/store.ts";

export interface NewVersion {
  readonly zone_id: string;
  readonly version: number;
  /** Number of the zone's versions so far, including this one. */
  readonly count: number;
  readonly created_on: string;
  readonly actor: Actor;
  readonly kind: DnsVersionKind;
  readonly refers_to: number | null;
  readonly reason: string | null;
}

/** Versions that a zone keeps, unless they have too many changes. */
export const VERSIONS_MAX = 1_000;
/** Limit of changed records in a zone's versions together; the newest version is always kept. */
export const VERSION_CHANGES_MAX = 250_000;
/** Old versions are deleted once per this many writes, so that few writes pay for it. */
const PRUNE_EVERY = 100;

/** Stores the changes of a write, and deletes versions that are too old. */
export async function appendVersion(db: Unit["db"], version: NewVersion, changes: readonly VersionedChange[]): Promise<void> {
  const count = (counts: (change: VersionedChange) => boolean): number => changes.filter(counts).length;
  await appendHead(db, version, {
    created: count(({ before, after }) => before === null && after !== null),
    updated: count(({ before, after }) => before !== null && after !== null),
    deleted: count(({ before, after }) => before !== null && after === null),
    changes: encodeChanges(changes.slice(0, CHANGES_PER_ROW)),
  });
  for (let part = 1; part * CHANGES_PER_ROW < changes.length; part++) {
    const slice = changes.slice(part * CHANGES_PER_ROW, (part + 1) * CHANGES_PER_ROW);
    await putVersionPart(db, version.zone_id, version.version, part, encodeChanges(slice));
  }
  await forgetOld(db, version, changes.length);
}

/** Creates the version of a large change, whose changes are stored under `parts_key`. */
export async function appendStagedVersion(db: Unit["db"], version: NewVersion, counted: Required<Counted>): Promise<void> {
  await appendHead(db, version, counted);
  await forgetOld(db, version, counted.created + counted.updated + counted.deleted);
}

type Counted = Pick<DnsVersionRow, "created" | "updated" | "deleted" | "changes"> & { readonly parts_key?: number | null };

const appendHead = (db: Unit["db"], version: NewVersion, counted: Counted): Promise<void> =>
  insertVersion(db, {
    zone_id: version.zone_id,
    version: version.version,
    created_on: version.created_on,
    actor: JSON.stringify({ type: version.actor.type, id: version.actor.id, name: version.actor.name }),
    kind: version.kind,
    refers_to: version.refers_to,
    reason: version.reason,
    parts_key: null,
    ...counted,
  });

async function forgetOld(db: Unit["db"], { zone_id, version, count, created_on }: NewVersion, changes: number): Promise<void> {
  const forget = async (oldestKept: number | null): Promise<void> => {
    if (oldestKept !== null) await removeParts(db, zone_id, await deleteVersionsBelow(db, zone_id, oldestKept), created_on);
  };
  // After 2^32 - 1 serials start again (RFC 1982), and so does the history.
  if (version === 1) return removeParts(db, zone_id, await deleteVersionsAbove(db, zone_id, version), created_on);
  if (count % PRUNE_EVERY === 0) await forget(await nthNewestVersion(db, zone_id, VERSIONS_MAX));
  // A thousand versions of one row each never have too many changes.
  if (changes > CHANGES_PER_ROW) await forget(await oldestThatFits(db, zone_id));
}

async function oldestThatFits(db: Unit["db"], zoneId: string): Promise<number | null> {
  let changes = 0;
  let oldest: number | null = null;
  for (const size of await versionSizes(db, zoneId)) {
    changes += changeCount(size);
    if (oldest !== null && changes > VERSION_CHANGES_MAX) return oldest;
    oldest = size.version;
  }
  return null;
}

import type { Op, RecordEntry } from "./entries.ts";
import type { Snapshot } from "./feed.ts";

/** Number of names that planes may have to change for records in one tick: a few milliseconds. */
export const NAMES_AT_ONCE = 2_000;
/** RFC 1035 §2.3.4: the most labels that a name can have. */
const LABELS_MAX = 127;

/** A delta in two steps: the invisible part, and the part that shows it together with everything else. */
export interface LargeDelta {
  readonly staged: readonly Op[];
  readonly shown: readonly Op[];
}

type Records = Pick<Snapshot, "get">;

/** The most names that the ops can add or remove: a record can add all names above its own. */
export function namesOf(ops: readonly Op[], snapshot: Records): number {
  let names = 0;
  for (const op of ops) {
    if (op.kind === "staged") names += (op.value?.records.length ?? 0) + (op.value?.removed?.length ?? 0);
    else if (op.kind !== "record") names += 1;
    else names += labelsOf(op.value ?? snapshot.get("record", op.id));
  }
  return names;
}

/**
 * If its records may change more names than planes should at once, they are staged, which planes do in slices, and then
 * released together; undefined if the delta is small enough. Records of a zone that the delta itself changes stay as they
 * are. `namesMax` is for tests.
 */
export function largeDelta(id: string, ops: readonly Op[], snapshot: Records, namesMax = NAMES_AT_ONCE): LargeDelta | undefined {
  if (ops.length * LABELS_MAX <= namesMax || namesOf(ops, snapshot) <= namesMax) return undefined;
  const byZone = recordsByZone(ops, snapshot);
  if (byZone.size === 0) return undefined;
  const layerId = (zoneId: string): string => `${id}/${zoneId}`;
  const staged = Array.from(byZone, ([zoneId, records]): Op => {
    const values = Array.from(records).flatMap(([record, value]) => (value ? [{ ...value, id: record }] : []));
    const removed = Array.from(records).flatMap(([record, value]) => (value ? [] : [record]));
    const value = { import_id: layerId(zoneId), zone_id: zoneId, records: values, removed, is_next: true } as const;
    return { kind: "staged", id: layerId(zoneId), value };
  });
  const rest = ops.filter((op) => op.kind !== "record" || !byZone.has(zoneOf(op.id, op.value, snapshot) ?? ""));
  const releases = Array.from(byZone, ([zoneId, records]): Op => {
    return { kind: "release", id: layerId(zoneId), value: { zone_id: zoneId, records: records.size } };
  });
  return { staged, shown: [...rest, ...releases] };
}

const zoneOf = (id: string, value: RecordEntry | null, snapshot: Records): string | undefined =>
  (value ?? snapshot.get("record", id))?.zone_id;

/** The last state of each record, by the zones whose records can be staged. */
function recordsByZone(ops: readonly Op[], snapshot: Records): Map<string, Map<string, RecordEntry | null>> {
  const byZone = new Map<string, Map<string, RecordEntry | null>>();
  for (const op of ops) {
    const zoneId = op.kind === "record" ? zoneOf(op.id, op.value, snapshot) : undefined;
    if (op.kind !== "record" || zoneId === undefined) continue;
    let records = byZone.get(zoneId);
    if (!records) byZone.set(zoneId, (records = new Map()));
    records.set(op.id, op.value);
  }
  for (const op of ops) if (op.kind === "zone") byZone.delete(op.id);
  // A plane keeps records aside that arrive before their zone; staged records have a zone.
  for (const [zoneId, records] of byZone)
    if (snapshot.get("zone", zoneId) === undefined && records.values().some((value) => value !== null)) byZone.delete(zoneId);
  return byZone;
}

function labelsOf(record: RecordEntry | undefined): number {
  if (record === undefined) return 1;
  let labels = 1;
  for (let at = record.name.indexOf("."); at !== -1; at = record.name.indexOf(".", at + 1)) labels += 1;
  return labels;
}

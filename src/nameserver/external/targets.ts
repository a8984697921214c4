import type { RecordEntry, ZoneEntry } from "#snapshot/entries.ts";
import type { AppliedOp, Snapshot } from "#snapshot/feed.ts";
import { TYPE } from "#wire/dns/codes.ts";
import { type DnsName, keyOf, parseAbsoluteName } from "#wire/dns/name.ts";
import { lookup } from "#nameserver/zones/lookup.ts";
import type { Zones } from "#nameserver/zones/zones.ts";

/**
 * External names that flattened aliases lead to, in the whole snapshot or in the changes of `ops`. A generator, so that
 * the caller can stop early.
 */
export function* externalTargets(zones: Zones, snapshot: Snapshot, ops: readonly AppliedOp[] | null): Generator<DnsName> {
  for (const record of changedRecords(snapshot, ops)) {
    if (record.type !== "CNAME") continue;
    const zone = snapshot.get("zone", record.zone_id);
    if (zone === undefined || !isFlattened(zone, record)) continue;
    const target = readName(record.content);
    if (target && isElsewhere(zones, target, zone.account_id)) yield target;
  }
}

function* changedRecords(snapshot: Snapshot, ops: readonly AppliedOp[] | null): Generator<RecordEntry> {
  const flattened = new Set<string>();
  for (const op of ops ?? []) {
    if (op.kind === "record" && op.value) yield op.value;
    // Staged records are not visible yet, but their targets will be known at their release.
    else if (op.kind === "staged") yield* op.changes.flatMap(({ value }) => (value ? [value] : []));
    else if (op.kind === "zone" && op.value?.flatten_all_cnames === true && op.before?.flatten_all_cnames === false) flattened.add(op.id);
  }
  // All records are searched only if a zone's setting flattens many at once.
  if (ops !== null && flattened.size === 0) return;
  for (const [, record] of snapshot.entries("record")) if (ops === null || flattened.has(record.zone_id)) yield record;
}

function isFlattened(zone: ZoneEntry, record: RecordEntry): boolean {
  if (record.proxied && !zone.paused) return false;
  return record.name === zone.name || zone.flatten_all_cnames === true || record.settings?.flatten_cname === true;
}

/** Whether the name lies outside the zones that the account trusts, or is delegated. */
export function isElsewhere(zones: Zones, name: DnsName, accountId: string): boolean {
  const { kind } = lookup(zones, keyOf(name), TYPE.A, accountId);
  return kind === "outside" || kind === "delegated";
}

/** Undefined if the target is not a name; answers omit it too. */
function readName(text: string): DnsName | undefined {
  try {
    return parseAbsoluteName(text);
  } catch {
    return undefined;
  }
}

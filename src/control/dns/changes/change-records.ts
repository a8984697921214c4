import { setImmediate } from "node:timers/promises";
import { type RecordChanges, type ChangeStep, type Part, planSteps, type PreparedChanges, prepareChanges } from "./change-steps.ts";
import { withFixedTypes } from "./fixed-types.ts";
import { type Clock, isoMicros } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { Call } from "#control/call.ts";
import { auditActor, commit } from "#control/commit.ts";
import { type CheckContext, checkSteps, located, namesakes } from "./change-checks.ts";
import { checkForeignKeys } from "./multi-signer-keys.ts";
import { addedBy, type LargeChange, type LargeChanges } from "./large-change.ts";
import { largeStep } from "./large-step.ts";
import { permittedSteps, type RecordSource } from "./secondary-restrictions.ts";
import type { RecordView } from "./record-view.ts";
import type { VersionedChange } from "./version-changes.ts";
import { appendVersion, type NewVersion } from "./version-log.ts";
import type { PlannedZoneRef } from "#control/open-zone/zone-ref.ts";
import type { DnsRecord } from "#model/dns/dns-record.ts";
import type { RecordPolicy } from "#model/dns/prepared-record.ts";
import type { DnsVersionKind } from "#model/dns/dns-version.ts";
import { recordEntry } from "#snapshot/compile/record-entry.ts";
import { serialEntry } from "#snapshot/compile/zone-entry.ts";
import { importedRecordId, importOfRecord } from "#store/dns/dns-imports.ts";
import { recordsByIds, recordsNamed, writeRecords } from "#store/dns/dns-record-rows.ts";
import type { DnsRecordRow } from "#store/dns/record-row.ts";
import type { Store, Unit, WriteOptions } from "#store/database/store.ts";
import { countImported, touchZone, zoneRowById } from "#store/zones/zones.ts";

export interface ChangeOptions {
  /** The kind of change in the history. */
  readonly kind: DnsVersionKind;
  /** The reason in the history; absent: the call's own. */
  readonly reason?: string | null;
  /** The version that an undo reverts or restores. */
  readonly refersTo?: number;
}

/** The records in the order of the changes: deleted ones as they were, the others as they are now. */
export type ChangedRecords = Readonly<Record<Part, readonly DnsRecord[]>> & {
  /** The version that the write created, which is also the zone's serial; null if nothing changed. */
  readonly version: number | null;
};

/**
 * The only way to change a zone's records. All of it is one unit: rows, audit, one increase of the serial, one version,
 * and one delta for the planes. Each change is checked against the state after the previous ones. Throws the first
 * violation, in the order of dns.md, without applying anything; `source` points into the changes (`/posts/3/content`)
 * unless the kind of write has only one record.
 */
export interface RecordChanger {
  change(call: Call, zone: PlannedZoneRef, changes: RecordChanges, options: ChangeOptions): Promise<ChangedRecords>;
  /** The same inside a unit, for changes that depend on data read in the unit. */
  changeWithin(unit: Unit, call: Call, zone: PlannedZoneRef, changes: RecordChanges, options: ChangeOptions): Promise<ChangedRecords>;
  /**
   * The same in chunks, for changes of many thousand records: other writes wait for one chunk (large-change.ts). Each
   * record is in one chunk, and chunk-bound.ts limits each. Returns the version, or null if
   * nothing changed.
   */
  changeInPieces(
    call: Call,
    zone: PlannedZoneRef,
    pieces: AsyncIterable<RecordChanges>,
    options: ChunkedChangeOptions,
  ): Promise<number | null>;
}

export interface ChunkedChangeOptions extends ChangeOptions {
  /** Records that the chunks replace; the new ones are checked against all others. */
  readonly ignored?: ReadonlySet<string>;
  /** Runs in the last unit, which creates the version; returning false undoes everything. */
  readonly finishing?: (unit: Unit) => Promise<boolean>;
}

export interface RecordChangerDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly policy: RecordPolicy;
  /** Limit of records per zone of the plan. */
  recordsPerZoneMax(plan: string): number;
  readonly view: RecordView;
  readonly large: LargeChanges;
}

export function createRecordChanger(deps: RecordChangerDeps): RecordChanger {
  /** The steps of the changes, checked. */
  const judged = async (
    unit: Unit,
    zone: PlannedZoneRef,
    planned: readonly ChangeStep[],
    source: RecordSource & { readonly recordCount: number },
    { kind, ignored, known }: ChunkedChangeOptions & Pick<CheckContext, "known">,
  ): Promise<readonly ChangeStep[]> => {
    const transferred = kind === "transfer";
    const steps = transferred ? planned : permittedSteps({ ...source, name: zone.name }, planned);
    await checkForeignKeys(unit.db, zone, steps, kind);
    await checkSteps(unit.db, zone, steps, {
      recordCount: source.recordCount,
      recordCountMax: deps.recordsPerZoneMax(zone.plan),
      pointed: POINTED.has(kind),
      // Records from a primary are not checked; records that callers may add are only checked against others of the same
      // type.
      beside: transferred ? "nothing" : source.type === "secondary" ? "own_type" : "all",
      ...(ignored ? { ignored } : {}),
      known,
    });
    return steps;
  };

  const writePiece = async (unit: Unit, change: LargeChange, prepared: PreparedChanges, options: ChunkedChangeOptions): Promise<void> => {
    const { zone, counts } = change;
    const row = await zoneRowById(unit.db, zone.id);
    if (row === undefined) throw new PlatformError("zone_not_found");
    const now = isoMicros(deps.clock.nowMicros());
    const existing = prepared.ids.length === 0 ? [] : await recordsByIds(unit.db, zone.id, prepared.ids);
    // Ascending identifiers come next to each other in the index; each random one changes a page of its own.
    let created = counts.created;
    const nextId = (): string => importedRecordId(change.row.id, created++);
    const context = { zone, policy: deps.policy, now, namesInUse: await namesInUse(unit, zone, prepared), nextId };
    const planned = planSteps(prepared, existing, context);
    const changes = outcome(await judged(unit, zone, planned, { ...row, recordCount: row.record_count }, options));
    await countImported(unit.db, zone.id, addedBy(changes));
    await deps.large.write(unit, change, changes);
  };

  const apply = async (unit: Unit, call: Call, zone: PlannedZoneRef, prepared: PreparedChanges, options: ChangeOptions) => {
    const { view } = deps;
    const now = isoMicros(deps.clock.nowMicros());
    const existing = prepared.ids.length === 0 ? [] : await recordsByIds(unit.db, zone.id, prepared.ids);
    const context = { zone, policy: deps.policy, now, namesInUse: await namesInUse(unit, zone, prepared) };
    const planned = withFixedTypes(planSteps(prepared, existing, context), call.rules);
    if (planned.length === 0) return changedRecords([], view, null);
    const added = planned.reduce((sum, step) => sum + (step.place ? 1 : 0) - (step.remove ? 1 : 0), 0);
    const transferred = options.kind === "transfer";
    // One message to a server: raising the serial changes no record.
    const [touched, known] = await Promise.all([
      touchZone(unit, zone.id, added, 1),
      transferred || planned.length > 1 ? undefined : namesakes(unit.db, zone, planned),
    ]);
    if (touched === undefined) throw new PlatformError("zone_not_found");
    assertNotUnderWay(touched.large_change, existing);
    const steps = await judged(unit, zone, planned, { ...touched, recordCount: touched.record_count - added }, { ...options, known });
    const changes = outcome(steps);
    const version: NewVersion = {
      zone_id: zone.id,
      version: touched.serial,
      count: touched.dns_version_count,
      created_on: now,
      actor: call.actor,
      kind: options.kind,
      refers_to: options.refersTo ?? null,
      reason: options.reason ?? call.reason ?? null,
    };
    // None needs the others' answers.
    await Promise.all([
      writeRecords(unit.db, zone.id, changes),
      appendVersion(unit.db, version, changes),
      publish(unit, call, zone, changes, transferred ? null : view),
    ]);
    unit.change({ kind: "serial", id: zone.id, value: serialEntry(touched) });
    // The caller of a transfer does not need the individual records.
    return changedRecords(transferred ? [] : steps, view, touched.serial);
  };

  return {
    change: async (call, zone, changes, options) => {
      // Prepared outside the unit, which blocks all other writes.
      const prepared = await prepareChanges(changes, zone, deps.policy);
      const alone = prepared.failedAlone;
      if (alone) throw POINTED.has(options.kind) ? located(alone, { part: "posts", index: 0, place: null }) : alone;
      const size = changeUnit(zone, prepared.ids.length + prepared.posts.length);
      return commit(deps, call, (unit) => apply(unit, call, zone, prepared, options), size);
    },
    changeWithin: async (unit, call, zone, changes, options) =>
      apply(unit, call, zone, await prepareChanges(changes, zone, deps.policy), options),
    changeInPieces: async (call, zone, pieces, options) => {
      const { large, store } = deps;
      const change = await large.begin(call, zone, options.kind);
      const beat = setInterval(() => void large.touch(change.row).catch(() => {}), BEAT_MS).unref();
      try {
        for await (const piece of pieces) {
          const prepared = await prepareChanges(piece, zone, deps.policy);
          await largeStep(store, change, (unit, draft) => writePiece(unit, draft, prepared, options));
        }
        if (change.pieces === 0) {
          await large.takeBack(call, change.row);
          return null;
        }
        return await commit(deps, call, async (unit) => {
          if ((await options.finishing?.(unit)) === false) throw new GivenUp();
          return large.finish(unit, change, { reason: options.reason ?? null, refersTo: options.refersTo ?? null });
        });
      } catch (error) {
        // If this fails too, `removeAbandoned` repeats it later.
        await large.takeBack(call, change.row).catch(() => {});
        if (error instanceof GivenUp) return null;
        throw error;
      } finally {
        clearInterval(beat);
      }
    },
  };
}

/** A name that the zone already has was checked when it was added, possibly by a transfer or an import. */
async function namesInUse({ db }: Unit, zone: PlannedZoneRef, { doubtfulNames }: PreparedChanges): Promise<ReadonlySet<string>> {
  if (doubtfulNames.length === 0) return new Set();
  return new Set((await recordsNamed(db, zone.id, [...new Set(doubtfulNames)])).map(({ name }) => name));
}

/** Interval of touching the change, because reading may take long before the first chunk. */
const BEAT_MS = 15_000;

/** `finishing` returned false: everything is undone. */
class GivenUp extends Error {}

/**
 * Records that a large import wrote cannot be changed until the planes have them; an undo or transfer in progress may
 * change any record.
 */
function assertNotUnderWay(largeChange: string | null, records: readonly DnsRecordRow[]): void {
  if (largeChange === null) return;
  const [kind, id] = largeChange.split(" ");
  if (kind !== "import")
    throw new PlatformError("dns_import_under_way", {
      message: "A large change to this zone is still being written; its records cannot be changed until it is done.",
    });
  if (records.some((record) => importOfRecord(record.id) === id)) throw new PlatformError("dns_import_under_way");
}

/** A unit that hangs is undone; one that changes a hundred thousand records on a busy machine must not be. */
export const changeUnit = (zone: PlannedZoneRef, changes: number): WriteOptions => ({
  timeoutMs: 10_000 + changes,
  ...(changes > SHARED_MAX ? { bulkOf: zone.account_id } : {}),
});
/** Units of more changes do not share a transaction: those of others that wait go between them. */
const SHARED_MAX = 100;

/** Kinds of requests with several changes, whose errors include the position. */
const POINTED: ReadonlySet<DnsVersionKind> = new Set(["batch", "import", "scan", "revert", "restore"]);

/** A record before and after the whole write. */
export type RecordOutcome = VersionedChange<DnsRecordRow>;

/** Combines steps, because a record may change more than once. */
function outcome(steps: readonly ChangeStep[]): readonly RecordOutcome[] {
  const byId = new Map<string, { before: DnsRecordRow | null; after: DnsRecordRow | null }>();
  for (const { remove, place } of steps) {
    const id = (place ?? remove)?.id ?? "";
    const known = byId.get(id);
    if (known) known.after = place;
    else byId.set(id, { before: remove, after: place });
  }
  return [...byId.values()];
}

/** Records per tick of a large write. */
const SLICE = 1000;

/** Publishes each record to the planes; with a view, also writes audit rows. */
async function publish(
  unit: Unit,
  call: Call,
  zone: PlannedZoneRef,
  changes: readonly RecordOutcome[],
  view: RecordView | null,
): Promise<void> {
  const actor = auditActor(call);
  for (const [index, { before, after }] of changes.entries()) {
    if (index % SLICE === SLICE - 1) await setImmediate();
    const id = (after ?? before)?.id ?? "";
    unit.change({ kind: "record", id, value: after && recordEntry(after) });
    if (view === null) continue;
    unit.audit({
      action: after === null ? "dns_record.delete" : before === null ? "dns_record.create" : "dns_record.edit",
      actor,
      account_id: zone.account_id,
      zone_id: zone.id,
      resource: { type: "dns_record", id },
      before: before && view(before),
      after: after && view(after),
    });
  }
}

function changedRecords(steps: readonly ChangeStep[], view: RecordView, version: number | null): ChangedRecords {
  const parts: Record<Part, DnsRecord[]> = { deletes: [], patches: [], puts: [], posts: [], restores: [] };
  for (const { part, remove, place } of steps) {
    const row = place ?? (part === "deletes" ? remove : null);
    if (row) parts[part].push(view(row));
  }
  return { ...parts, version };
}

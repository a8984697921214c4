import { LargeMap } from "#kernel/large-map.ts";
import { SharedSet } from "#kernel/shared-set.ts";
import { createStagingSlices } from "#snapshot/staging-slices.ts";
import type { CounterTable } from "#rules/rate-limit/counter-table.ts";
import type { CustomHostnameEntry, RecordEntry, ZoneEntry } from "#snapshot/entries.ts";
import type { AppliedOp, Replica, StagedChange } from "#snapshot/feed.ts";
import { createZoneDirectory, type ZoneDirectory } from "#snapshot/zone-directory.ts";
import { createCustomHostnames, type CustomHostnames } from "./custom-hostnames.ts";
import { createEntryPoints, type OnInvalidRule } from "./entry-points.ts";
import { createRuleLists } from "./rule-lists.ts";
import { createZone, type Zone } from "./zone.ts";
import { createZoneNames, type ZoneNames } from "./zone-names.ts";

/** The zones of a replica, kept up to date with it. */
export interface Zones {
  /** The active zone with the longest name that the host ends in, even without records for it. */
  readonly nearestZone: ZoneDirectory<string, Zone>["nearestZone"];
  /** With any status. */
  byId(zoneId: string): Zone | undefined;
  /**
   * The zone that serves the host: by a custom hostname of exactly this name, then by DNS, then by a wildcard hostname
   * (SPEC 7, error 1016). An unproven zone of another account does not take hosts from a wildcard.
   */
  serving(host: string): Serving | null;
  readonly customHostnames: CustomHostnames;
  /**
   * Compiles rulesets again whose rules come from the operator's files, after these have changed. The result is that of
   * `EntryPoints.change`.
   */
  recompile(): Promise<void> | undefined;
}

export interface Serving {
  readonly zone: Zone;
  /** Null if the host is a name of the zone. */
  readonly hostname: CustomHostnameEntry | null;
}

/** `onSlice` gets the number of staged names in a slice, for tests. */
export function createZones(
  replica: Replica,
  ruleLeftOut: OnInvalidRule,
  counters?: CounterTable,
  onSlice?: (names: number) => void,
): Zones {
  const byId = new LargeMap<Zone>();
  const directory = createZoneDirectory<string, Zone>({ keyOf: ({ entry }) => entry.name, parentOf: nameAbove });
  const lists = createRuleLists();
  const customHostnames = createCustomHostnames((zoneId) => {
    const zone = byId.get(zoneId);
    return zone !== undefined && isServed(zone);
  });
  const entryPoints = createEntryPoints(ruleLeftOut, lists, counters);
  /** Names of zones that are not here (yet), so that the order of operations does not matter, nor how many records precede a zone. */
  const early = new Map<string, { readonly names: ZoneNames; readonly records: SharedSet<RecordEntry> }>();
  /** Names of the zones of large changes that are not released yet. */
  const stagedIn = new Map<string, ZoneNames>();

  const putZone = (entry: ZoneEntry, before: ZoneEntry | undefined): void => {
    const known = before?.name === entry.name ? byId.get(entry.id)?.names : early.get(entry.id)?.names;
    if (before !== undefined) removeZone(before);
    const names = known ?? createZoneNames();
    names.belongTo(entry.name);
    early.delete(entry.id);
    const zone = createZone(entry, names, entryPoints, lists);
    byId.set(entry.id, zone);
    if (isServed(zone)) directory.add(zone);
  };

  const removeZone = (entry: ZoneEntry): void => {
    const zone = byId.get(entry.id);
    byId.delete(entry.id);
    if (zone !== undefined && isServed(zone)) directory.remove(zone.entry.name, zone);
  };

  const addRecord = (record: RecordEntry): void => {
    const zone = byId.get(record.zone_id);
    if (zone !== undefined) return zone.names.add(record);
    const known = early.get(record.zone_id) ?? { names: createZoneNames(), records: new SharedSet<RecordEntry>(({ content }) => content) };
    early.set(record.zone_id, known);
    known.names.add(record);
    known.records.add(record);
  };

  const removeRecord = (record: RecordEntry): void => {
    byId.get(record.zone_id)?.names.remove(record);
    const known = early.get(record.zone_id);
    if (!known?.records.delete(record)) return;
    known.names.remove(record);
    if (known.records.size === 0) early.delete(record.zone_id);
  };

  const staging = createStagingSlices(onSlice);
  /** Stages changes of a zone. Only removals may come before the zone itself. */
  function* stage(changeId: string, zoneId: string, changes: Iterable<StagedChange>, isNext = false): Generator<number> {
    const names = byId.get(zoneId)?.names;
    if (names) stagedIn.set(changeId, names);
    for (const { before, value } of changes) {
      if (names) yield names.stage(changeId, before, value, isNext);
      else if (before) {
        removeRecord(before);
        yield 1;
      }
    }
  }
  const release = (changeId: string, isGivenUp: boolean): void => {
    while (staging.step());
    const names = stagedIn.get(changeId);
    stagedIn.delete(changeId);
    if (isGivenUp) names?.forget(changeId);
    else names?.release(changeId);
  };

  const apply = (op: AppliedOp): void => {
    if (op.kind === "staged") {
      if (op.value) staging.add(stage(op.value.import_id, op.value.zone_id, op.changes, op.value.is_next));
    } else if (op.kind === "release") release(op.id, op.value === null);
    else if (op.kind === "zone") {
      if (op.value !== null) putZone(op.value, op.before);
      else if (op.before !== undefined) removeZone(op.before);
    } else if (op.kind === "record") {
      if (op.before !== undefined) removeRecord(op.before);
      if (op.value !== null) addRecord(op.value);
    } else if (op.kind === "list") {
      // A part that replaces another holds its whole contents.
      if (op.value !== null) lists.put(op.id, op.value);
      else if (op.before !== undefined) lists.remove(op.id, op.before);
    } else if (op.kind !== "ruleset") customHostnames.apply(op);
  };

  const rebuild = (): void => {
    for (const index of [byId, directory, lists, early, stagedIn, staging]) index.clear();
    for (const [id, entry] of replica.snapshot.entries("list")) lists.put(id, entry);
    for (const [, entry] of replica.snapshot.entries("zone")) putZone(entry, undefined);
    for (const [, entry] of replica.snapshot.entries("record")) addRecord(entry);
    for (const { id, zone_id, changes } of replica.snapshot.staged())
      staging.add(
        stage(
          id,
          zone_id,
          changes.entries().map(([record, value]) => ({ id: record, value, before: replica.snapshot.get("record", record) })),
        ),
      );
    while (staging.step());
    entryPoints.replace(replica.snapshot.entries("ruleset"));
    customHostnames.rebuild(replica.snapshot);
    lists.finish();
  };

  const servedAs = (hostname: CustomHostnameEntry | undefined): Serving | null => {
    const zone = hostname === undefined ? undefined : byId.get(hostname.zone_id);
    return hostname === undefined || zone === undefined ? null : { zone, hostname };
  };
  const serving = (host: string): Serving | null => {
    const exact = servedAs(customHostnames.exact(host));
    if (exact !== null) return exact;
    const wildcard = servedAs(customHostnames.wildcard(host));
    // The zone owns the name even without a record for it.
    const zone = directory.nearestZone(host, wildcard === null ? null : wildcard.zone.entry.account_id);
    return zone === undefined ? wildcard : { zone, hostname: null };
  };
  /** Most requests are for a host that was looked up recently; null if no zone serves it. */
  const served = new Map<string, Serving | null>();
  const recall = (host: string): Serving | null => {
    let known = served.get(host);
    if (known !== undefined) return known;
    known = serving(host);
    if (served.size >= SERVED_MAX) served.clear();
    served.set(host, known);
    return known;
  };

  const rest = (): boolean => {
    const more = staging.step();
    return lists.step() || more;
  };

  rebuild();
  replica.onApplied((ops) => {
    served.clear();
    if (ops === null) return rebuild();
    // New operations seldom come before staged ones are done; if they do, these are finished at once.
    while (staging.step());
    for (const op of ops) apply(op);
    // Last, since they refer to lists of the same delta.
    const rulesets = ops.flatMap((op) => (op.kind === "ruleset" ? [{ id: op.id, entry: op.value }] : []));
    if (rulesets.length === 0) return rest() ? rest : undefined;
    while (staging.step());
    lists.stepLater();
    return entryPoints.change(rulesets);
  });
  return {
    nearestZone: directory.nearestZone,
    byId: (zoneId) => byId.get(zoneId),
    serving: recall,
    customHostnames,
    recompile: entryPoints.recompile,
  };
}

/** Limits the cache, since clients choose the hosts. */
const SERVED_MAX = 1_000;

/** A zone that waits for its proof, or has moved away, does not serve visitors. */
const isServed = ({ entry }: Zone): boolean => entry.status === "active";

function nameAbove(name: string): string | undefined {
  const dot = name.indexOf(".");
  return dot < 0 ? undefined : name.slice(dot + 1);
}

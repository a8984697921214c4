import { LargeMap } from "#kernel/large-map.ts";
import type { ZoneIndex } from "./zone-index.ts";
import type { CertificateEntry, RecordEntry, ReleaseEntry, StagedEntry, ZoneEntry } from "#snapshot/entries.ts";
import type { AppliedOp, Rest, Snapshot, StagedChange } from "#snapshot/feed.ts";
import type { StagedLayer } from "#snapshot/record-layers.ts";
import { createZoneDirectory, type ZoneDirectory } from "#snapshot/zone-directory.ts";
import { TYPE } from "#wire/dns/codes.ts";
import { keyOf, type NameKey, nameOfKey, parentKey, parseAbsoluteName, ROOT_KEY } from "#wire/dns/name.ts";
import { apexSets } from "./apex.ts";
import { type CertifiedNames, createCertifiedNames } from "./certified-names.ts";
import { createStaging } from "./staging.ts";
import { createZoneNodes, type NameChange, type ZoneNodes } from "./zone-nodes.ts";
import { attempt, joined, ownerOf, readHost, readZone } from "./entry-decoders.ts";

/** The change of a zone by one delta; undefined states mean that it is not served. */
export interface ZoneChange {
  readonly id: string;
  readonly before: ZoneIndex | undefined;
  readonly after: ZoneIndex | undefined;
  readonly names: readonly NameChange[];
  /** A large change was released: more names follow through `named`. */
  readonly more?: true;
}

/** Observes changes of the zones it wants; gets changes of other zones without names. */
export interface ZoneObserver {
  wants(zoneId: string): boolean;
  changed(change: ZoneChange): void;
  /** More names of the last change with `more`, over several ticks; other changes may occur in between. */
  named(zoneId: string, names: readonly NameChange[], isLast: boolean): void;
}

/** Changes for answer caches. */
export interface ZoneChanges {
  /** Keys of zones whose records or settings changed. */
  readonly zones: ReadonlySet<NameKey>;
  /** A zone appeared, disappeared or moved, so any name may now belong to another zone. */
  readonly namespace: boolean;
  /** Indexes staged records and merges released ones. */
  readonly rest?: Rest;
}

export interface Zones extends Pick<ZoneDirectory<NameKey, ZoneIndex>, "nearestZone" | "oldestClaim" | "named"> {
  /** All zones that answer queries. */
  served(): Iterable<ZoneIndex>;
  readonly zoneCount: number;
  /** Invalid entries since the last rebuild; answers omit them. */
  readonly rejected: number;
  /** Replaces all zones. */
  rebuild(snapshot: Snapshot): void;
  /** Applies all ops of one delta. No query runs in between, so queries see all of a delta or nothing. */
  apply(ops: readonly AppliedOp[]): ZoneChanges;
}

/** A zone that may be incomplete, because ops arrive in any order. */
interface ZoneState extends Omit<ZoneIndex, "entry" | "nodes"> {
  readonly entry: ZoneEntry | undefined;
  readonly serial: number;
  readonly nodes: ZoneNodes;
  readonly certified: CertifiedNames;
}

/** State of a zone besides its entry and records. */
const NOTHING_BESIDE: Pick<ZoneState, "serial" | "dnssec"> = { serial: 0, dnssec: undefined };

const NO_ZONE: Omit<ZoneState, keyof typeof NOTHING_BESIDE | "id" | "nodes" | "certified"> = {
  key: ROOT_KEY,
  name: nameOfKey(ROOT_KEY),
  entry: undefined,
  apex: new Map(),
  negativeTtl: 0,
};

/** Creates the index of zones and names that answers read. `onSlice` gets the number of staged names in a slice, for tests. */
export function createZones(observers: readonly ZoneObserver[] = [], onSlice?: (names: number) => void): Zones {
  const states = new LargeMap<ZoneState>();
  /** Large changes that are not released yet. */
  const stagedIn = new Map<string, Pick<StagedEntry, "zone_id" | "is_next">>();
  /** Released parts of large deltas that are not merged yet; more of them would stack up. */
  const merging = new Set<string>();
  const directory = createZoneDirectory<NameKey, ZoneIndex>({ keyOf: ({ key }) => key, parentOf: parentKey });
  let rejected = 0;

  /** Whether the zone may answer: a pending zone does so only if no other zone has the name. */
  const isVisible = ({ entry, key }: ZoneState): boolean =>
    entry !== undefined && (isServed(entry) || directory.nearestZone(key, null) === undefined);

  const stateOf = (id: string): ZoneState =>
    states.get(id) ?? { ...NO_ZONE, ...NOTHING_BESIDE, id, nodes: createZoneNodes(), certified: createCertifiedNames() };

  const put = (state: ZoneState): void => {
    const before = states.get(state.id);
    if (before && isListed(before)) directory.remove(before.key, before);
    if (isListed(state)) directory.add(isServed(state.entry) ? state : { ...state, dnssec: undefined });
    if (state.entry || !state.nodes.isEmpty || state.serial !== 0 || state.dnssec || !state.certified.isEmpty) states.set(state.id, state);
    else states.delete(state.id);
  };

  const putZone = (id: string, entry: ZoneEntry | null): void => {
    const state = stateOf(id);
    const settings = entry ? attempt(() => readZone(entry, state)) : {};
    if (!settings) rejected += 1;
    put({ ...state, ...NO_ZONE, ...settings });
  };

  /** Changes the state that appears at the apex besides the zone's settings. */
  const putBeside = (id: string, change: Partial<Pick<ZoneState, "serial" | "dnssec">>): void => {
    const state = { ...stateOf(id), ...change };
    put({ ...state, ...(state.entry ? { apex: apexSets(state.entry, state) } : {}) });
  };

  /** SPEC 2.5, `multi_provider`: NS records at the apex are added to the zone's own name servers. */
  const putProviders = (id: string): void => {
    const state = states.get(id);
    if (!state?.entry?.multi_provider) return;
    const apex = apexSets(state.entry, state);
    const others = state.nodes.get(state.key)?.sets.get(TYPE.NS);
    put({ ...state, apex: others ? new Map([...apex, [TYPE.NS, joined(apex.get(TYPE.NS), others)]]) : apex });
  };

  const putCertificate = (id: string, value: CertificateEntry | null, before: CertificateEntry | undefined): void => {
    for (const entry of [before, value]) {
      // The installation's own certificate covers no zone's names.
      if (!entry?.zone_id) continue;
      const state = stateOf(entry.zone_id);
      if (entry === value) state.certified.put(id, entry.hosts.flatMap(readHost));
      else state.certified.remove(id);
      if (!states.has(state.id) || state.certified.isEmpty) put(state);
    }
  };

  const nodesFor = (zoneId: string): ZoneNodes => {
    const state = stateOf(zoneId);
    if (!states.has(zoneId)) states.set(zoneId, state);
    return state.nodes;
  };
  const goodOwner = (value: RecordEntry): NameKey | undefined => {
    const owner = attempt(() => ownerOf(value));
    if (owner === undefined) rejected += 1;
    return owner;
  };

  const putRecord = (value: RecordEntry | null, before: RecordEntry | undefined): void => {
    const key = before && attempt(() => keyOf(parseAbsoluteName(before.name)));
    if (before && key !== undefined) stateOf(before.zone_id).nodes.remove(key, before);
    const owner = value && goodOwner(value);
    if (value && owner !== undefined && owner !== null) nodesFor(value.zone_id).add(owner, value);
  };

  const staging = createStaging({
    nodesFor,
    stage: (nodes, { import_id, is_next }, { value, before }) => {
      const owner = value ? goodOwner(value) : undefined;
      const leaves = before && attempt(() => keyOf(parseAbsoluteName(before.name)));
      let names = 1;
      if (leaves !== undefined && leaves !== owner) names += nodes.stage(import_id, leaves, before, undefined, is_next);
      if (value && owner !== undefined) names += nodes.stage(import_id, owner, leaves === owner ? before : undefined, value, is_next);
      return names;
    },
    onSlice,
  });
  const stage = (entry: Pick<StagedEntry, "import_id" | "zone_id" | "is_next">, changes: Iterable<StagedChange>): void => {
    stagedIn.set(entry.import_id, entry);
    staging.add(entry, changes);
  };

  /** Releases a large change; observers get its names over time. Returns whether more names follow. */
  const release = (changeId: string, value: ReleaseEntry | null, names: NameChange[]): boolean => {
    const { zone_id: zoneId, is_next = false } = stagedIn.get(changeId) ?? {};
    const nodes = zoneId === undefined ? undefined : states.get(zoneId)?.nodes;
    stagedIn.delete(changeId);
    if (value === null) nodes?.forget(changeId);
    if (value === null || zoneId === undefined || !nodes) return false;
    let isReturning = false;
    let isDone = false;
    const tell = (told: readonly NameChange[], isLast: boolean): void => {
      isDone = isLast;
      if (!isReturning) names.push(...told);
      else for (const observer of observers) observer.named(zoneId, told, isLast);
    };
    if (is_next) merging.add(changeId);
    nodes.release(changeId, isWanted(zoneId) ? tell : undefined, () => {
      merging.delete(changeId);
      const state = states.get(zoneId);
      if (state && !state.entry) put(state);
    });
    isReturning = true;
    return isWanted(zoneId) && !isDone;
  };
  const isWanted = (zoneId: string): boolean => observers.some((observer) => observer.wants(zoneId));

  const applyOp = (op: AppliedOp): void => {
    if (op.kind === "zone") putZone(op.id, op.value);
    else if (op.kind === "serial") putBeside(op.id, { serial: op.value?.serial ?? 0 });
    else if (op.kind === "dnssec") putBeside(op.id, { dnssec: op.value ?? undefined });
    else if (op.kind === "record") putRecord(op.value, op.before);
    else if (op.kind === "certificate") putCertificate(op.id, op.value, op.before);
    else if (op.kind === "staged" && op.value) stage(op.value, op.changes);
  };

  const rest = (): boolean => staging.step() || merging.size > 0;

  return {
    get zoneCount() {
      return directory.size;
    },
    get rejected() {
      return rejected;
    },
    nearestZone: directory.nearestZone,
    oldestClaim: directory.oldestClaim,
    named: directory.named,
    served: directory.standing,
    rebuild: (snapshot) => {
      states.clear();
      directory.clear();
      stagedIn.clear();
      staging.clear();
      merging.clear();
      rejected = 0;
      for (const [id, entry] of snapshot.entries("serial")) putBeside(id, entry);
      for (const [id, dnssec] of snapshot.entries("dnssec")) putBeside(id, { dnssec });
      for (const [id, entry] of snapshot.entries("certificate")) putCertificate(id, entry, undefined);
      for (const [id, entry] of snapshot.entries("zone")) putZone(id, entry);
      for (const [, entry] of snapshot.entries("record")) putRecord(entry, undefined);
      for (const layer of snapshot.staged()) stage({ import_id: layer.id, zone_id: layer.zone_id }, stagedChanges(layer, snapshot));
      while (staging.step());
      for (const state of states.values()) {
        state.nodes.settle();
        putProviders(state.id);
      }
    },
    apply: (ops) => {
      const touched = new Map<string, ZoneState | undefined>();
      // The feed normally waits for staging; if it did not, the rest is indexed before this delta.
      while (staging.step());
      const touch = (id: string | undefined): void => {
        if (id !== undefined && !touched.has(id)) touched.set(id, states.get(id));
      };
      for (const op of ops) {
        if (op.kind === "zone" || op.kind === "serial" || op.kind === "dnssec") touch(op.id);
        if (op.kind === "release") touch(op.value?.zone_id);
        if (op.kind !== "record") continue;
        touch(op.value?.zone_id);
        touch(op.before?.zone_id);
      }
      const released = new Map<string, { names: NameChange[]; more: boolean }>();
      for (const op of ops) {
        if (op.kind === "release") {
          const names: NameChange[] = [];
          released.set(op.value?.zone_id ?? "", { names, more: release(op.id, op.value, names) });
        } else applyOp(op);
      }
      const zones = new Set<NameKey>();
      for (const [id, before] of touched) {
        const { names, more } = released.get(id) ?? { names: [], more: false };
        states.get(id)?.nodes.settle(isWanted(id) ? (change) => names.push(change) : undefined);
        putProviders(id);
        const state = states.get(id);
        const change = { id, before: servedOf(before), after: servedOf(state), names, ...(more ? { more } : {}) };
        for (const observer of observers) observer.changed(change);
        for (const seen of [before, state]) if (seen?.entry && isVisible(seen)) zones.add(seen.key);
        // Its last record may be removed after the zone itself.
        if (state && !state.entry) put(state);
      }
      for (const op of ops)
        for (const id of op.kind === "certificate" ? certifiedZones(op) : []) {
          const state = states.get(id);
          if (state && isVisible(state)) zones.add(state.key);
        }
      return { zones, namespace: ops.some(movesNames), ...(rest() ? { rest } : {}) };
    },
  };
}

function* stagedChanges({ changes }: StagedLayer, snapshot: Snapshot): Generator<StagedChange> {
  for (const [id, value] of changes) yield { id, value, before: snapshot.get("record", id) };
}

/** Zones of type internal are for views, which public queries never see. */
const isListed = (state: ZoneState): state is ZoneState & ZoneIndex => state.entry !== undefined && state.entry.type !== "internal";

/** A pending zone is not signed, cached or announced. */
const isServed = ({ status }: Pick<ZoneEntry, "status">): boolean => status === "active" || status === "moved";

const servedOf = (state: ZoneState | undefined): ZoneIndex | undefined =>
  state && isListed(state) && isServed(state.entry) ? state : undefined;

/** The zones of a certificate: their answers may change, but not their records. */
const certifiedZones = ({ value, before }: Extract<AppliedOp, { readonly kind: "certificate" }>): readonly string[] =>
  [value?.zone_id, before?.zone_id].filter((id) => id !== undefined);

/** Pending zones appear and disappear without changing the answers of other zones. */
const movesNames = (op: AppliedOp): boolean =>
  op.kind === "zone" &&
  [op.before, op.value].some((entry) => entry && isServed(entry)) &&
  (["name", "status", "type", "account_id", "proof"] as const).some((field) => op.before?.[field] !== op.value?.[field]);

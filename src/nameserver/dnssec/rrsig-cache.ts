import type { Clock } from "#kernel/clock.ts";
import { LargeMap } from "#kernel/large-map.ts";
import type { MetricRegistry } from "#kernel/process/metrics.ts";
import type { DnssecEntry } from "#snapshot/entries.ts";
import { TYPE } from "#wire/dns/codes.ts";
import type { NameKey } from "#wire/dns/name.ts";
import { rrsigRdata, type SignedSet } from "#wire/dns/rrsig.ts";
import type { ZoneIndex } from "#nameserver/zones/zone-index.ts";
import type { Keyring } from "./keyring.ts";
import { type Freshness, isFresh, validityAt } from "./validity.ts";

/** Names whose signatures one step examines. */
const NAMES_AT_ONCE = 500;

/** The signatures over one set. */
export interface Signed extends Freshness {
  /** RDATA of the RRSIG records, one per signing key. */
  readonly rrsigs: readonly Uint8Array[];
}

export interface Signatures {
  /**
   * Signatures of a set that the zone stores: from the cache, or made if they are missing, the set has changed or they
   * expire soon. Undefined if the zone's keys are unusable.
   */
  kept(zone: ZoneIndex, set: SignedSet): Signed | undefined;
  /** The same for a set of the NSEC chain. Compact denial has another NSEC set at the same name. */
  chained(zone: ZoneIndex, set: SignedSet): Signed | undefined;
  /** Signatures of a set that exists in one answer only; not cached. */
  made(zone: ZoneIndex, set: SignedSet): Signed | undefined;
  /** Drops the signatures of removed and changed names of the zone. */
  forget(zone: { readonly id: string }, names: Iterable<NameKey>): void;
  /** Drops the signatures of all other zones. */
  retain(zoneIds: { has(id: string): boolean }): void;
  /** Drops the signatures of the zone's other names; each step examines some names. */
  keepOnly(zone: { readonly id: string }, isThere: (name: NameKey) => boolean): Generator<void>;
}

export interface RrsigCacheDeps {
  readonly keyring: Keyring;
  readonly clock: Clock;
  readonly metrics: MetricRegistry;
}

/**
 * Sets that every key signs: a parent must find them signed by the key in its DS, even while another key signs the zone
 * (RFC 4035 §2.2, RFC 7344 §4.1).
 */
const SIGNED_BY_ALL: ReadonlySet<number> = new Set([TYPE.DNSKEY, TYPE.CDS, TYPE.CDNSKEY]);

interface Kept extends Freshness, Omit<SignedSet, "owner"> {
  /** Latin-1 text takes a tenth of the memory of small buffers. */
  readonly rrsigs: readonly string[];
}

/** Signatures of one zone; useless as soon as the zone has other keys. */
interface KeptZone {
  readonly dnssec: DnssecEntry;
  readonly byName: LargeMap<Kept[]>;
  /** Filled only if other servers transfer the zone. */
  readonly chain: LargeMap<Kept[]>;
}

export function createRrsigCache({ keyring, clock, metrics }: RrsigCacheDeps): Signatures {
  const zones = new LargeMap<KeptZone>();
  const count = (kind: string) =>
    metrics.counter("selvedge_dns_signatures_total", "Signatures over RRsets, by whether they were cached or created", { kind });
  const counters = { kept: count("kept"), made: count("made") };

  const sign = (zone: ZoneIndex, set: SignedSet, kind: keyof typeof counters): Signed | undefined => {
    const keys = keyring.keysOf(zone);
    if (keys === undefined) return undefined;
    const { validity, fresh } = validityAt(clock.nowMs(), set.owner, set.type);
    const rrsigs = (SIGNED_BY_ALL.has(set.type) ? keys.all : keys.zone).map((key) => rrsigRdata(set, key, validity));
    counters[kind].value += rrsigs.length;
    return { ...fresh, rrsigs };
  };

  const keptIn = (zone: ZoneIndex, dnssec: DnssecEntry): KeptZone => {
    const known = zones.get(zone.id);
    if (known?.dnssec === dnssec) return known;
    const empty: KeptZone = { dnssec, byName: new LargeMap(), chain: new LargeMap() };
    zones.set(zone.id, empty);
    return empty;
  };

  const keptBeside = (zone: ZoneIndex, set: SignedSet, which: "byName" | "chain"): Signed | undefined => {
    if (zone.dnssec === undefined) return undefined;
    const sets = keptIn(zone, zone.dnssec)[which];
    const atName = sets.get(set.owner) ?? [];
    const known = atName.find(({ type }) => type === set.type);
    if (known && isFresh(known, clock.nowMs()) && isSame(known, set)) {
      return { fromMs: known.fromMs, untilMs: known.untilMs, rrsigs: known.rrsigs.map((text) => Buffer.from(text, "latin1")) };
    }
    const signed = sign(zone, set, "kept");
    if (signed === undefined) return undefined;
    const { type, ttl, rdatas } = set;
    const rrsigs = signed.rrsigs.map((rdata) => Buffer.from(rdata).toString("latin1"));
    sets.set(set.owner, [...atName.filter((kept) => kept !== known), { type, ttl, rdatas, ...signed, rrsigs }]);
    return signed;
  };

  return {
    kept: (zone, set) => keptBeside(zone, set, "byName"),
    chained: (zone, set) => keptBeside(zone, set, "chain"),
    made: (zone, set) => sign(zone, set, "made"),
    forget: (zone, names) => {
      const byName = zones.get(zone.id)?.byName;
      if (byName) for (const name of names) byName.delete(name);
    },
    retain: (zoneIds) => {
      for (const id of zones.keys()) if (!zoneIds.has(id)) zones.delete(id);
    },
    keepOnly: function* (zone, isThere) {
      const known = zones.get(zone.id);
      let looked = 0;
      for (const sets of known ? [known.byName, known.chain] : [])
        for (const name of sets.keys()) {
          if (!isThere(name)) sets.delete(name);
          if (++looked % NAMES_AT_ONCE === 0) yield;
        }
    },
  };
}

/** Unchanged sets keep their array, so that most comparisons end with the first check. */
const isSame = (a: Kept, b: SignedSet): boolean =>
  a.ttl === b.ttl &&
  (a.rdatas === b.rdatas ||
    (a.rdatas.length === b.rdatas.length && a.rdatas.every((rdata, i) => Buffer.compare(rdata, b.rdatas[i] as Uint8Array) === 0)));

import { listAt } from "#kernel/lists.ts";
import { soaSerial } from "#wire/dns/serial.ts";
import { TYPE } from "#wire/dns/codes.ts";
import type { NameChange } from "./zone-nodes.ts";
import type { RRset } from "./rrset.ts";
import type { ZoneObserver } from "./zones.ts";
import type { ZoneIndex } from "./zone-index.ts";

/** The difference between two successive serials of a zone. */
export interface ZoneVersion {
  readonly from: number;
  readonly to: number;
  readonly apexBefore: ReadonlyMap<number, RRset>;
  readonly apexAfter: ReadonlyMap<number, RRset>;
  readonly names: NameChange[];
}

/** Recent changes of zones, for IXFR (RFC 1995). In memory only, with a size limit. */
export interface ZoneJournal extends ZoneObserver {
  /** The versions from the serial to the current one, oldest first; undefined if one is missing. */
  since(zone: ZoneIndex, serial: number): readonly ZoneVersion[] | undefined;
  /** Forgets all versions, because anything may have changed. */
  clear(): void;
  /** Names without a change have other records now: differences from the current serials say too little. */
  outdate(): void;
}

export interface ZoneJournalDeps {
  /** Whether anyone requests IXFR of the zone. */
  wants(zoneId: string): boolean;
  /** Limit of names and records in all versions together. */
  readonly weightMax: number;
}

interface Kept {
  readonly zoneId: string;
  readonly version: ZoneVersion;
  weight: number;
}

export function createZoneJournal({ wants, weightMax }: ZoneJournalDeps): ZoneJournal {
  const byZone = new Map<string, ZoneVersion[]>();
  /** In order of arrival, which is also the order within each zone. */
  const kept = new Set<Kept>();
  /** Versions that are still incomplete, oldest first. */
  const filling = new Map<string, Kept[]>();
  let weight = 0;
  let era = 0;
  /** The last `era` in which the serial of a zone changed. */
  const eras = new Map<string, number>();

  const forgetOldest = (): void => {
    for (const oldest of kept) {
      if (weight <= weightMax) return;
      kept.delete(oldest);
      weight -= oldest.weight;
      const versions = byZone.get(oldest.zoneId);
      // A restarted list no longer begins with this version.
      if (versions?.[0] !== oldest.version) continue;
      versions.shift();
      if (versions.length === 0) byZone.delete(oldest.zoneId);
    }
  };

  return {
    wants,
    changed: ({ id, before, after, names, more }) => {
      const version = before && after && versionOf(before, after, [...names]);
      if (version === undefined || !wants(id)) {
        byZone.delete(id);
        if (after === undefined) eras.delete(id);
        return;
      }
      if (version === null) return;
      if ((eras.get(id) ?? 0) !== era) {
        eras.set(id, era);
        byZone.delete(id);
        return;
      }
      const versions = byZone.get(id);
      if (versions?.at(-1)?.to === version.from) versions.push(version);
      else byZone.set(id, [version]);
      const one: Kept = { zoneId: id, version, weight: names.reduce((sum, name) => sum + weightOf(name), 2) };
      kept.add(one);
      weight += one.weight;
      if (more) listAt(filling, id).push(one);
      forgetOldest();
    },
    named: (id, names, isLast) => {
      const [one] = filling.get(id) ?? [];
      if (one && kept.has(one)) {
        for (const name of names) {
          one.version.names.push(name);
          one.weight += weightOf(name);
          weight += weightOf(name);
        }
        forgetOldest();
      }
      if (!isLast) return;
      const rest = filling.get(id)?.slice(1) ?? [];
      if (rest.length === 0) filling.delete(id);
      else filling.set(id, rest);
    },
    since: (zone, serial) => {
      const versions = byZone.get(zone.id) ?? [];
      const first = versions.findIndex(({ from }) => from === serial);
      if (first === -1 || versions.at(-1)?.to !== serialOf(zone)) return undefined;
      const wanted = versions.slice(first);
      return filling.get(zone.id)?.some(({ version }) => wanted.includes(version)) ? undefined : wanted;
    },
    clear: () => {
      byZone.clear();
      kept.clear();
      filling.clear();
      weight = 0;
    },
    outdate: () => {
      era += 1;
    },
  };
}

export const soaOf = (apex: ReadonlyMap<number, RRset>): Uint8Array | undefined => apex.get(TYPE.SOA)?.rdatas[0];

export const serialOf = ({ apex }: Pick<ZoneIndex, "apex">): number => {
  const soa = soaOf(apex);
  return soa ? soaSerial(soa) : 0;
};

/** The version of a change. Null if nothing changed; undefined if names alone cannot describe the change. */
function versionOf(before: ZoneIndex, after: ZoneIndex, names: NameChange[]): ZoneVersion | null | undefined {
  const [from, to] = [serialOf(before), serialOf(after)];
  // Pausing changes the answers of unchanged names; signing adds signatures to them.
  if (before.key !== after.key || before.entry.paused !== after.entry.paused || before.dnssec !== after.dnssec) return undefined;
  if (from === to) return names.length === 0 && sameSets(before.apex, after.apex) ? null : undefined;
  return { from, to, apexBefore: before.apex, apexAfter: after.apex, names };
}

function sameSets(a: ReadonlyMap<number, RRset>, b: ReadonlyMap<number, RRset>): boolean {
  const text = (sets: ReadonlyMap<number, RRset>): string =>
    JSON.stringify(
      Array.from(sets.values(), ({ type, ttl, rdatas }) => [type, ttl, rdatas.map((rdata) => Buffer.from(rdata).toString("hex"))]),
    );
  return text(a) === text(b);
}

function weightOf({ before, after }: NameChange): number {
  let records = 1;
  for (const sets of [before, after]) for (const { rdatas } of sets.values()) records += rdatas.length;
  return records;
}

import { TYPE } from "#wire/dns/codes.ts";
import { answer } from "#nameserver/answer/answer.ts";
import type { EdgeFront } from "#nameserver/zones/proxied-records.ts";
import { isFlattened } from "#nameserver/zones/lookup.ts";
import type { ExternalNames } from "#nameserver/external/external-names.ts";
import type { TransferPartners } from "#nameserver/tsig/transfer-acl.ts";
import type { Zones } from "#nameserver/zones/zones.ts";
import type { ZoneIndex } from "#nameserver/zones/zone-index.ts";

/**
 * Regularly checks the addresses of flattened apexes in zones that other servers transfer. Those servers look at the
 * zone's serial, which does not change with external names.
 */
export interface ApexWatch {
  /** One round; the next begins some time after its end. */
  look(): Promise<void>;
  close(): void;
}

export interface ApexWatchDeps {
  readonly zones: Zones;
  readonly edge: EdgeFront;
  readonly partners: Pick<TransferPartners, "outgoing">;
  readonly outside: Pick<ExternalNames, "complete">;
  readonly intervalMs: number;
  /** Called when a zone's apex has other addresses than before. The text is equal for equal addresses. */
  onReaddressed(zoneId: string, addresses: string): void;
}

export function createApexWatch({ zones, edge, partners, outside, intervalMs, onReaddressed }: ApexWatchDeps): ApexWatch {
  let known = new Map<string, string>();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  const isWatched = (zone: ZoneIndex): boolean =>
    zone.entry.type !== "secondary" && partners.outgoing(zone.id) !== undefined && isFlattened(zone, zone.nodes.get(zone.key)?.sets);

  /** Undefined if the addresses are unknown at the moment. */
  const addressesOf = async ({ name }: ZoneIndex): Promise<string | undefined> => {
    const rdatas: string[] = [];
    for (const type of [TYPE.A, TYPE.AAAA]) {
      const { answers, outside: share } = await outside.complete((find) => answer(zones, edge, { name, type }, find));
      if (share?.extendedError !== undefined) return undefined;
      rdatas.push(...answers.flatMap((set) => set.rdatas.map((rdata) => Buffer.from(rdata).toString("hex"))));
    }
    return rdatas.sort().join();
  };

  const look = async (): Promise<void> => {
    const seen = new Map<string, string>();
    for (const zone of [...zones.served()].filter(isWatched)) {
      const before = known.get(zone.id);
      const addresses = (await addressesOf(zone)) ?? before;
      if (closed) return;
      if (addresses === undefined) continue;
      seen.set(zone.id, addresses);
      if (before !== undefined && before !== addresses) onReaddressed(zone.id, addresses);
    }
    known = seen;
  };
  const wait = (): void => {
    if (closed) return;
    timer = setTimeout(() => void look().finally(wait), intervalMs);
    timer.unref();
  };
  wait();

  return {
    look,
    close: () => {
      closed = true;
      clearTimeout(timer);
    },
  };
}

import type { Sealer } from "#kernel/crypto/seal.ts";
import { primaryCopy } from "#model/dns/transferred-apex.ts";
import type { PrimaryCopy } from "#model/dns/primary-copy.ts";
import { AUTO_REFRESH_SECONDS, type TransferPeer } from "#model/dns/zone-transfer.ts";
import { openTsigKey } from "#snapshot/tsig-key.ts";
import { incomingState, type IncomingState } from "#store/dns/incoming-transfers.ts";
import type { Unit } from "#store/database/store.ts";
import { transferObjects, type TransferKind, zoneTransfer } from "#store/dns/transfers.ts";
import { zoneRowById, type ZoneRow } from "#store/zones/zones.ts";
import type { TsigKey } from "#wire/dns/tsig.ts";
import type { Primary } from "./primary-client.ts";

type Db = Unit["db"];

/** A peer from which the zone can be transferred. */
export interface SourcePeer extends Primary {
  readonly id: string;
  /** Name and address, for people. */
  readonly label: string;
  readonly ixfr: boolean;
}

/** Everything that a check of the zone needs. */
export interface ZoneSource {
  readonly zone: ZoneRow;
  readonly state: IncomingState;
  readonly copy: PrimaryCopy | undefined;
  readonly autoRefreshSeconds: number;
  /** The peer that answered last comes first. */
  readonly peers: readonly SourcePeer[];
}

/** Undefined if the zone was deleted, is no longer secondary or has no incoming transfers. */
export async function zoneSource(db: Db, sealer: Sealer, zoneId: string): Promise<ZoneSource | undefined> {
  const [zone, configured, state] = [
    await zoneRowById(db, zoneId),
    await zoneTransfer(db, zoneId, "incoming"),
    await incomingState(db, zoneId),
  ];
  if (!zone || !configured || !state || zone.type !== "secondary") return undefined;
  const settings = JSON.parse(configured.settings) as { readonly peers: readonly string[]; readonly auto_refresh_seconds?: number };
  const known = await objectsById<Omit<TransferPeer, "id">>(db, zone.account_id, "peer");
  const keys = await objectsById<TsigValue>(db, zone.account_id, "tsig");
  const peers = settings.peers.flatMap((id): SourcePeer[] => {
    const peer = known.get(id);
    if (!peer || peer.ip === undefined) return [];
    const { name, ip: address, port, ixfr_enable: ixfr, tsig_id } = peer;
    const key = tsig_id === undefined ? null : openKey(sealer, tsig_id, keys.get(tsig_id));
    return [{ id, label: `${name} (${address}, port ${port})`, address, port, ixfr, key }];
  });
  return {
    zone,
    state,
    copy: primaryCopy(zone),
    autoRefreshSeconds: settings.auto_refresh_seconds ?? AUTO_REFRESH_SECONDS,
    peers: peers.toSorted((a, b) => Number(b.id === state.peer_id) - Number(a.id === state.peer_id)),
  };
}

interface TsigValue {
  readonly name: string;
  readonly algo: string;
  readonly secret: string;
}

const openKey = (sealer: Sealer, id: string, tsig: TsigValue | undefined): TsigKey | undefined =>
  tsig && openTsigKey({ id, name: tsig.name, algorithm: tsig.algo.replace(/\.$/, ""), secret: tsig.secret }, sealer);

async function objectsById<T>(db: Db, accountId: string, kind: TransferKind): Promise<ReadonlyMap<string, T>> {
  return new Map((await transferObjects(db, accountId, kind)).map(({ id, value }) => [id, JSON.parse(value) as T]));
}

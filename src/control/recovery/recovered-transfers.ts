import { newId } from "#kernel/crypto/ids.ts";
import type { TransferEntry, TransferPeerEntry, TransferSideEntry } from "#snapshot/entries.ts";
import { beginIncoming, updateIncomingState } from "#store/dns/incoming-transfers.ts";
import { putTransferObject, putZoneTransfer, type TransferKind } from "#store/dns/transfers.ts";
import type { Unit } from "#store/database/store.ts";
import { inUnits, type Recover, type RecoveryDeps, timeOf } from "./recovery.ts";

/** Transfers in both directions. Accounts' peers, keys and ACLs are restored if a zone uses them, without their names. */
export const recoverTransfers: Recover = async (deps) => {
  const objects = createObjects(deps);
  await inUnits(deps, deps.snapshot.entries("transfer"), async (unit, [zoneId, entry]) => {
    const zone = deps.snapshot.get("zone", zoneId);
    if (zone !== undefined) await recoverZone(deps, unit, objects, zone, entry);
  });
};

async function recoverZone(
  deps: RecoveryDeps,
  unit: Unit,
  objects: Objects,
  zone: { readonly id: string; readonly account_id: string; readonly expired?: boolean },
  { outgoing, incoming }: TransferEntry,
): Promise<void> {
  const now = timeOf(deps);
  const write = async (direction: "outgoing" | "incoming", side: TransferSideEntry | null): Promise<void> => {
    if (side === null) return;
    const peers: string[] = [];
    for (const peer of side.peers) peers.push(await objects.peer(unit, zone.account_id, peer));
    for (const range of side.acl) await objects.acl(unit, zone.account_id, range);
    const settings = JSON.stringify({ peers, ...(direction === "outgoing" ? { enabled: true } : {}) });
    await putZoneTransfer(unit.db, { zone_id: zone.id, direction, id: newId(), settings, created_on: now, modified_on: now });
  };
  await write("outgoing", outgoing);
  await write("incoming", incoming);
  if (incoming === null) return;
  const nowMs = deps.clock.nowMs();
  await beginIncoming(unit.db, zone.id, nowMs);
  await updateIncomingState(unit.db, zone.id, zone.expired === true ? { forced: 1 } : { confirmed_ms: nowMs });
}

interface Objects {
  /** The identifier of the account's peer that this is. */
  peer(unit: Unit, accountId: string, peer: TransferPeerEntry): Promise<string>;
  acl(unit: Unit, accountId: string, range: string): Promise<string>;
}

/** Each object of an account once, in the order in which it is found, because planes have them in order of their times. */
function createObjects(deps: RecoveryDeps): Objects {
  const known = new Map<string, string>();
  const put = async (unit: Unit, account_id: string, kind: TransferKind, value: object, given?: string): Promise<string> => {
    const key = `${account_id} ${kind} ${JSON.stringify(value)}`;
    const found = known.get(key);
    if (found !== undefined) return found;
    const id = given ?? newId();
    known.set(key, id);
    const named = { name: `recovered-${kind}-${known.size}`, ...value };
    await putTransferObject(unit.db, { id, account_id, kind, value: JSON.stringify(named), created_on: timeOf(deps, known.size) });
    return id;
  };
  return {
    acl: (unit, accountId, ip_range) => put(unit, accountId, "acl", { ip_range }),
    peer: async (unit, accountId, { ip, port, tsig }) => {
      if (tsig !== null) {
        const { id, name, algorithm, secret } = tsig;
        await put(unit, accountId, "tsig", { name: `${name}.`, algo: `${algorithm}.`, secret }, id);
      }
      return put(unit, accountId, "peer", {
        ...(ip === "" ? {} : { ip }),
        ...{ port, ixfr_enable: true },
        ...(tsig === null ? {} : { tsig_id: tsig.id }),
      });
    },
  };
}

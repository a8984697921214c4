import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors/errors.ts";
import type { Call } from "#control/call.ts";
import { commit } from "#control/commit.ts";
import type { Secondaries } from "#control/secondary/secondaries.ts";
import type { ZoneRef } from "#control/open-zone/zone-ref.ts";
import type { Sealer } from "#kernel/crypto/seal.ts";
import type {
  IncomingTransfer,
  IncomingTransferWrite,
  OutgoingTransfer,
  OutgoingTransferWrite,
  TransferAcl,
  TransferAclWrite,
  TransferPeer,
  TransferPeerWrite,
  TransferTsig,
  TransferTsigWrite,
} from "#model/dns/zone-transfer.ts";
import { retryIncoming, updateIncomingState } from "#store/dns/incoming-transfers.ts";
import type { Store } from "#store/database/store.ts";
import { zoneRowById } from "#store/zones/zones.ts";
import { publishZoneTransfers } from "./entries.ts";
import { ACLS, createTsigs, PEERS } from "./kinds.ts";
import { createTransferObjects, type TransferObjects } from "./objects.ts";
import { createIncoming, createOutgoing, transferAudit, type ZoneTransfers } from "./zone-transfers.ts";

/** Zone transfers from and to other name servers. */
export interface Transfers {
  readonly acls: TransferObjects<TransferAcl, TransferAclWrite>;
  readonly peers: TransferObjects<TransferPeer, TransferPeerWrite>;
  readonly tsigs: TransferObjects<TransferTsig, TransferTsigWrite>;
  readonly incoming: ZoneTransfers<IncomingTransfer, IncomingTransferWrite>;
  readonly outgoing: ZoneTransfers<OutgoingTransfer, OutgoingTransferWrite>;
  /**
   * Schedules a transfer of the whole zone from a primary, regardless of its serial. Throws `not_found` if the zone has
   * no incoming transfers, and `invalid_input` if it is not secondary.
   */
  forceAxfr(call: Call, zone: ZoneRef): Promise<"OK">;
  /** Enables or disables outgoing transfers. These methods throw `not_found` if none are configured. */
  enable(call: Call, zone: ZoneRef, enabled: boolean): Promise<OutgoingStatus>;
  status(zone: ZoneRef): Promise<OutgoingStatus>;
  /** Notifies every peer of the zone, whether it has changed or not. Throws `invalid_input` while transfers are disabled. */
  forceNotify(call: Call, zone: ZoneRef): Promise<"OK">;
}

export type OutgoingStatus = "Enabled" | "Disabled";

export interface TransfersDeps {
  readonly store: Store;
  readonly clock: Clock;
  readonly sealer: Sealer;
  /** Told when checks of zones are due. */
  readonly secondaries: Pick<Secondaries, "wake" | "notified">;
}

export function createTransfers(deps: TransfersDeps): Transfers {
  const { store, clock, secondaries } = deps;
  const [incoming, outgoing] = [createIncoming(deps), createOutgoing(deps)];
  const waking = async <T>(write: Promise<T>): Promise<T> => {
    const result = await write;
    secondaries.wake();
    return result;
  };
  /** After a change of peers or keys, failed transfers are retried at once. */
  const retrying = <T, W>(objects: TransferObjects<T, W>): TransferObjects<T, W> => ({
    ...objects,
    update: async (call, accountId, id, body) => {
      const updated = await objects.update(call, accountId, id, body);
      await store.write(({ db }) => retryIncoming(db, accountId, clock.nowMs()));
      secondaries.wake();
      return updated;
    },
  });
  return {
    acls: createTransferObjects(deps, ACLS),
    peers: retrying(createTransferObjects(deps, PEERS)),
    tsigs: retrying(createTransferObjects(deps, createTsigs(deps.sealer))),
    incoming: {
      ...incoming,
      create: (call, zone, body) => waking(incoming.create(call, zone, body)),
      update: (call, zone, body) => waking(incoming.update(call, zone, body)),
    },
    outgoing,
    forceAxfr: async (call, zone) => {
      await incoming.assertConfigured(zone);
      if ((await zoneRowById(store.read, zone.id))?.type !== "secondary")
        throw new PlatformError("invalid_input", { message: "The zone is not of type secondary, so it has no primary to transfer from." });
      await commit(deps, call, async (unit) => {
        await updateIncomingState(unit.db, zone.id, { forced: 1 });
        unit.audit(transferAudit(call, zone, "incoming_transfer.force"));
      });
      await secondaries.notified(zone.id);
      return "OK";
    },
    enable: async (call, zone, enabled) => {
      await outgoing.enable(call, zone, enabled);
      return statusOf(enabled);
    },
    status: async (zone) => statusOf(await outgoing.isEnabled(zone)),
    forceNotify: async (call, zone) => {
      if (!(await outgoing.isEnabled(zone)))
        throw new PlatformError("invalid_input", { message: "Outgoing transfers of the zone are disabled: enable them first." });
      return commit(deps, call, async (unit) => {
        // Publishing a zone's entry makes the notify sender send notices, here or on another node.
        await publishZoneTransfers(unit, zone);
        unit.audit(transferAudit(call, zone, "outgoing_transfer.notify"));
        return "OK" as const;
      });
    },
  };
}

const statusOf = (enabled: boolean): OutgoingStatus => (enabled ? "Enabled" : "Disabled");

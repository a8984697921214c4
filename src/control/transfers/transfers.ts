import type { Clock } from "#kernel/clock.ts";
import { PlatformError } from "#kernel/errors.ts";
import type { Sealer } from "#kernel/seal.ts";
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
} from "#model/zone-transfer.ts";
import type { Store } from "#store/store.ts";
import { ACLS, createTsigs, PEERS } from "./kinds.ts";
import { createTransferObjects, type TransferObjects } from "./objects.ts";
import { createIncoming, createOutgoing, type TransferZone, type ZoneTransfers } from "./zone-transfers.ts";

/** What zones will be transferred by. The name servers neither send nor fetch zones yet. */
export interface Transfers {
  readonly acls: TransferObjects<TransferAcl, TransferAclWrite>;
  readonly peers: TransferObjects<TransferPeer, TransferPeerWrite>;
  readonly tsigs: TransferObjects<TransferTsig, TransferTsigWrite>;
  readonly incoming: ZoneTransfers<IncomingTransfer, IncomingTransferWrite>;
  readonly outgoing: ZoneTransfers<OutgoingTransfer, OutgoingTransferWrite>;
  /** Throws `transfers_unavailable`, or `not_found` where the zone has no such configuration. */
  refuse(zone: TransferZone, direction: "incoming" | "outgoing"): Promise<never>;
  /** Off, which is all that outgoing transfers can be. Throws `not_found` where none are configured. */
  status(zone: TransferZone): Promise<"Disabled">;
}

export function createTransfers(deps: { readonly store: Store; readonly clock: Clock; readonly sealer: Sealer }): Transfers {
  const [incoming, outgoing] = [createIncoming(deps), createOutgoing(deps)];
  return {
    acls: createTransferObjects(deps, ACLS),
    peers: createTransferObjects(deps, PEERS),
    tsigs: createTransferObjects(deps, createTsigs(deps.sealer)),
    incoming,
    outgoing,
    refuse: async (zone, direction) => {
      await (direction === "incoming" ? incoming : outgoing).assertConfigured(zone);
      throw new PlatformError("transfers_unavailable");
    },
    status: async (zone) => {
      await outgoing.assertConfigured(zone);
      return "Disabled";
    },
  };
}

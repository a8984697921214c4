import type { TransferEntry, TransferPeerEntry, TransferSideEntry, TsigEntry } from "../entries.ts";

/** A row of the transfers that a zone has in one direction. */
export interface ZoneTransferColumns {
  readonly direction: string;
  /** `{ peers, enabled }`: outgoing transfers count once they are turned on, incoming ones always. */
  readonly settings: string;
}

/** A row of the account's transfer objects. */
export interface TransferObjectColumns {
  readonly id: string;
  readonly kind: string;
  readonly value: string;
}

/** Null if neither direction is in use. Unknown ids are left out. */
export function transferEntry(sides: readonly ZoneTransferColumns[], objects: readonly TransferObjectColumns[]): TransferEntry | null {
  const side = (direction: string): TransferSideEntry | null => {
    const row = sides.find((candidate) => candidate.direction === direction);
    const { peers, enabled } = JSON.parse(row?.settings ?? '{"peers":[]}') as { peers: readonly string[]; enabled?: boolean };
    if (!row || (direction === "outgoing" && enabled !== true)) return null;
    return {
      peers: peers.flatMap((id) => peerEntry(objects, id) ?? []),
      acl: valuesOf<{ ip_range: string }>(objects, "acl").map((acl) => acl.ip_range),
    };
  };
  const entry = { outgoing: side("outgoing"), incoming: side("incoming") };
  return entry.outgoing || entry.incoming ? entry : null;
}

function peerEntry(objects: readonly TransferObjectColumns[], id: string): TransferPeerEntry | undefined {
  const peer = valueOf<{ ip?: string; port: number; tsig_id?: string }>(objects, "peer", id);
  if (!peer) return undefined;
  const tsig =
    peer.tsig_id === undefined ? undefined : valueOf<Omit<TsigEntry, "id" | "algorithm"> & { algo: string }>(objects, "tsig", peer.tsig_id);
  // A peer with an unknown key must not become a peer without a key.
  if (peer.tsig_id !== undefined && !tsig) return undefined;
  return {
    ip: peer.ip ?? "",
    port: peer.port,
    tsig:
      tsig && peer.tsig_id !== undefined
        ? { id: peer.tsig_id, name: undotted(tsig.name), algorithm: undotted(tsig.algo), secret: tsig.secret }
        : null,
  };
}

const undotted = (name: string): string => name.replace(/\.$/, "");

function valueOf<T>(objects: readonly TransferObjectColumns[], kind: string, id: string): T | undefined {
  const row = objects.find((candidate) => candidate.kind === kind && candidate.id === id);
  return row && (JSON.parse(row.value) as T);
}

const valuesOf = <T>(objects: readonly TransferObjectColumns[], kind: string): T[] =>
  objects.filter((row) => row.kind === kind).map((row) => JSON.parse(row.value) as T);

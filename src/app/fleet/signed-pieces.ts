import { createHash, type KeyObject, sign, verify } from "node:crypto";
import { nkeyPublicKey } from "#wire/nats/nkey-objects.ts";
import { findNode, updateNode } from "#store/nodes/nodes.ts";
import type { Store } from "#store/database/store.ts";
import type { Piece } from "./event-pieces.ts";

/** All that a piece says, and which node says it. */
function signedText(node: string, { source, epoch, from, to, index, pieces, bytes }: Piece): Buffer {
  const hash = createHash("sha512").update(bytes).digest("hex");
  return Buffer.from(
    `selvedge events\n${JSON.stringify([node, source, epoch, from.segment, from.at, to.segment, to.at, index, pieces, hash])}`,
  );
}

/** Signs with the key of the node's user on the bus, which never leaves the node. */
export const signedPiece = (node: string, piece: Piece, key: KeyObject): Piece => ({
  ...piece,
  signature: sign(null, signedText(node, piece), key).toString("base64"),
});

/** Decides whether a node sent a piece: the owner of the bus can publish on each subject. */
export interface PieceSenders {
  /** Null if the node did; else why the piece is refused. */
  refusal(node: string, piece: Piece): Promise<string | null>;
}

/** A node of the former release does not sign, so that its pieces count until the first signed one of the node. */
export function createPieceSenders(store: Store): PieceSenders {
  return {
    refusal: async (node, piece) => {
      const row = await findNode(store.read, node);
      if (!row || row.public_key === null) return "control knows no such node";
      if (piece.signature === undefined) return row.signs_events === 1 ? "the piece has no signature, and the node signs its pieces" : null;
      const signature = Buffer.from(piece.signature, "base64");
      if (!verify(null, signedText(node, piece), nkeyPublicKey(row.public_key), signature)) return "the signature is not the node's";
      if (row.signs_events !== 1) await store.write(({ db }) => updateNode(db, node, { signs_events: 1 }));
      return null;
    },
  };
}

import { createHash, type KeyObject, sign } from "node:crypto";
import { isSignedBy, RefusedMessage } from "./bus-message.ts";

// A full copy is cut into pieces. Control signs the list of their hashes, so a node unpacks no byte that control did not write.

/** Bytes of each piece but the last one. */
export const COPY_PIECE_BYTES = 512 << 10;

/** Beside a full copy in the object store, which anybody may have written. */
export interface CopyLabel {
  /** The hashes of its pieces, with a space between two. */
  readonly pieces: string;
  /** Control's own signature, by which a process that takes over knows the copy. */
  readonly sig: string;
}

export const hashOf = (bytes: string | Uint8Array): string => createHash("sha256").update(bytes).digest("base64url");

const signedLabel = (name: string, pieces: string): Buffer => Buffer.from(`pieces ${name} ${hashOf(pieces)}`);

export const copyLabel = (name: string, hashes: readonly string[], key: KeyObject): CopyLabel => {
  const pieces = hashes.join(" ");
  return { pieces, sig: sign(null, signedLabel(name, pieces), key).toString("base64url") };
};

/** The hash of the list of pieces; null if control did not sign it. */
export function labelledPieces(name: string, label: Partial<CopyLabel> | undefined, key: KeyObject): string | null {
  if (typeof label?.pieces !== "string" || typeof label.sig !== "string") return null;
  return isSignedBy(signedLabel(name, label.pieces), label.sig, key) ? hashOf(label.pieces) : null;
}

/** The bytes in pieces of the one size, whatever chunks they arrive in. */
export async function* inPieces(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let piece = Buffer.allocUnsafe(COPY_PIECE_BYTES);
  let filled = 0;
  for await (const chunk of chunks) {
    for (let from = 0; from < chunk.length;) {
      const part = chunk.subarray(from, from + COPY_PIECE_BYTES - filled);
      piece.set(part, filled);
      filled += part.length;
      from += part.length;
      if (filled < COPY_PIECE_BYTES) continue;
      yield piece;
      piece = Buffer.allocUnsafe(COPY_PIECE_BYTES);
      filled = 0;
    }
  }
  if (filled > 0) yield piece.subarray(0, filled);
}

/** `signed`: the hash of the list, as a signed heartbeat has it. Throws RefusedMessage at the first piece that is not of the list. */
export async function* checkedPieces(
  chunks: AsyncIterable<Uint8Array>,
  label: Partial<CopyLabel> | undefined,
  signed: string,
): AsyncGenerator<Uint8Array> {
  const pieces = label?.pieces;
  if (typeof pieces !== "string" || hashOf(pieces) !== signed) throw new RefusedMessage("the full copy is not the one that control signed");
  const hashes = pieces.split(" ");
  let index = 0;
  for await (const piece of inPieces(chunks)) {
    if (hashOf(piece) !== hashes[index++]) throw new RefusedMessage("the full copy has a piece that control did not sign");
    yield piece;
  }
}

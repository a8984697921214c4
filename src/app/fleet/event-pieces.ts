import { BATCH_SOURCES, type BatchRange, type NodePlace } from "#events/rows/node-batch.ts";

/**
 * A batch crosses the bus in chunks, each a request that control answers: a node on a slow line still answers the bus's
 * pings between them, and the server's message limit does not limit a batch. A chunk is a line of JSON and its bytes.
 */
export interface Piece extends BatchRange {
  readonly index: number;
  readonly pieces: number;
  readonly bytes: Uint8Array;
  /** Base64, of the node (signed-pieces.ts); absent from nodes of version 0.1.0. */
  readonly signature?: string;
}

/** Answer to a chunk that is not the last: `next` is the index that control expects. */
export interface PieceAnswer {
  readonly next?: number;
  readonly stored?: NodePlace;
  readonly refused?: string;
  readonly error?: string;
}

/** Half of the default limit of nats-server. */
export const PIECE_BYTES = 512 * 1024;
/** Bytes of a batch: a log with both bodies is below 11 MB. */
const PIECES_MAX = 64;

export function encodePiece({ bytes, ...head }: Piece): Uint8Array {
  return Buffer.concat([Buffer.from(`${JSON.stringify(head)}\n`), bytes]);
}

/** Null if it is not a chunk: a node may send anything. */
export function decodePiece(message: Uint8Array): Piece | null {
  const from = Buffer.from(message.buffer, message.byteOffset, message.byteLength);
  const end = from.subarray(0, HEAD_BYTES_MAX).indexOf(0x0a);
  if (end < 0) return null;
  let head: Omit<Piece, "bytes">;
  try {
    head = JSON.parse(from.toString("utf8", 0, end)) as Omit<Piece, "bytes">;
  } catch {
    return null;
  }
  if (typeof head !== "object" || head === null) return null;
  const { source, epoch, index, pieces, from: start, to, signature } = head;
  const isPiece =
    BATCH_SOURCES.includes(source) &&
    typeof epoch === "string" &&
    epoch.length <= EPOCH_LENGTH_MAX &&
    isPlace(start) &&
    isPlace(to) &&
    isBelow(pieces, PIECES_MAX + 1) &&
    isBelow(index, pieces) &&
    (signature === undefined || typeof signature === "string");
  const signed = signature === undefined ? {} : { signature };
  return isPiece ? { source, epoch, index, pieces, from: start, to, bytes: from.subarray(end + 1), ...signed } : null;
}

/** At least one: a batch without bytes requests the position. */
export function piecesOf(range: BatchRange, bytes: Uint8Array): readonly Piece[] {
  const pieces = Math.max(1, Math.ceil(bytes.length / PIECE_BYTES));
  const { source, epoch, from, to } = range;
  return Array.from({ length: pieces }, (_, index) => ({
    ...{ source, epoch, from, to, index, pieces },
    bytes: bytes.subarray(index * PIECE_BYTES, (index + 1) * PIECE_BYTES),
  }));
}

const HEAD_BYTES_MAX = 1_024;
const EPOCH_LENGTH_MAX = 64;

const isBelow = (value: unknown, end: number): boolean => Number.isSafeInteger(value) && (value as number) >= 0 && (value as number) < end;

const isPlace = (value: NodePlace | undefined): boolean =>
  typeof value === "object" && value !== null && isBelow(value.segment, Infinity) && isBelow(value.at, Infinity);

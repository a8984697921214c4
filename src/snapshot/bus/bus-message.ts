import { createHash, type KeyObject, sign, verify } from "node:crypto";
import { zstdCompressSync, zstdDecompressSync } from "node:zlib";
import type { Op } from "#snapshot/entries.ts";
import type { Position } from "#snapshot/feed.ts";

// Names on the bus. Nodes may subscribe to LIVE and HEAD, and get single messages of the two streams.
export const CHANGES = "SV_CHANGES";
export const DELTAS = "sv.delta";
/** The stream publishes here each delta that it has stored, so that nodes never get one that it refused, as they would on `DELTAS`. */
export const LIVE = "sv.live.delta";
export const HEAD = "sv.head";
export const FULL_BUCKET = "SV_FULL";
/** The stream below the object store. */
export const COPIES = `OBJ_${FULL_BUCKET}`;

/** Increased when messages change so that an older program cannot read them. */
export const BUS_FORMAT = 1;
/** Size limit of a decompressed delta, in bytes. */
const DELTA_BYTES_MAX = 64 << 20;

/** A position with the running hash of the deltas before it; an empty hash is unknown. */
export interface Place extends Position {
  readonly hash: string;
}

/** A delta as it is sent. */
export interface BusMessage {
  readonly headers: ReadonlyMap<string, string>;
  readonly body: Uint8Array;
}

export interface SentDelta extends Place {
  readonly from: number;
  /** Null for a delta that is too large for a message: nodes take a full copy instead. */
  readonly ops: readonly Op[] | null;
}

/** The newest revision that control has published, once a second and soon after each delta. */
export interface BusHead extends Place {
  /** By control's clock, later in each heartbeat. Absent from a control of version 0.1.0 or earlier. */
  readonly time?: number;
  /** The newest full copy; null without one. */
  readonly full: FullName | null;
  /** Nodes that are not in `canaries` follow up to `released`, and take `full` of this instead. Absent: all nodes follow at once. */
  readonly rollout?: { readonly canaries: readonly string[]; readonly released: number; readonly full: FullName | null };
}

export interface FullName {
  readonly name: string;
  readonly rev: number;
  /** The hash of the list of its pieces' hashes. Absent from a control of version 0.1.0 or earlier. */
  readonly pieces?: string;
}

/** Of a message that control did not sign: it claims any. */
export const NO_REVISION = -1;

/** A message that is not signed, too new, too large, damaged or of another sequence of changes. */
export class RefusedMessage extends Error {
  /** Otherwise anybody on the bus may have sent it, so it says nothing about a change of control's. */
  readonly isSigned: boolean;

  constructor(reason: string, isSigned = true) {
    super(reason);
    this.name = "RefusedMessage";
    this.isSigned = isSigned;
  }
}

const nextHash = (before: string, rev: number, body: Uint8Array): string =>
  createHash("sha256").update(`${before}\n${rev}\n`).update(body).digest("base64url");

interface DeltaFields extends Place {
  readonly from: number;
  readonly format: number;
}

const signedDelta = ({ format, history, from, rev, hash }: DeltaFields, body: Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`delta ${format} ${history} ${from} ${rev} ${hash}\n`), body]);

/** `before` is the hash at `from`. A body above `bytesMax` is left out, so that nodes take a full copy instead. */
export function encodeDelta(
  { history, from, rev, ops }: Position & { readonly from: number; readonly ops: readonly Op[] },
  before: string,
  key: KeyObject,
  bytesMax: number,
): BusMessage & { readonly hash: string; readonly isWhole: boolean } {
  const packed = zstdCompressSync(JSON.stringify(ops));
  const isWhole = packed.length <= bytesMax;
  const body = isWhole ? packed : new Uint8Array();
  const hash = nextHash(before, rev, body);
  const fields = { format: BUS_FORMAT, history, from, rev, hash };
  const signature = sign(null, signedDelta(fields, body), key).toString("base64url");
  const headers = new Map([
    ...Object.entries(fields).map(([name, value]) => [fieldName(name), String(value)] as const),
    ["Sv-Sig", signature],
  ]);
  return { headers, body, hash, isWhole };
}

const fieldName = (name: string): string => `Sv-${name[0]?.toUpperCase()}${name.slice(1)}`;

/** The fields of a delta's head, not verified. */
export function deltaFields(header: (name: string) => string): DeltaFields {
  const field = (name: string): string => header(fieldName(name));
  const number = (name: string): number => (/^\d{1,16}$/.test(field(name)) ? Number(field(name)) : -1);
  return { format: number("format"), history: field("history"), from: number("from"), rev: number("rev"), hash: field("hash") };
}

/** A delta whose body is still compressed. */
export interface PackedDelta extends Place {
  readonly from: number;
  readonly body: Uint8Array;
}

/**
 * Throws RefusedMessage. `before`: the hash at `from`, if it is known. Without a key the signature is not verified: of deltas whose hashes
 * follow each other, those of the first and the last one are enough.
 */
export function readDelta(header: (name: string) => string, body: Uint8Array, key: KeyObject | null, before: string): PackedDelta {
  const fields = deltaFields(header);
  if (key !== null && !isSignedBy(signedDelta(fields, body), header("Sv-Sig"), key))
    throw new RefusedMessage("control did not sign it", false);
  if (fields.format > BUS_FORMAT)
    throw new RefusedMessage(`its format ${fields.format} is newer than this program, which knows ${BUS_FORMAT}`);
  if (before !== "" && nextHash(before, fields.rev, body) !== fields.hash)
    throw new RefusedMessage("its hash does not follow that of the delta before it");
  const { history, from, rev, hash } = fields;
  return { history, from, rev, hash, body };
}

/** Only for a delta that is known to be of control: a small body can be large. Throws RefusedMessage. */
export const unpackDelta = ({ body, ...place }: PackedDelta, bytesMax = DELTA_BYTES_MAX): SentDelta => ({
  ...place,
  ops: body.length === 0 ? null : unpacked(body, bytesMax),
});

function unpacked(body: Uint8Array, bytesMax: number): readonly Op[] {
  try {
    return JSON.parse(zstdDecompressSync(body, { maxOutputLength: bytesMax }).toString()) as readonly Op[];
  } catch (error) {
    const isLarge = (error as NodeJS.ErrnoException).code === "ERR_BUFFER_TOO_LARGE";
    throw new RefusedMessage(isLarge ? `it is larger than ${bytesMax} bytes` : "it is damaged");
  }
}

export function isSignedBy(bytes: Uint8Array, signature: string, key: KeyObject): boolean {
  try {
    return verify(null, bytes, key, Buffer.from(signature, "base64url"));
  } catch {
    return false;
  }
}

export function encodeHead(head: BusHead, key: KeyObject): string {
  const text = JSON.stringify(head);
  return JSON.stringify({ text, sig: sign(null, Buffer.from(`head ${text}`), key).toString("base64url") });
}

/** Throws RefusedMessage if control did not sign it. */
export function decodeHead(bytes: Uint8Array, key: KeyObject): BusHead {
  try {
    const { text, sig } = JSON.parse(Buffer.from(bytes).toString()) as { text: string; sig: string };
    if (isSignedBy(Buffer.from(`head ${text}`), sig, key)) return JSON.parse(text) as BusHead;
  } catch {
    // Handled like a wrong signature.
  }
  throw new RefusedMessage("control did not sign the heartbeat", false);
}

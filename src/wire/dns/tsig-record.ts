import { CLASS, HEADER_BYTES, TYPE } from "./codes.ts";
import { WireError } from "./errors.ts";
import { formatName, type NameKey, keyOf } from "./name.ts";
import { WireReader } from "./wire-reader.ts";

/** Error codes in a TSIG record (RFC 8945 §5.3), beside the RCODE of the header. */
export const TSIG_ERROR = { NONE: 0, BADSIG: 16, BADKEY: 17, BADTIME: 18, BADTRUNC: 22 } as const;

/** The record that signs a message, as received (RFC 8945 §4.2). */
export interface TsigRecord {
  /** Offset of the record in its message; it extends to the end. */
  readonly start: number;
  readonly keyName: NameKey;
  /** Lower case, no final dot: `hmac-sha256`. */
  readonly algorithm: string;
  /** Seconds since 1970. */
  readonly timeSigned: number;
  readonly fudgeSeconds: number;
  readonly mac: Buffer;
  readonly originalId: number;
  /** One of TSIG_ERROR in responses; 0 in requests. */
  readonly error: number;
  readonly other: Buffer;
}

/** The fields to write; names are uncompressed and in lower case, as they are signed. */
export interface TsigFields extends Omit<TsigRecord, "start" | "keyName" | "algorithm"> {
  readonly keyName: Uint8Array;
  readonly algorithmName: Uint8Array;
}

/**
 * The message's TSIG record; undefined if it is unsigned. Throws WireError if the message is malformed, or a TSIG record
 * is not the last record (RFC 8945 §5.1).
 */
export function readTsig(message: Uint8Array): TsigRecord | undefined {
  const reader = new WireReader(message, { offset: 4, pointers: true });
  const [questions, answers, authorities, additionals] = [reader.u16(), reader.u16(), reader.u16(), reader.u16()];
  for (let i = 0; i < questions; i++) {
    skipName(reader);
    reader.take(4);
  }
  const records = answers + authorities + additionals;
  // Each record has a minimum length, so the reader ends the loop even if the counts are false.
  for (let i = 0; i < records; i++) {
    const start = reader.offset;
    skipName(reader);
    const type = reader.u16();
    reader.take(6);
    const rdata = reader.take(reader.u16());
    if (type !== TYPE.TSIG) continue;
    if (i !== records - 1 || additionals === 0 || !reader.done) throw new WireError("bad_tsig");
    return parseTsig(message, start, rdata.byteOffset - reader.bytes.byteOffset);
  }
  if (!reader.done) throw new WireError("trailing_bytes");
  return undefined;
}

/** The TSIG record at `start`, the last record of the message. */
function parseTsig(message: Uint8Array, start: number, rdataStart: number): TsigRecord {
  const head = new WireReader(message, { offset: start, pointers: true });
  const keyName = keyOf(head.name());
  head.u16();
  if (head.u16() !== CLASS.ANY || head.u32() !== 0) throw new WireError("bad_tsig");
  const reader = new WireReader(message, { offset: rdataStart, pointers: false });
  const algorithm = formatName(reader.name()).toLowerCase();
  const timeSigned = reader.u16() * 0x1_0000_0000 + reader.u32();
  const fudgeSeconds = reader.u16();
  const mac = reader.take(reader.u16());
  const [originalId, error] = [reader.u16(), reader.u16()];
  const other = reader.take(reader.u16());
  if (!reader.done) throw new WireError("bad_tsig");
  return { start, keyName, algorithm, timeSigned, fudgeSeconds, mac, originalId, error, other };
}

/** The message with the TSIG record appended. */
export function appendTsig(message: Uint8Array, fields: TsigFields): Buffer {
  const rdata = Buffer.concat([
    fields.algorithmName,
    timers(fields),
    uint16(fields.mac.length),
    fields.mac,
    uint16(fields.originalId),
    uint16(fields.error),
    uint16(fields.other.length),
    fields.other,
  ]);
  const head = Buffer.alloc(10);
  head.writeUInt16BE(TYPE.TSIG, 0);
  head.writeUInt16BE(CLASS.ANY, 2);
  head.writeUInt16BE(rdata.length, 8);
  const bytes = Buffer.concat([message, fields.keyName, head, rdata]);
  bytes.writeUInt16BE(bytes.readUInt16BE(ADDITIONALS_AT) + 1, ADDITIONALS_AT);
  return bytes;
}

/** The message before it was signed (RFC 8945 §4.3.2). */
export function withoutTsig(message: Uint8Array, { start, originalId }: Pick<TsigRecord, "start" | "originalId">): Buffer {
  const bytes = Buffer.from(message.subarray(0, start));
  bytes.writeUInt16BE(originalId, 0);
  bytes.writeUInt16BE(bytes.readUInt16BE(ADDITIONALS_AT) - 1, ADDITIONALS_AT);
  return bytes;
}

/** Time signed and fudge in wire format (RFC 8945 §4.2). */
export function timers({ timeSigned, fudgeSeconds }: Pick<TsigRecord, "timeSigned" | "fudgeSeconds">): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUIntBE(timeSigned, 0, 6);
  bytes.writeUInt16BE(fudgeSeconds, 6);
  return bytes;
}

export function uint16(value: number): Buffer {
  const bytes = Buffer.alloc(2);
  bytes.writeUInt16BE(value);
  return bytes;
}

const ADDITIONALS_AT = HEADER_BYTES - 2;

function skipName(reader: WireReader): void {
  for (let length = reader.u8(); length !== 0; length = reader.u8()) {
    if (length >= 0xc0) {
      reader.u8();
      return;
    }
    if (length >= 0x40) throw new WireError("bad_label");
    reader.take(length);
  }
}

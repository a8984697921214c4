import { EDNS_FLAG, HEADER_BYTES, OPCODE, opcodeOf, OPTION, TYPE } from "./codes.ts";
import { WireError } from "./errors.ts";
import { LABEL_BYTES_MAX, NAME_BYTES_MAX, readName } from "./name.ts";
import { WireReader } from "./wire-reader.ts";

/** The contents of a client's OPT record (RFC 6891 §6.1). */
export interface Edns {
  readonly version: number;
  /** The largest UDP response that the client accepts, in bytes, as it claims. */
  readonly payloadBytes: number;
  readonly dnssecOk: boolean;
  /** The client accepts compact denial with NXDOMAIN (RFC 9824 §5.1). */
  readonly compactOk: boolean;
  /** The value of the first COOKIE option (RFC 7873 §5.2), a view of the packet. */
  readonly cookie: Buffer | undefined;
  /** The client requests the server's identifier (RFC 5001). */
  readonly asksNsid: boolean;
  /** The client padded its query, and requests padding of the response (RFC 7830). */
  readonly hasPadding: boolean;
  /** The client requests the idle timeout of its connection (RFC 7828). */
  readonly asksKeepalive: boolean;
}

/** A received message with one question, or none if it only requests a cookie. */
export interface Query {
  readonly id: number;
  readonly flags: number;
  readonly questions: 0 | 1;
  /**
   * Offset of the end of the question's name, which follows the header and is uncompressed. Without a question: the end
   * of the header, type and class 0.
   */
  readonly nameEnd: number;
  readonly type: number;
  readonly class: number;
  readonly edns: Edns | undefined;
  /** The last record is a TSIG record, which is not verified yet. */
  readonly isSigned: boolean;
}

/** Reads a query. Throws WireError if RFC 1035 or RFC 6891 defines it as malformed. */
export function readQuery(packet: Buffer): Query {
  if (packet.length < HEADER_BYTES) throw new WireError("truncated");
  const id = packet.readUInt16BE(0);
  const flags = packet.readUInt16BE(2);
  const questions = packet.readUInt16BE(4);
  const answers = packet.readUInt16BE(6);
  // Messages with several questions have no defined meaning (RFC 9619).
  if (questions > 1 || (answers !== 0 && opcodeOf(flags) !== OPCODE.NOTIFY)) throw new WireError("bad_count");
  if (questions === 0) {
    const { edns, isSigned } = readExtra(packet, HEADER_BYTES);
    // RFC 7873 §5.4 extends QUERY in this way; a message without a cookie is not a request.
    if (!edns?.cookie || opcodeOf(flags) !== OPCODE.QUERY) throw new WireError("bad_count");
    return { id, flags, questions, nameEnd: HEADER_BYTES, type: 0, class: 0, edns, isSigned };
  }
  const nameEnd = questionNameEnd(packet);
  if (nameEnd + 4 > packet.length) throw new WireError("truncated");
  const type = packet.readUInt16BE(nameEnd);
  return { id, flags, questions: 1, nameEnd, type, class: packet.readUInt16BE(nameEnd + 2), ...readExtra(packet, nameEnd + 4) };
}

function questionNameEnd(packet: Buffer): number {
  for (let at = HEADER_BYTES; ;) {
    const length = packet[at];
    if (length === undefined) throw new WireError("truncated");
    // A pointer in the first name could only refer to the header.
    if (length > LABEL_BYTES_MAX) throw new WireError("bad_label");
    at += length + 1;
    if (at - HEADER_BYTES > NAME_BYTES_MAX) throw new WireError("name_too_long");
    if (length === 0) return at;
  }
}

/**
 * Skips answers (NOTIFY has one, RFC 1996 §3.7) and authority records (IXFR has one); of the additional records, only OPT
 * and TSIG are used.
 */
function readExtra(packet: Buffer, from: number): Pick<Query, "edns" | "isSigned"> {
  const before = packet.readUInt16BE(6) + packet.readUInt16BE(8);
  const additionals = packet.readUInt16BE(10);
  const reader = new WireReader(packet, { offset: from, pointers: true });
  let edns: Edns | undefined;
  let isSigned = false;
  // Each record has at least 11 bytes, so the reader ends the loop even if the counts are false.
  for (let i = 0; i < before + additionals; i++) {
    const root = packet[reader.offset] === 0;
    reader.offset = readName(packet, reader.offset, true).end;
    const type = reader.u16();
    const payloadBytes = reader.u16();
    const extended = reader.u32();
    const rdata = reader.take(reader.u16());
    // RFC 8945 §5.1: records after a signature would not be signed.
    if (isSigned || (type === TYPE.TSIG && i < before)) throw new WireError("bad_tsig");
    isSigned = type === TYPE.TSIG;
    if (type !== TYPE.OPT) continue;
    if (i < before || !root || edns !== undefined) throw new WireError("bad_option");
    edns = {
      version: (extended >>> 16) & 0xff,
      payloadBytes,
      dnssecOk: (extended & EDNS_FLAG.DO) !== 0,
      compactOk: (extended & EDNS_FLAG.CO) !== 0,
      ...readOptions(rdata),
    };
  }
  if (!reader.done) throw new WireError("trailing_bytes");
  return { edns, isSigned };
}

/** Ignores unknown options (RFC 6891 §6.1.2), but checks their lengths. */
function readOptions(rdata: Buffer): Pick<Edns, "cookie" | "asksNsid" | "hasPadding" | "asksKeepalive"> {
  const found: { cookie: Buffer | undefined; asksNsid: boolean; hasPadding: boolean; asksKeepalive: boolean } = {
    cookie: undefined,
    asksNsid: false,
    hasPadding: false,
    asksKeepalive: false,
  };
  const options = new WireReader(rdata, { pointers: false });
  while (!options.done) {
    const code = options.u16();
    const data = options.take(options.u16());
    if (code === OPTION.COOKIE) found.cookie ??= data;
    found.asksNsid ||= code === OPTION.NSID;
    found.hasPadding ||= code === OPTION.PADDING;
    found.asksKeepalive ||= code === OPTION.TCP_KEEPALIVE;
  }
  return found;
}

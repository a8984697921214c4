import { HEADER_BYTES, TYPE } from "./codes.ts";
import { WireError } from "./errors.ts";
import { LABEL_BYTES_MAX, NAME_BYTES_MAX, readName } from "./name.ts";
import { WireReader } from "./wire-reader.ts";

/** What a client's OPT record says (RFC 6891 §6.1). */
export interface Edns {
  readonly version: number;
  /** The largest UDP answer the client takes, in bytes, as it says. */
  readonly payloadBytes: number;
  readonly dnssecOk: boolean;
}

/** A message with one question, as servers receive it. */
export interface Query {
  readonly id: number;
  readonly flags: number;
  /** Where the question's name ends in the packet; it starts behind the header and is uncompressed. */
  readonly nameEnd: number;
  readonly type: number;
  readonly class: number;
  readonly edns: Edns | undefined;
}

/** Reads a query. Throws WireError where RFC 1035 or RFC 6891 calls it malformed. */
export function readQuery(packet: Buffer): Query {
  if (packet.length < HEADER_BYTES) throw new WireError("truncated");
  const answers = packet.readUInt16BE(6);
  // Several questions have no meaning that anybody agreed on (RFC 9619).
  if (packet.readUInt16BE(4) !== 1 || answers !== 0) throw new WireError("bad_count");
  const nameEnd = questionNameEnd(packet);
  if (nameEnd + 4 > packet.length) throw new WireError("truncated");
  return {
    id: packet.readUInt16BE(0),
    flags: packet.readUInt16BE(2),
    nameEnd,
    type: packet.readUInt16BE(nameEnd),
    class: packet.readUInt16BE(nameEnd + 2),
    edns: readExtra(packet, nameEnd + 4),
  };
}

function questionNameEnd(packet: Buffer): number {
  for (let at = HEADER_BYTES; ;) {
    const length = packet[at];
    if (length === undefined) throw new WireError("truncated");
    // A pointer in the first name could only lead into the header.
    if (length > LABEL_BYTES_MAX) throw new WireError("bad_label");
    at += length + 1;
    if (at - HEADER_BYTES > NAME_BYTES_MAX) throw new WireError("name_too_long");
    if (length === 0) return at;
  }
}

/** Authority records (IXFR sends one) are passed over; of the additional ones only OPT matters here. */
function readExtra(packet: Buffer, from: number): Edns | undefined {
  const authorities = packet.readUInt16BE(8);
  const additionals = packet.readUInt16BE(10);
  const reader = new WireReader(packet, { offset: from, pointers: true });
  let edns: Edns | undefined;
  // Each record takes 11 bytes or more, so that the reader ends the loop whatever the counts claim.
  for (let i = 0; i < authorities + additionals; i++) {
    const root = packet[reader.offset] === 0;
    reader.offset = readName(packet, reader.offset, true).end;
    const type = reader.u16();
    const payloadBytes = reader.u16();
    const extended = reader.u32();
    const rdata = reader.take(reader.u16());
    if (type !== TYPE.OPT) continue;
    if (i < authorities || !root || edns !== undefined) throw new WireError("bad_option");
    checkOptions(rdata);
    edns = { version: (extended >>> 16) & 0xff, payloadBytes, dnssecOk: (extended & 0x8000) !== 0 };
  }
  if (!reader.done) throw new WireError("trailing_bytes");
  return edns;
}

/** Unknown options are ignored (RFC 6891 §6.1.2), but their lengths must add up. */
function checkOptions(rdata: Buffer): void {
  const options = new WireReader(rdata, { pointers: false });
  while (!options.done) {
    options.u16();
    options.take(options.u16());
  }
}

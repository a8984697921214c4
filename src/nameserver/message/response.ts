import { FLAG, HEADER_BYTES, OPCODE_MASK, OPTION, RCODE } from "#wire/dns/codes.ts";
import { MessageWriter, OPT_BYTES } from "#wire/dns/message.ts";
import type { Answer } from "#nameserver/answer/answer-rrset.ts";
import { echoedEdnsFlags, ednsClassOf, type Exchange, PAYLOAD_BYTES_MAX } from "./exchange.ts";
import type { Reply } from "./reply.ts";
import { ERROR_SORT, responseClassOf } from "./response-class.ts";

/** Encodes the answer to the exchange's question. `complete` is false if something did not fit. */
export function encodeAnswer(
  { packet, query, bytesMax }: Exchange,
  found: Answer,
  extendedError?: number,
): Reply & { readonly complete: boolean } {
  const options = extendedError === undefined ? NO_OPTIONS : extendedErrorOption(extendedError);
  const writer = new MessageWriter(bytesMax, query.edns ? OPT_BYTES + options.length : 0);
  const counts = [query.questions, 0, 0, 0];
  if (query.questions === 1) {
    writer.question({ name: packet.subarray(HEADER_BYTES, query.nameEnd), type: query.type, class: query.class });
  }
  const bodyStart = writer.length;
  const put = (section: 1 | 2 | 3, sets: Answer["answers"]): boolean =>
    sets.every((set) => {
      if (!writer.set(set.name, set.type, set.ttl, set.rdatas)) return false;
      counts[section] = (counts[section] as number) + set.rdatas.length;
      return true;
    });
  const fits = put(1, found.answers) && put(2, found.authorities) && put(3, found.glue);
  if (!fits) {
    // Empty, so that no client mistakes a part for the whole; the client repeats the query over TCP.
    writer.rewind(bodyStart);
    counts.fill(0, 1);
  }
  const complete = fits && put(3, found.additionals);
  const optStart = query.edns ? writer.length : 0;
  if (query.edns) {
    writer.opt(PAYLOAD_BYTES_MAX, found.rcode >> 4, echoedEdnsFlags(ednsClassOf(query)), options);
    counts[3] = (counts[3] as number) + 1;
  }
  const opcodeAndRd = repeatedFlags(query.flags);
  const flags = FLAG.QR | (found.authoritative ? FLAG.AA : 0) | (fits ? 0 : FLAG.TC) | opcodeAndRd | (found.rcode & 0xf);
  return { bytes: writer.finish(query.id, flags, counts), rcode: found.rcode, optStart, sort: responseClassOf(found), complete };
}

/** An empty response that tells the client to repeat the query over TCP. */
export function encodeTruncated(exchange: Exchange): Reply {
  const reply = encodeRefusal(exchange, { rcode: RCODE.NOERROR });
  reply.bytes.writeUInt16BE(reply.bytes.readUInt16BE(2) | FLAG.TC, 2);
  return reply;
}

/** A response without a lookup: its response code, and an extended error if that says too little. */
export interface Refusal {
  readonly rcode: number;
  readonly extendedError?: number;
}

export const encodeRefusal = (exchange: Exchange, { rcode, extendedError }: Refusal): Reply =>
  encodeAnswer(exchange, { ...NOTHING, rcode }, extendedError);

/** Acknowledges a message that this server is authoritative for. */
export const encodeAcknowledgement = (exchange: Exchange): Reply => encodeAnswer(exchange, { ...NOTHING, authoritative: true });

const NOTHING: Answer = {
  rcode: 0,
  authoritative: false,
  answers: [],
  authorities: [],
  glue: [],
  additionals: [],
  denial: undefined,
  zones: new Set(),
};

/** A header only, for messages whose question cannot be read. */
export function bareReply(packet: Buffer, rcode: number): Reply {
  const bytes = Buffer.alloc(HEADER_BYTES);
  packet.copy(bytes, 0, 0, 2);
  bytes.writeUInt16BE(FLAG.QR | repeatedFlags(packet.readUInt16BE(2)) | rcode, 2);
  return { bytes, rcode, optStart: 0, sort: ERROR_SORT };
}

/** Echoes the opcode, and RD for queries only: for other opcodes flags have no defined meaning (RFC 1035 §4.1.1). */
const repeatedFlags = (flags: number): number => flags & ((flags & OPCODE_MASK) === 0 ? OPCODE_MASK | FLAG.RD : OPCODE_MASK);

const NO_OPTIONS = Buffer.alloc(0);

/** The option without a text; the code is sufficient (RFC 8914 §2). */
function extendedErrorOption(code: number): Buffer {
  const option = Buffer.alloc(6);
  option.writeUInt16BE(OPTION.EXTENDED_ERROR, 0);
  option.writeUInt16BE(2, 2);
  option.writeUInt16BE(code, 4);
  return option;
}

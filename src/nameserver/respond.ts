import {
  CLASS,
  EXTENDED_ERROR,
  FLAG,
  HEADER_BYTES,
  MESSAGE_BYTES_MAX,
  OPCODE,
  OPCODE_MASK,
  OPTION,
  RCODE,
  opcodeOf,
} from "#wire/dns/codes.ts";
import { WireError } from "#wire/dns/errors.ts";
import { MessageWriter, OPT_BYTES } from "#wire/dns/message.ts";
import { type Query, readQuery } from "#wire/dns/query.ts";
import { answer } from "./answer.ts";
import type { Answer } from "./answer-set.ts";
import { type AnswerCache, cacheKey, fillIn } from "./answer-cache.ts";
import type { Client } from "./client.ts";
import type { Counters } from "./counters.ts";
import type { EdgeAddresses } from "./lookup.ts";
import type { Zones } from "./zones.ts";

/**
 * One message in, one message out; undefined where silence is the right answer. Never throws or rejects. A promise
 * where the answer has to be looked up elsewhere first; `packet` may change as soon as the call has returned.
 */
export type Respond = (packet: Buffer, client: Client) => Response | Promise<Response>;
export type Response = Buffer | undefined;

export interface ResponderDeps {
  readonly zones: Zones;
  readonly edge: EdgeAddresses;
  readonly cache: AnswerCache;
  readonly counters: Counters;
}

/** The largest UDP payload that arrives unfragmented on nearly every path (DNS flag day 2020, RFC 9715). */
export const PAYLOAD_BYTES_MAX = 1232;
/** What every client takes over UDP (RFC 1035 §4.2.1). */
export const PAYLOAD_BYTES_MIN = 512;

/** Why nothing was looked up: a code of the header, and where it says too little the extended error. */
interface Refusal {
  readonly rcode: number;
  readonly extendedError?: number;
}

const FORMERR: Refusal = { rcode: RCODE.FORMERR };
const BADVERS: Refusal = { rcode: RCODE.BADVERS };
const CLASS_REFUSED: Refusal = { rcode: RCODE.REFUSED, extendedError: EXTENDED_ERROR.NOT_SUPPORTED };
const TRANSFER_REFUSED: Refusal = { rcode: RCODE.REFUSED, extendedError: EXTENDED_ERROR.PROHIBITED };
const NOT_IMPLEMENTED: Refusal = { rcode: RCODE.NOTIMP, extendedError: EXTENDED_ERROR.NOT_SUPPORTED };

/** Types that are questions about something else than data, and what each is answered with. */
const META_TYPES: ReadonlyMap<number, Refusal> = new Map([
  [41, FORMERR], // OPT
  [128, FORMERR], // NXNAME (RFC 9824 §3.4)
  [249, FORMERR], // TKEY
  [250, FORMERR], // TSIG
  [251, TRANSFER_REFUSED], // IXFR
  [252, TRANSFER_REFUSED], // AXFR
  [253, NOT_IMPLEMENTED], // MAILB
  [254, NOT_IMPLEMENTED], // MAILA
]);

export function createResponder({ zones, edge, cache, counters }: ResponderDeps): Respond {
  const fromCache = (key: string, packet: Buffer, query: Query, bytesMax: number): Buffer | undefined => {
    const cached = cache.get(key);
    if (!cached || cached.bytes.length > bytesMax) return undefined;
    counters.cacheHits.value += 1;
    const bytes = Buffer.allocUnsafe(cached.bytes.length);
    fillIn(cached, packet, 0, query.nameEnd, bytes, 0);
    return bytes;
  };

  const respondToQuery = (packet: Buffer, query: Query, client: Client): Buffer | Promise<Buffer> => {
    const bytesMax = client.transport === "udp" ? payloadBytes(query) : MESSAGE_BYTES_MAX;
    const refused = refusalOf(query);
    if (refused) return encode(packet, query, nothing(refused.rcode), bytesMax, refused.extendedError).bytes;

    const ednsClass = query.edns ? (query.edns.dnssecOk ? 2 : 1) : 0;
    const key = cacheKey(packet, HEADER_BYTES, query.nameEnd, query.type, query.class, ednsClass);
    const known = fromCache(key, packet, query, bytesMax);
    if (known) return known;

    const name = Buffer.from(packet.subarray(HEADER_BYTES, query.nameEnd));
    const found = answer(zones, edge, { name, type: query.type });
    // Only a name outside of all zones is refused by what they hold.
    const extendedError = found.rcode === RCODE.REFUSED ? EXTENDED_ERROR.NOT_AUTHORITATIVE : undefined;
    const { bytes, complete } = encode(packet, query, found, bytesMax, extendedError);
    if (complete && found.zones.size > 0) cache.put(key, { bytes, zones: found.zones });
    return bytes;
  };

  const counted = (response: Buffer): Buffer => {
    counters.responses(response.readUInt16BE(2));
    return response;
  };
  return (packet, client) => {
    counters.queries[client.transport].value += 1;
    // An answer to an answer would let two servers talk to each other for ever.
    if (packet.length < HEADER_BYTES || (packet.readUInt16BE(2) & FLAG.QR) !== 0) {
      counters.dropped.value += 1;
      return undefined;
    }
    const response = guarded(packet, counters, (query) => respondToQuery(packet, query, client));
    return response instanceof Promise ? response.then(counted) : counted(response);
  };
}

/** What goes wrong with one message becomes that message's answer, never the process's end. */
function guarded(packet: Buffer, counters: Counters, work: (query: Query) => Buffer | Promise<Buffer>): Buffer | Promise<Buffer> {
  if (opcodeOf(packet.readUInt16BE(2)) !== OPCODE.QUERY) return bareResponse(packet, RCODE.NOTIMP);
  const failed = (header: Buffer): Buffer => {
    counters.internalErrors.value += 1;
    return bareResponse(header, RCODE.SERVFAIL);
  };
  try {
    const query = readOrUndefined(packet);
    if (query) {
      const response = work(query);
      if (!(response instanceof Promise)) return response;
      const header = Buffer.from(packet.subarray(0, HEADER_BYTES));
      return response.catch(() => failed(header));
    }
    counters.malformed.value += 1;
    return bareResponse(packet, RCODE.FORMERR);
  } catch {
    return failed(packet);
  }
}

function readOrUndefined(packet: Buffer): Query | undefined {
  try {
    return readQuery(packet);
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}

const payloadBytes = ({ edns }: Query): number => (edns ? boundPayload(edns.payloadBytes) : PAYLOAD_BYTES_MIN);

/** What is sent over UDP to a client that says it takes so many bytes (RFC 6891 §6.2.3). */
export const boundPayload = (bytes: number): number => Math.min(Math.max(bytes, PAYLOAD_BYTES_MIN), PAYLOAD_BYTES_MAX);

function refusalOf({ edns, class: questionClass, type }: Query): Refusal | undefined {
  if (edns && edns.version > 0) return BADVERS;
  return questionClass === CLASS.IN ? META_TYPES.get(type) : CLASS_REFUSED;
}

const nothing = (rcode: number): Answer => ({
  rcode,
  authoritative: false,
  answers: [],
  authorities: [],
  glue: [],
  additionals: [],
  denial: undefined,
  zones: new Set(),
});

/** A header alone, for messages whose question cannot be told. */
function bareResponse(packet: Buffer, rcode: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  packet.copy(bytes, 0, 0, 2);
  bytes.writeUInt16BE(FLAG.QR | (packet.readUInt16BE(2) & (OPCODE_MASK | FLAG.RD)) | rcode, 2);
  return bytes;
}

/** `complete` is false where something had to be left out for want of room. */
function encode(
  packet: Buffer,
  query: Query,
  found: Answer,
  bytesMax: number,
  extendedError: number | undefined,
): { bytes: Buffer; complete: boolean } {
  const options = extendedError === undefined ? NO_OPTIONS : extendedErrorOption(extendedError);
  const writer = new MessageWriter(bytesMax, query.edns ? OPT_BYTES + options.length : 0);
  writer.question({ name: packet.subarray(HEADER_BYTES, query.nameEnd), type: query.type, class: query.class });
  const bodyStart = writer.length;
  const counts = [1, 0, 0, 0];
  const put = (section: 1 | 2 | 3, sets: Answer["answers"]): boolean =>
    sets.every((set) => {
      if (!writer.set(set.name, set.type, set.ttl, set.rdatas)) return false;
      counts[section] = (counts[section] as number) + set.rdatas.length;
      return true;
    });
  const fits = put(1, found.answers) && put(2, found.authorities) && put(3, found.glue);
  if (!fits) {
    // Empty, so that nobody takes part of an answer for all of it; the client comes back over TCP.
    writer.rewind(bodyStart);
    counts.fill(0, 1);
  }
  const complete = fits && put(3, found.additionals);
  if (query.edns) {
    writer.opt(PAYLOAD_BYTES_MAX, found.rcode >> 4, query.edns.dnssecOk, options);
    counts[3] = (counts[3] as number) + 1;
  }
  const flags = FLAG.QR | (found.authoritative ? FLAG.AA : 0) | (fits ? 0 : FLAG.TC) | (query.flags & FLAG.RD) | (found.rcode & 0xf);
  return { bytes: writer.finish(query.id, flags, counts), complete };
}

const NO_OPTIONS = Buffer.alloc(0);

/** The option without a text: the code says it all (RFC 8914 §2). */
function extendedErrorOption(code: number): Buffer {
  const option = Buffer.alloc(6);
  option.writeUInt16BE(OPTION.EXTENDED_ERROR, 0);
  option.writeUInt16BE(2, 2);
  option.writeUInt16BE(code, 4);
  return option;
}

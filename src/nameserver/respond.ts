import type { Metric, MetricRegistry } from "#kernel/metrics.ts";
import { CLASS, FLAG, HEADER_BYTES, MESSAGE_BYTES_MAX, OPCODE, RCODE, opcodeOf } from "#wire/dns/codes.ts";
import { WireError } from "#wire/dns/errors.ts";
import { MessageWriter, OPT_BYTES } from "#wire/dns/message.ts";
import { keyOf } from "#wire/dns/name.ts";
import { type Query, readQuery } from "#wire/dns/query.ts";
import { type Answer, answer } from "./answer.ts";
import { type AnswerCache, cacheKey } from "./answer-cache.ts";
import type { EdgeAddresses } from "./lookup.ts";
import type { Zones } from "./zones.ts";

export type Transport = "udp" | "tcp";

/** One message in, one message out; undefined where silence is the right answer. Never throws. */
export type Respond = (packet: Buffer, transport: Transport) => Buffer | undefined;

export interface ResponderDeps {
  readonly zones: Zones;
  readonly edge: EdgeAddresses;
  readonly cache: AnswerCache;
  readonly metrics: MetricRegistry;
}

/** The largest UDP payload that arrives unfragmented on nearly every path (DNS flag day 2020, RFC 9715). */
const PAYLOAD_BYTES_MAX = 1232;
/** What every client takes over UDP (RFC 1035 §4.2.1). */
const PAYLOAD_BYTES_MIN = 512;

/** Types that are questions about something else than data, and what each is answered with. */
const META_TYPES: ReadonlyMap<number, number> = new Map([
  [41, RCODE.FORMERR], // OPT
  [128, RCODE.FORMERR], // NXNAME (RFC 9824 §3.4)
  [249, RCODE.FORMERR], // TKEY
  [250, RCODE.FORMERR], // TSIG
  [251, RCODE.REFUSED], // IXFR
  [252, RCODE.REFUSED], // AXFR
  [253, RCODE.NOTIMP], // MAILB
  [254, RCODE.NOTIMP], // MAILA
]);

export function createResponder({ zones, edge, cache, metrics }: ResponderDeps): Respond {
  const counters = createCounters(metrics);

  const fromCache = (key: string, packet: Buffer, query: Query, bytesMax: number): Buffer | undefined => {
    const cached = cache.get(key);
    if (!cached || cached.bytes.length > bytesMax) return undefined;
    counters.cacheHits.value += 1;
    const bytes = Buffer.from(cached.bytes);
    // The identifier, the RD bit and the name's spelling are the asker's own; the rest is the same for all.
    bytes.writeUInt16BE(query.id, 0);
    bytes[2] = ((bytes[2] as number) & 0xfe) | ((packet[2] as number) & 0x01);
    packet.copy(bytes, HEADER_BYTES, HEADER_BYTES, query.nameEnd);
    return bytes;
  };

  const respondToQuery = (packet: Buffer, query: Query, transport: Transport): Buffer => {
    const bytesMax = transport === "tcp" ? MESSAGE_BYTES_MAX : payloadBytes(query);
    if (query.edns && query.edns.version > 0) return encode(packet, query, refusal(RCODE.BADVERS), bytesMax).bytes;
    const fixed = query.class === CLASS.IN ? META_TYPES.get(query.type) : RCODE.REFUSED;
    if (fixed !== undefined) return encode(packet, query, refusal(fixed), bytesMax).bytes;

    const key = cacheKey(
      keyOf(packet, HEADER_BYTES, query.nameEnd - HEADER_BYTES),
      query.type,
      query.class,
      query.edns ? (query.edns.dnssecOk ? 2 : 1) : 0,
    );
    const known = fromCache(key, packet, query, bytesMax);
    if (known) return known;

    const name = Buffer.from(packet.subarray(HEADER_BYTES, query.nameEnd));
    const found = answer(zones, edge, { name, type: query.type });
    const { bytes, complete } = encode(packet, query, found, bytesMax);
    if (complete && found.zones.size > 0) cache.put(key, { bytes, zones: found.zones });
    return bytes;
  };

  return (packet, transport) => {
    counters.queries[transport].value += 1;
    // An answer to an answer would let two servers talk to each other for ever.
    if (packet.length < HEADER_BYTES || (packet.readUInt16BE(2) & FLAG.QR) !== 0) {
      counters.dropped.value += 1;
      return undefined;
    }
    const response = guarded(packet, counters, (query) => respondToQuery(packet, query, transport));
    counters.responses(response.readUInt16BE(2));
    return response;
  };
}

/** What goes wrong with one message becomes that message's answer, never the process's end. */
function guarded(packet: Buffer, counters: Counters, work: (query: Query) => Buffer): Buffer {
  if (opcodeOf(packet.readUInt16BE(2)) !== OPCODE.QUERY) return bareResponse(packet, RCODE.NOTIMP);
  try {
    const query = readOrUndefined(packet);
    if (query) return work(query);
    counters.malformed.value += 1;
    return bareResponse(packet, RCODE.FORMERR);
  } catch {
    counters.internalErrors.value += 1;
    return bareResponse(packet, RCODE.SERVFAIL);
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

const payloadBytes = ({ edns }: Query): number =>
  edns ? Math.min(Math.max(edns.payloadBytes, PAYLOAD_BYTES_MIN), PAYLOAD_BYTES_MAX) : PAYLOAD_BYTES_MIN;

const refusal = (rcode: number): Answer => ({
  rcode,
  authoritative: false,
  answers: [],
  authorities: [],
  glue: [],
  additionals: [],
  zones: new Set(),
});

/** A header alone, for messages whose question cannot be told. */
function bareResponse(packet: Buffer, rcode: number): Buffer {
  const bytes = Buffer.alloc(HEADER_BYTES);
  packet.copy(bytes, 0, 0, 2);
  bytes.writeUInt16BE(FLAG.QR | (packet.readUInt16BE(2) & (OPCODE_MASK | FLAG.RD)) | rcode, 2);
  return bytes;
}

const OPCODE_MASK = 0x7800;

/** `complete` is false where something had to be left out for want of room. */
function encode(packet: Buffer, query: Query, found: Answer, bytesMax: number): { bytes: Buffer; complete: boolean } {
  const writer = new MessageWriter(bytesMax, query.edns ? OPT_BYTES : 0);
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
    writer.opt(PAYLOAD_BYTES_MAX, found.rcode >> 4, query.edns.dnssecOk);
    counts[3] = (counts[3] as number) + 1;
  }
  const flags = FLAG.QR | (found.authoritative ? FLAG.AA : 0) | (fits ? 0 : FLAG.TC) | (query.flags & FLAG.RD) | (found.rcode & 0xf);
  return { bytes: writer.finish(query.id, flags, counts), complete };
}

interface Counters {
  readonly queries: Readonly<Record<Transport, Metric>>;
  readonly dropped: Metric;
  readonly malformed: Metric;
  readonly internalErrors: Metric;
  readonly cacheHits: Metric;
  /** Counts a response by its RCODE and truncation, from the header's second word. */
  readonly responses: (flags: number) => void;
}

function createCounters(metrics: MetricRegistry): Counters {
  const queries = (transport: Transport): Metric => metrics.counter("selvedge_dns_queries_total", "DNS messages received", { transport });
  const byRcode = Array.from({ length: 16 }, (_, code) => {
    const rcode = Object.entries(RCODE).find(([, value]) => value === code)?.[0] ?? String(code);
    return metrics.counter("selvedge_dns_responses_total", "DNS responses sent, by the header's response code", { rcode });
  });
  const truncated = metrics.counter("selvedge_dns_truncated_total", "DNS responses that did not fit");
  return {
    queries: { udp: queries("udp"), tcp: queries("tcp") },
    dropped: metrics.counter("selvedge_dns_dropped_total", "DNS messages left unanswered: too short, or answers themselves"),
    malformed: metrics.counter("selvedge_dns_malformed_total", "DNS messages answered with FORMERR because they could not be read"),
    internalErrors: metrics.counter("selvedge_dns_internal_errors_total", "DNS messages answered with SERVFAIL because the server failed"),
    cacheHits: metrics.counter("selvedge_dns_cache_hits_total", "DNS responses taken from the answer cache"),
    responses: (flags) => {
      (byRcode[flags & 0xf] as Metric).value += 1;
      if ((flags & FLAG.TC) !== 0) truncated.value += 1;
    },
  };
}

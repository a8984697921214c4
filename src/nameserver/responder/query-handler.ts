import type { Clock } from "#kernel/clock.ts";
import { CLASS, EXTENDED_ERROR, HEADER_BYTES, RCODE, TYPE } from "#wire/dns/codes.ts";
import { keyOf } from "#wire/dns/name.ts";
import { answer } from "#nameserver/answer/answer.ts";
import { type AnswerCache, fillIn } from "./answer-cache.ts";
import { cacheKey } from "./answer-keys.ts";
import type { Answer } from "#nameserver/answer/answer-rrset.ts";
import type { Counters } from "#nameserver/message/counters.ts";
import { isSignerType, type SignAnswer, type SignedAnswer } from "#nameserver/dnssec/sign-answer.ts";
import { ALWAYS_FRESH, type Freshness, freshness } from "#nameserver/dnssec/validity.ts";
import { ednsClassOf, type Exchange, type Handler } from "#nameserver/message/exchange.ts";
import type { Reply } from "#nameserver/message/reply.ts";
import type { FindExternal, ExternalNames } from "#nameserver/external/external-names.ts";
import type { EdgeFront } from "#nameserver/zones/proxied-records.ts";
import { isEndless } from "#nameserver/message/response-class.ts";
import { encodeAnswer, encodeRefusal, encodeTruncated, type Refusal } from "#nameserver/message/response.ts";
import type { TransfersOut } from "#nameserver/transfers/xfr-server.ts";
import type { Zones } from "#nameserver/zones/zones.ts";

export interface QuestionsDeps {
  readonly zones: Zones;
  readonly edge: EdgeFront;
  readonly cache: AnswerCache;
  readonly counters: Counters;
  readonly signAnswer: SignAnswer;
  readonly transfers: Pick<TransfersOut, "datagram">;
  readonly outside: Pick<ExternalNames, "find" | "complete">;
  readonly clock: Clock;
}

const FORMERR: Refusal = { rcode: RCODE.FORMERR };
const CLASS_REFUSED: Refusal = { rcode: RCODE.REFUSED, extendedError: EXTENDED_ERROR.NOT_SUPPORTED };
const TRANSFER_REFUSED: Refusal = { rcode: RCODE.REFUSED, extendedError: EXTENDED_ERROR.PROHIBITED };
const NOT_IMPLEMENTED: Refusal = { rcode: RCODE.NOTIMP, extendedError: EXTENDED_ERROR.NOT_SUPPORTED };

/** Validating clients reject an answer without signatures, so they should ask another server. */
const NO_SIGNATURES: Refusal = { rcode: RCODE.SERVFAIL, extendedError: EXTENDED_ERROR.NOT_READY };

/** Query types that do not ask for data, and the refusal for each. */
const META_TYPES: ReadonlyMap<number, Refusal> = new Map([
  [TYPE.OPT, FORMERR],
  [TYPE.NXNAME, { rcode: RCODE.FORMERR, extendedError: EXTENDED_ERROR.INVALID_QUERY_TYPE }], // RFC 9824 §3.4
  [TYPE.TKEY, FORMERR],
  [TYPE.TSIG, FORMERR],
  [TYPE.IXFR, TRANSFER_REFUSED],
  [TYPE.AXFR, TRANSFER_REFUSED],
  [TYPE.MAILB, NOT_IMPLEMENTED],
  [TYPE.MAILA, NOT_IMPLEMENTED],
]);

/** Extended errors for answers that are only a response code: a name outside all zones, or in an expired zone. */
const EXTENDED_ERRORS: ReadonlyMap<number, number> = new Map([
  [RCODE.REFUSED, EXTENDED_ERROR.NOT_AUTHORITATIVE],
  [RCODE.SERVFAIL, EXTENDED_ERROR.INVALID_DATA],
]);

/** Handles the opcode QUERY, from zones or the answer cache. */
export function createQuestions({ zones, edge, cache, counters, signAnswer, transfers, outside, clock }: QuestionsDeps): Handler {
  const fromCache = (key: string, { packet, query, bytesMax }: Exchange): Reply | undefined => {
    const cached = cache.get(key);
    if (!cached || cached.bytes.length > bytesMax) return undefined;
    counters.cacheHits.value += 1;
    const bytes = Buffer.allocUnsafe(cached.bytes.length);
    fillIn(cached, packet, 0, query.nameEnd, bytes, 0);
    return { ...cached, bytes };
  };

  const signed = ({ query, client, options }: Exchange, found: Answer): SignedAnswer => {
    const asked = isSignerType(query.type) && found.denial?.kind === "no_data";
    if (query.edns?.dnssecOk !== true && !asked) return { kind: "signed", answer: found, fresh: ALWAYS_FRESH };
    const isProven = client.transport !== "udp" || options.isKnown;
    return signAnswer(found, {
      type: query.type,
      client: { address: client.address, isProven },
      compactOk: query.edns?.compactOk === true,
    });
  };

  /** Over UDP, asks the client to prove its address by TCP; over TCP, to retry later. */
  const overBudget = (exchange: Exchange): Reply => {
    counters.signingLimited.value += 1;
    return exchange.client.transport === "udp" ? encodeTruncated(exchange) : encodeRefusal(exchange, NO_SIGNATURES);
  };

  const replyWith = (exchange: Exchange, key: string, whole: Answer): Reply => {
    const found = signed(exchange, whole);
    if (found.kind === "unusable") return encodeRefusal(exchange, NO_SIGNATURES);
    if (found.kind === "exhausted") return overBudget(exchange);
    const extendedError = EXTENDED_ERRORS.get(whole.rcode) ?? whole.outside?.extendedError;
    const reply = encodeAnswer(exchange, found.answer, extendedError);
    const fresh = whole.outside ? freshness(found.fresh, freshFor(clock, whole.outside.keepMs)) : found.fresh;
    if (!reply.complete || whole.zones.size === 0) return reply;
    const asked = keyOf(exchange.packet, HEADER_BYTES, exchange.query.nameEnd - HEADER_BYTES);
    cache.put(key, { ...reply, isEndless: isEndless(whole, asked), zones: whole.zones, ...fresh });
    return reply;
  };

  return (exchange) => {
    const { packet, query } = exchange;
    // A query without a question only asks for a cookie (RFC 7873 §5.4).
    if (query.questions === 0) return encodeRefusal(exchange, { rcode: exchange.options.isForeign ? RCODE.BADCOOKIE : RCODE.NOERROR });
    const transferred = query.type === TYPE.IXFR ? transfers.datagram(exchange) : undefined;
    if (transferred) return transferred;
    const refused = query.class === CLASS.IN ? META_TYPES.get(query.type) : CLASS_REFUSED;
    if (refused) return encodeRefusal(exchange, refused);

    const key = cacheKey(packet, HEADER_BYTES, query.nameEnd, query.type, query.class, ednsClassOf(query));
    const known = fromCache(key, exchange);
    if (known) return known;

    const name = Buffer.from(packet.subarray(HEADER_BYTES, query.nameEnd));
    const make = (find: FindExternal): Answer => answer(zones, edge, { name, type: query.type }, find);
    const found = make(outside.find);
    if (!found.outside || found.outside.missing.length === 0) return replyWith(exchange, key, found);
    // Copied, because the next message overwrites the buffer.
    const waiting = { ...exchange, packet: Buffer.from(packet) };
    return outside.complete(make).then((complete) => replyWith(waiting, key, complete));
  };
}

function freshFor(clock: Clock, keepMs: number): Freshness {
  const nowMs = clock.nowMs();
  return { fromMs: nowMs, untilMs: nowMs + keepMs };
}

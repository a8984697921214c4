import type { Clock } from "#kernel/clock.ts";
import { FLAG, HEADER_BYTES, OPCODE, opcodeOf, RCODE } from "#wire/dns/codes.ts";
import { WireError } from "#wire/dns/errors.ts";
import { OPT_BYTES } from "#wire/dns/message.ts";
import { type Query, readQuery } from "#wire/dns/query.ts";
import type { Client } from "#nameserver/message/client.ts";
import { NO_CLIENT_OPTIONS, type ReadClientOptions, withOptions } from "#nameserver/message/client-options.ts";
import { ednsClassOf, type Exchange, type Handler, responseBytesMax } from "#nameserver/message/exchange.ts";
import type { Reply } from "#nameserver/message/reply.ts";
import { createQuestions, type QuestionsDeps } from "./query-handler.ts";
import { DROP, type RateLimit, SEND, TRUNCATE, type Verdict } from "#nameserver/limits/rate-limit.ts";
import { ERROR_SORT } from "#nameserver/message/response-class.ts";
import { bareReply, encodeRefusal } from "#nameserver/message/response.ts";
import { type ReadSignature, type Signature, UNSIGNED } from "#nameserver/tsig/tsig-check.ts";
import { truncatedBytes, writeTruncated } from "#nameserver/message/truncated.ts";

/**
 * Handles one message. Undefined means no response. Never throws or rejects. Returns a promise if an external lookup is
 * needed; the caller may reuse `packet` after the call.
 */
export type Respond = (packet: Buffer, client: Client) => Response | Promise<Response>;
export type Response = Buffer | undefined;

export interface ResponderDeps extends QuestionsDeps {
  readonly clientOptions: ReadClientOptions;
  readonly signatures: ReadSignature;
  /** Handles the opcode NOTIFY. */
  readonly notifications: Handler;
  readonly clock: Clock;
  /** Undefined: no response rate limiting. */
  readonly rateLimit: RateLimit | undefined;
}

export function createResponder(deps: ResponderDeps): Respond {
  const { counters, clientOptions, signatures } = deps;
  const finish = createFinish(deps);
  const handlers: ReadonlyMap<number, Handler> = new Map([
    [OPCODE.QUERY, createQuestions(deps)],
    [OPCODE.NOTIFY, deps.notifications],
  ]);

  const respond = (packet: Buffer, client: Client): Response | Promise<Response> => {
    const handler = handlers.get(opcodeOf(packet.readUInt16BE(2)));
    const read = readOrUndefined(packet, signatures);
    if (!read) {
      if (handler) counters.malformed.value += 1;
      const reply = bareReply(packet, handler ? RCODE.FORMERR : RCODE.NOTIMP);
      return finish(reply, {
        packet,
        query: undefined,
        client,
        options: NO_CLIENT_OPTIONS,
        signature: UNSIGNED,
        bytesMax: reply.bytes.length,
      });
    }
    const { query, signature } = read;
    const options = clientOptions(query, client);
    const bytesMax = responseBytesMax(query, client) - options.bytes.length - signature.bytes;
    const exchange: Exchange = { packet, query, client, options, signature, bytesMax };
    const refused = refusal(exchange, handler !== undefined);
    if (refused !== undefined || !handler) return finish(encodeRefusal(exchange, { rcode: refused ?? RCODE.NOTIMP }), exchange);
    const reply = guarded(exchange, handler);
    if (!(reply instanceof Promise)) return finish(reply, exchange);
    const kept = { ...exchange, packet: Buffer.from(packet) };
    return reply.catch(() => failed(kept)).then((known) => finish(known, kept));
  };
  const failed = (exchange: Exchange): Reply => {
    counters.internalErrors.value += 1;
    return encodeRefusal(exchange, { rcode: RCODE.SERVFAIL });
  };
  /** An exception becomes an error response, and never ends the process. */
  const guarded = (exchange: Exchange, handler: Handler): Reply | Promise<Reply> => {
    try {
      return handler(exchange);
    } catch {
      return failed(exchange);
    }
  };

  return (packet, client) => {
    counters.queries[client.transport].value += 1;
    // Responding to a response could make two servers loop forever.
    if (packet.length < HEADER_BYTES || (packet.readUInt16BE(2) & FLAG.QR) !== 0) {
      counters.dropped.value += 1;
      return undefined;
    }
    return respond(packet, client);
  };
}

/** Completes each exchange: rate limit, EDNS options of the client, counters. */
function createFinish({ counters, rateLimit, clock }: ResponderDeps) {
  const verdictOn = ({ sort, bytes }: Reply, { client: { transport, address }, options, signature }: Ending): Verdict =>
    transport !== "udp" || rateLimit === undefined || options.isKnown || signature.key !== undefined
      ? SEND
      : rateLimit.verdict(address, 0, address.length, sort, bytes.length + options.bytes.length, clock.nowMs());
  return (reply: Reply, ending: Ending): Response => {
    const verdict = verdictOn(reply, ending);
    if (verdict !== SEND) counters.limited[verdict].value += 1;
    if (verdict === DROP) return undefined;
    const sent = verdict === TRUNCATE ? truncated(reply, ending) : reply;
    const bytes = ending.signature.sign(withOptions(sent, ending.options, ending.bytesMax + ending.options.bytes.length));
    counters.responses(sent.rcode, verdict === SEND && (bytes.readUInt16BE(2) & FLAG.TC) !== 0);
    return bytes;
  };
}

/** An exchange, or the part of it that could be parsed. */
type Ending = Omit<Exchange, "query"> & { readonly query: Query | undefined };

/** Errors are as short as a truncated response, so they stay unchanged. */
function truncated(reply: Reply, { packet, query }: Ending): Reply {
  if (!query || reply.sort === ERROR_SORT) return reply;
  const ednsClass = ednsClassOf(query);
  const optStart = ednsClass === 0 ? 0 : truncatedBytes(0, query.nameEnd);
  const bytes = Buffer.alloc(truncatedBytes(0, query.nameEnd) + (ednsClass === 0 ? 0 : OPT_BYTES));
  writeTruncated(packet, 0, query.nameEnd, ednsClass, bytes, 0);
  return { ...reply, bytes, optStart, rcode: RCODE.NOERROR };
}

/** Why the message is refused before its handler runs; undefined if it is not. */
function refusal({ query: { edns }, options, signature }: Exchange, isImplemented: boolean): number | undefined {
  if (signature.isRefused) return RCODE.NOTAUTH;
  // RFC 6891 §6.1.3: the fields of an unknown version have no known meaning.
  if (edns && edns.version > 0) return RCODE.BADVERS;
  if (options.isMalformed) return RCODE.FORMERR;
  return isImplemented ? undefined : RCODE.NOTIMP;
}

function readOrUndefined(packet: Buffer, signatures: ReadSignature): { query: Query; signature: Signature } | undefined {
  try {
    const query = readQuery(packet);
    return { query, signature: signatures(packet, query) };
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}

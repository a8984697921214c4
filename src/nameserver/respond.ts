import { FLAG, HEADER_BYTES, OPCODE, opcodeOf, RCODE } from "#wire/dns/codes.ts";
import { WireError } from "#wire/dns/errors.ts";
import { type Query, readQuery } from "#wire/dns/query.ts";
import type { Client } from "./client.ts";
import { type ClientOptions, NO_CLIENT_OPTIONS, type ReadClientOptions, withOptions } from "./client-options.ts";
import { type Exchange, type Handler, type Reply, responseBytesMax } from "./exchange.ts";
import { createQuestions, type QuestionsDeps } from "./questions.ts";
import { bareReply, encodeRefusal } from "./response.ts";

/**
 * One message in, one message out; undefined where silence is the right answer. Never throws or rejects. A promise
 * where the answer has to be looked up elsewhere first; `packet` may change as soon as the call has returned.
 */
export type Respond = (packet: Buffer, client: Client) => Response | Promise<Response>;
export type Response = Buffer | undefined;

export interface ResponderDeps extends QuestionsDeps {
  readonly clientOptions: ReadClientOptions;
}

export function createResponder(deps: ResponderDeps): Respond {
  const { counters, clientOptions } = deps;
  const handlers: ReadonlyMap<number, Handler> = new Map([[OPCODE.QUERY, createQuestions(deps)]]);

  const respond = (packet: Buffer, client: Client): Response | Promise<Response> => {
    const handler = handlers.get(opcodeOf(packet.readUInt16BE(2)));
    const query = readOrUndefined(packet);
    if (!query) {
      if (handler) counters.malformed.value += 1;
      return finish(bareReply(packet, handler ? RCODE.FORMERR : RCODE.NOTIMP), NO_CLIENT_OPTIONS, HEADER_BYTES);
    }
    const options = clientOptions(query, client);
    const bytesMax = responseBytesMax(query, client);
    const exchange: Exchange = { packet, query, client, options, bytesMax: bytesMax - options.bytes.length };
    const refused = refusal(query, options, handler !== undefined);
    if (refused !== undefined || !handler) return finish(encodeRefusal(exchange, { rcode: refused ?? RCODE.NOTIMP }), options, bytesMax);
    const reply = guarded(exchange, handler);
    return reply instanceof Promise ? reply.then((known) => finish(known, options, bytesMax)) : finish(reply, options, bytesMax);
  };
  /** What goes wrong with one message becomes that message's answer, never the process's end. */
  const guarded = (exchange: Exchange, handler: Handler): Reply | Promise<Reply> => {
    const failed = (packet: Buffer): Reply => {
      counters.internalErrors.value += 1;
      return encodeRefusal({ ...exchange, packet }, { rcode: RCODE.SERVFAIL });
    };
    try {
      const reply = handler(exchange);
      if (!(reply instanceof Promise)) return reply;
      const packet = Buffer.from(exchange.packet);
      return reply.catch(() => failed(packet));
    } catch {
      return failed(exchange.packet);
    }
  };
  const finish = (reply: Reply, options: ClientOptions, bytesMax: number): Buffer => {
    const bytes = withOptions(reply, options, bytesMax);
    counters.responses(reply.rcode, (bytes.readUInt16BE(2) & FLAG.TC) !== 0);
    return bytes;
  };

  return (packet, client) => {
    counters.queries[client.transport].value += 1;
    // An answer to an answer would let two servers talk to each other for ever.
    if (packet.length < HEADER_BYTES || (packet.readUInt16BE(2) & FLAG.QR) !== 0) {
      counters.dropped.value += 1;
      return undefined;
    }
    return respond(packet, client);
  };
}

/** Why the message does not reach the handler of its opcode, whatever it asks. */
function refusal({ edns }: Query, { isMalformed }: ClientOptions, isImplemented: boolean): number | undefined {
  // RFC 6891 §6.1.3: a version that is not known says nothing about the rest.
  if (edns && edns.version > 0) return RCODE.BADVERS;
  if (isMalformed) return RCODE.FORMERR;
  return isImplemented ? undefined : RCODE.NOTIMP;
}

function readOrUndefined(packet: Buffer): Query | undefined {
  try {
    return readQuery(packet);
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}

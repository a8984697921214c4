import type { Reply } from "./reply.ts";
import { EDNS_FLAG, MESSAGE_BYTES_MAX } from "#wire/dns/codes.ts";
import type { Query } from "#wire/dns/query.ts";
import type { Client } from "./client.ts";
import type { ClientOptions } from "./client-options.ts";
import type { Signature } from "#nameserver/tsig/tsig-check.ts";

/** One message that could be read, from the client's question to the room that its response has. */
export interface Exchange {
  /** May change as soon as the handler has returned: what a promise needs of it is copied before. */
  readonly packet: Buffer;
  readonly query: Query;
  readonly client: Client;
  /** What is put into the response besides the handler's reply. */
  readonly options: ClientOptions;
  /** Whether the message came under a key, and how its response is signed. */
  readonly signature: Signature;
  /** What the reply may have, so that there is room for the options and for a signature. */
  readonly bytesMax: number;
}

/** Answers the messages of one opcode. What it throws becomes SERVFAIL. */
export type Handler = (exchange: Exchange) => Reply | Promise<Reply>;

/** The largest UDP payload that arrives unfragmented on nearly every path (DNS flag day 2020, RFC 9715). */
export const PAYLOAD_BYTES_MAX = 1232;
/** What every client takes over UDP (RFC 1035 §4.2.1). */
export const PAYLOAD_BYTES_MIN = 512;

/** What is sent over UDP to a client that says it takes so many bytes (RFC 6891 §6.2.3). */
export const boundPayload = (bytes: number): number => Math.min(Math.max(bytes, PAYLOAD_BYTES_MIN), PAYLOAD_BYTES_MAX);

/** What answers differ by besides their question: 0 without EDNS, 1 with, 2 with signatures as well, 3 with CO too. */
export type EdnsClass = 0 | 1 | 2 | 3;
export const ednsClassOf = ({ edns }: Query): EdnsClass => (edns ? (edns.dnssecOk ? (edns.compactOk ? 3 : 2) : 1) : 0);

/** The bits of EDNS_FLAG that come back: DO (RFC 3225 §3), and with it CO, as what it asks for is done here. */
export const echoedEdnsFlags = (ednsClass: EdnsClass): number => ECHOED_FLAGS[ednsClass];
const ECHOED_FLAGS = [0, 0, EDNS_FLAG.DO, EDNS_FLAG.DO | EDNS_FLAG.CO] as const;

/** What the whole response may have on its way to the client. */
export function responseBytesMax({ edns }: Query, { transport }: Client): number {
  if (transport !== "udp") return MESSAGE_BYTES_MAX;
  return edns ? boundPayload(edns.payloadBytes) : PAYLOAD_BYTES_MIN;
}

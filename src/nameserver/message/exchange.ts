import type { Reply } from "./reply.ts";
import { EDNS_FLAG, MESSAGE_BYTES_MAX } from "#wire/dns/codes.ts";
import type { Query } from "#wire/dns/query.ts";
import type { Client } from "./client.ts";
import type { ClientOptions } from "./client-options.ts";
import type { Signature } from "#nameserver/tsig/tsig-check.ts";

/** One parsed message, with the limits of its response. */
export interface Exchange {
  /** May change as soon as the handler returns; asynchronous handlers must copy it first. */
  readonly packet: Buffer;
  readonly query: Query;
  readonly client: Client;
  /** EDNS options that are added to the handler's reply. */
  readonly options: ClientOptions;
  /** The result of TSIG verification, and how to sign the response. */
  readonly signature: Signature;
  /** Size limit of the reply, which leaves room for the options and a signature. */
  readonly bytesMax: number;
}

/** Answers the messages of one opcode. Exceptions become SERVFAIL. */
export type Handler = (exchange: Exchange) => Reply | Promise<Reply>;

/** The largest UDP payload that arrives unfragmented on nearly every path (DNS flag day 2020, RFC 9715). */
export const PAYLOAD_BYTES_MAX = 1232;
/** The payload that every client accepts over UDP (RFC 1035 §4.2.1). */
export const PAYLOAD_BYTES_MIN = 512;

/** The payload limit for a client that advertises so many bytes (RFC 6891 §6.2.3). */
export const boundPayload = (bytes: number): number => Math.min(Math.max(bytes, PAYLOAD_BYTES_MIN), PAYLOAD_BYTES_MAX);

/** The EDNS properties that change an answer: 0 without EDNS, 1 with, 2 with DO, 3 with DO and CO. */
export type EdnsClass = 0 | 1 | 2 | 3;
export const ednsClassOf = ({ edns }: Query): EdnsClass => (edns ? (edns.dnssecOk ? (edns.compactOk ? 3 : 2) : 1) : 0);

/** The EDNS flags to echo: DO (RFC 3225 §3), and CO with it, which this server supports. */
export const echoedEdnsFlags = (ednsClass: EdnsClass): number => ECHOED_FLAGS[ednsClass];
const ECHOED_FLAGS = [0, 0, EDNS_FLAG.DO, EDNS_FLAG.DO | EDNS_FLAG.CO] as const;

/** Size limit of the whole response on its transport. */
export function responseBytesMax({ edns }: Query, { transport }: Client): number {
  if (transport !== "udp") return MESSAGE_BYTES_MAX;
  return edns ? boundPayload(edns.payloadBytes) : PAYLOAD_BYTES_MIN;
}

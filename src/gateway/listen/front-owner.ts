import type { IncomingHttpHeaders } from "node:http";
import type { Socket } from "node:net";
import type { Clock } from "#kernel/clock.ts";
import { type ClientAddresses, linesOf } from "#kernel/net/client-addresses.ts";
import type { ClientOwner } from "#wire/connections/http/client-owner.ts";
import type { AnswerSink } from "./response-writer.ts";
import type { ClientRequest } from "./client-request.ts";

/** Callbacks and settings that clients' connections need from the gateway. */
export interface FrontOwner extends ClientOwner {
  readonly clock: Clock;
  /** Finds clients behind trusted proxies; null without such proxies. */
  readonly clients: ClientAddresses | null;
  onRequest(request: ClientRequest, answer: AnswerSink): void;
  /** The caller now owns the socket; `first` holds the bytes after the head. Only over HTTP/1.1. */
  onUpgrade(request: ClientRequest, socket: Socket, first: Buffer): void;
  /** Answers a request that is malformed or too slow. */
  refuse(answer: AnswerSink): void;
}

/** The client's address: the one that a trusted proxy names, otherwise the peer of the connection. */
export const addressOf = ({ clients }: FrontOwner, peer: string, headers: IncomingHttpHeaders): string =>
  clients === null ? peer : clients.of(peer, linesOf(headers, clients.field));

import type { FastifyRequest } from "fastify";
import { type ClientAddresses, linesOf } from "#kernel/net/client-addresses.ts";

/** The address of the client, behind trusted proxies if there are any. */
export function clientOf({ ip, headers }: Pick<FastifyRequest, "ip" | "headers">, clients: ClientAddresses | null): string {
  const peer = plainAddress(ip);
  return clients === null ? peer : clients.of(peer, linesOf(headers, clients.field));
}

/** Dual-stack sockets show IPv4 peers as IPv6. */
const plainAddress = (address: string): string => (address.startsWith("::ffff:") ? address.slice(7) : address);

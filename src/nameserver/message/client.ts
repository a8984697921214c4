import { type IpAddress, parseIp, unmapIp } from "#kernel/net/ip.ts";

/** The transport of a message and its response. */
export const TRANSPORTS = ["udp", "tcp", "dot", "doh"] as const;
export type Transport = (typeof TRANSPORTS)[number];

/** The client of a query. Over UDP the address may be forged. */
export interface Client {
  readonly transport: Transport;
  /** 4 bytes for IPv4, 16 for IPv6; an IPv4 client of a dual-stack socket has 4. */
  readonly address: Uint8Array;
  readonly port: number;
}

/** Parses addresses as Node.js's sockets give them; `fe80::1%eth0` includes an interface. */
export function clientOf(transport: Transport, address: string | undefined, port: number | undefined): Client {
  const [text = ""] = (address ?? "").split("%");
  return { transport, address: unmapIp(parseIp(text) ?? UNKNOWN).bytes, port: port ?? 0 };
}

/** Prefix bytes of an IPv6 subscriber: a /64. */
const IPV6_SUBSCRIBER_BYTES = 8;

/**
 * The key under which limits count a client: an IPv4 address, or an IPv6 /64, in which one subscriber has any number of
 * addresses.
 */
export const subscriberOf = ({ address }: Client): string =>
  Buffer.from(address.length === 4 ? address : address.subarray(0, IPV6_SUBSCRIBER_BYTES)).toString("hex");

/** Node.js no longer knows the peer of a closed connection; the answer will not be read. */
const UNKNOWN: IpAddress = { family: 6, bytes: new Uint8Array(16) };

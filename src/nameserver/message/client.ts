import { type IpAddress, parseIp, unmapIp } from "#kernel/net/ip.ts";

/** How a message arrived, and how its answer travels back. */
export const TRANSPORTS = ["udp", "tcp", "dot", "doh"] as const;
export type Transport = (typeof TRANSPORTS)[number];

/** Who asks. Over UDP the address may be forged. */
export interface Client {
  readonly transport: Transport;
  /** 4 bytes for IPv4, 16 for IPv6; an IPv4 client of a dual-stack socket has 4. */
  readonly address: Uint8Array;
  readonly port: number;
}

/** From the texts that Node's sockets give: `fe80::1%eth0` is an address with its interface. */
export function clientOf(transport: Transport, address: string | undefined, port: number | undefined): Client {
  const [text = ""] = (address ?? "").split("%");
  return { transport, address: unmapIp(parseIp(text) ?? UNKNOWN).bytes, port: port ?? 0 };
}

/** The bytes of an IPv6 address that one subscriber has for itself alone: a /64. */
const IPV6_SUBSCRIBER_BYTES = 8;

/** Who is bounded as one client: an IPv4 address, or an IPv6 network in which everybody has addresses without end. */
export const subscriberOf = ({ address }: Client): string =>
  Buffer.from(address.length === 4 ? address : address.subarray(0, IPV6_SUBSCRIBER_BYTES)).toString("hex");

/** Node forgets the peer of a connection that is gone already: nobody reads that answer. */
const UNKNOWN: IpAddress = { family: 6, bytes: new Uint8Array(16) };

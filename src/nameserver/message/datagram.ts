import type { Client } from "./client.ts";

/** One datagram in memory that others share, and the room for its answer. */
export interface Datagram {
  readonly input: Buffer;
  readonly start: number;
  /** What was longer than there is room for is cut off. */
  readonly length: number;
  /** The sender's address of 4 or 16 bytes stands at `addressStart` of these; an IPv4 one has 4 on every socket. */
  readonly addresses: Uint8Array;
  readonly addressStart: number;
  readonly addressBytes: number;
  /** Nobody listens on port 0: such a datagram is forged. */
  readonly port: number;
  /** When it was read, in milliseconds since the Unix epoch. */
  readonly receivedMs: number;
  readonly output: Buffer;
  /** OUTPUT_BYTES may be written from here. */
  readonly outStart: number;
}

/** One object that serves all datagrams of a socket, one after the other. */
export type ReusedDatagram = { -readonly [K in keyof Datagram]: Datagram[K] };

/** No answer over UDP is longer: it would be fragmented on the way. */
export const OUTPUT_BYTES = 1280;

/** All are made here, so that they have one shape for the compiler. */
export const createDatagram = (input: Buffer, addresses: Uint8Array, output: Buffer): ReusedDatagram => ({
  input,
  start: 0,
  length: 0,
  addresses,
  addressStart: 0,
  addressBytes: 4,
  port: 0,
  receivedMs: 0,
  output,
  outStart: 0,
});

/** In memory of its own, which outlives the datagram. */
export const senderOf = ({ addresses, addressStart, addressBytes, port }: Datagram): Client => ({
  transport: "udp",
  address: Uint8Array.from(addresses.subarray(addressStart, addressStart + addressBytes)),
  port,
});

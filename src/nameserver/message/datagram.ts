import type { Client } from "./client.ts";

/** One datagram in shared memory, with room for its answer. */
export interface Datagram {
  readonly input: Buffer;
  readonly start: number;
  /** Longer datagrams are cut off. */
  readonly length: number;
  /** Contains the sender's address of 4 or 16 bytes at `addressStart`; IPv4 has 4 on every socket. */
  readonly addresses: Uint8Array;
  readonly addressStart: number;
  readonly addressBytes: number;
  /** Port 0 is not a valid source port: such a datagram is forged. */
  readonly port: number;
  /** When it was received, in milliseconds since the Unix epoch. */
  readonly receivedMs: number;
  readonly output: Buffer;
  /** The answer may take OUTPUT_BYTES from here. */
  readonly outStart: number;
}

/** One object for all datagrams of a socket, one after the other. */
export type ReusedDatagram = { -readonly [K in keyof Datagram]: Datagram[K] };

/** Upper limit of a response over UDP; longer ones would be fragmented. */
export const OUTPUT_BYTES = 1280;

/** All objects are created here, so that the compiler sees one shape. */
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

/** Copies the address, so that the client outlives the datagram. */
export const senderOf = ({ addresses, addressStart, addressBytes, port }: Datagram): Client => ({
  transport: "udp",
  address: Uint8Array.from(addresses.subarray(addressStart, addressStart + addressBytes)),
  port,
});

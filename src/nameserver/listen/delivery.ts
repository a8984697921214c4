import type { RemoteInfo } from "node:dgram";
import type { Clock } from "#kernel/clock.ts";
import { isMapped, readIp } from "#kernel/net/ip.ts";
import { clientOf } from "#nameserver/message/client.ts";
import { createDatagram, OUTPUT_BYTES } from "#nameserver/message/datagram.ts";
import { DROPPED, type FastPath } from "#nameserver/responder/fast-path.ts";
import type { Respond, Response } from "#nameserver/responder/respond.ts";

export interface UdpResponders {
  readonly quickAnswer: FastPath;
  readonly respond: Respond;
  readonly clock: Clock;
}

/** Sends a response now, or when it is known. */
export type Send = (response: Response | Promise<Response>, port: number, address: string) => void;

/** Offset of an IPv4 address that `readIp` wrote, also of one on an IPv6 socket. */
const IPV4_AT = 12;

/** Answers datagrams that Node.js delivers one at a time. */
export function createDelivery({ quickAnswer, respond, clock }: UdpResponders, send: Send) {
  const addresses = Buffer.alloc(16);
  const output = Buffer.alloc(OUTPUT_BYTES);
  const datagram = createDatagram(output, addresses, output);

  const quickly = (packet: Buffer, peer: RemoteInfo): number => {
    // `readIp` does not read addresses with an interface.
    if (readIp(peer.address, addresses) === 0) return 0;
    const isIpv4 = isMapped(addresses);
    datagram.input = packet;
    datagram.length = packet.length;
    datagram.addressStart = isIpv4 ? IPV4_AT : 0;
    datagram.addressBytes = isIpv4 ? 4 : 16;
    datagram.port = peer.port;
    datagram.receivedMs = clock.nowMs();
    return quickAnswer(datagram);
  };

  return (packet: Buffer, peer: RemoteInfo): void => {
    // Port 0 is not a valid source port: the datagram is forged.
    if (peer.port === 0) return;
    const bytes = quickly(packet, peer);
    if (bytes === DROPPED) return;
    // Node.js may send later, so the response is copied.
    const response = bytes > 0 ? Buffer.from(output.subarray(0, bytes)) : respond(packet, clientOf("udp", peer.address, peer.port));
    send(response, peer.port, peer.address);
  };
}

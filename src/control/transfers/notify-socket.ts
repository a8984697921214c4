import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { randomInt } from "node:crypto";
import { parseIp } from "#kernel/net/ip.ts";
import type { Clock } from "#kernel/clock.ts";
import { CLASS, FLAG, OPCODE, opcodeOf, TYPE } from "#wire/dns/codes.ts";
import { WireError } from "#wire/dns/errors.ts";
import { decodeMessage, encodeMessage } from "#wire/dns/message.ts";
import { type DnsName, keyOf } from "#wire/dns/name.ts";
import { type AnswerVerifier, createAnswerVerifier, signRequest, type TsigKey } from "#wire/dns/tsig.ts";

/** A server to be notified of a zone's changes. */
export interface NotifyPeer {
  readonly address: string;
  readonly port: number;
  readonly key: TsigKey | undefined;
}

/** Sends NOTIFY messages over UDP (RFC 1996) and waits for the responses. */
export interface NotifySocket {
  /** The response's RCODE, or null if no valid one arrived in time. */
  notify(zone: DnsName, peer: NotifyPeer, timeoutMs: number): Promise<number | null>;
  close(): void;
}

interface Waiting {
  readonly zone: DnsName;
  /** Creates a verifier for each received message, because it may be forged; undefined if messages are unsigned. */
  readonly createVerifier: (() => AnswerVerifier) | undefined;
  answered(rcode: number | null): void;
}

/** `hosts`: the nameserver's addresses, as peers know them. */
export function createNotifySocket({ hosts, clock }: { readonly hosts: readonly string[]; readonly clock: Clock }): NotifySocket {
  const waiting = new Map<string, Waiting>();
  const sockets = new Map<4 | 6, Promise<Socket>>();
  const nowSeconds = (): number => Math.floor(clock.nowMs() / 1000);

  const onMessage = (message: Buffer, address: string, port: number): void => {
    const asked = waiting.get(keyFor(message.length < 2 ? 0 : message.readUInt16BE(0), address, port));
    const rcode = asked && rcodeOf(message, asked);
    if (asked && rcode !== undefined) asked.answered(rcode);
  };
  const open = async (family: 4 | 6): Promise<Socket> => {
    const socket = createSocket(family === 4 ? "udp4" : "udp6");
    socket.on("message", (message, { address, port }) => onMessage(message, address, port));
    // A message that cannot be sent is treated as unanswered.
    socket.on("error", () => {});
    const bound = once(socket, "listening");
    socket.bind({ port: 0, ...sourceFor(hosts, family) });
    try {
      await bound;
    } catch (error) {
      socket.close();
      throw error;
    }
    return socket.unref();
  };
  const socketFor = (family: 4 | 6): Promise<Socket> => {
    let socket = sockets.get(family);
    if (!socket) {
      sockets.set(family, (socket = open(family)));
      socket.catch(() => sockets.delete(family));
    }
    return socket;
  };

  return {
    notify: async (zone, peer, timeoutMs) => {
      const socket = await socketFor(parseIp(peer.address)?.family ?? 4);
      const id = freeId(waiting, peer);
      const message = notifyMessage(id, zone);
      const signed = peer.key && signRequest(message, peer.key, nowSeconds());
      const { key: tsigKey } = peer;
      const createVerifier = tsigKey && signed && (() => createAnswerVerifier(tsigKey, signed.mac, nowSeconds));
      return new Promise<number | null>((resolve) => {
        const key = keyFor(id, peer.address, peer.port);
        const answered = (rcode: number | null): void => {
          clearTimeout(timer);
          waiting.delete(key);
          resolve(rcode);
        };
        const timer = setTimeout(() => answered(null), timeoutMs).unref();
        waiting.set(key, { zone, createVerifier, answered });
        socket.send(signed?.bytes ?? message, peer.port, peer.address, () => {});
      });
    },
    close: () => {
      for (const { answered } of waiting.values()) answered(null);
      for (const socket of sockets.values()) void socket.then((open) => open.close()).catch(() => {});
      sockets.clear();
    },
  };
}

/** Peers identify the nameserver by its address, so messages must be sent from it. */
function sourceFor(hosts: readonly string[], family: 4 | 6): { readonly address: string } | undefined {
  const ofFamily = hosts.find((host) => parseIp(host)?.family === family);
  return ofFamily !== undefined && parseIp(ofFamily)?.bytes.some((byte) => byte !== 0) ? { address: ofFamily } : undefined;
}

const keyFor = (id: number, address: string, port: number): string => `${id} ${address} ${port}`;

const IDS = 0x10000;

function freeId(waiting: ReadonlyMap<string, unknown>, { address, port }: NotifyPeer): number {
  // Far fewer messages are pending than identifiers exist.
  for (;;) {
    const id = randomInt(IDS);
    if (!waiting.has(keyFor(id, address, port))) return id;
  }
}

/** RFC 1996 §3: the question only; the peer then queries the new serial. */
const notifyMessage = (id: number, zone: DnsName): Buffer =>
  encodeMessage({
    id,
    flags: (OPCODE.NOTIFY << 11) | FLAG.AA,
    questions: [{ name: zone, type: TYPE.SOA, class: CLASS.IN }],
    answers: [],
    authorities: [],
    additionals: [],
  }) as Buffer;

/** Undefined if the message does not answer the request, or is not correctly signed. */
function rcodeOf(message: Buffer, { zone, createVerifier }: Waiting): number | undefined {
  try {
    const { flags, questions } = decodeMessage(message);
    const [question] = questions;
    if ((flags & FLAG.QR) === 0 || opcodeOf(flags) !== OPCODE.NOTIFY) return undefined;
    if (question && keyOf(question.name) !== keyOf(zone)) return undefined;
    const fault = createVerifier?.().accept(message) ?? null;
    // A peer that does not know the key, or has another time, responds unsigned; repeating would not help.
    return fault === null || fault.startsWith("peer_") ? flags & 0xf : undefined;
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}

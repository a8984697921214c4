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

/** A server that is told of a zone's news. */
export interface NotifyPeer {
  readonly address: string;
  readonly port: number;
  readonly key: TsigKey | undefined;
}

/** Sends NOTIFY messages over UDP (RFC 1996) and waits for what is answered. */
export interface NotifySocket {
  /** The answer's RCODE, or null where none came in time that can be believed. */
  notify(zone: DnsName, peer: NotifyPeer, timeoutMs: number): Promise<number | null>;
  close(): void;
}

interface Waiting {
  readonly zone: DnsName;
  /** A fresh one for each message that may be forged; undefined where nothing is signed. */
  readonly createVerifier: (() => AnswerVerifier) | undefined;
  answered(rcode: number | null): void;
}

/** `host` is where the nameserver listens, as its peers know it. */
export function createNotifySocket({ host, clock }: { readonly host: string; readonly clock: Clock }): NotifySocket {
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
    // What cannot be sent is not answered either.
    socket.on("error", () => {});
    const bound = once(socket, "listening");
    socket.bind({ port: 0, ...sourceFor(host, family) });
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

/** Peers know the nameserver by its address: what comes from another they would not believe. */
function sourceFor(host: string, family: 4 | 6): { readonly address: string } | undefined {
  const address = parseIp(host);
  return address?.family === family && address.bytes.some((byte) => byte !== 0) ? { address: host } : undefined;
}

const keyFor = (id: number, address: string, port: number): string => `${id} ${address} ${port}`;

const IDS = 0x10000;

function freeId(waiting: ReadonlyMap<string, unknown>, { address, port }: NotifyPeer): number {
  // Far fewer wait at a time than there are identifiers.
  for (;;) {
    const id = randomInt(IDS);
    if (!waiting.has(keyFor(id, address, port))) return id;
  }
}

/** RFC 1996 §3: the question alone; which serial is new the peer asks for. */
const notifyMessage = (id: number, zone: DnsName): Buffer =>
  encodeMessage({
    id,
    flags: (OPCODE.NOTIFY << 11) | FLAG.AA,
    questions: [{ name: zone, type: TYPE.SOA, class: CLASS.IN }],
    answers: [],
    authorities: [],
    additionals: [],
  }) as Buffer;

/** Undefined where the message is no answer to what was sent, or not signed as it has to be. */
function rcodeOf(message: Buffer, { zone, createVerifier }: Waiting): number | undefined {
  try {
    const { flags, questions } = decodeMessage(message);
    const [question] = questions;
    if ((flags & FLAG.QR) === 0 || opcodeOf(flags) !== OPCODE.NOTIFY) return undefined;
    if (question && keyOf(question.name) !== keyOf(zone)) return undefined;
    const fault = createVerifier?.().accept(message) ?? null;
    // A peer that does not know the key, or has another time, says so unsigned: sending again will not help it.
    return fault === null || fault.startsWith("peer_") ? flags & 0xf : undefined;
  } catch (error) {
    if (error instanceof WireError) return undefined;
    throw error;
  }
}

import { PendingBytes } from "#wire/http/pending-bytes.ts";
import { randomInt } from "node:crypto";
import { connect } from "node:net";
import { CLASS, FLAG, MESSAGE_BYTES_MAX, TYPE } from "#wire/dns/codes.ts";
import { decodeMessage, encodeMessage, type Message } from "#wire/dns/message.ts";
import { type DnsName, keyOf } from "#wire/dns/name.ts";

/** An address with or without a port: `192.0.2.53`, `[2001:db8::53]:5300`, the format of the configuration and of Node.js. */
export type ResolverAddress = string;

/**
 * Queries a resolver for a set and its signatures. Uses TCP, so that off-path attackers cannot forge an answer (RFC 5452)
 * that would cause keys to be deleted. Throws if no answer arrives in time, or it belongs to another query.
 */
export const queryResolver = (address: ResolverAddress, name: DnsName, type: number, timeoutMs: number): Promise<Message> =>
  ask(address, name, type, FLAG.RD, timeoutMs);

/** The same without recursion, for an authoritative server. */
export const queryAuthority = (address: ResolverAddress, name: DnsName, type: number, timeoutMs: number): Promise<Message> =>
  ask(address, name, type, 0, timeoutMs);

async function ask(address: ResolverAddress, name: DnsName, type: number, flags: number, timeoutMs: number): Promise<Message> {
  const id = randomInt(0x10000);
  // The OPT record requests signatures (RFC 3225 §3): its TTL field contains the flags.
  const opt = { name: Buffer.of(0), type: TYPE.OPT, class: MESSAGE_BYTES_MAX, ttl: 0x8000, rdata: Buffer.alloc(0) };
  const query = { id, flags, questions: [{ name, type, class: CLASS.IN }], answers: [], authorities: [], additionals: [opt] };
  const answer = decodeMessage(await exchange(address, encodeMessage(query) as Buffer, timeoutMs));
  const question = answer.questions[0];
  const fits = answer.id === id && (answer.flags & FLAG.QR) !== 0 && question?.type === type && keyOf(question.name) === keyOf(name);
  if (!fits) throw new Error("the response belongs to another query");
  return answer;
}

function exchange(address: ResolverAddress, query: Buffer, timeoutMs: number): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const socket = connect(endpoint(address));
    const timer = setTimeout(() => socket.destroy(new Error(`no response within ${timeoutMs} ms`)), timeoutMs);
    const pending = new PendingBytes();
    const length = Buffer.alloc(2);
    length.writeUInt16BE(query.length);
    socket.on("connect", () => socket.write(Buffer.concat([length, query])));
    socket.on("data", (chunk) => {
      pending.append(chunk, 0, chunk.length);
      const received = pending.buffer.subarray(0, pending.end);
      if (received.length < 2 || received.length < 2 + received.readUInt16BE(0)) return;
      resolve(received.subarray(2, 2 + received.readUInt16BE(0)));
      socket.destroy();
    });
    socket.on("error", reject);
    socket.on("close", () => {
      clearTimeout(timer);
      reject(new Error("the connection closed before the response"));
    });
  });
}

function endpoint(address: ResolverAddress): { host: string; port: number } {
  // linear: pumped
  const bracketed = /^\[(?<host>.+)\](?::(?<port>\d+))?$/.exec(address)?.groups;
  const plain = /^(?<host>[^:]+)(?::(?<port>\d+))?$/.exec(address)?.groups;
  const { host = address, port = "53" } = bracketed ?? plain ?? {};
  return { host, port: Number(port) };
}

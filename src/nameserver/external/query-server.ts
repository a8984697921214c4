import { PendingBytes } from "#wire/http/pending-bytes.ts";
import { randomInt } from "node:crypto";
import { createSocket, type Socket as UdpSocket } from "node:dgram";
import { connect } from "node:net";
import { formatIp, type IpAddress } from "#kernel/net/ip.ts";
import { CLASS, FLAG, HEADER_BYTES, OPCODE_MASK } from "#wire/dns/codes.ts";
import { decodeMessage, encodeMessage, type Message } from "#wire/dns/message.ts";
import { type DnsName, keyOf } from "#wire/dns/name.ts";

/** A resolver's address and port. */
export interface Server {
  readonly ip: IpAddress;
  readonly port: number;
}

export interface ServerQuestion {
  readonly name: DnsName;
  readonly type: number;
}

/** Datagrams that do not match before the query fails, because somebody is probably guessing. */
const FORGERIES_MAX = 50;
const LENGTH_BYTES = 2;

/**
 * Queries one server with recursion desired, over UDP from a random port, then over TCP if the answer is truncated.
 * Accepts only responses from the server's address that repeat the identifier and the question (RFC 5452 §9). Rejects if
 * none arrives in time, or one is malformed.
 */
export async function queryServer(server: Server, question: ServerQuestion, signal: AbortSignal): Promise<Message> {
  const overUdp = await askOverUdp(server, question, signal);
  return (overUdp.flags & FLAG.TC) === 0 ? overUdp : askOverTcp(server, question, signal);
}

async function askOverUdp(server: Server, question: ServerQuestion, signal: AbortSignal): Promise<Message> {
  signal.throwIfAborted();
  const { id, bytes } = encodeQuestion(question);
  const family = server.ip.family;
  // Not bound explicitly, so that the system picks a random port. The address is numeric, so nothing is looked up.
  const socket = createSocket({
    type: family === 6 ? "udp6" : "udp4",
    lookup: (address, _options, done) => done(null, address, family),
  });
  // A pending query must not keep the process alive.
  socket.unref();
  try {
    // A connected socket receives datagrams from its peer only, and gets an error if the port is closed.
    await connected(socket, server, signal);
    signal.throwIfAborted();
    const answered = firstAnswer(socket, id, question, signal);
    socket.send(bytes, (error) => error && socket.emit("error", error));
    return await answered;
  } finally {
    socket.close();
  }
}

function connected(socket: UdpSocket, { ip, port }: Server, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  socket.once("error", reject);
  socket.connect(port, formatIp(ip), () => resolve());
  return promise.finally(() => socket.off("error", reject));
}

function firstAnswer(socket: UdpSocket, id: number, question: ServerQuestion, signal: AbortSignal): Promise<Message> {
  const { promise, resolve, reject } = Promise.withResolvers<Message>();
  signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  let forgeries = 0;
  socket.on("error", reject);
  socket.on("message", (packet) => {
    if (isReplyTo(packet, id)) {
      const message = attemptDecode(packet);
      if (message && echoes(message, question)) return resolve(message);
    }
    forgeries += 1;
    if (forgeries >= FORGERIES_MAX) reject(new Error("too many responses to other queries"));
  });
  return promise;
}

function askOverTcp({ ip, port }: Server, question: ServerQuestion, signal: AbortSignal): Promise<Message> {
  const { promise, resolve, reject } = Promise.withResolvers<Message>();
  signal.throwIfAborted();
  const { id, bytes } = encodeQuestion(question);
  const socket = connect({ host: formatIp(ip), port, noDelay: true });
  socket.unref();
  signal.addEventListener("abort", () => reject(signal.reason as Error), { once: true });
  const pending = new PendingBytes();
  socket.on("error", reject);
  socket.on("close", () => reject(new Error("the connection closed before the response")));
  socket.on("data", (chunk) => {
    pending.append(chunk, 0, chunk.length);
    const buffer = pending.buffer.subarray(0, pending.end);
    if (buffer.length < LENGTH_BYTES || buffer.length < LENGTH_BYTES + buffer.readUInt16BE(0)) return;
    const packet = buffer.subarray(LENGTH_BYTES, LENGTH_BYTES + buffer.readUInt16BE(0));
    const message = isReplyTo(packet, id) ? attemptDecode(packet) : undefined;
    if (message && echoes(message, question)) resolve(message);
    else reject(new Error("the response belongs to another query"));
  });
  const length = Buffer.alloc(LENGTH_BYTES);
  length.writeUInt16BE(bytes.length, 0);
  socket.write(Buffer.concat([length, bytes]));
  return promise.finally(() => socket.destroy());
}

function encodeQuestion({ name, type }: ServerQuestion): { readonly id: number; readonly bytes: Buffer } {
  const id = randomInt(0x10000);
  const questions = [{ name, type, class: CLASS.IN }];
  return { id, bytes: encodeMessage({ id, flags: FLAG.RD, questions, answers: [], authorities: [], additionals: [] }) as Buffer };
}

function isReplyTo(packet: Buffer, id: number): boolean {
  if (packet.length < HEADER_BYTES || packet.readUInt16BE(0) !== id) return false;
  return (packet.readUInt16BE(2) & (FLAG.QR | OPCODE_MASK)) === FLAG.QR;
}

function attemptDecode(packet: Buffer): Message | undefined {
  try {
    return decodeMessage(packet);
  } catch {
    return undefined;
  }
}

const echoes = ({ questions: [asked, ...more] }: Message, { name, type }: ServerQuestion): boolean =>
  more.length === 0 && asked !== undefined && asked.type === type && asked.class === CLASS.IN && keyOf(asked.name) === keyOf(name);

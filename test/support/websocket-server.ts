import { createHash } from "node:crypto";
import { type AddressInfo, createServer, type Socket } from "node:net";

/** A WebSocket server (RFC 6455) on frames, so that tests see each one. */
export interface WebSocketServer {
  readonly port: number;
  readonly connections: WebSocketPeer[];
  close(): void;
}

export interface WebSocketPeer {
  readonly socket: Socket;
  /** The request's head. */
  readonly head: string;
  readonly frames: Frame[];
  send(opcode: number, payload: Buffer): boolean;
}

export interface Frame {
  readonly opcode: number;
  readonly payload: Buffer;
}

export const TEXT = 1;
export const BINARY = 2;
export const CLOSE = 8;
export const PING = 9;
export const PONG = 10;

/** The GUID of the opening handshake (RFC 6455 §1.3). */
const KEY_SUFFIX = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";

type OnFrame = (peer: WebSocketPeer, frame: Frame) => void;

/** `onFrame` decides on the answer. */
export async function startWebSocketServer(onFrame: OnFrame): Promise<WebSocketServer> {
  const connections: WebSocketPeer[] = [];
  const server = createServer((socket) => {
    let bytes = Buffer.alloc(0);
    const readHead = (piece: Buffer): void => {
      bytes = Buffer.concat([bytes, piece]);
      const end = bytes.indexOf("\r\n\r\n");
      if (end < 0) return;
      socket.off("data", readHead);
      connections.push(serveWebSocket(socket, bytes.toString("latin1", 0, end), bytes.subarray(end + 4), onFrame));
    };
    socket.on("error", () => undefined).on("data", readHead);
  });
  await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
  return {
    port: (server.address() as AddressInfo).port,
    connections,
    close: () => {
      server.close();
      for (const { socket } of connections) socket.destroy();
    },
  };
}

/** Answers the opening handshake of a request with this head, then reads frames, `rest` first. */
export function serveWebSocket(socket: Socket, head: string, rest: Buffer, onFrame: OnFrame): WebSocketPeer {
  const peer = welcome(socket, head);
  let bytes = Buffer.alloc(0);
  const take = (piece: Buffer): void => {
    bytes = Buffer.concat([bytes, piece]);
    for (let read = readFrame(bytes); read !== undefined; read = readFrame(bytes)) {
      bytes = bytes.subarray(read.length);
      peer.frames.push(read.frame);
      onFrame(peer, read.frame);
    }
  };
  take(rest);
  socket.on("data", take);
  return peer;
}

function welcome(socket: Socket, head: string): WebSocketPeer {
  const key = /^sec-websocket-key: (.*)$/im.exec(head)?.[1]?.trim() ?? "";
  const accept = acceptOf(key);
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Accept: ${accept}\r\n\r\n`);
  return { socket, head, frames: [], send: (opcode, payload) => socket.write(frameOf(opcode, payload)) };
}

/** Whole and unmasked, as servers send them. */
function frameOf(opcode: number, payload: Buffer): Buffer {
  const head = Buffer.alloc(payload.length < 126 ? 2 : payload.length < 65_536 ? 4 : 10);
  head[0] = 0x80 | opcode;
  if (head.length === 2) head[1] = payload.length;
  else if (head.length === 4) {
    head[1] = 126;
    head.writeUInt16BE(payload.length, 2);
  } else {
    head[1] = 127;
    head.writeBigUInt64BE(BigInt(payload.length), 2);
  }
  return Buffer.concat([head, payload]);
}

function readFrame(bytes: Buffer): { readonly frame: Frame; readonly length: number } | undefined {
  if (bytes.length < 2) return undefined;
  let length = bytes[1]! & 0x7f;
  let at = 2;
  if (length === 126) [length, at] = bytes.length < 4 ? [0, Infinity] : [bytes.readUInt16BE(2), 4];
  else if (length === 127) [length, at] = bytes.length < 10 ? [0, Infinity] : [Number(bytes.readBigUInt64BE(2)), 10];
  const mask = (bytes[1]! & 0x80) === 0 ? 0 : 4;
  if (bytes.length < at + mask + length) return undefined;
  const payload = Buffer.from(bytes.subarray(at + mask, at + mask + length));
  if (mask > 0) for (let i = 0; i < length; i++) payload[i]! ^= bytes[at + (i & 3)]!;
  return { frame: { opcode: bytes[0]! & 0x0f, payload }, length: at + mask + length };
}

/** The answer to a key (RFC 6455 §4.2.2). */
export const acceptOf = (key: string): string => createHash("sha1").update(`${key}${KEY_SUFFIX}`).digest("base64");

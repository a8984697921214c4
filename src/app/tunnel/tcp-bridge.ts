import { hash } from "node:crypto";
import { connect, type Socket } from "node:net";
import { BinaryFrameReader } from "#wire/web-socket/binary-frames.ts";
import { closeFrame, serverFrame, WebSocketError } from "#wire/web-socket/frames.ts";
import type { AnsweredStream, Answering } from "./serving.ts";

const ACCEPT_GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11";
const NORMAL = 1000;
const GONE = 1011;

/** A WebSocket whose binary messages are the bytes of a TCP connection, in both directions. */
export class TcpBridge implements Answering {
  private readonly stream: AnsweredStream;
  private readonly socket: Socket;
  private readonly reader: BinaryFrameReader;
  private isOpen = false;

  constructor(stream: AnsweredStream, to: { readonly host: string; readonly port: number }, key: string, timeoutMs: number) {
    this.stream = stream;
    this.reader = new BinaryFrameReader({
      onBytes: (bytes) => void this.socket.write(bytes),
      onPing: (payload) => this.send(serverFrame("pong", payload)),
      onClose: () => this.socket.end(),
    });
    this.socket = connect({ host: to.host, port: to.port, noDelay: true });
    this.socket.setTimeout(timeoutMs, () => this.socket.destroy(new Error("timeout")));
    this.socket.on("connect", () => this.opened(key));
    this.socket.on("data", (chunk: Buffer) => this.send(serverFrame("binary", chunk)));
    this.socket.on("drain", () => stream.connection.settle());
    this.socket.on("end", () => this.end(NORMAL));
    this.socket.on("error", () => this.end(GONE));
  }

  onRequestBody(): void {}
  onRequestEnd(): void {}
  flushRequest(): boolean {
    return true;
  }

  onEdgeDrain(): void {
    this.socket.resume();
  }

  onRaw(buffer: Buffer, start: number, end: number): boolean {
    try {
      this.reader.push(buffer.subarray(start, end));
    } catch (error) {
      if (!(error instanceof WebSocketError)) throw error;
      this.end(error.code);
    }
    return !this.socket.writableNeedDrain;
  }

  onRawEnd(): void {
    this.socket.end();
  }

  abort(): void {
    this.socket.destroy();
  }

  private opened(key: string): void {
    const { connection } = this.stream;
    const early = connection.openTunnel();
    if (early === null) return void this.socket.destroy();
    this.socket.setTimeout(0);
    this.isOpen = this.stream.hasBegun = true;
    connection.writer.string(
      `HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Accept: ${hash("sha1", key + ACCEPT_GUID, "base64")}\r\n\r\n`,
    );
    connection.writer.flush();
    if (early.length > 0) this.onRaw(early, 0, early.length);
    connection.settle();
  }

  private send(frame: Buffer): void {
    if (!this.isOpen) return;
    this.stream.connection.sendRaw(frame, 0, frame.length);
    if (!this.stream.connection.writer.flush()) this.socket.pause();
  }

  private end(code: number): void {
    if (!this.isOpen) return this.stream.answer(502, "The connector cannot reach the service.");
    this.send(closeFrame(code, ""));
    this.isOpen = false;
    this.stream.connection.transport.end();
    this.socket.destroySoon();
  }
}

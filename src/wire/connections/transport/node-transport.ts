import type { OnReadOpts, Socket } from "node:net";
import { TLSSocket } from "node:tls";
import { READ_BUFFER, readShared } from "#wire/connections/buffers/read-buffer.ts";
import type { End, Transport, TransportHandler } from "./transport.ts";

/** Bytes of the text before a read. */
const TEXT_BYTES = 32_768;
/**
 * Copies that a thread keeps for later writes by `sendShared`, by their size: a whole read and the text before it. A new one for
 * each read costs more in garbage than the copying. The longer ones are for reads of the epoll loop, as far as streams of tunnels
 * may send them at once.
 */
const SPARE_COPIES = [
  { bytes: READ_BUFFER.length + TEXT_BYTES, max: 16, free: [] as Buffer[] },
  { bytes: 256 * 1024 + TEXT_BYTES, max: 8, free: [] as Buffer[] },
] as const;

/** A connection of Node.js: those of TLS, and all where the epoll loop is not available. */
export class NodeTransport implements Transport {
  readonly socket: Socket;
  readonly tls: TLSSocket | null;
  private readonly isDialled: boolean;
  private handler: TransportHandler | null = null;
  private isListening = false;
  private isPaused = false;
  private isEnding = false;
  private code = "";

  constructor(socket: Socket, isDialled = false) {
    this.socket = socket;
    this.isDialled = isDialled;
    this.tls = socket instanceof TLSSocket ? socket : null;
  }

  get peer(): End {
    return { address: plain(this.socket.remoteAddress), port: this.socket.remotePort ?? 0 };
  }

  localEnd(): End {
    return { address: plain(this.socket.localAddress), port: this.socket.localPort ?? 0 };
  }

  get bytesRead(): number {
    return this.socket.bytesRead;
  }

  get bytesTaken(): number {
    return this.socket.bytesWritten - this.socket.writableLength;
  }

  get queuedBytes(): number {
    return this.socket.writableLength;
  }

  get needsDrain(): boolean {
    return this.socket.writableNeedDrain;
  }

  get sendsReads(): boolean {
    return false;
  }

  get idleSinceMs(): number | null | undefined {
    return this.handler?.idleSinceMs;
  }

  attach(handler: TransportHandler): void {
    const { socket } = this;
    // A dialled socket was created with shared reads.
    if (!this.isDialled || this.isListening) readShared(socket, (length) => this.read(length));
    this.handler = handler;
    if (!this.isListening) this.listen();
    // Bytes that were read before, and all bytes if reads are not shared.
    socket.on("data", this.onData);
    this.resume();
  }

  /** Hands on the bytes in the shared buffer. False pauses the socket. */
  read(length: number): boolean {
    this.handler?.onBytes(READ_BUFFER, length);
    return !this.isPaused;
  }

  pause(): void {
    if (this.isPaused) return;
    this.isPaused = true;
    this.socket.pause();
  }

  rest(): void {
    this.pause();
  }

  resume(): void {
    if (!this.isPaused) return;
    this.isPaused = false;
    this.socket.resume();
  }

  sendText(text: string): void {
    if (!this.isEnding) this.socket.write(text, "latin1");
  }

  sendShared(text: string, buffer: Buffer, start: number, end: number): void {
    if (this.isEnding) return;
    const length = text.length + end - start;
    const spare = SPARE_COPIES.find(({ bytes }) => length <= bytes);
    const copy = spare?.free.pop() ?? Buffer.allocUnsafeSlow(spare?.bytes ?? length);
    copy.write(text, 0, "latin1");
    buffer.copy(copy, text.length, start, end);
    // Called when the kernel has all bytes, usually before `write` returns, or when the socket was closed.
    this.socket.write(copy.subarray(0, length), () => {
      if (spare !== undefined && spare.free.length < spare.max) spare.free.push(copy);
    });
  }

  sendKept(text: string, buffer: Buffer, start: number, end: number, tail = ""): void {
    if (this.isEnding) return;
    this.socket.cork();
    if (text !== "") this.sendText(text);
    this.socket.write(buffer.subarray(start, end));
    if (tail !== "") this.sendText(tail);
    this.socket.uncork();
  }

  whenSent(callback: () => void): void {
    this.socket.write("", callback);
  }

  end(): void {
    this.isEnding = true;
    this.socket.end();
  }

  destroySoon(): void {
    this.isEnding = true;
    this.socket.destroySoon();
  }

  destroy(): void {
    this.socket.destroy();
  }

  reset(): void {
    this.socket.resetAndDestroy();
  }

  whenClosed(callback: () => void): void {
    this.socket.on("close", callback);
  }

  unread(bytes: Buffer): void {
    this.detach();
    if (bytes.length > 0) this.socket.unshift(bytes);
  }

  intoSocket(): Socket {
    if (this.isListening) this.detach();
    return this.socket;
  }

  private listen(): void {
    const { socket } = this;
    this.isListening = true;
    if (this.isDialled) socket.on("connect", () => this.handler?.onConnected?.());
    if (this.isDialled && this.tls !== null) socket.on("secureConnect", () => this.handler?.onSecured?.());
    socket.on("drain", () => this.handler?.onDrain());
    socket.on("end", () => this.handler?.onEnd());
    socket.on("error", (error: NodeJS.ErrnoException) => {
      this.code = error.code ?? "";
      socket.destroy();
    });
    socket.on("close", () => this.handler?.onClosed(this.code));
  }

  private readonly onData = (bytes: Buffer): void => this.handler?.onBytes(bytes, bytes.length);

  private detach(): void {
    const { socket } = this;
    this.handler = null;
    this.isPaused = true;
    socket.off("data", this.onData).pause();
    readShared(socket, (length) => socket.push(Buffer.from(READ_BUFFER.subarray(0, length))));
  }
}

/** Dials with the option that lets the socket read into the shared buffer. */
export function dialThroughNode(connect: (onread: OnReadOpts) => Socket): NodeTransport {
  const transport: NodeTransport = new NodeTransport(connect({ buffer: READ_BUFFER, callback: (length) => transport.read(length) }), true);
  return transport;
}

/** IPv4 clients of a dual-stack listener have an address like `::ffff:192.0.2.1`. */
// linear: pumped
const plain = (address = ""): string => address.replace(/^::ffff:(?=\d+\.)/, "");

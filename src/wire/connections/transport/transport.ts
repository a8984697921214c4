import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";

/** Who hears of a connection. What a method throws costs this connection only. */
export interface TransportHandler {
  /** One that was dialled is there. */
  onConnected?(): void;
  /** The handshake of TLS is over. */
  onSecured?(): void;
  /** Takes `buffer[0, length)`, which is good only during the call. */
  onBytes(buffer: Buffer, length: number): void;
  /** Nothing waits to be sent any more. */
  onDrain(): void;
  /** The other side has ended its own. */
  onEnd(): void;
  /** The last of all, once: with the code of the system's error or of TLS, or "" where nothing was wrong. */
  onClosed(code: string): void;
}

export interface End {
  readonly address: string;
  readonly port: number;
}

/**
 * A connection's bytes, whoever moves them: Node.js, or our own loop (ADR 0028). One side may end before the other does.
 * Nothing calls its handler from within a call of these.
 */
export interface Transport {
  /** The other end; an address of "" where it is not known. An IPv4 address stands for itself on sockets of both families. */
  readonly peer: End;
  localEnd(): End;
  /** Null: plain TCP. */
  readonly tls: TLSSocket | null;
  readonly bytesRead: number;
  /** Bytes that the kernel has taken. */
  readonly bytesTaken: number;
  /** Bytes that it has not. */
  readonly queuedBytes: number;
  /** Who has more to send should wait for `onDrain`. */
  readonly needsDrain: boolean;
  /** The kernel would get bytes of the shared read buffer without a copy. */
  readonly sendsReads: boolean;
  /** Reads from now on, and tells this handler of everything. */
  attach(handler: TransportHandler): void;
  pause(): void;
  /** Pauses for a moment. What comes meanwhile makes no event where that saves something, and is heard after `resume`. */
  rest(): void;
  resume(): void;
  /** Characters below 256 only, one a byte. */
  sendText(text: string): void;
  /** The text and then `buffer[start, end)`, which its owner uses again. */
  sendShared(text: string, buffer: Buffer, start: number, end: number): void;
  /** The text, `buffer[start, end)`, which nobody changes, and the tail. */
  sendKept(text: string, buffer: Buffer, start: number, end: number, tail?: string): void;
  /** Called once nothing waits to be sent, or it has closed. */
  whenSent(callback: () => void): void;
  /** Ends our side once everything is sent. It is closed when the other side has ended, too. */
  end(): void;
  /** Closes once everything is sent. */
  destroySoon(): void;
  destroy(): void;
  /** Closes so that the other side does not take it for an end in order. */
  reset(): void;
  /** Called when it has closed, after the handler. */
  whenClosed(callback: () => void): void;
  /** The bytes come (again) before what is read. The handler that they go to is attached next. */
  unread(bytes: Buffer): void;
  /** For whom needs a socket of Node.js; nothing of it may wait to be sent. The handler hears no more, those of `whenClosed` do. */
  intoSocket(): Socket;
}

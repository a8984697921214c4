import type { Socket } from "node:net";
import type { TLSSocket } from "node:tls";

/** Gets the events of a connection. An exception in a method costs this connection only. */
export interface TransportHandler {
  /** Since when the other side could ask for something and did not, in milliseconds of the plane's timers; null while it waits for us. */
  readonly idleSinceMs?: number | null;
  /** A dialled connection is open. */
  onConnected?(): void;
  /** The TLS handshake is over. */
  onSecured?(): void;
  /** Takes `buffer[0, length)`, which is valid only during the call. */
  onBytes(buffer: Buffer, length: number): void;
  /** The same for `buffer[start, end)`, if the handler can do without a view of the bytes alone: its buffer is one that sockets read into. */
  onPart?(buffer: Buffer, start: number, end: number): void;
  /** All bytes are sent. */
  onDrain(): void;
  /** The other side has ended its half. */
  onEnd(): void;
  /** The last call, once. `code`: of the system's error or of TLS; "" if nothing was wrong. */
  onClosed(code: string): void;
}

export interface End {
  readonly address: string;
  readonly port: number;
}

/**
 * The bytes of a connection, moved by Node.js or by the epoll loop (ADR 0028). One side may end before the other. These
 * methods never call the handler themselves.
 */
export interface Transport {
  /** The other end; an address of "" if unknown. Sockets of both families report IPv4 addresses as such. */
  readonly peer: End;
  localEnd(): End;
  /** Null: plain TCP. */
  readonly tls: TLSSocket | null;
  readonly bytesRead: number;
  /** As its handler says. */
  readonly idleSinceMs?: number | null | undefined;
  /** Bytes that the kernel has taken. */
  readonly bytesTaken: number;
  /** Bytes that wait for the kernel. */
  readonly queuedBytes: number;
  /** True if further bytes should wait for `onDrain`. */
  readonly needsDrain: boolean;
  /** True if the kernel would get bytes of the shared read buffer without a copy. */
  readonly sendsReads: boolean;
  /** Starts to read; this handler gets all events. */
  attach(handler: TransportHandler): void;
  pause(): void;
  /** Pauses for a moment. Bytes that come meanwhile cause no event, where that saves work, and are delivered after `resume`. */
  rest(): void;
  resume(): void;
  /** Characters below 256 only, one per byte. */
  sendText(text: string): void;
  /** The text and then `buffer[start, end)`. The buffer's owner reuses it. */
  sendShared(text: string, buffer: Buffer, start: number, end: number): void;
  /** The text, `buffer[start, end)` and the tail. The buffer stays unchanged. */
  sendKept(text: string, buffer: Buffer, start: number, end: number, tail?: string): void;
  /** Calls back once nothing waits to be sent, or the connection has closed. */
  whenSent(callback: () => void): void;
  /** Ends our side once everything is sent. The connection closes when the other side has ended, too. */
  end(): void;
  /** Closes once everything is sent. */
  destroySoon(): void;
  destroy(): void;
  /** Closes with a reset, so that the other side does not mistake it for an orderly end. */
  reset(): void;
  /** Calls back when the connection has closed, after the handler. */
  whenClosed(callback: () => void): void;
  /** Puts bytes back: they are delivered before the next read, to the handler that is attached next. */
  unread(bytes: Buffer): void;
  /**
   * Gives the connection up as a socket of Node.js; nothing may wait to be sent. The handler gets no further calls,
   * callbacks of `whenClosed` do.
   */
  intoSocket(): Socket;
}

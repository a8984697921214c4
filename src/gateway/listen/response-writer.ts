import { STATUS_CODES } from "#kernel/net/node-http.ts";
import type { SocketWriter } from "#wire/connections/transport/socket-writer.ts";
import type { Transport } from "#wire/connections/transport/transport.ts";
import { atTickEnd, type TickTask } from "#kernel/process/tick-queue.ts";
import { isBodiless } from "#wire/http/framing.ts";
import { chunkStart } from "#wire/http/write.ts";
import type { FlatHeaders } from "#gateway/http/headers.ts";
import { dateText, isFieldValue } from "./answer-fields.ts";

/** The answer's view of its connection. */
export interface AnswerOwner {
  readonly transport: Transport;
  readonly nowMs: () => number;
  /** Whether the connection will serve another request after this answer, as far as is known now. */
  keepsAlive(): boolean;
  /** Called when the whole answer is written. */
  finished(keepsAlive: boolean): void;
}

export interface AnswerTo {
  readonly isHead: boolean;
  readonly minorVersion: number;
}

/** Seconds for which idle connections are kept open; sent to clients. */
export const IDLE_SECONDS = 65;
const KEPT = `connection: keep-alive\r\nkeep-alive: timeout=${IDLE_SECONDS}\r\n`;
const LAST_WORDS_MS = 1_000;

/**
 * The producer of the answer. An object, because V8 keeps each function that a class's field has held until its next full
 * collection.
 */
export interface AnswerWatcher {
  /** The client left before the end of the answer. */
  clientGone(): void;
  /** The client has caught up. */
  clientDrained(): void;
}

/** Receives a response: the client's connection, or messages over a shared one. */
export type AnswerSink = Pick<
  ClientAnswer,
  "watcher" | "onOver" | "hasBegun" | "isGone" | "begin" | "write" | "backlogBytes" | "flush" | "end" | "cut"
>;

/** Writes the answer to one request. A class, because one is created for every request. */
export class ClientAnswer implements TickTask {
  watcher: AnswerWatcher | undefined;
  /** Called once, at the end or when the client has left; the same function for every answer. */
  onOver: (() => void) | undefined;
  hasBegun = false;
  readonly #owner: AnswerOwner;
  readonly #to: AnswerTo;
  readonly #writer: SocketWriter;
  #isOver = false;
  #isGone = false;
  #isFlushDue = false;
  #keepsAlive = false;
  #isChunked = false;
  #isBodiless = false;
  #endsWithConnection = false;

  constructor(owner: AnswerOwner, to: AnswerTo, writer: SocketWriter) {
    this.#owner = owner;
    this.#to = to;
    this.#writer = writer;
  }

  /** The client left; the rest is discarded. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Called when the connection has closed. */
  gone(): void {
    if (this.#isOver) return;
    this.#isGone = true;
    this.#settle();
    this.watcher?.clientGone();
  }

  /** Buffers the head; it is sent like written bytes. */
  begin(status: number, headers: FlatHeaders, close = false): void {
    if (this.#isOver || this.hasBegun) return;
    this.hasBegun = true;
    const { isHead, minorVersion } = this.#to;
    this.#isBodiless = isHead || isBodiless(status);
    let lines = "";
    let hasLength = false;
    let hasDate = false;
    for (let i = 0; i + 1 < headers.length; i += 2) {
      const [name, value] = [headers[i] as string, headers[i + 1] as string];
      if (name === "content-length") {
        // A 204 never has a length (RFC 9110 §8.6).
        if (status === 204) continue;
        hasLength = true;
      } else if (name === "date") hasDate = true;
      if (isFieldValue(value)) lines += `${name}: ${value}\r\n`;
    }
    if (!hasDate) lines += `date: ${dateText(this.#owner.nowMs())}\r\n`;
    if (!hasLength && !this.#isBodiless) {
      this.#isChunked = minorVersion === 1;
      this.#endsWithConnection = minorVersion === 0;
      if (this.#isChunked) lines += "transfer-encoding: chunked\r\n";
    }
    this.#keepsAlive = !close && !this.#endsWithConnection && this.#owner.keepsAlive();
    this.#writer.string(
      `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ""}\r\n${lines}${this.#keepsAlive ? KEPT : "connection: close\r\n"}\r\n`,
    );
  }

  /** The bytes must not change later. They are sent with others of the same tick, or with `flush`. */
  write(bytes: Buffer): void {
    if (!this.#isOver) this.#body(bytes);
  }

  /** Sent bytes that the client has not taken yet. */
  get backlogBytes(): number {
    return this.#owner.transport.queuedBytes;
  }

  /**
   * Sends the buffered bytes at the end of this tick, together with those of other streams: clients on one machine wake
   * up once for all of them, and several reads of one stream become one write.
   */
  flush(): void {
    if (this.#isFlushDue || this.#isOver || !this.hasBegun) return;
    this.#isFlushDue = true;
    atTickEnd(this);
  }

  onTickEnd(): void {
    this.#isFlushDue = false;
    if (!this.#isOver) this.#writer.flush();
  }

  end(bytes?: Buffer): void {
    if (this.#isOver) return;
    this.#settle();
    if (bytes !== undefined) this.#body(bytes);
    if (this.#isChunked) this.#writer.string("0\r\n\r\n");
    this.#writer.flush();
    this.#owner.finished(this.#keepsAlive);
  }

  /** An incomplete answer must not look complete: chunked framing breaks, and an HTTP/1.0 client sees a reset. */
  cut(last: Buffer | undefined): void {
    if (this.#isOver) return;
    this.#settle();
    const { transport } = this.#owner;
    const cut = (): void => {
      // TLS itself distinguishes an orderly end from a cut (RFC 8446 §6.1).
      if (this.#endsWithConnection && transport.tls === null) transport.reset();
      else transport.destroy();
    };
    if (last !== undefined && last.length > 0) this.#body(last);
    this.#writer.flush();
    if (transport.queuedBytes === 0) return cut();
    // A client that stops reading does not get the last bytes, and is cut off.
    const limit = setTimeout(cut, LAST_WORDS_MS);
    transport.whenSent(() => {
      clearTimeout(limit);
      cut();
    });
  }

  #settle(): void {
    this.#isOver = true;
    this.onOver?.();
  }

  #body(bytes: Buffer): void {
    if (this.#isBodiless || bytes.length === 0) return;
    if (this.#isChunked) this.#writer.string(chunkStart(bytes.length));
    this.#writer.bytes(bytes, 0, bytes.length, false);
    if (this.#isChunked) this.#writer.string("\r\n");
  }
}

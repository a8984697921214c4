import type { AnswerHandler } from "./answer-handler.ts";
import type { UpstreamConnection, UpstreamFault, UpstreamSink } from "#wire/connections/http/upstream-connection.ts";
import { READ_BUFFER } from "#wire/connections/buffers/read-buffer.ts";
import { atTickEnd, type TickTask } from "#kernel/process/tick-queue.ts";
import type { Head } from "#wire/http/parsed-head.ts";
import { responseHeaderObject } from "#wire/http/header-object.ts";
import { chunkStart, lastChunk } from "#wire/http/write.ts";
import type { GatewayErrorName } from "#gateway/http/errors.ts";
import type { ReadyBody } from "#gateway/request/plan.ts";
import { BodyTooLargeError } from "#gateway/request/request-body.ts";
import { UnpackedAnswer } from "./decompressed-response.ts";
import { FAST_MS, type ReadTicks, type Resting } from "./read-coalescing.ts";

/** A request in the form in which it is sent. */
export interface Question {
  readonly method: string;
  /** Request line and fields without the framing, each with its CRLF. */
  readonly head: string;
  readonly body: ReadyBody;
}

export interface CallTimes {
  /** Until the head of the response. */
  readonly firstByteTimeoutMs: number;
  /** Between two chunks of the response. */
  readonly idleTimeoutMs: number;
}

/** The payload of one read is delivered as one buffer, however it was chunked. */
const payload = Buffer.allocUnsafeSlow(READ_BUFFER.length);

const EMPTY = Buffer.alloc(0);
const ROOM_BYTES_MIN = 2 * 1024;
const ROOM_BYTES_MAX = 16 * 1024;

/** A response of one chunk takes only its length; one that continues gets more space each time. */
const nextRoom = (bytes: number): number => (bytes === 0 ? 0 : Math.min(ROOM_BYTES_MAX, Math.max(ROOM_BYTES_MIN, bytes * 4)));

const isEventStream = (contentType: unknown): boolean => typeof contentType === "string" && /^text\/event-stream\b/i.test(contentType);

/** One request and its response over one connection. A class, because one is created for every request. */
export class ProviderCall implements UpstreamSink, TickTask, Resting {
  readonly visitorAddress = "";
  readonly #question: Question;
  #handler: AnswerHandler;
  #unpacked: UnpackedAnswer | undefined;
  readonly #times: CallTimes;
  #connection: UpstreamConnection | undefined;
  /** Cancels the wait for a connection. */
  #giveUp: (() => void) | undefined;
  #isOver = false;
  #hasHead = false;
  #isPaused = false;
  #gathered = 0;
  /** Buffer for the received chunks, one after the other. */
  #room = EMPTY;
  #used = 0;
  #onDrain: (() => void) | undefined;
  readonly #ticks: ReadTicks;
  #isStream = false;
  #isResting = false;
  #lastReadMs = Number.NEGATIVE_INFINITY;

  constructor(question: Question, handler: AnswerHandler, times: CallTimes, ticks: ReadTicks) {
    this.#question = question;
    this.#handler = handler;
    this.#times = times;
    this.#ticks = ticks;
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  /** Called while the request waits for a connection. */
  waits(giveUp: () => void): void {
    this.#giveUp = giveUp;
  }

  /** Uses a connection, which may still be opening. */
  start(connection: UpstreamConnection): void {
    this.#giveUp = undefined;
    this.#connection = connection;
    connection.begin(this, this.#question.method, this.#times.firstByteTimeoutMs);
    if (this.#isPaused) connection.pause();
    if (connection.isConnected) this.onConnected();
  }

  pause(): void {
    this.#isPaused = true;
    this.#unpacked?.pause();
    this.#connection?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    this.#unpacked?.resume();
    if (!this.#isOver && !this.#isResting) this.#connection?.resume();
  }

  /** The response is no longer needed; the handler is not called again. */
  abort(): void {
    this.#unpacked?.destroy();
    if (this.#isOver) return;
    this.#isOver = true;
    this.#giveUp?.();
    this.#connection?.abort();
    this.#wake();
  }

  /** Called if the request does not get a connection. */
  fail(name: GatewayErrorName): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#wake();
    this.#handler.onFailed(name);
  }

  /** Requests of one tick are sent together at its end, so that the other side wakes up once for many requests. */
  onConnected(): void {
    atTickEnd(this);
  }

  onTickEnd(): void {
    if (this.#isOver) return;
    const { head, body, method } = this.#question;
    const connection = this.#connection as UpstreamConnection;
    const { writer } = connection;
    writer.string(head);
    if (body.kind === "stream") {
      writer.string(body.length === undefined ? "transfer-encoding: chunked\r\n\r\n" : `content-length: ${body.length}\r\n\r\n`);
      void this.#sendStream(body, connection);
      return;
    }
    const { length } = body.bytes;
    // A method without a defined body has no length either (RFC 9110 §8.6).
    const isFramed = length > 0 || (method !== "GET" && method !== "HEAD");
    writer.string(isFramed ? `content-length: ${length}\r\n\r\n` : "\r\n");
    if (length > 0) writer.bytes(body.bytes, 0, length, false);
    writer.flush();
    connection.endRequest();
  }

  onDrain(): void {
    this.#wake();
  }

  /** 1xx responses are between provider and gateway; the final response follows them (RFC 9110 §15.2). */
  onInterim(): void {
    return undefined;
  }

  /** The gateway did not ask for another protocol. */
  onSwitch(): void {
    this.#connection?.abort();
    this.fail("aig_upstream_failed");
  }

  onHead(buffer: Buffer, head: Head): void {
    this.#hasHead = true;
    this.#connection?.allow(this.#times.idleTimeoutMs);
    const headers = responseHeaderObject(buffer, head);
    this.#isStream = isEventStream(headers["content-type"]);
    const coding = headers["content-encoding"];
    if (typeof coding === "string" && this.#question.method !== "HEAD") this.#unpack(coding);
    this.#handler.onHead(head.status, headers);
  }

  #unpack(coding: string): void {
    this.#unpacked = UnpackedAnswer.of(coding, this.#handler, {
      hold: () => this.#connection?.pause(),
      release: () => {
        if (!this.#isOver && !this.#isPaused && !this.#isResting) this.#connection?.resume();
      },
      abort: () => this.abort(),
    });
    this.#handler = this.#unpacked ?? this.#handler;
  }

  onBody(buffer: Buffer, start: number, end: number): void {
    // Bytes that waited during a pause can be more than one read.
    if (this.#gathered + end - start > payload.length) this.#deliver();
    if (end - start > payload.length) {
      this.#handler.onData(Buffer.from(buffer.subarray(start, end)));
      return;
    }
    this.#gathered += buffer.copy(payload, this.#gathered, start, end);
  }

  onReadEnd(): void {
    this.#deliver();
    if (this.#isOver) return;
    this.#handler.onReadEnd?.();
    if (this.#isStream && !this.#isOver) this.#restIfFast();
  }

  onTick(): void {
    this.#isResting = false;
    if (!this.#isOver && !this.#isPaused) this.#connection?.resume();
  }

  /** Delays the next read if events arrive faster than that, so that several are read together. */
  #restIfFast(): void {
    const lastMs = this.#lastReadMs;
    const nowMs = (this.#lastReadMs = this.#ticks.nowMs());
    if (nowMs - lastMs >= FAST_MS || this.#isPaused || this.#isResting) return;
    this.#isResting = true;
    this.#connection?.rest();
    this.#ticks.add(this);
  }

  onEnd(): void {
    // It may serve another request already, which must not stop because the last bytes of this one pause it.
    this.#connection = undefined;
    this.#deliver();
    if (this.#isOver) return;
    this.#isOver = true;
    this.#wake();
    this.#handler.onEnd();
  }

  onTunnelEnd(): void {
    this.onSwitch();
  }

  onFault(fault: UpstreamFault): void {
    this.#deliver();
    this.fail(fault === "origin_timeout" || fault === "origin_connect_timeout" ? "aig_upstream_timeout" : "aig_upstream_failed");
  }

  #deliver(): void {
    const length = this.#gathered;
    this.#gathered = 0;
    if (length > 0 && !this.#isOver && this.#hasHead) this.#handler.onData(this.#kept(length));
  }

  /** A copy of the payload, adjacent to the previous one, so that several cached chunks take one buffer. */
  #kept(length: number): Buffer {
    if (this.#room.length - this.#used < length) {
      this.#room = Buffer.allocUnsafe(Math.max(length, nextRoom(this.#room.length)));
      this.#used = 0;
    }
    const start = this.#used;
    this.#used += length;
    payload.copy(this.#room, start, 0, length);
    return this.#used === this.#room.length && start === 0 ? this.#room : this.#room.subarray(start, this.#used);
  }

  /** Reads from the client only as fast as the provider takes it. */
  async #sendStream(body: Extract<ReadyBody, { kind: "stream" }>, connection: UpstreamConnection): Promise<void> {
    const { writer } = connection;
    const isChunked = body.length === undefined;
    try {
      for await (const chunk of body.stream) {
        if (this.#isOver) return;
        if (chunk.length === 0) continue;
        if (isChunked) writer.string(chunkStart(chunk.length));
        writer.bytes(chunk, 0, chunk.length, false);
        if (isChunked) writer.string("\r\n");
        connection.touch();
        if (!writer.flush()) await new Promise<void>((resolve) => (this.#onDrain = resolve));
        if (this.#isOver) return;
      }
      if (isChunked) writer.string(lastChunk([]));
      writer.flush();
      connection.endRequest();
    } catch (error) {
      // The client's body is incomplete, and the provider must not take it for complete.
      if (this.#isOver) return;
      connection.abort();
      this.fail(error instanceof BodyTooLargeError ? "aig_body_too_large" : "aig_upstream_failed");
    }
  }

  #wake(): void {
    const wake = this.#onDrain;
    this.#onDrain = undefined;
    wake?.();
  }
}

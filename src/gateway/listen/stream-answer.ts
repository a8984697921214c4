import { isBodiless } from "#wire/http/framing.ts";
import type { Http2Request } from "#wire/connections/http/http2-request.ts";
import type { FlatHeaders } from "#gateway/http/headers.ts";
import { dateText, isFieldValue } from "./answer-fields.ts";
import type { AnswerSink, AnswerWatcher } from "./response-writer.ts";

/** The answer's view of its request. */
export interface StreamAnswerOwner {
  readonly nowMs: () => number;
  /** The answer is over; its last bytes follow. */
  finished(): void;
}

/** Fields of a connection, which HTTP/2 does not have (RFC 9113 §8.2.2). */
const OF_CONNECTION: ReadonlySet<string> = new Set(["connection", "keep-alive", "proxy-connection", "transfer-encoding", "upgrade"]);

/** Writes the answer to one request of an HTTP/2 connection. All bytes that the streams write in one tick are sent together. */
export class StreamAnswer implements AnswerSink {
  watcher: AnswerWatcher | undefined;
  onOver: (() => void) | undefined;
  hasBegun = false;
  isGone = false;
  readonly #owner: StreamAnswerOwner;
  readonly #request: Http2Request;
  readonly #isHead: boolean;
  #isBodiless = false;
  #isOver = false;

  constructor(owner: StreamAnswerOwner, request: Http2Request, isHead: boolean) {
    this.#owner = owner;
    this.#request = request;
    this.#isHead = isHead;
  }

  /** Called when the stream has closed. */
  gone(): void {
    if (this.#isOver) return;
    this.isGone = true;
    this.#settle();
    this.watcher?.clientGone();
  }

  begin(status: number, headers: FlatHeaders): void {
    if (this.#isOver || this.hasBegun) return;
    const { encoder, stream } = this.#request;
    this.hasBegun = true;
    this.#isBodiless = this.#isHead || isBodiless(status);
    let hasDate = false;
    encoder.begin();
    encoder.status(status);
    for (let i = 0; i + 1 < headers.length; i += 2) {
      const [name, value] = [headers[i] as string, headers[i + 1] as string];
      // A 204 never has a length (RFC 9110 §8.6).
      if (OF_CONNECTION.has(name) || !isFieldValue(value) || (status === 204 && name === "content-length")) continue;
      hasDate ||= name === "date";
      encoder.text(name, value);
    }
    if (!hasDate) encoder.text("date", dateText(this.#owner.nowMs()));
    stream.sendHead();
  }

  write(bytes: Buffer): void {
    if (!this.#isOver) this.#body(bytes);
  }

  /** Bytes that exceed the client's flow-control window. */
  get backlogBytes(): number {
    return this.#request.stream.pendingBytes;
  }

  /** Does nothing, because the connection sends at the end of each tick. */
  flush(): void {}

  end(bytes?: Buffer): void {
    if (this.#isOver) return;
    if (bytes !== undefined) this.#body(bytes);
    this.#settle();
    this.#owner.finished();
    this.#request.stream.end([]);
  }

  /** Resets the stream, so that the response does not look complete. */
  cut(last: Buffer | undefined): void {
    if (this.#isOver) return;
    if (last !== undefined) this.#body(last);
    this.#settle();
    this.#owner.finished();
    this.#request.cutWhenSent();
  }

  #settle(): void {
    this.#isOver = true;
    this.onOver?.();
  }

  #body(bytes: Buffer): void {
    if (this.#isBodiless || bytes.length === 0) return;
    const { stream } = this.#request;
    stream.send(bytes, 0, bytes.length);
    // Requests a call when the client can receive again.
    stream.hasRoom();
  }
}

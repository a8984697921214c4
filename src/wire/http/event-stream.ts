import { GatheredBytes } from "#kernel/gathered-bytes.ts";

/** One event of a `text/event-stream` (WHATWG HTML §9.2.6). */
export interface StreamEvent {
  /** Empty if the stream gives none. */
  readonly event: string;
  readonly data: string;
}

export interface EventStreamOptions {
  readonly eventBytesMax: number;
  /** Called with the id after which a new stream would continue, before its event if it has one. */
  readonly onId?: (id: string) => void;
}

/** An event exceeds the reader's limit. */
export class EventTooLargeError extends Error {}

const EMPTY = Buffer.alloc(0);
const LF = 0x0a;
const CR = 0x0d;
const BYTE_ORDER_MARK = 0xfeff;

/**
 * Parses an event stream, regardless of how it is split into chunks. Lines end with LF, CR LF or CR; comments and fields
 * other than `event`, `data` and `id` are ignored. Buffers a limited amount: a larger event throws EventTooLargeError.
 */
export class EventStreamReader {
  readonly #onEvent: (event: StreamEvent) => void;
  readonly #onId: ((id: string) => void) | undefined;
  readonly #eventBytesMax: number;
  /** Undefined if the current event has none. */
  #id: string | undefined;
  /** The start of an incomplete line, as received pieces. */
  readonly #pieces = new GatheredBytes();
  #event = "";
  #data: string[] = [];
  #dataLength = 0;
  #isFirstLine = true;
  /** The last chunk ended with a CR, so a following LF belongs to it. */
  #endedWithCr = false;

  constructor(onEvent: (event: StreamEvent) => void, { eventBytesMax, onId }: EventStreamOptions) {
    this.#onEvent = onEvent;
    this.#onId = onId;
    this.#eventBytesMax = eventBytesMax;
  }

  push(chunk: Buffer): void {
    let at = this.#endedWithCr && chunk[0] === LF ? 1 : 0;
    if (chunk.length > 0) this.#endedWithCr = false;
    // Each search resumes after its last result, so a chunk with only one kind of line end is searched once for the
    // other.
    let cr = chunk.indexOf(CR, at);
    let lf = chunk.indexOf(LF, at);
    for (;;) {
      if (cr >= 0 && cr < at) cr = chunk.indexOf(CR, at);
      if (lf >= 0 && lf < at) lf = chunk.indexOf(LF, at);
      if (lf < 0 && cr < 0) break;
      const end = lf < 0 || (cr >= 0 && cr < lf) ? cr : lf;
      this.#line(this.#joined(chunk.subarray(at, end)));
      at = end + 1;
      if (end !== cr) continue;
      if (at === chunk.length) this.#endedWithCr = true;
      else if (chunk[at] === LF) at++;
    }
    if (at < chunk.length) this.#hold(chunk.subarray(at));
  }

  /** Reports an event that lacks only its empty line: some providers omit it, and clients accept that. */
  end(): void {
    if (this.#pieces.length > 0) this.#line(this.#joined(EMPTY));
    this.#dispatch();
  }

  #hold(piece: Buffer): void {
    this.#pieces.push(piece);
    this.#checkSize();
  }

  #joined(rest: Buffer): string {
    if (this.#pieces.length === 0) return rest.toString("utf8");
    this.#pieces.push(rest);
    return this.#pieces.take().toString("utf8");
  }

  #line(raw: string): void {
    const line = this.#isFirstLine && raw.charCodeAt(0) === BYTE_ORDER_MARK ? raw.slice(1) : raw;
    this.#isFirstLine = false;
    if (line === "") return this.#dispatch();
    const colon = line.indexOf(":");
    const name = colon < 0 ? line : line.slice(0, colon);
    if (name !== "data" && name !== "event" && (name !== "id" || this.#onId === undefined)) return;
    const value = colon < 0 ? "" : line.slice(line.charCodeAt(colon + 1) === 0x20 ? colon + 2 : colon + 1);
    if (name === "event") {
      this.#event = value;
      return;
    }
    if (name === "id") {
      if (!value.includes("\0")) this.#id = value;
      return;
    }
    this.#data.push(value);
    this.#dataLength += value.length + 1;
    this.#checkSize();
  }

  #dispatch(): void {
    const event = { event: this.#event, data: this.#data.length === 1 ? (this.#data[0] as string) : this.#data.join("\n") };
    const isEmpty = this.#data.length === 0;
    if (this.#id !== undefined) this.#onId?.(this.#id);
    this.#id = undefined;
    this.#event = "";
    this.#data = [];
    this.#dataLength = 0;
    if (!isEmpty) this.#onEvent(event);
  }

  #checkSize(): void {
    if (this.#pieces.length + this.#dataLength > this.#eventBytesMax)
      throw new EventTooLargeError(`an event is larger than ${this.#eventBytesMax} bytes`);
  }
}

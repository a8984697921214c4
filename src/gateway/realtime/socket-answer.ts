import { ANSWER_BYTES_MAX } from "#gateway/dialects/answer-readers.ts";
import { GatheredBytes } from "#kernel/gathered-bytes.ts";
import { EventStreamReader } from "#wire/http/event-stream.ts";
import type { AnswerSink, AnswerWatcher } from "#gateway/listen/response-writer.ts";
import type { FlatHeaders } from "#gateway/http/headers.ts";
import { parsedJson } from "#gateway/http/json.ts";
import { mediaType } from "#gateway/usage/usage.ts";

/** The answer's view of its connection. */
export interface SocketAnswerOwner {
  readonly prefix: string;
  /** Sends one message. */
  send(message: object): void;
  /** Bytes that the client has not taken yet. */
  backlogBytes(): number;
  /** The answer is over. */
  finished(answer: SocketAnswer): void;
}

const EVENT_BYTES_MAX = 32 * 1024 * 1024;

/**
 * The answer to one `universal.create`, as messages: `universal.created` with the whole answer, or `universal.stream` for
 * each event of a stream and `universal.done` at its end. Any other end is a `universal.error`, so that a cut answer
 * never looks complete.
 */
export class SocketAnswer implements AnswerSink {
  watcher: AnswerWatcher | undefined;
  onOver: (() => void) | undefined;
  hasBegun = false;
  isGone = false;
  readonly #owner: SocketAnswerOwner;
  #status = 0;
  #metadata: object = {};
  #events: EventStreamReader | undefined;
  readonly #gathered = new GatheredBytes();
  #isOver = false;

  constructor(owner: SocketAnswerOwner) {
    this.#owner = owner;
  }

  get backlogBytes(): number {
    return this.#owner.backlogBytes();
  }

  begin(status: number, headers: FlatHeaders): void {
    if (this.#isOver || this.hasBegun) return;
    this.hasBegun = true;
    this.#status = status;
    const fields = new Map<string, string>();
    for (let i = 0; i + 1 < headers.length; i += 2) fields.set(headers[i] as string, headers[i + 1] as string);
    const own = (name: string): string | undefined => fields.get(`${this.#owner.prefix}-aig-${name}`);
    const contentType = fields.get("content-type") ?? "";
    this.#metadata = {
      cacheStatus: own("cache-status"),
      eventId: own("event-id"),
      logId: own("log-id"),
      step: own("step"),
      contentType,
    };
    if (mediaType(contentType) === "text/event-stream")
      this.#events = new EventStreamReader(({ data }) => this.#event(data), { eventBytesMax: EVENT_BYTES_MAX });
  }

  write(bytes: Buffer): void {
    if (this.#isOver) return;
    if (this.#events === undefined) {
      this.#gathered.push(bytes);
      if (this.#gathered.length > ANSWER_BYTES_MAX) this.#giveUp();
      return;
    }
    try {
      this.#events.push(bytes);
    } catch {
      this.#giveUp();
    }
  }

  flush(): void {
    // Complete messages are sent at once.
  }

  end(bytes?: Buffer): void {
    if (this.#isOver) return;
    if (bytes !== undefined) this.write(bytes);
    if (this.#isOver) return;
    if (this.#events !== undefined) {
      this.#events.end();
      this.#owner.send({ type: "universal.done", metadata: this.#metadata });
    } else {
      const response = bodyOf(this.#gathered.take());
      const what = this.#status >= 400 ? { type: "universal.error", status: this.#status } : { type: "universal.created" };
      this.#owner.send({ ...what, metadata: this.#metadata, response });
    }
    this.#settle();
  }

  /** Ignores the last bytes of a cut stream, because a separate message tells the client about the cut. */
  cut(_last: Buffer | undefined): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#owner.send({ type: "universal.error", status: this.#status, metadata: this.#metadata, response: null });
    this.#settle();
  }

  /** The client left. */
  gone(): void {
    if (this.#isOver) return;
    this.isGone = true;
    this.#settle();
    this.watcher?.clientGone();
  }

  /** Stops reading an answer or event that is larger than any model's. */
  #giveUp(): void {
    this.#gathered.clear();
    this.cut(undefined);
    this.isGone = true;
    this.watcher?.clientGone();
  }

  #event(data: string): void {
    if (data !== "[DONE]") this.#owner.send({ type: "universal.stream", metadata: this.#metadata, response: parsedJson(data) ?? data });
  }

  #settle(): void {
    this.#isOver = true;
    this.onOver?.();
    this.#owner.finished(this);
  }
}

/** JSON as JSON, text as a string, and other bytes in base64. */
function bodyOf(bytes: Buffer): unknown {
  const text = bytes.toString("utf8");
  return parsedJson(text) ?? (Buffer.from(text).equals(bytes) ? text : bytes.toString("base64"));
}

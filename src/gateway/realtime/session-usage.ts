import { GatheredBytes } from "#kernel/gathered-bytes.ts";
import { NO_USAGE, OPENAI_USAGE, type Usage } from "#gateway/usage/usage-formats.ts";
import { objectOf, parsedJson } from "#gateway/http/json.ts";

const NOTHING = Buffer.alloc(0);
const CONTINUATION = 0;
const TEXT = 1;
const CLOSE = 8;
const MESSAGE_BYTES_MAX = 1024 * 1024;
/** Measured: the work for a frame, for an answer that is counted, and for a byte of it. */
const [FRAME_COST, ANSWER_COST, PARSED_BYTE_COST] = [128, 2_048, 4];
/** The event that reports the usage of one answer. */
const DONE = Buffer.from('"response.done"');

/**
 * Adds up the usage of a realtime session's answers, from the provider's frames (RFC 6455 §5.2: unmasked, and compression
 * is not offered). It only observes: invalid frames end the counting, not the session.
 */
export class SessionUsage {
  /** The provider sent a close frame, by itself or because the client did (RFC 6455 §5.5.1). */
  isClosed = false;
  readonly #onAnswer: (usage: Usage) => void;
  #sum: Usage = { ...NO_USAGE, tokensCacheRead: null };
  #header: Buffer = NOTHING;
  #isText = false;
  #isFinal = false;
  /** Whether the current frame is a control frame, which may be between the parts of a message. */
  #isControl = false;
  #left = 0;
  #cost = 0;
  readonly #message = new GatheredBytes();

  /** `onAnswer` is called with the usage of each answer. */
  constructor(onAnswer: (usage: Usage) => void = () => undefined) {
    this.#onAnswer = onAnswer;
  }

  /** Whether the received bytes end between two frames, so that the gateway may send its own frame. */
  get isBetween(): boolean {
    return this.#left === 0 && this.#header.length === 0;
  }

  get usage(): Usage {
    return this.#sum;
  }

  /** Returns the cost of the work, in units of a byte that only passes. */
  push(bytes: Buffer): number {
    let at = 0;
    this.#cost = bytes.length;
    while (at < bytes.length) {
      if (this.#left === 0) {
        this.#cost += FRAME_COST;
        at = this.#readHeader(bytes, at);
        if (at < 0) break;
        if (this.#left === 0) this.#frameEnds();
        continue;
      }
      const end = Math.min(bytes.length, at + this.#left);
      this.#left -= end - at;
      if (!this.#isControl) this.#take(bytes, at, end);
      at = end;
      if (this.#left === 0) this.#frameEnds();
    }
    return this.#cost;
  }

  #take(bytes: Buffer, from: number, to: number): void {
    if (this.#isText && this.#message.length + to - from <= MESSAGE_BYTES_MAX) this.#message.push(bytes.subarray(from, to));
    else this.#begin(false);
  }

  /** Returns the end of the header that begins at `at`, or in the bytes before; -1 if it continues. */
  #readHeader(bytes: Buffer, at: number): number {
    const before = this.#header.length;
    const [head, start] = before === 0 ? [bytes, at] : [Buffer.concat([this.#header, bytes.subarray(at, at + 10)]), 0];
    const short = (head[start + 1] ?? 0) & 0x7f;
    const length = short === 127 ? 10 : short === 126 ? 4 : 2;
    if (head.length - start < length) {
      this.#header = Buffer.from(head.subarray(start));
      return -1;
    }
    this.#header = NOTHING;
    const first = head[start] ?? 0;
    const opcode = first & 0x0f;
    this.#isControl = opcode >= CLOSE;
    this.#isFinal = (first & 0x80) !== 0 && !this.#isControl;
    if (opcode === CLOSE) this.isClosed = true;
    if (opcode === TEXT) this.#begin(true);
    else if (opcode !== CONTINUATION && !this.#isControl) this.#begin(false);
    this.#left = short === 127 ? Number(head.readBigUInt64BE(start + 2)) : short === 126 ? head.readUInt16BE(start + 2) : short;
    return at + length - before;
  }

  #begin(isText: boolean): void {
    this.#isText = isText;
    this.#message.clear();
  }

  #frameEnds(): void {
    if (!this.#isFinal) return;
    const wasText = this.#isText;
    const message = this.#message.take();
    this.#begin(false);
    if (!wasText || !message.includes(DONE)) return;
    this.#cost += ANSWER_COST + message.length * PARSED_BYTE_COST;
    const usage = objectOf(objectOf(objectOf(parsedJson(message.toString("utf8")))?.["response"])?.["usage"]);
    if (usage === undefined) return;
    const told = OPENAI_USAGE.read(usage);
    this.#sum = withMore(this.#sum, told);
    this.#onAnswer(told);
  }
}

/** Adds up each count; a missing count adds nothing. */
function withMore(sum: Usage, more: Usage): Usage {
  const counts = Object.entries(more).filter(([, count]) => typeof count === "number");
  return { ...sum, ...Object.fromEntries(counts.map(([name, count]) => [name, Number(sum[name as keyof Usage] ?? 0) + Number(count)])) };
}

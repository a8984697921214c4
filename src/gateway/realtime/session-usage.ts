import { GatheredBytes } from "#kernel/gathered-bytes.ts";
import { NO_USAGE, OPENAI_USAGE, type Usage } from "#gateway/usage/usage-formats.ts";
import { objectOf, parsedJson } from "#gateway/http/json.ts";

const CONTINUATION = 0;
const TEXT = 1;
const CLOSE = 8;
const MESSAGE_BYTES_MAX = 1024 * 1024;
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
  #header = Buffer.alloc(0);
  #isText = false;
  #isFinal = false;
  /** Whether the current frame is a control frame, which may be between the parts of a message. */
  #isControl = false;
  #left = 0;
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

  push(bytes: Buffer): void {
    let rest = bytes;
    while (rest.length > 0) {
      if (this.#left === 0) {
        const taken = this.#readHeader(rest);
        if (taken < 0) return;
        rest = rest.subarray(taken);
        if (this.#left === 0) this.#frameEnds();
        continue;
      }
      const payload = rest.subarray(0, this.#left);
      rest = rest.subarray(payload.length);
      this.#left -= payload.length;
      if (!this.#isControl) this.#take(payload);
      if (this.#left === 0) this.#frameEnds();
    }
  }

  #take(payload: Buffer): void {
    if (this.#isText && this.#message.length + payload.length <= MESSAGE_BYTES_MAX) this.#message.push(payload);
    else this.#begin(false);
  }

  /** Returns the bytes of the header in `bytes`; -1 if the header continues. */
  #readHeader(bytes: Buffer): number {
    const before = this.#header.length;
    const head = before === 0 ? bytes : Buffer.concat([this.#header, bytes.subarray(0, 10)]);
    const short = (head[1] ?? 0) & 0x7f;
    const length = short === 127 ? 10 : short === 126 ? 4 : 2;
    if (head.length < length) {
      this.#header = Buffer.from(head);
      return -1;
    }
    this.#header = Buffer.alloc(0);
    const first = head[0] ?? 0;
    const opcode = first & 0x0f;
    this.#isControl = opcode >= CLOSE;
    this.#isFinal = (first & 0x80) !== 0 && !this.#isControl;
    if (opcode === CLOSE) this.isClosed = true;
    if (opcode === TEXT) this.#begin(true);
    else if (opcode !== CONTINUATION && !this.#isControl) this.#begin(false);
    this.#left = short === 127 ? Number(head.readBigUInt64BE(2)) : short === 126 ? head.readUInt16BE(2) : short;
    return length - before;
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

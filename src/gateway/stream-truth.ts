import { RefusalError } from "./errors.ts";
import type { AnswerHead, AnswerTransform, MakeTransform } from "./plan.ts";
import type { Mark, StreamKind } from "./stream-kinds.ts";

/** Of the end of a stream so much is kept to see `[DONE]` or an error there. */
const TAIL_BYTES = 512;
const LF = 0x0a;
const QUOTE = 0x22;
const SPACE = 0x20;

/** Whether a stream is passed on as it is, so that its end can be watched for. */
export const isPlainStream = ({ status, headers }: AnswerHead): boolean =>
  status < 300 &&
  /^text\/event-stream\b/i.test(String(headers["content-type"])) &&
  (headers["content-encoding"] ?? "identity") === "identity";

export const watching =
  (kind: StreamKind): MakeTransform =>
  (head) =>
    isPlainStream(head) ? new StreamTruth(kind) : undefined;

/**
 * Passes a stream on and watches for its end. One that the provider leaves without it, however clean the connection
 * closes, gets an error event and is broken off.
 */
class StreamTruth implements AnswerTransform {
  readonly #kind: StreamKind;
  #hasEnd = false;
  #tail: Buffer = Buffer.alloc(0);

  constructor(kind: StreamKind) {
    this.#kind = kind;
  }

  head(head: AnswerHead): AnswerHead {
    return head;
  }

  chunk(bytes: Buffer): Buffer {
    if (!this.#hasEnd) {
      this.#hasEnd = this.#kind.ends.some((end) => stands(bytes, end) || (this.#isWithinLine() && stands(this.#seam(bytes), end)));
    }
    this.#keep(bytes);
    return bytes;
  }

  end(): undefined {
    if (this.#isToldFailed() || !(this.#hasEnd || this.#isDone())) throw new RefusalError({ name: "aig_answer_cut" });
  }

  cut(reason: Parameters<StreamKind["errorEvent"]>[0]): Buffer | undefined {
    if (this.#isToldFailed()) return undefined;
    // An event under way must not swallow this one.
    return Buffer.from((this.#isWithinLine() ? "\n\n" : "") + this.#kind.errorEvent(reason));
  }

  #isWithinLine(): boolean {
    return this.#tail.length > 0 && this.#tail[this.#tail.length - 1] !== LF;
  }

  /** Where two chunks meet; a mark may stand across. */
  #seam(bytes: Buffer): Buffer {
    return Buffer.concat([this.#tail.subarray(-MARK_BYTES_MAX), bytes.subarray(0, MARK_BYTES_MAX)]);
  }

  /** A piece that is long enough stands for the end by itself, so that hardly any is copied. */
  #keep(bytes: Buffer): void {
    this.#tail = bytes.length >= MARK_BYTES_MAX ? bytes : Buffer.concat([this.#tail.subarray(-TAIL_BYTES), bytes]);
  }

  #end(): string {
    return this.#tail.toString("latin1", Math.max(0, this.#tail.length - TAIL_BYTES));
  }

  #isDone(): boolean {
    return /(?:^|\n)data: ?\[DONE\]\s*$/.test(this.#end());
  }

  /** The provider's own last event says that it failed. */
  #isToldFailed(): boolean {
    return /(?:^|\n)(?:event: ?error\r?\n|data: ?\{"error")/.test(this.#end());
  }
}

const MARK_BYTES_MAX = 64;

function stands(bytes: Buffer, { text, hasValue }: Mark): boolean {
  for (let at = bytes.indexOf(text); at >= 0; at = bytes.indexOf(text, at + text.length)) {
    if (!hasValue) return true;
    let next = at + text.length;
    while (bytes[next] === SPACE) next++;
    if (bytes[next] === QUOTE) return true;
  }
  return false;
}
